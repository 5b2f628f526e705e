//! [`by_exponential_blocks`](crate::iter::IndexedParallelIterator::by_exponential_blocks) and
//! [`by_uniform_blocks`](crate::iter::IndexedParallelIterator::by_uniform_blocks).

use crate::{
    iter::plumbing::{Consumer, Drive, DriveIndexed, Driven, Position, Producer, Progress, bridge, bridge::Counted},
    pool::current_num_threads,
};
use std::iter;

/// Runs blocks one after the other, each twice as long as the block before.
/// [`IndexedParallelIterator::by_exponential_blocks`] returns it.
///
/// [`IndexedParallelIterator::by_exponential_blocks`]: crate::iter::IndexedParallelIterator::by_exponential_blocks
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct ExponentialBlocks<I> {
    base: I,
}

impl<I> ExponentialBlocks<I> {
    pub(in crate::iter) fn new(base: I) -> Self {
        Self { base }
    }
}

/// Runs blocks of the same length one after the other.
/// [`IndexedParallelIterator::by_uniform_blocks`](crate::iter::IndexedParallelIterator::by_uniform_blocks) returns it.
#[derive(Debug, Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct UniformBlocks<I> {
    base: I,
    size: usize,
}

impl<I> UniformBlocks<I> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, size: usize) -> Self {
        assert!(size != 0, "the block size must not be zero");
        Self { base, size }
    }
}

impl<I: DriveIndexed> Drive for ExponentialBlocks<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(mut self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        // A deterministic result must not depend on the number of threads.
        let first = if C::IS_DETERMINISTIC { 1 } else { current_num_threads().max(1) };
        let sizes = iter::successors(Some(first), |size| Some(size.saturating_mul(2)));
        drive_blocks(self.base.producer(), sizes, consumer, folder, at)
    }
    fn opt_len(&self) -> Option<usize> {
        Some(self.base.len())
    }
}

impl<I: DriveIndexed> Drive for UniformBlocks<I> {
    type Item = I::Item;

    fn drive<C: Consumer<I::Item>>(mut self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, I::Item> {
        drive_blocks(self.base.producer(), iter::repeat(self.size), consumer, folder, at)
    }
    fn opt_len(&self) -> Option<usize> {
        Some(self.base.len())
    }
}

/// Folds blocks of `rest` one after the other. `sizes` yields their lengths without end.
fn drive_blocks<P, C>(
    items: P,
    sizes: impl Iterator<Item = usize>,
    consumer: &C,
    mut folder: C::Folder,
    mut at: C::Position,
) -> Progress<C::Folder, C::Result>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    // A wrong producer may not become shorter by a cut: the checked length does.
    let mut rest = Counted::new(items);
    // The result of what precedes the items of `folder`.
    let mut before = None;
    for size in sizes {
        let len = rest.len;
        if len == 0 || consumer.is_full(&folder, at) {
            break;
        }
        let size = size.min(len);
        let (block, after) = rest.split_at(size);
        let (here, next) = at.split_at(size, len);
        (rest, at) = (after, next);
        match bridge(block.items, consumer, folder, here) {
            Progress::Folding(same) => folder = same,
            Progress::Complete(result) => {
                before = Some(append(consumer, before, result));
                folder = consumer.folder(at);
            }
        }
    }
    match before {
        None => Progress::Folding(folder),
        some => Progress::Complete(append(consumer, some, consumer.complete(folder))),
    }
}

fn append<T, C: Consumer<T>>(consumer: &C, left: Option<C::Result>, right: C::Result) -> C::Result {
    match left {
        Some(left) => consumer.combine(left, right),
        None => right,
    }
}
