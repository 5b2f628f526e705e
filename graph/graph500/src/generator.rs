//! The Kronecker generator: a pure function from the index of an edge to its tuple.
//!
//! **Edges.** An edge is drawn as in R-MAT. For each bit of the vertex numbers one of four quadrants is drawn, with
//! probabilities A = .57, B = C = .19, D = .05 (Chakrabarti, Zhan, Faloutsos 2004; Graph500 specification, section 3).
//! A draw compares 32 random bits with three integer thresholds. So the probabilities are exact to within 2^-32, and
//! the result does not depend on a floating-point unit.
//!
//! **Random bits.** The stream is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Its n-th output is a finaliser applied
//! to `start + n * GAMMA`, so access at any index costs one multiplication. Edge `i` owns the outputs
//! `i * d .. (i + 1) * d`, where `d` outputs have as many bits as an edge needs. So an edge depends only on the seed
//! and its index. No two edges share a draw (2^48 edges of 20 draws stay below the period of 2^64). The whole list
//! reads one contiguous part of a generator that passes BigCrush, which examines such contiguous parts. The seed is
//! finalised too, so that neighbouring seeds start at unrelated positions.
//!
//! **Weights.** Each tuple has a weight for kernel 3, uniform in [0, 1). It is the upper 24 bits of one output of a
//! second stream, so all 2^24 multiples of 2^-24 are equally likely, and each is exact in single precision.
//!
//! **Labels.** R-MAT gives the vertices with few set bits the most edges. A bijection of `0..2^scale` hides that. It
//! consists of three rounds modulo 2^scale: add a constant, multiply by an odd constant, and fold the high half onto
//! the low by exclusive or. Each step is invertible, and the constants come from the seed.
//!
//! **No shuffle.** The specification requires a shuffle of the tuples, so that their order carries no information. Here
//! the tuples are independent draws from one distribution. All orders are equally likely, and a shuffle would not
//! change the distribution.

use std::ops::Range;

use anabranch::prelude::*;

use crate::memory::{Zeroable, zeroed};
use crate::watch::Watch;
use crate::{Edge, Observer, Phase, RunError, Spec, WeightedEdge};

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The upper ends of quadrants A, B and C in 2^-32.
const A: u32 = (0.57 * 4_294_967_296.0) as u32;
const AB: u32 = (0.76 * 4_294_967_296.0) as u32;
const ABC: u32 = (0.95 * 4_294_967_296.0) as u32;

/// The probability that a bit of an end is zero, before the labels are permuted: A + B, and also A + C.
pub(crate) const UPPER_HALF: f64 = 0.76;

/// Edges between two checks of the observer.
const BLOCK: usize = 1 << 18;

/// The finaliser of SplitMix64 (David Stafford's variant 13).
#[inline]
fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The outputs of SplitMix64, from any position in its period.
#[derive(Clone)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    /// Creates the stream of `seed`. Streams of different `purpose` start at unrelated positions.
    pub(crate) fn new(seed: u64, purpose: u64) -> SplitMix {
        SplitMix(finalise(finalise(seed.wrapping_add(GAMMA)) ^ finalise(purpose.wrapping_mul(GAMMA))))
    }

    #[inline]
    fn at(&self, index: u64) -> SplitMix {
        SplitMix(self.0.wrapping_add(index.wrapping_mul(GAMMA)))
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        finalise(self.0)
    }

    /// Returns a number that is uniform in `0..bound` to within 2^-64 of the bound (Lemire's multiplication).
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// A bijection of `0..2^scale` that hides the order of the labels.
#[derive(Clone)]
struct Scramble {
    rounds: [(u64, u64); 3],
    mask: u64,
    fold: u32,
}

impl Scramble {
    fn new(scale: u32, mut random: SplitMix) -> Scramble {
        let rounds = std::array::from_fn(|_| (random.next(), random.next() | 1));
        Scramble { rounds, mask: (1 << scale) - 1, fold: scale.div_ceil(2) }
    }

