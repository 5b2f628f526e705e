//! How a number of elements is spread over a machine.

use std::fmt;

use crate::Shape;

/// The most waves of a map, and the fewest elements that a lane takes in each.
const MOST_WAVES: u64 = 32;
const WAVE_ELEMENTS: u64 = 8;

/// A launch: blocks of lanes, and the elements of each lane. [`Device::plan`](crate::Device::plan) makes it.
///
/// With n elements in v vectors on c cores, each of which holds R vectors, each plan has these properties:
/// - Each element belongs to exactly one lane.
/// - If v ≥ c, no core is without a block. If v < c, each block is one vector.
/// - The numbers of blocks on two cores differ by at most one.
/// - All blocks are resident at the same time.
/// - A plan for no elements has no blocks.
///
/// A map of many elements on a GPU launches more blocks than are resident: [`waves`](Self::waves) times as many, whose
/// lanes take fewer elements. All other figures describe one wave.
///
/// ```
/// use anabranch_kernel::Device;
///
/// let plan = "rtx4090".parse::<Device>()?.plan(1 << 24);
/// assert_eq!((plan.blocks(), plan.lanes_per_block(), plan.elements_per_lane()), (256, 768, 86));
/// assert_eq!(plan.occupancy(), 1.0);
/// assert_eq!(plan.to_string(), "256 blocks of 768 lanes, at most 86 elements a lane");
/// # Ok::<_, anabranch_kernel::UnknownDevice>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    shape: Shape,
    elements: u64,
    blocks: u64,
    vectors_per_block: u32,
    elements_per_lane: u64,
    in_waves: bool,
    rule: Rule,
}

impl Plan {
    /// Applies the rule. No number of `shape` is 0. `in_waves` says whether a map may have several waves.
    pub(crate) fn new(shape: Shape, elements: u64, in_waves: bool) -> Self {
        let (cores, resident) = (u64::from(shape.cores), u64::from(shape.resident_vectors));
        let vectors = elements.div_ceil(u64::from(shape.lanes));
        let largest = largest_block(shape);
        // Both factors have 32 bits.
        let places = cores * resident;
        let (vectors_per_block, blocks, rule) = if vectors == 0 {
            (0, 0, Rule::Empty)
        } else if vectors >= places {
            (largest, places / u64::from(largest), Rule::Stride)
        } else if vectors < cores {
            (1, vectors, Rule::OneVector)
        } else {
            match u32::try_from(vectors / cores) {
                Ok(share) if share < largest => (share, vectors.div_ceil(u64::from(share)), Rule::FillCores),
                _ => (largest, vectors.div_ceil(u64::from(largest)), Rule::LargestBlock),
            }
        };
        let launched = blocks * u64::from(vectors_per_block);
        let elements_per_lane = if launched == 0 { 0 } else { vectors.div_ceil(launched) };
        Self { shape, elements, blocks, vectors_per_block, elements_per_lane, in_waves, rule }
    }

