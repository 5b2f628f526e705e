//! The ends of random chains, each with the plain one. All results become texts.

use super::{
    erased::Chain,
    steps::{Arg, last_even, to_indexed},
    value::{Digest, Value},
};
use crate::{agree::from_producer, common::Random};
use anabranch::{
    iter::{
        Either,
        plumbing::{Drive, DriveIndexed},
    },
    prelude::*,
};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet, HashSet, LinkedList, VecDeque},
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    vec,
};

/// An end: the result of a plain iterator, and that of a parallel one.
pub struct End {
    pub name: &'static str,
    pub plain: fn(vec::IntoIter<Value>, &Arg) -> String,
    pub parallel: for<'a> fn(Chain<'a>, &'a Arg) -> String,
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns the items with the last one changed, or without it, depending on `arg`.
fn changed(items: &[Value], arg: &Arg) -> Vec<Value> {
    let mut other = items.to_vec();
    match arg.seed % 4 {
        0 => _ = other.pop(),
        1 if !other.is_empty() => {
            let index = arg.n % other.len();
            other[index].set(|number| number ^ 1);
        }
        2 => other.push(arg.value(3u64)),
        _ => {}
    }
    other
}

fn by_key(a: &Value, b: &Value) -> Ordering {
    (a.get() % 11).cmp(&(b.get() % 11))
}

/// Adds up what threads report in any order.
fn total(run: impl FnOnce(&AtomicU64)) -> u64 {
    let total = AtomicU64::new(0);
    run(&total);
    total.into_inner()
}

/// Defines the ends. The second expression is missing if it is the same as the first one. `indexed`: the chain has to
/// be indexed.
macro_rules! ends {
    (|$items:ident, $arg:ident| $($kind:ident $name:ident: $plain:expr $(=> $parallel:expr)?;)*) => {
        #[allow(unused_variables, unused_mut, reason = "some ends have no argument, or need no mutable iterator")]
        pub static ENDS: &[End] = &[$(End {
            name: stringify!($name),
            plain: |mut $items, $arg| format!("{:?}", $plain),
            parallel: |chain, $arg| {
                let $items = ends!(@$kind chain);
                format!("{:?}", ends!(@last $plain $(=> $parallel)?))
            },
        }),*];
    };
    (@last $plain:expr) => { $plain };
    (@last $plain:expr => $parallel:expr) => { $parallel };
    (@any $chain:ident) => { $chain.into_unindexed() };
    (@indexed $chain:ident) => { to_indexed($chain) };
}

ends! { |items, arg|
    // Collections.
    any collect: items.collect::<Vec<_>>();
    any collect_numbers: items.map(|item| item.get()).collect::<Vec<_>>();
    any collect_units: items.map(drop).collect::<Vec<()>>();
    any collect_boxed: items.collect::<Box<[_]>>();
    any collect_list: items.collect::<LinkedList<_>>();
    any collect_deque: items.collect::<VecDeque<_>>();
    // Not of items whose comparison panics: std leaks those that it has put into a tree.
    any collect_set: items.map(|item| item.get()).collect::<BTreeSet<_>>();
    any collect_hash_set: {
        let mut all: Vec<_> = items.collect::<HashSet<_>>().into_iter().collect();
        all.sort();
        all
    };
    any collect_map: items.map(|item| (item.get() % 5, item)).collect::<BTreeMap<_, _>>();
    any collect_text: items.map(|item| char::from(b'a' + (item.get() % 26) as u8)).collect::<String>();
    any collect_pair: items.map(|item| (item.get(), item)).collect::<(Vec<_>, Vec<_>)>();
    any collect_ok: items.map(Ok::<_, ()>).collect::<Result<Vec<_>, _>>();
    any collect_result: items.map(|item| if arg.holds(item.get()) { Ok(item) } else { Err(()) })
        .collect::<Result<Vec<_>, _>>();
    any collect_option: items.map(|item| arg.holds(item.get()).then_some(item)).collect::<Option<Vec<_>>>();
    any collect_vec_list: items.collect::<Vec<_>>() =>
        items.collect_vec_list().into_iter().flatten().collect::<Vec<_>>();
    any extend: { let mut all = arg.more(); all.extend(items); all } =>
        { let mut all = arg.more(); all.par_extend(items); all };
    any extend_either: items.collect::<Vec<_>>() => {
        let mut all = match arg.n % 2 {
            0 => Either::Left(Vec::new()),
            _ => Either::Right(VecDeque::new()),
        };
        all.par_extend(items);
        all.into_iter().collect::<Vec<_>>()
    };
    any unzip: items.map(|item| (item.get(), item)).unzip::<_, _, Vec<_>, VecDeque<_>>();
    any unzip_to_vecs: items.map(|item| (item.get(), item)).unzip::<_, _, Vec<_>, Vec<_>>();
    any extend_pair: {
        let mut both = (arg.more(), arg.more());
        both.extend(items.map(|item| (item.clone(), item)));
        both
    } => {
        let mut both = (arg.more(), arg.more());
        both.par_extend(items.map(|item| (item.clone(), item)));
        both
    };
    any partition: items.partition::<Vec<_>, _>(|item| arg.holds(item.get())) =>
        items.partition::<Vec<_>, Vec<_>, _>(|item| arg.holds(item.get()));
    any partition_map: items.partition::<Vec<_>, _>(|item| arg.holds(item.get())) =>
        items.partition_map::<Vec<_>, Vec<_>, _, _, _>(|item| {
            if arg.holds(item.get()) { Either::Left(item) } else { Either::Right(item) }
        });
    indexed collect_into_vec: items.collect::<Vec<_>>() => {
        let mut all = arg.more();
        items.collect_into_vec(&mut all);
        all
    };
    indexed unzip_into_vecs: items.map(|item| (item.clone(), item)).unzip::<_, _, Vec<_>, Vec<_>>() => {
        let (mut left, mut right) = (arg.more(), arg.more());
        items.map(|item| (item.clone(), item)).unzip_into_vecs(&mut left, &mut right);
        (left, right)
    };
    indexed cut_producer: items.collect::<Vec<_>>() => from_producer(items, &mut Random(arg.seed));
    indexed length: items.len() => (items.len(), items.opt_len() == Some(items.len())).0;

    // One value of all.
    any count: items.count();
    any sum: items.map(|item| Digest::of(&item)).sum::<Digest>();
    any product: items.product::<Digest>();
    any reduce: items.map(|item| Digest::of(&item)).fold(Digest::EMPTY, Digest::then) =>
        items.map(|item| Digest::of(&item)).reduce(|| Digest::EMPTY, Digest::then);
    any reduce_with: items.reduce(|a, b| last_even(a, &b)) => items.reduce_with(|a, b| last_even(a, &b));
    any fold: items.fold(Digest::EMPTY, |all, item| all.then(Digest::of(&item))) =>
        items.fold(|| Digest::EMPTY, |all, item| all.then(Digest::of(&item))).reduce(|| Digest::EMPTY, Digest::then);
    any try_reduce: Some(items.fold(Digest::EMPTY, |all, item| all.then(Digest::of(&item)))) =>
        items.map(|item| Some(Digest::of(&item))).try_reduce(|| Digest::EMPTY, |a, b| Some(a.then(b)));
    any try_reduce_failing: items.all(|item| arg.holds(item.get())) =>
        items.map(|item| if arg.holds(item.get()) { Ok(item) } else { Err(()) })
            .try_reduce(|| arg.value(0u64), |a, b| Ok(a.mix(&b)))
            .is_ok();
    any try_reduce_with: items.reduce(|_, last| last).map(Some) => items.map(Some).try_reduce_with(|_, last| Some(last));
    any try_fold: items.all(|item| arg.holds(item.get())) =>
        items.try_fold(|| (), |(), item| arg.holds(item.get()).then_some(())).all(|done| done.is_some());
    any min: items.min();
    any max: items.max();
    any min_by: items.min_by(by_key);
    any max_by: items.max_by(by_key);
    any min_by_key: items.min_by_key(|item| item.get() % 11);
    any max_by_key: items.max_by_key(|item| item.get() % 11);

    // Searches.
    any find_first: items.find(|item| !arg.holds(item.get())) => items.find_first(|item| !arg.holds(item.get()));
    any find_last: items.rfind(|item| !arg.holds(item.get())) => items.find_last(|item| !arg.holds(item.get()));
    any find_any: items.any(|item| !arg.holds(item.get())) =>
        items.find_any(|item| !arg.holds(item.get())).is_some_and(|item| !arg.holds(item.get()));
    any find_map_first: items.find_map(|item| Some(item.get() / 4).filter(|i| i % 8 == 3)) =>
        items.find_map_first(|item| Some(item.get() / 4).filter(|i| i % 8 == 3));
    any find_map_last: items.rev().find_map(|item| Some(item.get() / 4).filter(|i| i % 8 == 3)) =>
        items.find_map_last(|item| Some(item.get() / 4).filter(|i| i % 8 == 3));
    any find_map_any: items.any(|item| item.get() % 8 == 3) =>
        items.find_map_any(|item| Some(item.get()).filter(|i| i % 8 == 3)).is_some_and(|i| i % 8 == 3);
    any any: items.any(|item| !arg.holds(item.get()));
    any all: items.all(|item| arg.holds(item.get()));
    indexed position_first: items.position(|item| !arg.holds(item.get())) =>
        items.position_first(|item| !arg.holds(item.get()));
    indexed position_last: items.rposition(|item| !arg.holds(item.get())) =>
        items.position_last(|item| !arg.holds(item.get()));
    indexed position_any: items.any(|item| !arg.holds(item.get())) =>
        items.position_any(|item| !arg.holds(item.get())).is_some();

    // Comparisons.
    indexed cmp: { let other = changed(items.as_slice(), arg); items.cmp(other) } => {
        let items: Vec<_> = items.collect();
        let other = changed(&items, arg);
        items.into_par_iter().cmp(other)
    };
    indexed partial_cmp: { let other = changed(items.as_slice(), arg); items.partial_cmp(other) } => {
        let items: Vec<_> = items.collect();
        let other = changed(&items, arg);
        items.into_par_iter().partial_cmp(other)
    };
    indexed compare: {
        let (items, other) = (items.as_slice(), &changed(items.as_slice(), arg)[..]);
        [items == other, items != other, items < other, items <= other, items > other, items >= other]
    } => {
        let items: Vec<_> = items.collect();
        let other = &changed(&items, arg)[..];
        let iter = || items.par_iter();
        [iter().eq(other), iter().ne(other), iter().lt(other), iter().le(other), iter().gt(other), iter().ge(other)]
    };

    // Loops.
    any for_each: items.map(|item| item.get() / 2).sum::<u64>() =>
        total(|total| items.for_each(|item| _ = total.fetch_add(item.get() / 2, Relaxed)));
    any for_each_with: items.map(|item| item.get() / 2).sum::<u64>() => total(|total| {
        items.for_each_with(arg.value(2u64), |two, item| _ = total.fetch_add(item.get() / two.get(), Relaxed));
    });
    any for_each_init: items.map(|item| item.get() / 2).sum::<u64>() => total(|total| {
        let two = || arg.value(2u64);
        items.for_each_init(two, |two, item| _ = total.fetch_add(item.get() / two.get(), Relaxed));
    });
    any try_for_each: items.try_for_each(|item| if arg.holds(item.get()) { Ok(()) } else { Err("an error") }) =>
        items.try_for_each(|item| if arg.holds(item.get()) { Ok(()) } else { Err("an error") });
    any try_for_each_with: items.try_for_each(|item| arg.holds(item.get()).then_some(())) =>
        items.try_for_each_with(arg.value(0u64), |zero, item| arg.holds(item.get() + zero.get()).then_some(()));
    any try_for_each_init: items.try_for_each(|item| arg.holds(item.get()).then_some(())) =>
        items.try_for_each_init(|| arg.value(0u64), |zero, item| {
            arg.holds(item.get() + zero.get()).then_some(())
        });
}
