//! The methods of all parallel iterators.

#[cfg(doc)]
use crate::wait::Cancelled;
use crate::{
    cx::Cx,
    iter::{
        adapters::{
            CancelledBy, Chain, Cloned, Copied, Dedup, DedupByKey, Deterministic, Filter, FilterMap, FlatMap,
            FlatMapIter, Flatten, FlattenIter, Fold, FoldWith, Inspect, Intersperse, Map, MapInit, MapWith, PanicFuse,
            Reported, SkipAny, SkipAnyWhile, SkipWhile, TakeAny, TakeAnyWhile, TakeWhile, TryFold, TryFoldWith, Update,
            WhileSome, init::Shared,
        },
        collect::{FromParallelIterator, ParallelExtend, pairs, to_vecs, unzip},
        convert::IntoParallelIterator,
        fallible::Try,
        plumbing::{Drive, Span, bridge::run},
        terminal::{
            count::Count,
            find::{FindAny, FindFirst, FindLast},
            for_each::ForEach,
            prefix_scan::{Scan, concatenate},
            reduce::{Reduce, greater, lesser},
            sum::{Product, Sum},
            try_reduce::TryReduce,
        },
    },
};
use either::Either;
use std::{cmp::Ordering, collections::LinkedList, convert, iter};

/// The methods of all parallel iterators.
///
/// A parallel iterator does nothing until one of its consuming methods is called. That method uses the caller's pool,
/// or else the default pool. See the [module](crate::iter) for an introduction.
pub trait ParallelIterator: Drive {
    // ---- consume ----

    /// Calls `op` for each item, in parallel and in no particular order.
    ///
    /// # Panics
    /// If `op` panics, resumes one of the panics once all started calls have ended.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let mut items = vec![1.0f64; 1000];
    /// items.par_iter_mut().for_each(|item| *item = item.sin());
    /// ```
    #[track_caller]
    fn for_each<F>(self, op: F)
    where
        F: Fn(Self::Item) + Sync + Send,
    {
        run(self, &ForEach(op), ());
    }

    // ---- reduce ----

    /// Returns the sum of the items.
    ///
    /// Neighbouring parts of the sequence are summed separately, and the sums are added. So for floating-point numbers
    /// the last digits depend on where other threads took work; [`deterministic`](Self::deterministic) prevents that.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum: u32 = (1..=100u32).into_par_iter().sum();
    /// assert_eq!(sum, 5050);
    /// ```
    #[track_caller]
    fn sum<S>(self) -> S
    where
        S: iter::Sum<Self::Item> + iter::Sum<S> + Send,
    {
        run(self, &Sum::NEW, ())
    }

    /// Multiplies the items. As for [`sum`](Self::sum), the last digits of floating-point numbers may differ from run
    /// to run.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([2, 3, 4].par_iter().product::<i32>(), 24);
    /// ```
    #[track_caller]
    fn product<P>(self) -> P
    where
        P: iter::Product<Self::Item> + iter::Product<P> + Send,
    {
        run(self, &Product::NEW, ())
    }

    /// Combines the items using `op`, or returns `identity()` if there are none.
    ///
    /// `op` must be associative, and `identity()` neutral; otherwise the result depends on where other threads took
    /// work. `op` need not be commutative: it gets neighbouring parts of the sequence, in order. `identity` is called
    /// only if there are no items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let points = [(1, 10), (2, 20), (3, 30)];
    /// let sum = points.par_iter().copied().reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    /// assert_eq!(sum, (6, 60));
    /// ```
    #[track_caller]
    fn reduce<F, N>(self, identity: N, op: F) -> Self::Item
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        N: Fn() -> Self::Item + Sync + Send,
    {
        self.reduce_with(op).unwrap_or_else(identity)
    }

