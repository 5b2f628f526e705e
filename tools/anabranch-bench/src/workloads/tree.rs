//! Sums up a balanced binary tree of boxed nodes, with one fork per node and no cut-off.
//!
//! This is the classic workload of the heartbeat schedulers (Spice, chili, forte). There is almost no work between two
//! forks, so the cost of a fork that no thread takes dominates. Nodes are allocated in the order of the walk: a node
//! before its left subtree, and that before the right one. A walk of a tree allocated in another order takes twice as
//! long, an effect that is easily attributed to a scheduler. A tree of 1,000 nodes fits into the cache and shows the
//! cost of the forks. It also ends before most pools wake up, and must not be slower than on one thread then. A tree of
//! 10,000,000 nodes is limited by memory, and long enough to be shared.

use std::hint::black_box;
use std::time::Duration;

use super::{Settings, Workload};
use crate::crew;
use crate::peers::plain::Plain;
use crate::peers::{Kind, Peer};
use crate::sample::Sample;
use crate::stopwatch::{metered, repeated};

/// A node and its subtrees.
pub struct Node {
    value: u64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

impl Node {
    /// Returns a tree of `nodes` nodes, as balanced as their number allows. The values count up from `first` in the
    /// order of the walk. Returns `None` if `nodes` is zero.
    pub fn tree(first: u64, nodes: u64) -> Option<Box<Node>> {
        let below = nodes.checked_sub(1)?;
        let mut node = Box::new(Node { value: first, left: None, right: None });
        node.left = Node::tree(first + 1, below.div_ceil(2));
        node.right = Node::tree(first + 1 + below.div_ceil(2), below / 2);
        Some(node)
    }
}

/// Returns the sum of the values of `node` and its subtrees.
#[inline(never)]
pub fn sum<P: Peer>(node: &Node, cx: &P::Cx<'_>) -> u64 {
    let (left, right) = P::join(
        cx,
        |cx| node.left.as_deref().map_or(0, |left| sum::<P>(left, cx)),
        |cx| node.right.as_deref().map_or(0, |right| sum::<P>(right, cx)),
    );
    node.value.wrapping_add(left).wrapping_add(right)
}

/// Returns the value of [`sum`] for `Node::tree(1, nodes)`.
fn expected(nodes: u64) -> u64 {
    nodes * (nodes + 1) / 2
}

/// A tree of 1,000 nodes, summed up repeatedly.
pub struct Small {
    root: Box<Node>,
    nodes: u64,
    budget: Duration,
    outside: bool,
}

impl Small {
    /// Creates the tree. `outside` enters the pool for each sum, rather than once.
    pub fn new(settings: &Settings, outside: bool) -> Small {
        let nodes = 1000;
        let root = Node::tree(1, nodes).expect("the tree has nodes");
        Small { root, nodes, budget: Duration::from_millis(if settings.quick { 5 } else { 20 }), outside }
    }
}

impl Workload for Small {
    fn title(&self) -> String {
        let entered = if self.outside { "each from outside" } else { "many per entry" };
        format!("sum of a tree of {} boxed nodes, {entered}", self.nodes)
    }

    fn unit(&self) -> &'static str {
        "ns/node"
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let root = &*self.root;
        let (total, calls, meter) = if self.outside {
            repeated(self.budget, || P::enter(pool, |cx| sum::<P>(black_box(root), cx)))
        } else {
            let budget = self.budget;
            P::enter(pool, move |cx| repeated(budget, || sum::<P>(black_box(root), cx)))
        };
        assert_eq!(total, calls.wrapping_mul(expected(self.nodes)), "the sum of the tree");
        Sample::per_unit(meter, (calls * self.nodes) as f64, 1e-9)
    }
}

/// A tree that is summed up once.
pub struct Large {
    root: Box<Node>,
    warm_up: Box<Node>,
    nodes: u64,
}

