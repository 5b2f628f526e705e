//! [`sum`](crate::iter::ParallelIterator::sum) and [`product`](crate::iter::ParallelIterator::product).

use crate::iter::plumbing::Consumer;
use std::{iter, marker::PhantomData};

/// Turns one of the traits of std into a consumer.
macro_rules! arithmetic {
    ($(#[$doc:meta])* $name:ident, $method:ident) => {
        $(#[$doc])*
        pub(in crate::iter) struct $name<S>(PhantomData<fn() -> S>);

        impl<S> $name<S> {
            pub(in crate::iter) const NEW: Self = Self(PhantomData);
        }

        impl<T, S: iter::$name<T> + iter::$name + Send> Consumer<T> for $name<S> {
            type Folder = S;
            type Result = S;
            type Position = ();

            #[inline]
            fn folder(&self, (): ()) -> S {
                iter::empty::<T>().$method()
            }
            #[inline]
            fn consume_iter(&self, folder: S, items: impl Iterator<Item = T>) -> S {
                [folder, items.$method()].into_iter().$method()
            }
            #[inline]
            fn complete(&self, folder: S) -> S {
                folder
            }
            #[inline]
            fn combine(&self, left: S, right: S) -> S {
                [left, right].into_iter().$method()
            }
            #[inline]
            fn is_full(&self, _: &S, (): ()) -> bool {
                false
            }
        }
    };
}

arithmetic! {
    /// Sums the items.
    Sum, sum
}
arithmetic! {
    /// Multiplies the items.
    Product, product
}
