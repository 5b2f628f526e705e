//! The common parts of the sources.

use std::iter::FusedIterator;

/// Implements [`Drive`](crate::iter::plumbing::Drive) and [`DriveIndexed`](crate::iter::plumbing::DriveIndexed) for a
/// source that is a [`Producer`](crate::iter::plumbing::Producer) itself. The last argument takes it out of a mutable
/// reference.
macro_rules! drive_producer {
    ([$($generics:tt)*] $source:ty, $item:ty, $take:expr) => {
        impl<$($generics)*> $crate::iter::plumbing::Drive for $source {
            $crate::iter::plumbing::drive_indexed!($item);
        }

        impl<$($generics)*> $crate::iter::plumbing::DriveIndexed for $source {
            type Producer<'__a>
                = Self
            where
                Self: '__a;

            #[inline]
            fn len(&self) -> usize {
                $crate::iter::plumbing::Producer::len(self)
            }
            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                let take: fn(&mut Self) -> Self = $take;
                take(self)
            }
        }
    };
}

/// Implements [`Drive`](crate::iter::plumbing::Drive) and [`DriveIndexed`](crate::iter::plumbing::DriveIndexed) for a
/// source with one field that is a parallel iterator.
macro_rules! drive_field {
    ([$($generics:tt)*] $source:ty, $item:ty, $field:ident: $inner:ty) => {
        impl<$($generics)*> $crate::iter::plumbing::Drive for $source {
            $crate::iter::plumbing::drive_indexed!($item);
        }

        impl<$($generics)*> $crate::iter::plumbing::DriveIndexed for $source {
            type Producer<'__a>
                = <$inner as $crate::iter::plumbing::DriveIndexed>::Producer<'__a>
            where
                Self: '__a;

            #[inline]
            fn len(&self) -> usize {
                $crate::iter::plumbing::DriveIndexed::len(&self.$field)
            }
            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                $crate::iter::plumbing::DriveIndexed::producer(&mut self.$field)
            }
        }
    };
}

pub(super) use {drive_field, drive_producer};

/// An iterator whose `size_hint` is exact, although its type does not implement [`ExactSizeIterator`].
#[derive(Debug, Clone)]
pub struct Exact<I>(I);

impl<I: Iterator> Exact<I> {
    /// The `size_hint` of `items` has to be exact.
    #[inline]
    pub(super) fn new(items: I) -> Self {
        Self(items)
    }
}

impl<I: Iterator> Iterator for Exact<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
    #[inline]
    fn nth(&mut self, n: usize) -> Option<I::Item> {
        self.0.nth(n)
    }
    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        self.0.fold(init, f)
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Exact<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        self.0.next_back()
    }
    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        self.0.nth_back(n)
    }
    #[inline]
    fn rfold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        self.0.rfold(init, f)
    }
}

impl<I: Iterator> ExactSizeIterator for Exact<I> {}
impl<I: FusedIterator> FusedIterator for Exact<I> {}
