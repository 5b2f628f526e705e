//! The collections of the standard library.
//!
//! A `VecDeque` and a `BinaryHeap` are cut in place. Lists, maps and sets cannot be cut. So the calling thread first
//! moves the items of such a collection, or references to them, into a vector. That takes about as long as one pass
//! over the collection, and memory for the items or references.

pub mod vec_deque;

use crate::iter::{
    convert::IntoParallelIterator,
    sources::{drain::ParallelDrainFull, producer::drive_field, slice, vec},
};
use std::{
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList},
    marker::PhantomData,
};

/// Implements a parallel iterator over the items of a collection, which are moved into a vector first.
///
/// The arguments: the name of the iterator and its parameters, the collection, the item, and how to make the vector.
macro_rules! by_vec {
    (
        $(#[$doc:meta])* $name:ident [$($parameters:tt)*] [$($bounds:tt)*] [$($hasher:ident)?]
        $collection:ty => $item:ty, $into_vec:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<$($parameters)*> {
            items: vec::IntoIter<$item>,
        }

        impl<$($parameters)*> Clone for $name<$($parameters)*>
        where
            $item: Clone,
        {
            fn clone(&self) -> Self {
                Self { items: self.items.clone() }
            }
        }

        by_vec!(@impl $name [$($parameters)*] [$($bounds)*] [$($hasher)?] $collection => $item, $into_vec);
    };
    // An iterator that cannot be cloned.
    (
        mut $(#[$doc:meta])* $name:ident [$($parameters:tt)*] [$($bounds:tt)*] [$($hasher:ident)?]
        $collection:ty => $item:ty, $into_vec:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<$($parameters)*> {
            items: vec::IntoIter<$item>,
        }

        by_vec!(@impl $name [$($parameters)*] [$($bounds)*] [$($hasher)?] $collection => $item, $into_vec);
    };
    (
        @impl $name:ident [$($parameters:tt)*] [$($bounds:tt)*] [$($hasher:ident)?]
        $collection:ty => $item:ty, $into_vec:expr
    ) => {
        impl<$($bounds)*, $($hasher)?> IntoParallelIterator for $collection {
            type Iter = $name<$($parameters)*>;
            type Item = $item;

            fn into_par_iter(self) -> Self::Iter {
                let into_vec: fn($collection) -> Vec<$item> = $into_vec;
                $name { items: into_vec(self).into_par_iter() }
            }
        }

        drive_field!([$($bounds)*] $name<$($parameters)*>, $item, items: vec::IntoIter<$item>);
    };
}

/// Implements the iterator of [`ParallelDrainFull`] for a collection.
macro_rules! drain {
    (
        $(#[$doc:meta])* [$($parameters:ident),*] [$($bounds:tt)*] [$($hasher:ident)?] $collection:ty => $item:ty
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct Drain<'a, $($parameters),*> {
            items: vec::IntoIter<$item>,
            /// The collection has been drained, but it cannot be used earlier than it could if it had not.
            _collection: PhantomData<($(&'a mut $parameters),*,)>,
        }

        impl<'a, $($bounds)*, $($hasher)?> ParallelDrainFull for &'a mut $collection {
            type Iter = Drain<'a, $($parameters),*>;
            type Item = $item;

            fn par_drain(self) -> Self::Iter {
                Drain { items: self.drain().collect::<Vec<_>>().into_par_iter(), _collection: PhantomData }
            }
        }

        drive_field!(['a, $($bounds)*] Drain<'a, $($parameters),*>, $item, items: vec::IntoIter<$item>);
    };
}

/// Hash maps.
pub mod hash_map {
    use super::*;

    by_vec!(/// A parallel iterator over the entries of a `HashMap`, by value.
        IntoIter [K, V] [K: Send, V: Send] [S] HashMap<K, V, S> => (K, V), |map| map.into_iter().collect());
    by_vec!(/// A parallel iterator over references to the entries of a `HashMap`.
        Iter ['a, K, V] ['a, K: Sync, V: Sync] [S] &'a HashMap<K, V, S> => (&'a K, &'a V), |map| map.iter().collect());
    by_vec!(mut /// A parallel iterator over the entries of a `HashMap`, with mutable references to the values.
        IterMut ['a, K, V] ['a, K: Sync, V: Send] [S] &'a mut HashMap<K, V, S> => (&'a K, &'a mut V),
        |map| map.iter_mut().collect());
    drain!(/// A parallel iterator over the entries that leave a `HashMap`.
        [K, V] [K: Send, V: Send] [S] HashMap<K, V, S> => (K, V));
}

/// Hash sets.
pub mod hash_set {
    use super::*;

    by_vec!(/// A parallel iterator over the items of a `HashSet`, by value.
        IntoIter [T] [T: Send] [S] HashSet<T, S> => T, |set| set.into_iter().collect());
    by_vec!(/// A parallel iterator over references to the items of a `HashSet`.
        Iter ['a, T] ['a, T: Sync] [S] &'a HashSet<T, S> => &'a T, |set| set.iter().collect());
    drain!(/// A parallel iterator over the items that leave a `HashSet`.
        [T] [T: Send] [S] HashSet<T, S> => T);
}

/// Ordered maps.
pub mod btree_map {
    use super::*;

    by_vec!(/// A parallel iterator over the entries of a `BTreeMap`, by value, in the order of the keys.
        IntoIter [K, V] [K: Send, V: Send] [] BTreeMap<K, V> => (K, V), |map| map.into_iter().collect());
    by_vec!(/// A parallel iterator over references to the entries of a `BTreeMap`, in the order of the keys.
        Iter ['a, K, V] ['a, K: Sync, V: Sync] [] &'a BTreeMap<K, V> => (&'a K, &'a V), |map| map.iter().collect());
    by_vec!(mut /// A parallel iterator over the entries of a `BTreeMap`, with mutable references to the values, in the
        /// order of the keys.
        IterMut ['a, K, V] ['a, K: Sync, V: Send] [] &'a mut BTreeMap<K, V> => (&'a K, &'a mut V),
        |map| map.iter_mut().collect());
}

/// Ordered sets.
pub mod btree_set {
    use super::*;

    by_vec!(/// A parallel iterator over the items of a `BTreeSet`, by value, in order.
        IntoIter [T] [T: Send] [] BTreeSet<T> => T, |set| set.into_iter().collect());
    by_vec!(/// A parallel iterator over references to the items of a `BTreeSet`, in order.
        Iter ['a, T] ['a, T: Sync] [] &'a BTreeSet<T> => &'a T, |set| set.iter().collect());
}

/// Linked lists.
pub mod linked_list {
    use super::*;

    by_vec!(/// A parallel iterator over the items of a `LinkedList`, by value.
        IntoIter [T] [T: Send] [] LinkedList<T> => T, |list| list.into_iter().collect());
    by_vec!(/// A parallel iterator over references to the items of a `LinkedList`.
        Iter ['a, T] ['a, T: Sync] [] &'a LinkedList<T> => &'a T, |list| list.iter().collect());
    by_vec!(mut /// A parallel iterator over mutable references to the items of a `LinkedList`.
        IterMut ['a, T] ['a, T: Send] [] &'a mut LinkedList<T> => &'a mut T, |list| list.iter_mut().collect());
}

/// Heaps.
pub mod binary_heap {
    use super::*;

    by_vec!(/// A parallel iterator over the items of a `BinaryHeap`, by value, in no particular order.
        IntoIter [T] [T: Send] [] BinaryHeap<T> => T, |heap| heap.into_vec());
    drain!(/// A parallel iterator over the items that leave a `BinaryHeap`, in no particular order.
        [T] [T: Send] [] BinaryHeap<T> => T);

    /// A parallel iterator over references to the items of a `BinaryHeap`, in no particular order.
    pub type Iter<'a, T> = slice::Iter<'a, T>;

    impl<'a, T: Sync> IntoParallelIterator for &'a BinaryHeap<T> {
        type Iter = Iter<'a, T>;
        type Item = &'a T;

        #[inline]
        fn into_par_iter(self) -> Iter<'a, T> {
            self.as_slice().into_par_iter()
        }
    }
}
