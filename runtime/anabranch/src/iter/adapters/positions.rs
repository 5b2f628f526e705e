//! [`positions`](crate::iter::IndexedParallelIterator::positions).

use crate::iter::{
    adapters::enumerate::Enumerate,
    plumbing::{Consumer, Drive, DriveIndexed, Driven, delegate},
};

/// Yields the indices of the items that fulfil a condition.
/// [`IndexedParallelIterator::positions`](crate::iter::IndexedParallelIterator::positions) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Positions<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> Positions<I, P> {
    pub(in crate::iter) fn new(base: I, predicate: P) -> Self {
        Self { base, predicate }
    }
}

debug_by_base!(Positions<I, P>);

impl<I, P> Drive for Positions<I, P>
where
    I: DriveIndexed,
    P: Fn(I::Item) -> bool + Sync + Send,
{
    type Item = usize;

    fn drive<C: Consumer<usize>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, usize> {
        let consumer = PositionsConsumer { base: consumer, predicate: &self.predicate };
        Enumerate::new(self.base).drive(&consumer, folder, at)
    }
}

struct PositionsConsumer<'a, C, P> {
    base: &'a C,
    predicate: &'a P,
}

impl<T, C, P> Consumer<(usize, T)> for PositionsConsumer<'_, C, P>
where
    C: Consumer<usize>,
    P: Fn(T) -> bool + Sync,
{
    delegate!(C, self => self.base);

    #[inline]
    fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = (usize, T)>) -> C::Folder {
        self.base.consume_iter(folder, items.filter_map(|(index, item)| (self.predicate)(item).then_some(index)))
    }
}