    #[inline]
    fn apply(&self, mut label: u64) -> u64 {
        for (add, multiply) in self.rounds {
            label = label.wrapping_add(add).wrapping_mul(multiply) & self.mask;
            label ^= label >> self.fold;
        }
        label
    }
}

/// The edge list of a [`Spec`] as a function.
///
/// ```
/// use graph500::{Generator, Spec};
/// let spec = Spec::new(10, 16, 1)?;
/// let generator = Generator::new(&spec);
/// assert_eq!(generator.edge(77), Generator::new(&spec).edge(77));
/// let (a, b) = generator.edge(77).ends();
/// assert!(a < spec.num_vertices() && b < spec.num_vertices());
/// # Ok::<(), graph500::SpecError>(())
/// ```
#[derive(Clone)]
pub struct Generator {
    scale: u32,
    draws: SplitMix,
    weights: SplitMix,
    labels: Scramble,
}

impl Generator {
    /// Creates the generator for `spec`.
    pub fn new(spec: &Spec) -> Generator {
        Generator {
            scale: spec.scale(),
            draws: SplitMix::new(spec.seed(), 1),
            weights: SplitMix::new(spec.seed(), 4),
            labels: Scramble::new(spec.scale(), SplitMix::new(spec.seed(), 2)),
        }
    }

    /// Returns the tuple with the given index.
    #[inline]
    pub fn edge(&self, index: u64) -> Edge {
        let (a, b) = self.unscrambled(index);
        Edge::new(self.labels.apply(a), self.labels.apply(b))
    }

    /// Returns the tuple with the given index and its weight, which is at least 0 and below 1.
    ///
    /// ```
    /// use graph500::{Generator, Spec};
    /// let generator = Generator::new(&Spec::new(10, 16, 1)?);
    /// let weighted = generator.weighted_edge(77);
    /// assert_eq!(weighted.edge, generator.edge(77));
    /// assert!((0.0..1.0).contains(&weighted.weight));
    /// # Ok::<(), graph500::SpecError>(())
    /// ```
    #[inline]
    pub fn weighted_edge(&self, index: u64) -> WeightedEdge {
        let bits = self.weights.at(index).next() >> 40;
        WeightedEdge { edge: self.edge(index), weight: bits as f32 / (1u32 << 24) as f32 }
    }

    /// Returns the tuple before its ends are relabelled.
    #[inline]
    fn unscrambled(&self, index: u64) -> (u64, u64) {
        let mut random = self.draws.at(index.wrapping_mul(u64::from(self.scale.div_ceil(2))));
        let (mut a, mut b) = (0, 0);
        let mut quadrant = |draw: u32| {
            let (past_a, past_b, past_c) = (draw >= A, draw >= AB, draw >= ABC);
            a = a << 1 | u64::from(past_b);
            b = b << 1 | u64::from(past_a ^ past_b ^ past_c);
        };
        for _ in 0..self.scale / 2 {
            let draw = random.next();
            quadrant(draw as u32);
            quadrant((draw >> 32) as u32);
        }
        if self.scale % 2 == 1 {
            quadrant(random.next() as u32);
        }
        (a, b)
    }
}

/// Generates all tuples of `spec` in parallel. The list does not depend on the number of threads.
///
/// ```
/// let spec = graph500::Spec::new(8, 16, 1)?;
/// let edges = graph500::generate(&spec, &())?;
/// assert_eq!(edges.len() as u64, spec.num_edges());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`RunError::OutOfMemory`], or [`RunError::Cancelled`] if the observer cancels.
pub fn generate(spec: &Spec, observer: &dyn Observer) -> Result<Vec<Edge>, RunError> {
    generate_part(spec, 0..spec.num_edges(), observer)
}

/// Generates the tuples with these indices in parallel.
pub(crate) fn generate_part(spec: &Spec, indices: Range<u64>, observer: &dyn Observer) -> Result<Vec<Edge>, RunError> {
    let generator = Generator::new(spec);
    let watch = Watch::new(observer, Phase::Generation, indices.end - indices.start);
    fill("the edge tuples", watch, indices, |i| generator.edge(i))
}

