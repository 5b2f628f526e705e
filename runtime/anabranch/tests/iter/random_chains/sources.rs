//! The sources of random chains, each with the plain one.

use super::{
    erased::Chain,
    value::{Value, World},
};
use crate::harness::pieces;
use anabranch::{
    iter::{empty, once, repeat, repeat_n, split, walk_tree_postfix, walk_tree_prefix},
    prelude::*,
};
use std::{
    collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque},
    fmt,
    sync::Arc,
};

/// What sources are made of.
pub struct Data {
    pub numbers: Vec<u64>,
    /// Values of the numbers.
    pub items: Vec<Value>,
    /// A number that a source may use as a length or an index.
    pub n: usize,
    pub seed: u64,
    pub world: Arc<World>,
}

impl Data {
    pub fn new(numbers: &[u64], n: usize, seed: u64, world: &Arc<World>) -> Self {
        Self {
            numbers: numbers.to_vec(),
            items: numbers.iter().map(|number| Value::new(*number, world)).collect(),
            n,
            seed,
            world: Arc::clone(world),
        }
    }

    fn value(&self, number: u64) -> Value {
        Value::new(number, &self.world)
    }
    /// Returns the numbers as a text.
    fn text(&self, separator: &str) -> String {
        self.numbers.iter().map(|number| format!("{number}{separator}")).collect()
    }
    fn parsed<'a>(&'a self, words: impl IntoIterator<Item = &'a str>) -> Vec<Value> {
        words.into_iter().map(|word| self.value(parse(word))).collect()
    }
    /// Returns the items in a ring buffer whose content is not contiguous.
    fn ring(&self) -> VecDeque<Value> {
        let mut ring = VecDeque::with_capacity(self.items.len() + 1);
        let (back, front) = self.items.split_at(self.n % (self.items.len() + 1));
        ring.extend(front.iter().cloned());
        back.iter().rev().for_each(|item| ring.push_front(item.clone()));
        ring
    }
    fn by_index(&self) -> BTreeMap<usize, Value> {
        self.items.iter().cloned().enumerate().collect()
    }
    fn range(&self) -> std::ops::Range<i64> {
        -(self.n as i64 / 2)..self.numbers.len() as i64
    }
    /// Returns the children of a node of a binary tree, whose nodes are the indices of the numbers.
    fn children(&self, node: usize) -> Vec<usize> {
        [2 * node + 1, 2 * node + 2].into_iter().filter(|child| *child < self.numbers.len()).collect()
    }
    fn walk(&self, node: usize, is_prefix: bool, nodes: &mut Vec<usize>) {
        if is_prefix {
            nodes.push(node);
        }
        self.children(node).into_iter().for_each(|child| self.walk(child, is_prefix, nodes));
        if !is_prefix {
            nodes.push(node);
        }
    }
}

/// Cuts a slice that is longer than `n`.
fn in_two(part: &[Value], n: usize) -> (&[Value], Option<&[Value]>) {
    let mid = part.len().div_ceil(3);
    if part.len() > n { (&part[..mid], Some(&part[mid..])) } else { (part, None) }
}

fn parse(word: &str) -> u64 {
    word.parse().unwrap_or(999)
}

/// Returns a text that lives for as long as any chain. The texts of the tests are short.
fn leak(text: String) -> &'static str {
    text.leak()
}

/// A source: what a plain iterator yields, and the parallel one.
pub struct Source {
    pub name: &'static str,
    pub plain: fn(&Data) -> Vec<Value>,
    pub parallel: for<'a> fn(&'a Data) -> Chain<'a>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! sources {
    (|$data:ident| $($kind:ident $name:ident: $plain:expr => $parallel:expr;)*) => {
        #[allow(unused_variables, reason = "some sources are always the same")]
        pub static SOURCES: &[Source] = &[$(Source {
            name: stringify!($name),
            plain: |$data| IntoIterator::into_iter($plain).collect(),
            parallel: |$data| Chain::$kind($parallel),
        }),*];
    };
}