    /// Combines the items using `op`, or returns `None` if there are none. See [`reduce`](Self::reduce).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let longest = ["to", "be", "or"].par_iter().copied().reduce_with(|a, b| if b.len() > a.len() { b } else { a });
    /// assert_eq!(longest, Some("to"));
    /// ```
    #[track_caller]
    fn reduce_with<F>(self, op: F) -> Option<Self::Item>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        run(self, &Reduce(op), ())
    }

    /// Combines the contents of the items using `op` until an item or a result of `op` is a failure, or returns
    /// `identity()` if there are no items. See [`reduce`](Self::reduce) for `op`, and [`Try`] for the types.
    ///
    /// After a failure the other threads stop at the end of their blocks. If there are several failures, this returns
    /// the first of the failures that were met.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum = |items: &[i32]| items.par_iter().map(|i| Some(*i)).try_reduce(|| 0, |a, b| a.checked_add(b));
    /// assert_eq!(sum(&[1, 2, 3]), Some(6));
    /// assert_eq!(sum(&[1, i32::MAX, 3]), None);
    /// ```
    #[track_caller]
    fn try_reduce<T, F, N>(self, identity: N, op: F) -> Self::Item
    where
        F: Fn(T, T) -> Self::Item + Sync + Send,
        N: Fn() -> T + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        self.try_reduce_with(op).unwrap_or_else(|| Self::Item::from_output(identity()))
    }

    /// Like [`try_reduce`](Self::try_reduce), but returns `None` if there are no items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let largest = ["7", "12"].par_iter().map(|text| text.parse::<i32>()).try_reduce_with(|a, b| Ok(a.max(b)));
    /// assert_eq!(largest, Some(Ok(12)));
    /// ```
    #[track_caller]
    fn try_reduce_with<T, F>(self, op: F) -> Option<Self::Item>
    where
        F: Fn(T, T) -> Self::Item + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        run(self, &TryReduce::new(op), ())
    }

    /// Returns the number of items. It runs the iterator, so that closures such as the closure of `map` are called.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3].par_iter().filter(|item| **item > 1).count(), 2);
    /// ```
    #[track_caller]
    fn count(self) -> usize {
        run(self, &Count, ())
    }

    /// Returns the minimum item, or the first of them if several are equal. Returns `None` if there are no items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([3, 1, 2].par_iter().min(), Some(&1));
    /// ```
    #[track_caller]
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.reduce_with(Ord::min)
    }

    /// Returns the minimum item with respect to `compare`, or the first of them if several are equal. Returns `None` if
    /// there are no items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([0.5, -1.0].par_iter().min_by(|a, b| f64::total_cmp(a, b)), Some(&-1.0));
    /// ```
    #[track_caller]
    fn min_by<F>(self, compare: F) -> Option<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        self.reduce_with(lesser(compare))
    }

    /// Returns the item with the minimum key, or the first of them if several keys are equal. Returns `None` if there
    /// are no items. Calls `key` once for each item.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([-3i32, 2, -2].par_iter().min_by_key(|item| item.abs()), Some(&2));
    /// ```
    #[track_caller]
    fn min_by_key<K, F>(self, key: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Fn(&Self::Item) -> K + Sync + Send,
    {
        let with_key = self.map(move |item| (key(&item), item));
        let least = with_key.reduce_with(lesser(|a: &(K, _), b: &(K, _)| a.0.cmp(&b.0)));
        least.map(|(_, item)| item)
    }

    /// Returns the maximum item, or the last of them if several are equal. Returns `None` if there are no items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([3, 1, 2].par_iter().max(), Some(&3));
    /// ```
    #[track_caller]
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.reduce_with(Ord::max)
    }

    /// Returns the maximum item with respect to `compare`, or the last of them if several are equal. Returns `None` if
    /// there are no items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([0.5, -1.0].par_iter().max_by(|a, b| f64::total_cmp(a, b)), Some(&0.5));
    /// ```
    #[track_caller]
    fn max_by<F>(self, compare: F) -> Option<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        self.reduce_with(greater(compare))
    }

    /// Returns the item with the maximum key, or the last of them if several keys are equal. Returns `None` if there
    /// are no items. Calls `key` once for each item.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([-3i32, 2, 3].par_iter().max_by_key(|item| item.abs()), Some(&3));
    /// ```
    #[track_caller]
    fn max_by_key<K, F>(self, key: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Fn(&Self::Item) -> K + Sync + Send,
    {
        let with_key = self.map(move |item| (key(&item), item));
        let greatest = with_key.reduce_with(greater(|a: &(K, _), b: &(K, _)| a.0.cmp(&b.0)));
        greatest.map(|(_, item)| item)
    }

    // ---- for each, with a state or with failures ----

    /// Calls `op` for each item, with a clone of `init` for each piece of the sequence. See
    /// [`map_with`](Self::map_with).
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (sender, receiver) = channel();
    /// [1, 2, 3].par_iter().for_each_with(sender, |sender, item| sender.send(*item).unwrap());
    /// assert_eq!(receiver.iter().sum::<i32>(), 6);
    /// ```
    #[track_caller]
    fn for_each_with<F, T>(self, init: T, op: F)
    where
        F: Fn(&mut T, Self::Item) + Sync + Send,
        T: Clone + Send,
    {
        self.map_with(init, op).for_each(drop);
    }

    /// Calls `op` for each item, with a value created by `init` for each piece of the sequence. See
    /// [`map_init`](Self::map_init).
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let bytes = AtomicUsize::new(0);
    /// ["to", "be"].par_iter().for_each_init(String::new, |buffer, word| {
    ///     buffer.clear();
    ///     buffer.push_str(word);
    ///     bytes.fetch_add(buffer.len(), Ordering::Relaxed);
    /// });
    /// assert_eq!(bytes.into_inner(), 4);
    /// ```
    #[track_caller]
    fn for_each_init<F, N, T>(self, init: N, op: F)
    where
        F: Fn(&mut T, Self::Item) + Sync + Send,
        N: Fn() -> T + Sync + Send,
    {
        self.map_init(init, op).for_each(drop);
    }

    /// Calls `op` for each item until a call fails, and returns the failure. See [`Try`] for the types.
    ///
    /// The thread that meets the failure stops at once, and the other threads at the end of their blocks. If several
    /// calls fail, this returns the first failure in the order of the items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let check = |text: &&str| text.parse::<i32>().map(drop);
    /// assert!(["1", "2"].par_iter().try_for_each(check).is_ok());
    /// assert!(["1", "two"].par_iter().try_for_each(check).is_err());
    /// ```
    #[track_caller]
    fn try_for_each<F, R>(self, op: F) -> R
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        let failure = FindAny::new(|item| op(item).branch().break_value());
        run(self, &failure, ()).unwrap_or_else(|| R::from_output(()))
    }

    /// Like [`try_for_each`](Self::try_for_each), with a clone of `init` for each piece of the sequence. See
    /// [`map_with`](Self::map_with).
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (sender, receiver) = channel();
    /// [1, 2, 3].par_iter().try_for_each_with(sender, |sender, item| sender.send(*item)).unwrap();
    /// assert_eq!(receiver.iter().sum::<i32>(), 6);
    /// ```
    #[track_caller]
    fn try_for_each_with<F, T, R>(self, init: T, op: F) -> R
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Clone + Send,
        R: Try<Output = ()> + Send,
    {
        self.map_with(init, op).try_for_each(convert::identity)
    }

    /// Like [`try_for_each`](Self::try_for_each), with a value created by `init` for each piece of the sequence. See
    /// [`map_init`](Self::map_init).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let is_ascii = ["a", "é"].par_iter().try_for_each_init(String::new, |buffer, text| {
    ///     buffer.push_str(text);
    ///     buffer.is_ascii().then_some(())
    /// });
    /// assert_eq!(is_ascii, None);
    /// ```
    #[track_caller]
    fn try_for_each_init<F, N, T, R>(self, init: N, op: F) -> R
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        N: Fn() -> T + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        self.map_init(init, op).try_for_each(convert::identity)
    }

    // ---- search ----

    /// Returns any item that satisfies `predicate`.
    ///
    /// The thread that finds such an item stops at once, and the other threads at the end of their blocks.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let found = [1, 2, 3, 4].par_iter().find_any(|item| *item % 2 == 0);
    /// assert!(found == Some(&2) || found == Some(&4));
    /// ```
    #[track_caller]
    fn find_any<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(move |item| predicate(&item).then_some(item))
    }

    /// Returns the first item that satisfies `predicate`.
    ///
    /// Threads whose items come after an item that was found stop at the end of their blocks. Threads whose items come
    /// before it go on.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4].par_iter().find_first(|item| *item % 2 == 0), Some(&2));
    /// ```
    #[track_caller]
    fn find_first<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_first(move |item| predicate(&item).then_some(item))
    }

    /// Returns the last item that satisfies `predicate`.
    ///
    /// Threads whose items come before an item that was found stop at the end of their blocks. A piece of the sequence
    /// runs from front to back, so this calls `predicate` more often than [`find_first`](Self::find_first).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4].par_iter().find_last(|item| *item % 2 == 1), Some(&3));
    /// ```
    #[track_caller]
    fn find_last<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_last(move |item| predicate(&item).then_some(item))
    }

    /// Returns any of the results of `map` that are `Some`. See [`find_any`](Self::find_any).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!(["a", "2"].par_iter().find_map_any(|text| text.parse::<i32>().ok()), Some(2));
    /// ```
    #[track_caller]
    fn find_map_any<F, R>(self, map: F) -> Option<R>
    where
        F: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        run(self, &FindAny::new(map), ())
    }

    /// Returns the first of the results of `map` that are `Some`. See [`find_first`](Self::find_first).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!(["a", "2", "3"].par_iter().find_map_first(|text| text.parse::<i32>().ok()), Some(2));
    /// ```
    #[track_caller]
    fn find_map_first<F, R>(self, map: F) -> Option<R>
    where
        F: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        run(self, &FindFirst::new(map), Span::WHOLE)
    }

    /// Returns the last of the results of `map` that are `Some`. See [`find_last`](Self::find_last).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!(["1", "2", "c"].par_iter().find_map_last(|text| text.parse::<i32>().ok()), Some(2));
    /// ```
    #[track_caller]
    fn find_map_last<F, R>(self, map: F) -> Option<R>
    where
        F: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        run(self, &FindLast::new(map), Span::WHOLE)
    }

    /// Returns whether any item satisfies `predicate`. Ends early as [`find_any`](Self::find_any) does.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert!([1, 2, 3].par_iter().any(|item| *item == 2));
    /// ```
    #[track_caller]
    fn any<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(move |item| predicate(item).then_some(())).is_some()
    }

    /// Returns whether all items satisfy `predicate`. Ends early as [`find_any`](Self::find_any) does.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert!([1, 2, 3].par_iter().all(|item| *item > 0));
    /// ```
    #[track_caller]
    fn all<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(move |item| (!predicate(item)).then_some(())).is_none()
    }

    // ---- transform items, with a state or in place ----

    /// Maps each item with `map`, with a clone of `init` for each piece of the sequence.
    ///
    /// A piece begins where a thread takes work, so there are about as many clones as threads. `T` need not be `Sync`.
    /// Methods that need an index afterwards, such as `zip` and `enumerate`, use a clone for each block of items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (sender, receiver) = channel();
    /// let doubled = [1, 2].par_iter().map_with(sender, |sender, item| {
    ///     sender.send(*item).unwrap();
    ///     2 * item
    /// });
    /// assert_eq!(doubled.sum::<i32>(), 6);
    /// assert_eq!(receiver.iter().sum::<i32>(), 3);
    /// ```
    fn map_with<F, T, R>(self, init: T, map: F) -> MapWith<Self, T, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Clone + Send,
        R: Send,
    {
        MapInit::new(self, Shared::new(init), map)
    }

    /// Maps each item with `map`, with a value created by `init` for each piece of the sequence: a random number
    /// generator or a buffer.
    ///
    /// A piece begins where a thread takes work, so `init` is called about as often as there are threads. The value
    /// stays on its thread, and need not be `Send`. Methods that need an index afterwards, such as `zip` and
    /// `enumerate`, call `init` for each block of items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum: usize = ["to", "be"].par_iter().map_init(String::new, |buffer, word| {
    ///     buffer.clear();
    ///     buffer.push_str(word);
    ///     buffer.len()
    /// }).sum();
    /// assert_eq!(sum, 4);
    /// ```
    fn map_init<F, N, T, R>(self, init: N, map: F) -> MapInit<Self, N, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        N: Fn() -> T + Sync + Send,
        R: Send,
    {
        MapInit::new(self, init, map)
    }

    /// Passes a reference to each item to `inspect`, and yields the item.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum: i32 = [1, 2, 3].par_iter().inspect(|item| println!("{item}")).sum();
    /// assert_eq!(sum, 6);
    /// ```
    fn inspect<F>(self, inspect: F) -> Inspect<Self, F>
    where
        F: Fn(&Self::Item) + Sync + Send,
    {
        Inspect::inspect(self, inspect)
    }

    /// Passes a mutable reference to each item to `update`, and yields the item.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum: i32 = [1, 2, 3].par_iter().copied().update(|item| *item *= 2).sum();
    /// assert_eq!(sum, 12);
    /// ```
    fn update<F>(self, update: F) -> Update<Self, F>
    where
        F: Fn(&mut Self::Item) + Sync + Send,
    {
        Update::update(self, update)
    }

    /// Copies the items, which are references.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([3, 1].par_iter().copied().max(), Some(3));
    /// ```
    fn copied<'a, T>(self) -> Copied<Self>
    where
        T: Copy + Send + 'a,
        Self: Drive<Item = &'a T>,
    {
        Copied::copied(self)
    }

    /// Clones the items, which are references.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let words = [String::from("to"), String::from("be")];
    /// assert_eq!(words.par_iter().cloned().reduce(String::new, |a, b| a + &b), "tobe");
    /// ```
    fn cloned<'a, T>(self) -> Cloned<Self>
    where
        T: Clone + Send + 'a,
        Self: Drive<Item = &'a T>,
    {
        Cloned::cloned(self)
    }

    // ---- filter ----

    /// Yields the items that satisfy `predicate`.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4].par_iter().filter(|item| *item % 2 == 0).sum::<i32>(), 6);
    /// ```
    fn filter<P>(self, predicate: P) -> Filter<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        Filter::new(self, predicate)
    }

    /// Maps each item with `map`, and yields the results that are `Some`.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!(["1", "b", "3"].par_iter().filter_map(|text| text.parse::<i32>().ok()).sum::<i32>(), 4);
    /// ```
    fn filter_map<F, R>(self, map: F) -> FilterMap<Self, F>
    where
        F: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        FilterMap::new(self, map)
    }

    /// Drops each item that equals the item before.
    ///
    /// A thread clones each item to compare it with the next. [`dedup_by_key`](Self::dedup_by_key) clones nothing.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let words = ["to", "to", "be", "to"];
    /// assert_eq!(words.par_iter().dedup().count(), 3);
    /// ```
    fn dedup(self) -> Dedup<Self>
    where
        Self::Item: PartialEq + Clone,
    {
        Dedup::new(self)
    }

    /// Drops each item whose key equals the key of the item before. Calls `key` once for each item, and one more time
    /// for the first item of each piece that another thread takes.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([10, 11, 20, 12].par_iter().dedup_by_key(|item| *item / 10).count(), 3);
    /// ```
    fn dedup_by_key<K, F>(self, key: F) -> DedupByKey<Self, F>
    where
        K: PartialEq + Send,
        F: Fn(&Self::Item) -> K + Sync + Send,
    {
        DedupByKey::new(self, key)
    }

    // ---- flatten ----

    /// Maps each item to a parallel iterator with `map`, and yields their items in order.
    ///
    /// The items of the inner iterators run in parallel too. For inner iterators of few items,
    /// [`flat_map_iter`](Self::flat_map_iter) is faster.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let rows = [vec![1, 2], vec![3]];
    /// assert_eq!(rows.par_iter().flat_map(|row| row.par_iter()).sum::<i32>(), 6);
    /// ```
    fn flat_map<F, R>(self, map: F) -> FlatMap<Self, F>
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: IntoParallelIterator,
    {
        FlatMap::new(self, map)
    }

    /// Maps each item to a plain iterator with `map`, and yields their items in order. One thread runs the whole inner
    /// iterator, which need not be `Send`.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!(["to be", "or not"].par_iter().flat_map_iter(|line| line.split(' ')).count(), 4);
    /// ```
    fn flat_map_iter<F, R>(self, map: F) -> FlatMapIter<Self, F>
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: IntoIterator<Item: Send>,
    {
        FlatMapIter::new(self, map)
    }

    /// Flattens items that are parallel iterators or collections. See [`flat_map`](Self::flat_map).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let rows = [vec![1, 2], vec![3]];
    /// assert_eq!(rows.par_iter().flatten().sum::<i32>(), 6);
    /// ```
    fn flatten(self) -> Flatten<Self>
    where
        Self::Item: IntoParallelIterator,
    {
        Flatten::new(self)
    }

    /// Flattens items that are plain iterators or collections. See [`flat_map_iter`](Self::flat_map_iter).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let rows = [vec![1, 2], vec![3]];
    /// assert_eq!(rows.par_iter().flatten_iter().sum::<i32>(), 6);
    /// ```
    fn flatten_iter(self) -> FlattenIter<Self>
    where
        Self::Item: IntoIterator<Item: Send>,
    {
        FlattenIter::new(self)
    }

    /// Yields clones of `separator` between the items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let words = ["to", "be"];
    /// let text = words.par_iter().copied().intersperse(" ").map(String::from).reduce(String::new, |a, b| a + &b);
    /// assert_eq!(text, "to be");
    /// ```
    fn intersperse(self, separator: Self::Item) -> Intersperse<Self, Self::Item>
    where
        Self::Item: Clone,
    {
        Intersperse::new(self, separator)
    }

    // ---- fold ----

    /// Folds each piece of the sequence using `fold`, and yields the accumulators in order.
    ///
    /// A piece begins where a thread takes work. So there are few accumulators, at least one, and where they begin is
    /// different in each run. `identity` makes the first value of each. `fold` is often followed by
    /// [`reduce`](Self::reduce).
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::collections::HashSet;
    ///
    /// let letters = |mut letters: HashSet<char>, word: &&str| {
    ///     letters.extend(word.chars());
    ///     letters
    /// };
    /// let all = ["to", "be", "or"].par_iter().fold(HashSet::new, letters).reduce(HashSet::new, |a, b| &a | &b);
    /// assert_eq!(all.len(), 5);
    /// ```
    fn fold<T, N, F>(self, identity: N, fold: F) -> Fold<Self, N, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        N: Fn() -> T + Sync + Send,
        T: Send,
    {
        Fold::new(self, identity, fold)
    }

    /// Like [`fold`](Self::fold), with a clone of `init` as the first value of each accumulator.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3].par_iter().fold_with(0, |sum, item| sum + item).sum::<i32>(), 6);
    /// ```
    fn fold_with<F, T>(self, init: T, fold: F) -> FoldWith<Self, T, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        T: Clone + Send,
    {
        Fold::new(self, Shared::new(init), fold)
    }

    /// Like [`fold`](Self::fold), but a piece stops when a call of `fold` fails: the piece then yields the failure, and
    /// the rest of the piece is skipped. See [`Try`] for the types. Other pieces go on, unless the consumer ends them,
    /// as [`try_reduce`](Self::try_reduce) does.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum = |items: &[i32]| {
    ///     let sums = items.par_iter().try_fold(|| 0i32, |sum, item| sum.checked_add(*item));
    ///     sums.try_reduce(|| 0, |a, b| a.checked_add(b))
    /// };
    /// assert_eq!(sum(&[1, 2, 3]), Some(6));
    /// assert_eq!(sum(&[1, i32::MAX]), None);
    /// ```
    fn try_fold<T, R, N, F>(self, identity: N, fold: F) -> TryFold<Self, N, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        N: Fn() -> T + Sync + Send,
        R: Try<Output = T> + Send,
    {
        TryFold::new(self, identity, fold)
    }

    /// Like [`try_fold`](Self::try_fold), with a clone of `init` as the first value of each accumulator.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sums = [1, i32::MAX].par_iter().try_fold_with(0i32, |sum, item| sum.checked_add(*item));
    /// assert_eq!(sums.try_reduce(|| 0, |a, b| a.checked_add(b)), None);
    /// ```
    fn try_fold_with<F, T, R>(self, init: T, fold: F) -> TryFoldWith<Self, T, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        R: Try<Output = T> + Send,
        T: Clone + Send,
    {
        TryFold::new(self, Shared::new(init), fold)
    }

    // ---- end early, skip ----

    /// Yields the items before the first one that does not satisfy `predicate`, in the order of the sequence.
    ///
    /// These items are stored before the first of them is consumed. So this has two loops, and needs memory for all
    /// items that it yields. `predicate` is also called for some of the items after the first one that fails it.
    /// [`take_any_while`](Self::take_any_while) stores nothing.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 9, 1].par_iter().take_while(|item| **item < 5).sum::<i32>(), 3);
    /// ```
    fn take_while<P>(self, predicate: P) -> TakeWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        TakeWhile::new(self, predicate)
    }

    /// Yields the first item that does not satisfy `predicate` and all items after it, in the order of the sequence.
    ///
    /// These items are stored before the first of them is consumed, and skipped items may be stored too. So this has
    /// two loops, and may need memory for all items. `predicate` is also called for some of the items after the first
    /// one that fails it. [`skip_any_while`](Self::skip_any_while) stores nothing.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 9, 1].par_iter().skip_while(|item| **item < 5).sum::<i32>(), 10);
    /// ```
    fn skip_while<P>(self, predicate: P) -> SkipWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        SkipWhile::new(self, predicate)
    }

    /// Yields any `n` of the items, or all if there are fewer, in order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4].par_iter().filter(|item| *item % 2 == 0).take_any(1).count(), 1);
    /// ```
    fn take_any(self, n: usize) -> TakeAny<Self> {
        TakeAny::new(self, n)
    }

    /// Drops any `n` of the items, and yields the others in order.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4].par_iter().skip_any(1).count(), 3);
    /// ```
    fn skip_any(self, n: usize) -> SkipAny<Self> {
        SkipAny::new(self, n)
    }

    /// Yields items until any thread meets one that does not satisfy `predicate`. The other threads stop at their next
    /// item.
    ///
    /// The items are in order, but they are not a prefix of the sequence; [`take_while`](Self::take_while) yields one.
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::sync::atomic::{AtomicI32, Ordering};
    ///
    /// // Any items that add up to 10 at most.
    /// let left = AtomicI32::new(10);
    /// let fits = |item: &&i32| left.fetch_sub(**item, Ordering::Relaxed) >= **item;
    /// assert!([4, 5, 6, 7].par_iter().take_any_while(fits).sum::<i32>() <= 10);
    /// ```
    fn take_any_while<P>(self, predicate: P) -> TakeAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        TakeAnyWhile::new(self, predicate)
    }

    /// Skips items until any thread meets one that does not satisfy `predicate`. From then on all threads yield their
    /// items.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let rest = [1, 2, 9, 1].par_iter().skip_any_while(|item| **item < 5);
    /// assert!(rest.any(|item| *item == 9));
    /// ```
    fn skip_any_while<P>(self, predicate: P) -> SkipAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        SkipAnyWhile::new(self, predicate)
    }

    /// Yields the contents of the items that are `Some`, until any thread meets a `None`. The other threads stop at the
    /// end of their blocks.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let sum = |items: &[i32]| items.par_iter().map(|item| item.checked_mul(2)).while_some().max();
    /// assert_eq!(sum(&[1, 2]), Some(4));
    /// assert!(sum(&[1, i32::MAX, 2]) <= Some(4));
    /// ```
    fn while_some<T>(self) -> WhileSome<Self>
    where
        Self: Drive<Item = Option<T>>,
        T: Send,
    {
        WhileSome::new(self)
    }

    /// Ends the loop soon after a panic on any thread. Without this, the other threads first complete what they have
    /// taken. Costs a load for each item.
    ///
    /// ```should_panic
    /// use anabranch::prelude::*;
    ///
    /// [1, 2, 0, 4].par_iter().panic_fuse().for_each(|item| assert_ne!(*item, 0));
    /// ```
    fn panic_fuse(self) -> PanicFuse<Self> {
        PanicFuse::new(self)
    }

    // ---- control the loop ----

    /// Makes the result independent of the number of threads and of the work that each thread takes: a
    /// [`sum`](Self::sum) or [`reduce`](Self::reduce) of floating-point numbers has the same bits in each run.
    ///
    /// The sequence is cut into blocks of 1,024 items, whose results are combined along a tree that depends on the
    /// number of items alone. The cost is a fork and a folder for each block, and blocks do not adapt to the duration
    /// of the items. So a loop of less than 2,048 expensive items hardly runs in parallel.
    ///
    /// Call it last, right before the method that consumes the items: it covers the adapters before it. Of the adapters
    /// after it, it covers neither the inner loops of [`flat_map`](Self::flat_map) nor the items that `chain` adds.
    /// Methods that need an index have to come before it. It has no effect on adapters that depend on what threads do
    /// first, such as [`take_any`](Self::take_any).
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let items = vec![0.1f64; 100_000];
    /// let sum = || items.par_iter().deterministic().sum::<f64>();
    /// assert_eq!(sum().to_bits(), sum().to_bits());
    /// ```
    fn deterministic(self) -> Deterministic<Self> {
        Deterministic::new(self)
    }

    /// Yields the items as `Ok`, and [`Cancelled`] as soon as the scope of `cx` is cancelled or its deadline has
    /// passed.
    ///
    /// Each thread checks at the beginning of each block of items. If the scope was cancelled, the thread yields one
    /// error and stops. So consuming methods that return a `Result` return the error and drop their partial results:
    /// [`try_for_each`](Self::try_for_each), [`try_reduce`](Self::try_reduce), [`sum`](Self::sum) and
    /// [`collect`](Self::collect). If the scope is cancelled after the last check, the consuming method returns its
    /// result. A check is a load; in a scope with a deadline it reads the clock. The result is not indexed.
    ///
    /// ```
    /// use anabranch::{Cancelled, prelude::*};
    ///
    /// let items = vec![1; 1000];
    /// anabranch::run(|cx| {
    ///     assert_eq!(items.par_iter().cancelled_by(cx).map(|item| item.copied()).sum::<Result<i32, _>>(), Ok(1000));
    ///     cx.cancellable(|cx, handle| {
    ///         handle.cancel();
    ///         assert_eq!(items.par_iter().cancelled_by(cx).try_for_each(|item| item.map(drop)), Err(Cancelled));
    ///     });
    /// });
    /// ```
    fn cancelled_by<'cx>(self, cx: &'cx Cx<'_>) -> CancelledBy<'cx, Self> {
        CancelledBy::new(self, cx.cancel_check())
    }

    /// Reports progress, for example for a progress bar: passes the number of items consumed since the last report to
    /// `report`.
    ///
    /// A thread calls `report` after a block of items, at most about once in a millisecond, and at the end of its part
    /// of the loop. In front of an adapter that needs the indices of items, such as `enumerate`, and of `collect`,
    /// `report` is called after each block. After a panic, the items of the last millisecond are not reported.
    ///
    /// ```
    /// use anabranch::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let done = AtomicUsize::new(0);
    /// let report = |items| _ = done.fetch_add(items, Ordering::Relaxed);
    /// assert_eq!([1, 2, 3].par_iter().progress(report).sum::<i32>(), 6);
    /// assert_eq!(done.into_inner(), 3);
    /// ```
    fn progress<F>(self, report: F) -> Reported<Self, F>
    where
        F: Fn(usize) + Sync + Send,
    {
        Reported::new(self, report)
    }

    // ---- transform items ----

    /// Maps each item with `map`.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let doubled: Vec<i32> = [1, 2, 3].par_iter().map(|item| item * 2).collect();
    /// assert_eq!(doubled, [2, 4, 6]);
    /// ```
    fn map<F, R>(self, map: F) -> Map<Self, F>
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: Send,
    {
        Map::new(self, map)
    }

    // ---- several iterators ----

    /// Yields the items of `self`, then the items of `other`. Both run in parallel.
    ///
    /// The result is indexed if both are. If the sum of their lengths exceeds `usize::MAX`, methods that need the
    /// length panic.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let all: Vec<i32> = [1, 2].par_iter().chain(&[3]).copied().collect();
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    fn chain<C>(self, other: C) -> Chain<Self, C::Iter>
    where
        C: IntoParallelIterator<Item = Self::Item>,
    {
        Chain::new(self, other.into_par_iter())
    }

    // ---- scan ----

    /// Returns, for each item, the combination of all items up to and including it, in order: prefix sums, if `op`
    /// adds.
    ///
    /// `op` must be associative, or the values depend on where other threads took work. So there is no state as in
    /// [`Iterator::scan`], because such a state could only be combined from the front.
    ///
    /// As long as no other thread takes a part of the loop, `op` is called once for each item. Otherwise it is called
    /// twice for the items behind the first part that was taken, so at best `t` threads need `(2t - 1) / t²` of the
    /// time of one thread: 3/4 for two threads, 7/16 for four. If `op` is cheap, memory limits the speed.
    ///
    /// # Panics
    /// If `op` panics, resumes one of the panics once all started calls have ended.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// assert_eq!([3, 1, 4].par_iter().map(|item| *item).prefix_scan(|a, b| a + b), [3, 4, 8]);
    ///
    /// let longest = ["to", "be", "or not"].par_iter().map(|word| word.len()).prefix_scan(|a, b| *a.max(b));
    /// assert_eq!(longest, [2, 2, 6]);
    /// ```
    #[track_caller]
    fn prefix_scan<F>(self, op: F) -> Vec<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Self::Item + Sync + Send,
        Self::Item: Sync,
    {
        let scan = Scan { op };
        concatenate(run(self, &scan, ()), &scan.op)
    }

    // ---- collect ----

    /// Collects the items into a collection, in order.
    ///
    /// If the number of items is known, a `Vec` gets each item written directly to its place. Otherwise each thread
    /// collects pieces, which are then put together. See [`FromParallelIterator`] for the collections.
    ///
    /// # Panics
    /// If an item panics, resumes one of the panics once all started items have ended; the finished items are dropped.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let words = ["7", "x", "9"];
    /// let lengths: Vec<usize> = words.par_iter().map(|word| word.len()).collect();
    /// assert_eq!(lengths, [1, 1, 1]);
    /// let numbers = words.par_iter().map(|word| word.parse::<u32>()).collect::<Result<Vec<_>, _>>();
    /// assert!(numbers.is_err());
    /// ```
    #[track_caller]
    fn collect<C>(self) -> C
    where
        C: FromParallelIterator<Self::Item>,
    {
        C::from_par_iter(self)
    }

    /// Collects the items into a list of vectors, in order.
    ///
    /// No vector is empty. If the number of items is known, there is at most one vector. Otherwise there is about one
    /// vector for each piece that another thread takes. This saves the copy that puts the pieces together.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let lists = [1, 2, 3, 4].par_iter().filter(|item| **item % 2 == 0).collect_vec_list();
    /// assert!(lists.into_iter().flatten().eq([&2, &4]));
    /// ```
    #[track_caller]
    fn collect_vec_list(self) -> LinkedList<Vec<Self::Item>> {
        to_vecs(self)
    }

    /// Splits the pairs into two collections.
    ///
    /// With a known number of items, [`unzip_into_vecs`](crate::iter::IndexedParallelIterator::unzip_into_vecs) reuses
    /// the memory of two vectors.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let (numbers, names): (Vec<i32>, String) = [(1, 'a'), (2, 'b')].par_iter().map(|pair| *pair).unzip();
    /// assert_eq!((numbers, names.as_str()), (vec![1, 2], "ab"));
    /// ```
    #[track_caller]
    fn unzip<A, B, FromA, FromB>(self) -> (FromA, FromB)
    where
        Self: ParallelIterator<Item = (A, B)>,
        FromA: Default + Send + ParallelExtend<A>,
        FromB: Default + Send + ParallelExtend<B>,
        A: Send,
        B: Send,
    {
        pairs::collect(self)
    }

    /// Collects the items into two collections: the items for which `predicate` holds, and the others.
    ///
    /// ```
    /// use anabranch::prelude::*;
    ///
    /// let (even, odd): (Vec<u32>, Vec<u32>) = [1, 2, 3].par_iter().map(|item| *item).partition(|item| item % 2 == 0);
    /// assert_eq!((even, odd), (vec![2], vec![1, 3]));
    /// ```
    #[track_caller]
    fn partition<A, B, P>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<Self::Item>,
        B: Default + Send + ParallelExtend<Self::Item>,
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        unzip::collect(self, unzip::Partition(predicate))
    }

    /// Maps each item to an item of the first or of the second collection.
    ///
    /// ```
    /// use anabranch::{iter::Either, prelude::*};
    ///
    /// let (numbers, words): (Vec<u32>, Vec<&str>) = ["7", "x", "9"]
    ///     .par_iter()
    ///     .partition_map(|text| text.parse::<u32>().map_or_else(|_| Either::Right(*text), Either::Left));
    /// assert_eq!((numbers, words), (vec![7, 9], vec!["x"]));
    /// ```
    #[track_caller]
    fn partition_map<A, B, P, L, R>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<L>,
        B: Default + Send + ParallelExtend<R>,
        P: Fn(Self::Item) -> Either<L, R> + Sync + Send,
        L: Send,
        R: Send,
    {
        unzip::collect(self, unzip::PartitionMap(predicate))
    }
}

impl<I: Drive> ParallelIterator for I {}
