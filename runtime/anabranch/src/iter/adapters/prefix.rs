//! [`take_while`](crate::iter::ParallelIterator::take_while) and
//! [`skip_while`](crate::iter::ParallelIterator::skip_while), in the order of the items.
//!
//! The position at which the items end or begin is unknown until all items before it have been tested. A consumer
//! cannot undo what it has done with an item. So the items are stored first, and driven into the consumer afterwards.

use crate::{
    iter::{
        adapters::filter::FilterMapConsumer,
        convert::IntoParallelIterator,
        plumbing::{Consumer, Drive, Driven, Span, bridge::run},
    },
    sys::sync::{AtomicU64, Ordering},
};

/// Yields the items before the first one that does not satisfy a predicate.
/// [`ParallelIterator::take_while`](crate::iter::ParallelIterator::take_while) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct TakeWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> TakeWhile<I, P> {
    pub(in crate::iter) fn new(base: I, predicate: P) -> Self {
        Self { base, predicate }
    }
}

debug_by_base!(TakeWhile<I, P>);

impl<I, P> Drive for TakeWhile<I, P>
where
    I: Drive,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        let prefix = Prefix { predicate: &self.predicate, end: AtomicU64::new(u64::MAX) };
        drive_stored(run(self.base, &prefix, Span::WHOLE).items, consumer, folder, at)
    }
}

/// Drives items that were stored. Each is `Some`, so that a thread can take it by a mutable reference.
fn drive_stored<T: Send, C: Consumer<T>>(
    mut items: Vec<Option<T>>,
    consumer: &C,
    folder: C::Folder,
    at: C::Position,
) -> Driven<C, T> {
    items.as_mut_slice().into_par_iter().drive(&FilterMapConsumer { base: consumer, map: &Option::take }, folder, at)
}

/// Stores the items up to the first one that does not satisfy the predicate.
struct Prefix<'a, P> {
    predicate: &'a P,
    /// The least start of the pieces that have ended. It guards no data, so accesses are relaxed.
    end: AtomicU64,
}

/// A piece.
struct Taken<T> {
    items: Vec<Option<T>>,
    /// Whether an item did not satisfy the predicate.
    has_ended: bool,
    start: u64,
}

impl<T: Send, P: Fn(&T) -> bool + Sync> Consumer<T> for Prefix<'_, P> {
    type Folder = Taken<T>;
    type Result = Taken<T>;
    type Position = Span;

    fn folder(&self, at: Span) -> Taken<T> {
        Taken { items: Vec::new(), has_ended: false, start: at.start }
    }

    fn consume_iter(&self, mut taken: Taken<T>, items: impl Iterator<Item = T>) -> Taken<T> {
        if taken.has_ended {
            return taken;
        }
        taken.items.extend(items.map_while(|item| {
            taken.has_ended = !(self.predicate)(&item);
            (!taken.has_ended).then_some(Some(item))
        }));
        if taken.has_ended {
            self.end.fetch_min(taken.start, Ordering::Relaxed);
        }
        taken
    }

    fn complete(&self, taken: Taken<T>) -> Taken<T> {
        taken
    }

    fn combine(&self, mut left: Taken<T>, mut right: Taken<T>) -> Taken<T> {
        if !left.has_ended {
            left.items.append(&mut right.items);
            left.has_ended = right.has_ended;
        }
        left
    }

    fn is_full(&self, taken: &Taken<T>, rest: Span) -> bool {
        taken.has_ended || rest.start > self.end.load(Ordering::Relaxed)
    }
}

/// Yields the first item that does not satisfy a predicate, and all items after it.
/// [`ParallelIterator::skip_while`](crate::iter::ParallelIterator::skip_while) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct SkipWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> SkipWhile<I, P> {
    pub(in crate::iter) fn new(base: I, predicate: P) -> Self {
        Self { base, predicate }
    }
}

debug_by_base!(SkipWhile<I, P>);

impl<I, P> Drive for SkipWhile<I, P>
where
    I: Drive,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        let suffix = Suffix { predicate: &self.predicate };
        let first = Skipped { begins: true, ..Consumer::<I::Item>::folder(&suffix, ()) };
        let skipped = self.base.drive(&suffix, first, ()).finish(&suffix);
        drive_stored(skipped.kept, consumer, folder, at)
    }
}

/// Stores the items from the first one on that does not satisfy the predicate.
struct Suffix<'a, P> {
    predicate: &'a P,
}

/// A piece.
struct Skipped<T> {
    /// The items before the first one of this piece that does not satisfy the predicate. They are needed if a piece
    /// before has such an item.
    skipped: Vec<Option<T>>,
    kept: Vec<Option<T>>,
    /// Whether no piece is before it.
    begins: bool,
}

impl<T: Send, P: Fn(&T) -> bool + Sync> Consumer<T> for Suffix<'_, P> {
    type Folder = Skipped<T>;
    type Result = Skipped<T>;
    type Position = ();

    fn folder(&self, (): ()) -> Skipped<T> {
        Skipped { skipped: Vec::new(), kept: Vec::new(), begins: false }
    }

    fn consume_iter(&self, mut piece: Skipped<T>, mut items: impl Iterator<Item = T>) -> Skipped<T> {
        if piece.kept.is_empty() {
            let kept = items.find_map(|item| {
                if !(self.predicate)(&item) {
                    return Some(item);
                }
                if !piece.begins {
                    piece.skipped.push(Some(item));
                }
                None
            });
            let Some(kept) = kept else { return piece };
            piece.kept.push(Some(kept));
        }
        piece.kept.extend(items.map(Some));
        piece
    }

    fn complete(&self, piece: Skipped<T>) -> Skipped<T> {
        piece
    }

    fn combine(&self, mut left: Skipped<T>, mut right: Skipped<T>) -> Skipped<T> {
        if left.kept.is_empty() {
            if !left.begins {
                left.skipped.append(&mut right.skipped);
            }
            left.kept = right.kept;
        } else {
            left.kept.append(&mut right.skipped);
            left.kept.append(&mut right.kept);
        }
        left
    }

    fn is_full(&self, _: &Skipped<T>, (): ()) -> bool {
        false
    }
}
