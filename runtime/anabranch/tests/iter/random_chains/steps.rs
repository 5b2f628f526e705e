//! The steps of random chains, each with the plain one.

use super::{
    erased::{Chain, Indexed},
    value::{Value, World},
};
use crate::{common::Random, harness::pieces};
use anabranch::{
    iter::{
        Either,
        plumbing::{Consumer, Drive, DriveIndexed, Position, Producer, Progress},
    },
    prelude::*,
};
use std::{fmt, ops::Range, sync::Arc, vec};

/// What a step or an end may use beside the items.
pub struct Arg {
    /// A length, an index, a limit.
    pub n: usize,
    pub seed: u64,
    pub world: Arc<World>,
}

impl Arg {
    pub fn value(&self, number: impl TryInto<u64, Error: fmt::Debug>) -> Value {
        Value::new(number.try_into().expect("a number"), &self.world)
    }
    /// Returns further items.
    pub fn more(&self) -> Vec<Value> {
        let mut random = Random(self.seed);
        (0..self.seed % 3 * self.n as u64 / 2).map(|_| self.value(random.below(50))).collect()
    }
    /// Returns whether a predicate that depends on `n` holds.
    pub fn holds(&self, number: u64) -> bool {
        number % (self.n as u64 + 2) != 1
    }
    /// Returns 0 to 3 values.
    fn several(&self, item: Value) -> Vec<Value> {
        vec![item.clone(); (item.get() as usize + self.n) % 4]
    }
    fn part(&self, len: usize) -> Range<usize> {
        let start = self.n % (len + 1);
        start..start + (len - start) / 2
    }
}

/// Returns the last one of two values that is even, or else the first one. The operation is associative, and its order
/// matters.
pub fn last_even(a: Value, b: &Value) -> Value {
    let b = b.get();
    a.with(|a| if b.is_multiple_of(2) { b } else { a })
}

/// Joins the values of a chunk.
fn mixed(chunk: Vec<Value>) -> Value {
    chunk.into_iter().reduce(|all, item| all.mix(&item)).expect("a chunk has items")
}

/// Returns chunks of `size` items.
fn chunks(mut items: vec::IntoIter<Value>, size: usize) -> impl Iterator<Item = Vec<Value>> {
    std::iter::from_fn(move || Some(items.by_ref().take(size).collect::<Vec<_>>()).filter(|chunk| !chunk.is_empty()))
}

/// Takes items of both in turns, and what is left of the longer one.
fn interleaved(items: vec::IntoIter<Value>, mut more: vec::IntoIter<Value>, is_shortest: bool) -> Vec<Value> {
    let (mut items, mut all) = (items.fuse(), Vec::new());
    loop {
        match (items.next(), is_shortest) {
            (Some(item), _) => all.push(item),
            (None, true) => return all,
            (None, false) => {}
        }
        match (more.next(), is_shortest) {
            (Some(item), _) => all.push(item),
            (None, true) => return all,
            (None, false) => {
                all.extend(items);
                return all;
            }
        }
    }
}

/// Cuts a producer at random places, and folds the parts as if threads had stolen some of them.
struct Cut<'a> {
    iter: Indexed<'a>,
    seed: u64,
}

impl Drive for Cut<'_> {
    type Item = Value;

    fn drive<C: Consumer<Value>>(
        mut self,
        consumer: &C,
        folder: C::Folder,
        at: C::Position,
    ) -> Progress<C::Folder, C::Result> {
        fn cut<P: Producer<Item = Value>, C: Consumer<Value>>(
            piece: P,
            random: &mut Random,
            consumer: &C,
            folder: C::Folder,
            at: C::Position,
        ) -> Progress<C::Folder, C::Result> {
            let len = piece.len();
            if consumer.is_full(&folder, at) {
                return Progress::Folding(folder);
            }
            if len < 2 || random.below(4) == 0 {
                return Progress::Folding(consumer.consume_iter(folder, piece.into_iter()));
            }
            let mid = random.below(len as u64 + 1) as usize;
            let ((left, right), (at_left, at_right)) = (piece.split_at(mid), at.split_at(mid, len));
            let cut_alone =
                |piece, random: &mut Random, at| cut(piece, random, consumer, consumer.folder(at), at).finish(consumer);
            // Another thread may take the right part, and may be done with it before this one begins with the left
            // part.
            let (is_stolen, is_first) = (random.below(2) == 0, random.below(2) == 0);
            let (left, right) = if is_stolen && is_first {
                let right = cut_alone(right, random, at_right);
                (cut(left, random, consumer, folder, at_left), right)
            } else {
                match cut(left, random, consumer, folder, at_left) {
                    Progress::Folding(folder) if !is_stolen => return cut(right, random, consumer, folder, at_right),
                    left => (left, cut_alone(right, random, at_right)),
                }
            };
            Progress::Complete(consumer.combine(left.finish(consumer), right))
        }

        cut(self.iter.producer(), &mut Random(self.seed), consumer, folder, at)
    }
}