impl Large {
    /// Creates a tree of `nodes` nodes.
    ///
    /// # Panics
    /// Panics if `nodes` is zero.
    pub fn new(nodes: u64) -> Large {
        let warm_up = Node::tree(1, 1000).expect("the tree has nodes");
        Large { root: Node::tree(1, nodes).expect("a tree has nodes"), warm_up, nodes }
    }

    /// Walks the tree once, untimed. A process that was forked finds all pages marked as not accessed, and the
    /// processor takes half a microsecond to mark one. That would more than double the time of plain recursion.
    fn touch(&self) {
        black_box(sum::<Plain>(&self.root, &()));
    }

    /// Collects the part of the tree at the positions `wanted` of the walk: whole subtrees, and the sum of the values
    /// of single nodes above them.
    fn part<'t>(node: &'t Node, nodes: u64, wanted: &std::ops::Range<u64>, part: &mut Part<'t>) {
        // Values count up along the walk, from 1.
        let (start, end) = (node.value - 1, node.value - 1 + nodes);
        if end <= wanted.start || wanted.end <= start {
            return;
        }
        if wanted.start <= start && end <= wanted.end {
            part.subtrees.push(node);
            return;
        }
        if wanted.contains(&start) {
            part.singles += node.value;
        }
        let below = nodes - 1;
        for (child, nodes) in [(&node.left, below.div_ceil(2)), (&node.right, below / 2)] {
            if let Some(child) = child {
                Large::part(child, nodes, wanted, part);
            }
        }
    }
}

#[derive(Default)]
struct Part<'t> {
    subtrees: Vec<&'t Node>,
    singles: u64,
}

impl Workload for Large {
    fn title(&self) -> String {
        format!("sum of a tree of {} boxed nodes", self.nodes)
    }

    fn unit(&self) -> &'static str {
        "ns/node"
    }

    fn suits(&self, _kind: Kind) -> bool {
        true
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        P::enter(pool, |cx| sum::<P>(&self.warm_up, cx));
        self.touch();
        let (total, meter) = metered(|| P::enter(pool, |cx| sum::<P>(&self.root, cx)));
        assert_eq!(total, expected(self.nodes), "the sum of the tree");
        Sample::per_unit(meter, self.nodes as f64, 1e-9)
    }

    fn hand(&self, threads: usize) -> Sample {
        let shares = crew::cut(self.nodes, threads)
            .map(|wanted| {
                let mut part = Part::default();
                Large::part(&self.root, self.nodes, &wanted, &mut part);
                part
            })
            .collect();
        self.touch();
        let (total, meter) = crew::hand_out(shares, |part: Part<'_>| {
            part.subtrees.iter().fold(part.singles, |total, node| total + sum::<Plain>(node, &()))
        });
        assert_eq!(total, expected(self.nodes), "the sum of the tree");
        Sample::per_unit(meter, self.nodes as f64, 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::plain::Plain;
    use crate::workloads::testing::{all_peers_agree, settings};

    #[test]
    fn trees_have_the_number_of_nodes_that_was_asked_for() {
        assert!(Node::tree(1, 0).is_none());
        for nodes in [1, 2, 3, 10, 1000] {
            assert_eq!(sum::<Plain>(&Node::tree(1, nodes).unwrap(), &()), expected(nodes));
        }
    }

    #[test]
    fn parts_cover_the_tree_evenly() {
        let nodes = 1000;
        let tree = Large::new(nodes);
        let mut total = 0;
        for wanted in crew::cut(nodes, 7) {
            let mut part = Part::default();
            Large::part(&tree.root, nodes, &wanted, &mut part);
            let sum = part.subtrees.iter().fold(part.singles, |total, node| total + sum::<Plain>(node, &()));
            assert_eq!(sum, wanted.map(|position| position + 1).sum::<u64>(), "a part is the nodes that were wanted");
            total += sum;
        }
        assert_eq!(total, expected(nodes));
    }

    #[test]
    fn all_peers_compute_same_sum() {
        all_peers_agree(&Small::new(&settings(), false), &[1, 3]);
        all_peers_agree(&Small::new(&settings(), true), &[1, 3]);
        all_peers_agree(&Large::new(20_000), &[1, 3]);
    }
}