    /// Returns the number of elements that the plan is for.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// Returns whether there is nothing to launch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements == 0
    }

    /// Returns the number of vectors that the elements fill, the last one perhaps in part.
    #[must_use]
    pub fn vectors(&self) -> u64 {
        self.elements.div_ceil(u64::from(self.shape.lanes))
    }

    /// Returns the number of blocks to launch.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Returns the number of vectors per block.
    #[must_use]
    pub fn vectors_per_block(&self) -> u32 {
        self.vectors_per_block
    }

    /// Returns the number of lanes per block: the block size of CUDA, the workgroup size of WGSL.
    #[must_use]
    pub fn lanes_per_block(&self) -> u64 {
        u64::from(self.vectors_per_block) * u64::from(self.shape.lanes)
    }

    /// Returns the maximum number of elements per lane.
    #[must_use]
    pub fn elements_per_lane(&self) -> u64 {
        self.elements_per_lane
    }

    /// Returns how many times as many blocks a map launches, if a dispatch may have so many.
    ///
    /// A core that has ended a block begins the next one. There are at most 32 waves, and a lane takes eight elements
    /// or more in each. On the processor there is one wave. Adding vectors of 10^8 elements on an H200, a kernel in
    /// CUDA C++ moves 4.20 TB/s in 32 waves, and 3.82 in one.
    ///
    /// ```
    /// use anabranch_kernel::Device;
    ///
    /// let h200: Device = "h200".parse()?;
    /// assert_eq!([10_000, 10_000_000, 100_000_000].map(|n| h200.plan(n).waves()), [1, 4, 32]);
    /// # Ok::<_, anabranch_kernel::UnknownDevice>(())
    /// ```
    #[must_use]
    pub fn waves(&self) -> u64 {
        // The fewest elements of a lane are at most all of them.
        let least = u128::from(self.elements).checked_div(self.lanes()).unwrap_or(0) as u64;
        if self.in_waves { waves(least) } else { 1 }
    }

    /// Returns the number of lanes of all blocks, which is also the distance between two elements of a lane.
    #[must_use]
    pub fn lanes(&self) -> u128 {
        u128::from(self.blocks) * u128::from(self.lanes_per_block())
    }

    /// Returns the elements that `lane` takes, in order: the element with its number, and further elements at distances
    /// of [`lanes`](Self::lanes). Lanes are numbered across all blocks. A lane that does not exist has no elements.
    ///
    /// ```
    /// use anabranch_kernel::{Device, Shape};
    ///
    /// let shape = Shape { cores: 2, lanes: 4, resident_vectors: 1, max_block_vectors: 1 };
    /// let plan = Device::new("small", shape)?.plan(18);
    /// assert_eq!(plan.elements_of(1).collect::<Vec<_>>(), [1, 9, 17]);
    /// assert_eq!(plan.elements_of(7).collect::<Vec<_>>(), [7, 15]);
    /// # Ok::<_, anabranch_kernel::ZeroInShape>(())
    /// ```
    pub fn elements_of(&self, lane: u64) -> impl Iterator<Item = u64> + use<> {
        let (lanes, elements) = (self.lanes(), self.elements);
        let first = (u128::from(lane) < lanes && lane < elements).then_some(lane);
        let next = move |element: &u64| {
            let next = u64::try_from(u128::from(*element) + lanes).ok()?;
            (next < elements).then_some(next)
        };
        std::iter::successors(first, next)
    }

    /// Returns the minimum and the maximum number of blocks per core, if the blocks are assigned in turn.
    #[must_use]
    pub fn blocks_per_core(&self) -> (u64, u64) {
        let cores = u64::from(self.shape.cores);
        (self.blocks / cores, self.blocks.div_ceil(cores))
    }

    /// Returns the share of the places for resident vectors that the plan uses, from 0 to 1.
    #[must_use]
    pub fn occupancy(&self) -> f64 {
        self.launched() as f64 / self.places() as f64
    }

    /// Returns which part of the rule decided.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns the machine that the plan is for.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the vectors of all blocks.
    pub(crate) fn launched(&self) -> u64 {
        self.blocks * u64::from(self.vectors_per_block)
    }

    /// Returns the vectors that all cores can keep resident.
    pub(crate) fn places(&self) -> u64 {
        u64::from(self.shape.cores) * u64::from(self.shape.resident_vectors)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no blocks");
        }
        let (blocks, lanes) = (Count(self.blocks, "block"), Count(self.lanes_per_block(), "lane"));
        write!(f, "{blocks} of {lanes}, at most {} a lane", Count(self.elements_per_lane, "element"))
    }
}

/// The part of the rule that decides the size of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// There are no elements.
    Empty,
    /// There are fewer vectors than cores, so each block is one vector.
    OneVector,
    /// A block is a core's share of the vectors, rounded down.
    FillCores,
    /// A core's share is larger than the largest block, so a core gets several blocks.
    LargestBlock,
    /// There are at least as many vectors as the cores keep resident, so each lane takes several elements.
    Stride,
}

impl Rule {
    /// Returns the name in lower case with hyphens, for scripts.
    ///
    /// ```
    /// use anabranch_kernel::Rule;
    /// assert_eq!(Rule::FillCores.name(), "fill-cores");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::OneVector => "one-vector",
            Self::FillCores => "fill-cores",
            Self::LargestBlock => "largest-block",
            Self::Stride => "stride",
        }
    }
}

/// A number and what it counts.
pub(crate) struct Count(pub(crate) u64, pub(crate) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// Returns the waves of a map whose lanes take so many elements or more.
pub(crate) fn waves(elements_per_lane: u64) -> u64 {
    (elements_per_lane / WAVE_ELEMENTS).clamp(1, MOST_WAVES)
}

/// Returns the vectors of the largest block that a plan uses.
///
/// It is a divisor of the resident vectors, so that full cores have no places left over. And it is at most half of
/// them, because `FillCores` needs room for two blocks: with blocks of floor(v / c) vectors, some core gets a second
/// one unless c divides v.
fn largest_block(shape: Shape) -> u32 {
    let resident = shape.resident_vectors;
    let most = shape.max_block_vectors.min(resident / 2).max(1);
    (1..=most).rev().find(|&size| resident.is_multiple_of(size)).unwrap_or(1)
}