/// A step: what becomes of the items, by a plain iterator and by a parallel one.
pub struct Step {
    pub name: &'static str,
    pub plain: fn(vec::IntoIter<Value>, &Arg) -> Vec<Value>,
    pub parallel: for<'a> fn(Chain<'a>, &'a Arg) -> Chain<'a>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns an indexed chain. If `chain` is not, its items are collected.
pub fn to_indexed(chain: Chain<'_>) -> Indexed<'_> {
    let chain = match chain {
        Chain::Unindexed(iter) => Chain::indexed(iter.collect::<Vec<_>>().into_par_iter()),
        indexed => indexed,
    };
    let Chain::Indexed(iter) = chain else { unreachable!() };
    iter
}

/// Defines the steps. The second expression is missing if it is the same as the first one.
///
/// - `keeps`: the chain remains indexed if it is.
/// - `indexed`: it has to be indexed, and remains so.
/// - `cuts`: it has to be indexed, and does not remain so.
/// - `any`: the result is not indexed.
/// - `gathers`: the items are collected.
macro_rules! steps {
    (|$items:ident, $arg:ident| $($kind:ident $name:ident: $plain:expr $(=> $parallel:expr)?;)*) => {
        #[allow(unused_variables, reason = "some steps have no argument")]
        pub static STEPS: &[Step] = &[$(Step {
            name: stringify!($name),
            plain: |$items, $arg| IntoIterator::into_iter($plain).collect(),
            parallel: |chain, $arg| steps!(@$kind chain, $items, steps!(@last $plain $(=> $parallel)?)),
        }),*];
    };
    (@last $plain:expr) => { $plain };
    (@last $plain:expr => $parallel:expr) => { $parallel };
    (@keeps $chain:ident, $items:ident, $parallel:expr) => {
        match $chain {
            Chain::Unindexed($items) => Chain::unindexed($parallel),
            Chain::Indexed($items) => Chain::indexed($parallel),
        }
    };
    (@indexed $chain:ident, $items:ident, $parallel:expr) => {{
        let $items = to_indexed($chain);
        Chain::indexed($parallel)
    }};
    (@cuts $chain:ident, $items:ident, $parallel:expr) => {{
        let $items = to_indexed($chain);
        Chain::unindexed($parallel)
    }};
    (@any $chain:ident, $items:ident, $parallel:expr) => {{
        let $items = $chain.into_unindexed();
        Chain::unindexed($parallel)
    }};
    (@gathers $chain:ident, $items:ident, $parallel:expr) => {{
        let $items = $chain.into_unindexed();
        Chain::indexed($parallel)
    }};
}

steps! { |items, arg|
    // Each item on its own.
    keeps map: items.map(move |item| item.with(|number| 3 * number + arg.n as u64));
    keeps coarsen: items.map(|item| item.with(|number| number % 5));
    keeps inspect: items.inspect(|item| _ = item.get());
    keeps update: items.map(|item| item.with(|number| number ^ 1)) =>
        items.update(|item| item.set(|number| number ^ 1));
    keeps map_with: items.map(|item| item.with(|number| number + 2)) =>
        items.map_with(arg.value(2), |two, item| item.with(|number| number + two.get()));
    keeps map_init: items.map(|item| item.with(|number| number + 2)) =>
        items.map_init(|| arg.value(2), |two, item| item.with(|number| number + two.get()));
    keeps panic_fuse: items => items.panic_fuse();
    keeps progress: items => items.progress(|_| arg.world.step());
    any forget_length: items;
    any deterministic: items => items.deterministic();
    any filter: items.filter(|item| arg.holds(item.get()));
    any filter_map: items.filter_map(|item| (item.get() % 3 != 0).then(|| item.with(|number| number / 3)));
    any while_some: items => items.map(Some).while_some();
    any take_any: items => items.take_any(usize::MAX);
    any skip_any: items => items.skip_any(0);
    any take_any_while: items => items.take_any_while(|item| item.get() < u64::MAX);
    any skip_any_while: items => items.skip_any_while(|item| item.get() == u64::MAX);

    // Several items of one.
    any flat_map: items.flat_map(|item| arg.several(item));
    any flat_map_filtered: items.flat_map(|item| arg.several(item)).filter(|item| item.get() % 2 == 0) =>
        items.flat_map(|item| arg.several(item).into_par_iter().filter(|item| item.get() % 2 == 0));
    any flat_map_in_pieces: items.flat_map(|item| arg.several(item)) =>
        items.flat_map(|item| pieces(arg.several(item), arg.seed));
    any flat_map_iter: items.flat_map(|item| arg.several(item)) => items.flat_map_iter(|item| arg.several(item));
    any flatten: items.flat_map(|item| arg.several(item)) => items.map(|item| arg.several(item)).flatten();
    any flatten_iter: items.flat_map(|item| arg.several(item)) => items.map(|item| arg.several(item)).flatten_iter();
    any flatten_options: items.flat_map(|item| arg.holds(item.get()).then_some(item)) =>
        items.flat_map(|item| arg.holds(item.get()).then_some(item));

    // Neighbours.
    keeps intersperse: items.flat_map(|item| [arg.value(9), item]).skip(1) => items.intersperse(arg.value(9));
    any dedup: { let mut all = items.collect::<Vec<_>>(); all.dedup(); all } => items.dedup();
    any dedup_by_key: {
        let mut all = items.collect::<Vec<_>>();
        all.dedup_by_key(|item| item.get() % 7);
        all
    } => items.dedup_by_key(|item| item.get() % 7);
    any take_while: items.take_while(|item| arg.holds(item.get()));
    any skip_while: items.skip_while(|item| arg.holds(item.get()));
    gathers prefix_scan: items.scan(None, |sum: &mut Option<Value>, item| {
        *sum = Some(match sum.take() {
            Some(before) => last_even(before, &item),
            None => item,
        });
        sum.clone()
    }) => items.prefix_scan(|a, b| last_even(a.clone(), b)).into_par_iter();

    // Pieces.
    any fold: items => items.fold(Vec::new, |mut all, item| {
        arg.world.step();
        all.push(item);
        all
    }).flatten_iter();
    any fold_with: items => items.fold_with(vec![arg.value(1)], |mut all, item| {
        all.push(item);
        all
    }).flat_map(|mut all| {
        assert_eq!(all.remove(0).get(), 1);
        all
    });
    any try_fold: items => items.try_fold(Vec::new, |mut all, item| {
        arg.world.step();
        all.push(item);
        Some(all)
    }).flat_map_iter(|all| all.expect("no failure"));
    any try_fold_with: items => items.try_fold_with(Vec::new(), |mut all, item| {
        arg.world.step();
        all.push(item);
        Ok::<_, ()>(all)
    }).flat_map_iter(|all| all.expect("no failure"));
    cuts cut: items => Cut { iter: items, seed: arg.seed };
    cuts by_exponential_blocks: items => items.by_exponential_blocks();
    cuts by_uniform_blocks: items => items.by_uniform_blocks(arg.n + 1);
    indexed with_min_len: items => items.with_min_len(arg.n);
    indexed with_max_len: items => items.with_max_len(arg.n);

    // Indices.
    indexed enumerate: items.enumerate().map(|(index, item)| item.with(|number| number + 3 * index as u64));
    cuts positions: items.enumerate().filter(|(_, item)| arg.holds(item.get())).map(|(index, _)| arg.value(index)) =>
        items.positions(|item| arg.holds(item.get())).map(|index| arg.value(index));
    indexed rev: items.rev();
    indexed skip: items.skip(arg.n);
    indexed take: items.take(arg.n);
    indexed step_by: items.step_by(arg.n + 1);
    indexed chunks: chunks(items, arg.n + 1).map(mixed) => items.chunks(arg.n + 1).map(mixed);
    cuts chunks_flattened: items => items.chunks(arg.n + 1).flatten();
    indexed fold_chunks: chunks(items, arg.n + 1).map(mixed) => items.fold_chunks(
        arg.n + 1,
        || None,
        |all: Option<Value>, item| Some(match all {
            Some(all) => all.mix(&item),
            None => item,
        }),
    ).map(|all| all.expect("a chunk has items"));
    indexed fold_chunks_with: chunks(items, arg.n + 1).map(|chunk| arg.value(chunk.len())) =>
        items.fold_chunks_with(arg.n + 1, arg.value(0), |count, _| count.with(|count| count + 1));

    // Several iterators.
    keeps chain: items.chain(arg.more());
    keeps chain_in_front: arg.more().into_iter().chain(items) => arg.more().into_par_iter().chain(items);
    any chain_filtered: items.chain(arg.more().into_iter().filter(|item| item.get() % 2 == 0)) =>
        items.chain(arg.more().into_par_iter().filter(|item| item.get() % 2 == 0));
    indexed zip: items.zip(arg.more()).map(|(a, b)| a.mix(&b));
    indexed zip_reversed: arg.more().into_iter().zip(items).map(|(a, b)| a.mix(&b)) =>
        arg.more().into_par_iter().zip(items).map(|(a, b)| a.mix(&b));
    indexed zip_eq: items.enumerate().map(|(index, item)| item.mix(&arg.value(index))) => {
        let indices = 0..items.len();
        items.zip_eq(indices).map(|(item, index)| item.mix(&arg.value(index)))
    };
    indexed multi_zip: items.zip(0..arg.n).zip(arg.more()).map(|((a, i), b)| a.mix(&arg.value(i)).mix(&b)) =>
        (items, 0..arg.n, arg.more()).into_par_iter().map(|(a, i, b)| a.mix(&arg.value(i)).mix(&b));
    indexed interleave: interleaved(items, arg.more().into_iter(), false) => items.interleave(arg.more());
    indexed interleave_shortest: interleaved(items, arg.more().into_iter(), true) =>
        items.interleave_shortest(arg.more());

    keeps either: items.map(|item| item.with(|number| number + 1)) =>
        if arg.n % 2 == 0 {
            Either::Left(items.map(|item| item.with(|number| number + 1)))
        } else {
            Either::Right(items.update(|item| item.set(|number| number + 1)))
        };

    // Collections in between.
    gathers collected: items => items.collect::<Vec<_>>().into_par_iter();
    any bridged: items => items.collect::<Vec<_>>().into_iter().par_bridge_ordered();
    gathers drained: {
        let mut all = items.collect::<Vec<_>>();
        let mut part: Vec<_> = all.drain(arg.part(all.len())).collect();
        part.append(&mut all);
        part
    } => {
        let mut all = items.collect::<Vec<_>>();
        let part: Vec<_> = all.par_drain(arg.part(all.len())).collect();
        part.into_par_iter().chain(all)
    };
    gathers changed_in_place: items.enumerate().map(|(index, item)| item.with(|number| number + index as u64 / 3)) => {
        let mut all = items.collect::<Vec<_>>();
        all.par_chunks_mut(3).enumerate().for_each(|(index, chunk)| {
            chunk.par_iter_mut().for_each(|item| item.set(|number| number + index as u64));
        });
        all.into_par_iter()
    };
    gathers sorted: { let mut all = items.collect::<Vec<_>>(); all.sort(); all } => {
        let mut all = items.collect::<Vec<_>>();
        all.par_sort();
        all.into_par_iter()
    };
    gathers sorted_by_key: { let mut all = items.collect::<Vec<_>>(); all.sort_by_key(|item| item.get() % 9); all } => {
        let mut all = items.collect::<Vec<_>>();
        all.par_sort_by_key(|item| item.get() % 9);
        all.into_par_iter()
    };
    gathers sorted_by_cached_key: {
        let mut all = items.collect::<Vec<_>>();
        all.sort_by_key(|item| item.get() % 9);
        all
    } => {
        let mut all = items.collect::<Vec<_>>();
        all.par_sort_by_cached_key(|item| item.clone().with(|number| number % 9));
        all.into_par_iter()
    };
    gathers sorted_unstable: { let mut all = items.collect::<Vec<_>>(); all.sort_by(|a, b| b.cmp(a)); all } => {
        let mut all = items.collect::<Vec<_>>();
        all.par_sort_unstable_by(|a, b| b.cmp(a));
        all.into_par_iter()
    };
}
