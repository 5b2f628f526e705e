//! Counts the nodes of an unbalanced tree, with one fork for each half of a node's children.
//!
//! The workload follows the *Unbalanced Tree Search* (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng: UTS, LCPC
//! 2006) with binomial trees. The root has many children. Every other node has either `m` children or none, and `m`
//! times the probability of having some is a little less than one. So the size of a subtree has a huge variance and
//! cannot be estimated from above. A division by estimates leaves some threads idle. The tree is never stored: a node
//! is a number, and the numbers of its children are hashes of it. (UTS uses SHA-1. This uses the finaliser of
//! SplitMix64, because it measures forks, not hashes.)
//!
//! The hand-cut bound knows the sizes of all subtrees. It cuts the walk into parts of equal length, and gives each
//! thread the subtrees of its part.

use std::ops::Range;

use super::Workload;
use crate::crew;
use crate::peers::plain::Plain;
use crate::peers::{Kind, Peer};
use crate::sample::Sample;
use crate::stopwatch::metered;

/// The parameters of a tree, which determine it completely.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The seed of the hash.
    pub seed: u64,
    /// The number of children of the root.
    pub root_children: u32,
    /// The number of children of another node, if it has any.
    pub children: u32,
    /// The probability that it has some.
    pub probability: f64,
}

impl Shape {
    /// The parameters of UTS's tree T3, with a seed that makes about four million nodes.
    pub const FOUR_MILLION: Shape = Shape { seed: 154, root_children: 2000, children: 8, probability: 0.124_875 };

    /// Returns the root of the tree.
    pub fn root(&self) -> u64 {
        mix(self.seed)
    }

    /// Returns the number of children of `node`.
    #[inline]
    pub fn children_of(&self, node: u64) -> u32 {
        // A float between 0 and 1 holds the upper 53 bits.
        let chance = (node >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
        if chance < self.probability { self.children } else { 0 }
    }

    /// Returns the `index`th child of `node`.
    #[inline]
    pub fn child(&self, node: u64, index: u32) -> u64 {
        mix(node.wrapping_add((u64::from(index) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Counts the nodes of the whole tree.
    pub fn count<P: Peer>(&self, cx: &P::Cx<'_>) -> u64 {
        1 + self.count_children::<P>(self.root(), 0..self.root_children, cx)
    }

    fn count_below<P: Peer>(&self, node: u64, cx: &P::Cx<'_>) -> u64 {
        match self.children_of(node) {
            0 => 1,
            children => 1 + self.count_children::<P>(node, 0..children, cx),
        }
    }

    #[inline(never)]
    fn count_children<P: Peer>(&self, node: u64, Range { start, end }: Range<u32>, cx: &P::Cx<'_>) -> u64 {
        if end - start == 1 {
            return self.count_below::<P>(self.child(node, start), cx);
        }
        let middle = start + (end - start) / 2;
        let (a, b) = P::join(
            cx,
            move |cx| self.count_children::<P>(node, start..middle, cx),
            move |cx| self.count_children::<P>(node, middle..end, cx),
        );
        a + b
    }
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The tree of a [`Shape`], counted once.
pub struct Unbalanced {
    shape: Shape,
    /// The size of the subtree of each node, in the order of the walk.
    sizes: Vec<u32>,
}

impl Unbalanced {
    /// Creates the tree of `shape`.
    pub fn new(shape: Shape) -> Unbalanced {
        fn walk(shape: Shape, node: u64, children: u32, sizes: &mut Vec<u32>) {
            let position = sizes.len();
            sizes.push(0);
            for index in 0..children {
                let child = shape.child(node, index);
                walk(shape, child, shape.children_of(child), sizes);
            }
            sizes[position] = u32::try_from(sizes.len() - position).expect("the tree is not that large");
        }
        let mut sizes = Vec::new();
        walk(shape, shape.root(), shape.root_children, &mut sizes);
        Unbalanced { shape, sizes }
    }

    fn nodes(&self) -> u64 {
        self.sizes.len() as u64
    }

    /// Collects the subtrees completely within the part `wanted` of the walk, and counts the single nodes above them.
    /// `start` is the position of `node`.
    fn part(&self, node: u64, children: u32, start: u64, wanted: &Range<u64>, part: &mut Part) {
        if wanted.contains(&start) {
            part.singles += 1;
        }
        let mut start = start + 1;
        for index in 0..children {
            let child = self.shape.child(node, index);
            let end = start + u64::from(self.sizes[start as usize]);
            if wanted.start <= start && end <= wanted.end {
                part.subtrees.push(child);
            } else if start < wanted.end && wanted.start < end {
                self.part(child, self.shape.children_of(child), start, wanted, part);
            }
            start = end;
        }
    }

    fn parts(&self, threads: usize) -> Vec<Part> {
        let root = self.shape.root();
        crew::cut(self.nodes(), threads)
            .map(|wanted| {
                let mut part = Part::default();
                self.part(root, self.shape.root_children, 0, &wanted, &mut part);
                part
            })
            .collect()
    }

    fn count_part(&self, part: &Part) -> u64 {
        part.subtrees.iter().fold(part.singles, |total, node| total + self.shape.count_below::<Plain>(*node, &()))
    }
}

#[derive(Default)]
struct Part {
    subtrees: Vec<u64>,
    singles: u64,
}

impl Workload for Unbalanced {
    fn title(&self) -> String {
        format!("count of an unbalanced tree of {} nodes, hashed during the walk", self.nodes())
    }

    fn unit(&self) -> &'static str {
        "ns/node"
    }

    fn suits(&self, _kind: Kind) -> bool {
        true
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let warm_up = Shape { root_children: 20, probability: 0.1, ..self.shape };
        P::enter(pool, |cx| warm_up.count::<P>(cx));
        let shape = std::hint::black_box(&self.shape);
        let (nodes, meter) = metered(|| P::enter(pool, |cx| shape.count::<P>(cx)));
        assert_eq!(nodes, self.nodes(), "the number of nodes");
        Sample::per_unit(meter, self.nodes() as f64, 1e-9)
    }

    fn hand(&self, threads: usize) -> Sample {
        let (nodes, meter) = crew::hand_out(self.parts(threads), |part| self.count_part(&part));
        assert_eq!(nodes, self.nodes(), "the number of nodes");
        Sample::per_unit(meter, self.nodes() as f64, 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::testing::all_peers_agree;

    const SMALL: Shape = Shape { seed: 3, root_children: 100, children: 8, probability: 0.12 };

    #[test]
    fn tree_is_same_in_each_run() {
        let tree = Unbalanced::new(SMALL);
        assert_eq!(tree.sizes, Unbalanced::new(SMALL).sizes);
        assert_eq!(tree.sizes[0] as u64, tree.nodes());
        assert_eq!(SMALL.count::<Plain>(&()), tree.nodes());
        assert_ne!(Unbalanced::new(Shape { seed: 4, ..SMALL }).nodes(), tree.nodes());
    }

    #[test]
    fn parts_are_equal_shares_of_the_walk() {
        let tree = Unbalanced::new(SMALL);
        for threads in [1, 2, 5, 16] {
            let wanted = crew::cut(tree.nodes(), threads).map(|range| range.end - range.start);
            let counted: Vec<u64> = tree.parts(threads).iter().map(|part| tree.count_part(part)).collect();
            assert_eq!(counted, wanted.collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_peers_count_same_nodes() {
        all_peers_agree(&Unbalanced::new(SMALL), &[1, 3]);
    }
}