sources! { |data|
    indexed vec: data.items.clone() => data.items.clone().into_par_iter();
    indexed slice: data.items.clone() => data.items.par_iter().cloned();
    indexed boxed_slice: data.items.clone() => data.items.clone().into_boxed_slice().into_par_iter();
    indexed ring: data.items.clone() => data.ring().into_par_iter();
    indexed heap: {
        let mut items = BinaryHeap::from(data.items.clone()).into_vec();
        items.sort();
        items
    } => {
        let mut items: Vec<Value> = BinaryHeap::from(data.items.clone()).into_par_iter().collect();
        items.sort();
        items.into_par_iter()
    };
    unindexed list: data.items.clone() => data.items.iter().cloned().collect::<LinkedList<_>>().into_par_iter();
    unindexed map: data.items.clone() => data.by_index().into_par_iter().map(|(_, item)| item);
    unindexed set: data.numbers.iter().collect::<BTreeSet<_>>().into_iter().map(|number| data.value(*number)) =>
        data.numbers.iter().copied().collect::<BTreeSet<_>>().into_par_iter().map(|number| data.value(number));
    indexed range: data.items.clone() => (0..data.items.len()).into_par_iter().map(|index| data.items[index].clone());
    indexed inclusive_range: (0..=data.n as u16).map(|i| data.value(i.into())) =>
        (0..=data.n as u16).into_par_iter().map(|i| data.value(i.into()));
    indexed signed_range: data.range().map(|i| data.value(i as u64)) =>
        data.range().map(|i| i as i32).collect::<Vec<_>>().into_par_iter().map(|i| data.value(i as u64));
    unindexed long_range: data.range().map(|i| data.value(i as u64)) =>
        data.range().into_par_iter().map(|i| data.value(i as u64));
    indexed char_range: ('\u{d7f0}'..'\u{e010}').map(|c| data.value(c.into())) =>
        ('\u{d7f0}'..'\u{e010}').into_par_iter().map(|c| data.value(c.into()));
    indexed array: [3, 1, 2].map(|i| data.value(i)) => [3, 1, 2].map(|i| data.value(i)).into_par_iter();
    indexed option: data.items.first().cloned() => data.items.first().cloned().into_par_iter();
    indexed result: data.items.first().cloned() => data.items.first().cloned().ok_or(()).into_par_iter();
    indexed one: [data.value(7)] => once(data.value(7));
    indexed none: [] => empty();
    indexed copies: vec![data.value(7); data.n] => repeat_n(data.value(7), data.n);
    unindexed endless: vec![data.value(7); data.n] => repeat(data.value(7)).take_any(data.n);
    unindexed chunks: data.items.clone() => data.items.par_chunks(data.n + 1).flat_map_iter(<[_]>::to_vec);
    unindexed rchunks: data.items.rchunks(data.n + 1).flat_map(<[_]>::to_vec) =>
        data.items.par_rchunks(data.n + 1).flat_map_iter(<[_]>::to_vec);
    unindexed exact_chunks: data.items.clone() => {
        let chunks = data.items.par_chunks_exact(data.n + 1);
        let rest = chunks.remainder().par_iter().cloned();
        chunks.flat_map(|chunk| chunk.par_iter().cloned()).chain(rest)
    };
    indexed windows: data.items.windows(data.n + 1).map(|window| window[data.n].clone()) =>
        data.items.par_windows(data.n + 1).map(|window| window[data.n].clone());
    unindexed runs: data.items.clone() => data.items.par_chunk_by(PartialEq::eq).flat_map_iter(<[_]>::to_vec);
    unindexed split_slice: data.items.split(|item| item.get() % 4 == 1).map(|part| data.value(part.len() as u64)) =>
        data.items.par_split(|item| item.get() % 4 == 1).map(|part| data.value(part.len() as u64));
    unindexed split_inclusive: data.items.clone() =>
        data.items.par_split_inclusive(|item| item.get() % 4 == 1).flat_map_iter(<[_]>::to_vec);
    unindexed bridge: data.items.clone() => data.items.iter().cloned().par_bridge_ordered();
    unindexed bridge_in_batches: data.items.clone() =>
        data.items.iter().filter(|_| true).cloned().par_bridge().max_batch(data.n + 1).ordered();
    unindexed split: data.items.clone() =>
        split(&data.items[..], |part| in_two(part, data.n + 1)).flat_map_iter(<[_]>::to_vec);
    unindexed tree: {
        let mut nodes = Vec::new();
        data.walk(0, true, &mut nodes);
        nodes.into_iter().map(|node| data.value(node as u64))
    } => walk_tree_prefix(0, |node| data.children(*node)).map(|node| data.value(node as u64));
    unindexed tree_from_below: {
        let mut nodes = Vec::new();
        data.walk(0, false, &mut nodes);
        nodes.into_iter().map(|node| data.value(node as u64))
    } => walk_tree_postfix(0, |node| data.children(*node)).map(|node| data.value(node as u64));
    unindexed chars: data.text("é").chars().map(|c| data.value(c.into())) =>
        leak(data.text("é")).par_chars().map(|c| data.value(c.into()));
    unindexed lines: data.parsed(data.text("\r\n").lines()) =>
        leak(data.text("\r\n")).par_lines().map(|line| data.value(parse(line)));
    unindexed words: data.parsed(data.text(" \u{2003}").split_whitespace()) =>
        leak(data.text(" \u{2003}")).par_split_whitespace().map(|word| data.value(parse(word)));
    unindexed fields: data.parsed(data.text(",").split(',')) =>
        leak(data.text(",")).par_split(',').map(|word| data.value(parse(word)));
    unindexed pieces: data.items.clone() => pieces(data.items.clone(), data.seed);
}