/// Generates all tuples of `spec` and their weights in parallel. The tuples are those of [`generate`], in the same
/// order.
///
/// # Errors
/// Returns [`RunError::OutOfMemory`], or [`RunError::Cancelled`] if the observer cancels.
pub fn generate_weighted(spec: &Spec, observer: &dyn Observer) -> Result<Vec<WeightedEdge>, RunError> {
    let generator = Generator::new(spec);
    let watch = Watch::new(observer, Phase::Weights, spec.num_edges());
    fill("the weighted tuples", watch, 0..spec.num_edges(), |i| generator.weighted_edge(i))
}

/// Returns `of` each of the indices.
fn fill<T: Zeroable + Send>(
    what: &'static str,
    watch: Watch<'_>,
    indices: Range<u64>,
    of: impl Fn(u64) -> T + Sync,
) -> Result<Vec<T>, RunError> {
    let mut tuples = zeroed::<T>(what, (indices.end - indices.start) as usize)?;
    tuples.par_chunks_mut(BLOCK).enumerate().for_each(|(block, tuples)| {
        if watch.is_cancelled() {
            return;
        }
        for (index, tuple) in (indices.start + block as u64 * BLOCK as u64..).zip(tuples.iter_mut()) {
            *tuple = of(index);
        }
        watch.advance(tuples.len() as u64);
    });
    watch.finish()?;
    Ok(tuples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scramble_is_a_bijection() {
        for scale in 1..=14 {
            for seed in 0..4 {
                let scramble = Scramble::new(scale, SplitMix::new(seed, 2));
                let mut seen = vec![false; 1 << scale];
                for label in 0..1 << scale {
                    let image = scramble.apply(label) as usize;
                    assert!(!std::mem::replace(&mut seen[image], true), "scale {scale}: {image} twice");
                }
            }
        }
    }

    #[test]
    fn quadrants_come_as_often_as_they_should() {
        const SCALE: u32 = 5;
        const EDGES: u64 = 100_000;
        let generator = Generator::new(&Spec::new(SCALE, 16, 3).unwrap());
        let mut counts = [[0u32; 4]; SCALE as usize];
        for index in 0..EDGES {
            let (a, b) = generator.unscrambled(index);
            for (bit, counts) in counts.iter_mut().enumerate() {
                counts[(a >> bit & 1) as usize * 2 + (b >> bit & 1) as usize] += 1;
            }
        }
        for counts in counts {
            for (count, expected) in counts.into_iter().zip([0.57, 0.19, 0.19, 0.05]) {
                // Five standard deviations of a frequency near .57 are .0078.
                let frequency = f64::from(count) / EDGES as f64;
                assert!((frequency - expected).abs() < 0.008, "{frequency} for {expected}");
            }
        }
    }

    #[test]
    fn bits_of_an_edge_are_independent() {
        const EDGES: u64 = 100_000;
        let generator = Generator::new(&Spec::new(2, 16, 5).unwrap());
        let both = (0..EDGES).filter(|&i| generator.unscrambled(i) == (0, 0)).count() as f64 / EDGES as f64;
        assert!((both - 0.57 * 0.57).abs() < 0.008, "{both}");
    }

    #[test]
    fn weights_are_uniform_and_independent_of_tuples() {
        const EDGES: u64 = 100_000;
        let generator = Generator::new(&Spec::new(8, 16, 5).unwrap());
        let mut tenths = [0u32; 10];
        let mut even = (0.0, 0.0);
        for index in 0..EDGES {
            let WeightedEdge { edge, weight } = generator.weighted_edge(index);
            assert!((0.0..1.0).contains(&weight));
            tenths[(weight * 10.0) as usize] += 1;
            if edge.ends().0 % 2 == 0 {
                even = (even.0 + f64::from(weight), even.1 + 1.0);
            }
        }
        // Five standard deviations of a frequency near .1 are .0047, and those of the mean of 40,000 weights .0072.
        assert!(tenths.iter().all(|&count| (f64::from(count) / EDGES as f64 - 0.1).abs() < 0.005), "{tenths:?}");
        assert!((even.0 / even.1 - 0.5).abs() < 0.008, "{even:?}");
    }
}
