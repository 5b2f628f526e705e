//! Searches: `find_any`, `find_first`, `find_last`, the searches with `map`, `any`, `all`, and `try_for_each`, which
//! searches for a failure.
//!
//! The variables that the threads share guard no data, so accesses are relaxed.

use crate::{
    iter::plumbing::{Consumer, Span},
    sys::sync::{AtomicBool, AtomicU64, Ordering},
};

/// Finds any item that a closure maps to `Some`.
pub(in crate::iter) struct FindAny<F> {
    map: F,
    is_found: AtomicBool,
}

impl<F> FindAny<F> {
    pub(in crate::iter) fn new(map: F) -> Self {
        Self { map, is_found: AtomicBool::new(false) }
    }
}

impl<T, R: Send, F: Fn(T) -> Option<R> + Sync> Consumer<T> for FindAny<F> {
    type Folder = Option<R>;
    type Result = Option<R>;
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) -> Option<R> {
        None
    }
    #[inline]
    fn consume_iter(&self, folder: Option<R>, mut items: impl Iterator<Item = T>) -> Option<R> {
        if self.is_found.load(Ordering::Relaxed) {
            return folder;
        }
        let found = items.find_map(&self.map)?;
        self.is_found.store(true, Ordering::Relaxed);
        Some(found)
    }
    #[inline]
    fn complete(&self, folder: Option<R>) -> Option<R> {
        folder
    }
    #[inline]
    fn combine(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        left.or(right)
    }
    #[inline]
    fn is_full(&self, _: &Option<R>, (): ()) -> bool {
        self.is_found.load(Ordering::Relaxed)
    }
}

/// The result of a piece of a search in order.
pub(in crate::iter) struct Found<R> {
    found: Option<R>,
    /// Where the piece starts.
    start: u64,
}

/// Finds the first item that a closure maps to `Some`.
pub(in crate::iter) struct FindFirst<F> {
    map: F,
    /// The least start of the pieces that have found one. Pieces that start later need not go on.
    least: AtomicU64,
}

impl<F> FindFirst<F> {
    pub(in crate::iter) fn new(map: F) -> Self {
        Self { map, least: AtomicU64::new(u64::MAX) }
    }
}

impl<T, R: Send, F: Fn(T) -> Option<R> + Sync> Consumer<T> for FindFirst<F> {
    type Folder = Found<R>;
    type Result = Option<R>;
    type Position = Span;

    #[inline]
    fn folder(&self, at: Span) -> Found<R> {
        Found { found: None, start: at.start }
    }
    #[inline]
    fn consume_iter(&self, mut folder: Found<R>, mut items: impl Iterator<Item = T>) -> Found<R> {
        if folder.found.is_none() {
            folder.found = items.find_map(&self.map);
            if folder.found.is_some() {
                self.least.fetch_min(folder.start, Ordering::Relaxed);
            }
        }
        folder
    }
    #[inline]
    fn complete(&self, folder: Found<R>) -> Option<R> {
        folder.found
    }
    #[inline]
    fn combine(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        left.or(right)
    }
    #[inline]
    fn is_full(&self, folder: &Found<R>, rest: Span) -> bool {
        folder.found.is_some() || rest.start > self.least.load(Ordering::Relaxed)
    }
}

/// Finds the last item that a closure maps to `Some`.
pub(in crate::iter) struct FindLast<F> {
    map: F,
    /// The greatest start of the pieces that have found one. Items before it need not be tested.
    greatest: AtomicU64,
}

impl<F> FindLast<F> {
    pub(in crate::iter) fn new(map: F) -> Self {
        Self { map, greatest: AtomicU64::new(0) }
    }
}

impl<T, R: Send, F: Fn(T) -> Option<R> + Sync> Consumer<T> for FindLast<F> {
    type Folder = Found<R>;
    type Result = Option<R>;
    type Position = Span;

    #[inline]
    fn folder(&self, at: Span) -> Found<R> {
        Found { found: None, start: at.start }
    }
    #[inline]
    fn consume_iter(&self, mut folder: Found<R>, items: impl Iterator<Item = T>) -> Found<R> {
        if let Some(found) = items.filter_map(&self.map).last() {
            folder.found = Some(found);
            self.greatest.fetch_max(folder.start, Ordering::Relaxed);
        }
        folder
    }
    #[inline]
    fn complete(&self, folder: Found<R>) -> Option<R> {
        folder.found
    }
    #[inline]
    fn combine(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        right.or(left)
    }
    #[inline]
    fn is_full(&self, _: &Found<R>, rest: Span) -> bool {
        let greatest = self.greatest.load(Ordering::Relaxed);
        // An empty `rest` at `greatest` may be behind the piece there.
        rest.start < greatest && rest.end <= greatest
    }
}
