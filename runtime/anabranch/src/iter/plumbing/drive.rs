//! The traits that a parallel iterator implements.

use crate::iter::plumbing::{
    consumer::{Consumer, Progress},
    producer::Producer,
};

/// A parallel iterator, as its consumers see it. Users call the methods of
/// [`ParallelIterator`](crate::iter::ParallelIterator), which all implementors have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parallel iterator",
    label = "not a parallel iterator",
    note = "`par_iter()`, `par_iter_mut()` and `into_par_iter()` make one of a collection, and `par_bridge()` of an iterator"
)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub trait Drive: Sized + Send {
    /// The type of the items.
    type Item: Send;

    /// Folds the items into `folder`, in parallel if other threads are idle. `at` is the position of the items.
    fn drive<C: Consumer<Self::Item>>(
        self,
        consumer: &C,
        folder: C::Folder,
        at: C::Position,
    ) -> Progress<C::Folder, C::Result>;

    /// Returns the number of items, if it is known.
    ///
    /// ```
    /// use anabranch::{iter::plumbing::Drive, prelude::*};
    ///
    /// assert_eq!((0..5u32).into_par_iter().opt_len(), Some(5));
    /// assert_eq!((0..5u32).into_par_iter().filter(|i| i % 2 == 0).opt_len(), None);
    /// ```
    fn opt_len(&self) -> Option<usize> {
        None
    }

    /// Calls [`Visitor::visit`]. An implementor of [`DriveIndexed`] calls [`Visitor::visit_indexed`], so that `collect`
    /// can write the items directly to their places.
    #[inline]
    #[track_caller]
    fn accept<V: Visitor<Self::Item>>(self, visitor: V) -> V::Output {
        visitor.visit(self)
    }
}

/// A parallel iterator whose number of items is known, and whose items can be produced from each index on. See
/// [`IndexedParallelIterator`](crate::iter::IndexedParallelIterator).
#[diagnostic::on_unimplemented(
    message = "the number of items of `{Self}` is not known in advance",
    label = "not an indexed parallel iterator",
    note = "after `filter`, `flat_map` and the like an item has no known index: call this method before them, or collect \
            into a `Vec` first"
)]
#[allow(clippy::len_without_is_empty, reason = "std's `ExactSizeIterator` has none either")]
pub trait DriveIndexed: Drive {
    /// The items as a piece that can be cut.
    type Producer<'a>: Producer<Item = Self::Item, IntoIter: DoubleEndedIterator + ExactSizeIterator>
    where
        Self: 'a;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns the items. It is called at most once.
    fn producer(&mut self) -> Self::Producer<'_>;
}

/// An operation that differs for parallel iterators whose number of items is known. See [`Drive::accept`].
pub trait Visitor<T> {
    /// The result of the operation.
    type Output;

    /// Runs the operation with an iterator of unknown length.
    #[track_caller]
    fn visit<I: Drive<Item = T>>(self, iter: I) -> Self::Output;

    /// Runs the operation with an iterator of known length.
    #[track_caller]
    fn visit_indexed<I: DriveIndexed<Item = T>>(self, iter: I) -> Self::Output;
}

/// Implements [`Drive`] via [`DriveIndexed`].
#[doc(hidden)]
#[macro_export]
macro_rules! __drive_indexed {
    ($item:ty) => {
        type Item = $item;

        #[inline]
        fn drive<__C: $crate::iter::plumbing::Consumer<$item>>(
            mut self,
            consumer: &__C,
            folder: __C::Folder,
            at: __C::Position,
        ) -> $crate::iter::plumbing::Progress<__C::Folder, __C::Result> {
            let producer = $crate::iter::plumbing::DriveIndexed::producer(&mut self);
            $crate::iter::plumbing::bridge(producer, consumer, folder, at)
        }

        $crate::__accept_indexed!($item);
    };
}

/// Implements those methods of [`Drive`] that report that the type is [`DriveIndexed`].
#[doc(hidden)]
#[macro_export]
macro_rules! __accept_indexed {
    ($item:ty) => {
        #[inline]
        fn opt_len(&self) -> Option<usize> {
            Some($crate::iter::plumbing::DriveIndexed::len(self))
        }
        #[inline]
        fn accept<__V: $crate::iter::plumbing::Visitor<$item>>(self, visitor: __V) -> __V::Output {
            visitor.visit_indexed(self)
        }
    };
}
