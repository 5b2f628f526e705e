//! Pieces of sequences.

/// A piece of a sequence that can be cut in two, and iterated from front to back.
///
/// The length is the number of items, except where [`IS_EXACT`](Self::IS_EXACT) is `false`.
/// [`bridge`](crate::iter::plumbing::bridge) panics when a producer cuts itself elsewhere than requested.
#[allow(clippy::len_without_is_empty, reason = "only `bridge` calls this")]
pub trait Producer: Send + Sized {
    /// The type of the items.
    type Item;
    /// The iterator over a piece on one thread.
    type IntoIter: Iterator<Item = Self::Item>;

    /// Whether the length is the number of items. Otherwise it is only a measure of the work, for example the number of
    /// bytes of a text that is iterated by lines.
    const IS_EXACT: bool = true;

    /// Returns the length.
    fn len(&self) -> usize;

    /// Splits into the first `mid` items and the remaining items. `mid` is at most the length.
    ///
    /// If [`IS_EXACT`](Self::IS_EXACT) is `false`, the first part may be longer than `mid`, and the second part shorter
    /// by as much, or empty.
    fn split_at(self, mid: usize) -> (Self, Self);

    /// Returns an iterator over the items in order.
    fn into_iter(self) -> Self::IntoIter;

    /// Returns the length below which pieces should not be cut, see
    /// [`with_min_len`](crate::iter::IndexedParallelIterator::with_min_len).
    #[inline]
    fn min_len(&self) -> usize {
        1
    }

    /// Returns the length above which pieces should be cut, see
    /// [`with_max_len`](crate::iter::IndexedParallelIterator::with_max_len).
    #[inline]
    fn max_len(&self) -> usize {
        usize::MAX
    }
}
