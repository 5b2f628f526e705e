//! Maps and sets.
//!
//! The threads collect vectors, whose items one thread then inserts. So functions of the items run in parallel, and
//! only the insertions do not.

use crate::iter::{
    adapters::Map,
    collect::{FromParallelIterator, ParallelExtend, from_extend, to_vecs},
    convert::IntoParallelIterator,
    sort::stable::stable,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    hash::{BuildHasher, Hash},
};

/// Adds the items to a collection, for which `reserve` makes room in advance.
#[track_caller]
fn extend<C, I>(collection: &mut C, items: I, reserve: impl Fn(&mut C, usize))
where
    C: Extend<I::Item>,
    I: IntoParallelIterator,
{
    let vecs = to_vecs(items.into_par_iter());
    reserve(collection, vecs.iter().map(Vec::len).sum());
    vecs.into_iter().for_each(|vec| collection.extend(vec));
}

impl<K, V, S> ParallelExtend<(K, V)> for HashMap<K, V, S>
where
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher + Send,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = (K, V)>>(&mut self, items: I) {
        // Many keys may occur in the map already, or repeatedly: `HashMap::extend` reserves half then.
        extend(self, items, |map, len| map.reserve(if map.is_empty() { len } else { len.div_ceil(2) }));
    }
}

impl<T, S> ParallelExtend<T> for HashSet<T, S>
where
    T: Eq + Hash + Send,
    S: BuildHasher + Send,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        extend(self, items, |set, len| set.reserve(if set.is_empty() { len } else { len.div_ceil(2) }));
    }
}

impl<K: Ord + Send, V: Send> ParallelExtend<(K, V)> for BTreeMap<K, V> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = (K, V)>>(&mut self, items: I) {
        extend(self, items, |_, _| ());
    }
}

impl<T: Ord + Send> ParallelExtend<T> for BTreeSet<T> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        extend(self, items, |_, _| ());
    }
}

impl<K, V, S> FromParallelIterator<(K, V)> for HashMap<K, V, S>
where
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher + Default + Send,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = (K, V)>>(items: I) -> Self {
        from_extend(items)
    }
}

impl<T, S> FromParallelIterator<T> for HashSet<T, S>
where
    T: Eq + Hash + Send,
    S: BuildHasher + Default + Send,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        from_extend(items)
    }
}

/// The items are sorted first, in parallel, so that the tree is built from sorted items.
impl<K: Ord + Send, V: Send> FromParallelIterator<(K, V)> for BTreeMap<K, V> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = (K, V)>>(items: I) -> Self {
        let mut items = Vec::from_par_iter(items);
        stable(&mut items, |a, b| a.0.cmp(&b.0));
        items.into_iter().collect()
    }
}

/// The items are sorted first, in parallel, so that the tree is built from sorted items.
impl<T: Ord + Send> FromParallelIterator<T> for BTreeSet<T> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        let mut items = Vec::from_par_iter(items);
        stable(&mut items, T::cmp);
        items.into_iter().collect()
    }
}

impl<'a, K, V, S> ParallelExtend<(&'a K, &'a V)> for HashMap<K, V, S>
where
    K: Copy + Eq + Hash + Send + Sync + 'a,
    V: Copy + Send + Sync + 'a,
    S: BuildHasher + Send,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = (&'a K, &'a V)>>(&mut self, items: I) {
        self.par_extend(Map::new(items.into_par_iter(), |(key, value): (&K, &V)| (*key, *value)));
    }
}

impl<'a, T, S> ParallelExtend<&'a T> for HashSet<T, S>
where
    T: Copy + Eq + Hash + Send + Sync + 'a,
    S: BuildHasher + Send,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
        self.par_extend(Map::new(items.into_par_iter(), |item: &T| *item));
    }
}

impl<'a, K, V> ParallelExtend<(&'a K, &'a V)> for BTreeMap<K, V>
where
    K: Copy + Ord + Send + Sync + 'a,
    V: Copy + Send + Sync + 'a,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = (&'a K, &'a V)>>(&mut self, items: I) {
        self.par_extend(Map::new(items.into_par_iter(), |(key, value): (&K, &V)| (*key, *value)));
    }
}

impl<'a, T> ParallelExtend<&'a T> for BTreeSet<T>
where
    T: Copy + Ord + Send + Sync + 'a,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
        self.par_extend(Map::new(items.into_par_iter(), |item: &T| *item));
    }
}
