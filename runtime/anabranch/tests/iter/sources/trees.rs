//! Trees and data that a closure splits.

use super::in_order;
use crate::{
    common::Random,
    harness::{check, pools},
};
use anabranch::{
    iter::{split, walk_tree, walk_tree_postfix, walk_tree_prefix},
    prelude::*,
};

/// A tree of `nodes` nodes: the children of each. Node 0 is the root.
struct Tree(Vec<Vec<usize>>);

impl Tree {
    /// Each node's parent is one of the `width` nodes in front of it.
    fn random(nodes: usize, width: u64, seed: u64) -> Self {
        let mut random = Random(seed);
        let mut children = vec![Vec::new(); nodes];
        for node in 1..nodes {
            let parent = node - 1 - random.below((node as u64).min(width)) as usize;
            children[parent].push(node);
        }
        Self(children)
    }

    fn prefix(&self, node: usize, order: &mut Vec<usize>) {
        order.push(node);
        self.0[node].iter().for_each(|child| self.prefix(*child, order));
    }

    fn postfix(&self, node: usize, order: &mut Vec<usize>) {
        self.0[node].iter().for_each(|child| self.postfix(*child, order));
        order.push(node);
    }
}

#[test]
fn nodes_are_in_order() {
    for nodes in [1, 2, 3, 10, 1000] {
        for width in [1, 2, 10, 1000] {
            let tree = Tree::random(nodes, width, nodes as u64 + width);
            let (mut prefix, mut postfix) = (Vec::new(), Vec::new());
            tree.prefix(0, &mut prefix);
            tree.postfix(0, &mut postfix);
            let children = |node: &usize| tree.0[*node].clone();
            check(prefix, || in_order(walk_tree_prefix(0, children)));
            check(postfix, || in_order(walk_tree_postfix(0, children)));
            check((0..nodes).collect::<Vec<_>>(), || {
                let mut all = in_order(walk_tree(0, children));
                all.sort();
                all
            });
        }
    }
}

#[test]
fn deterministic_walk_has_the_same_pieces_in_each_run() {
    let tree = Tree::random(300, 3, 7);
    let children = |node: &usize| tree.0[*node].clone();
    let pieces = || {
        let prefix = walk_tree_prefix(0, children).deterministic().fold(|| 0, |n, _| n + 1);
        let postfix = walk_tree_postfix(0, children).deterministic().fold(|| 0, |n, _| n + 1);
        (in_order(prefix), in_order(postfix))
    };
    let alone = pools()[0].install(pieces);
    assert!(alone.0.len() > 10 && alone.1.len() > 10, "{alone:?}");
    check(alone, pieces);
}

#[test]
fn node_with_many_children_and_long_path_need_little_stack() {
    let path = |node: &u32| (*node < 100_000).then_some(node + 1);
    let star = |node: &u32| if *node == 0 { (1..=20_000).collect() } else { Vec::new() };
    for pool in &pools()[..3] {
        pool.install(|| {
            assert_eq!(walk_tree_prefix(0, path).map(u64::from).sum::<u64>(), 5_000_050_000);
            assert_eq!(walk_tree_postfix(0, path).map(u64::from).sum::<u64>(), 5_000_050_000);
            assert_eq!(walk_tree(0, star).map(u64::from).sum::<u64>(), 200_010_000);
            assert_eq!(walk_tree_postfix(0, star).map(u64::from).sum::<u64>(), 200_010_000);
        });
    }
}

#[test]
fn data_is_split_to_the_end() {
    let halves = |range: std::ops::Range<u32>| {
        let middle = range.start.midpoint(range.end);
        if range.len() > 3 { (range.start..middle, Some(middle..range.end)) } else { (range, None) }
    };
    for len in [0, 1, 3, 4, 1000, 10_000] {
        check((0..len).collect::<Vec<u32>>(), || {
            let parts = in_order(split(0..len, halves));
            assert!(parts.iter().all(|part| part.len() <= 3));
            parts.into_iter().flatten().collect()
        });
    }
}
