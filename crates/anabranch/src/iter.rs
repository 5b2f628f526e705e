use std::ops::Range;
/// What can be cut in two and run through.
pub trait Splittable: Send + Sized {
    type Item;
    type IntoIter: Iterator<Item = Self::Item>;
    fn len(&self) -> usize;
    fn split_at(self, mid: usize) -> (Self, Self);
    fn into_seq(self) -> Self::IntoIter;
}
macro_rules! range { ($($t:ty)*) => {$(
impl Splittable for Range<$t> { type Item = $t; type IntoIter = Self;
    fn len(&self) -> usize { if self.start < self.end { (self.end - self.start) as usize } else { 0 } }
    fn split_at(self, mid: usize) -> (Self, Self) { let m = self.start + mid as $t; (self.start..m, m..self.end) }
    fn into_seq(self) -> Self { self } }
)*}}
range!(u32 u64 usize);
impl<'a, T: Sync> Splittable for &'a [T] { type Item = &'a T; type IntoIter = std::slice::Iter<'a, T>;
    fn len(&self) -> usize { <[T]>::len(self) }
    fn split_at(self, mid: usize) -> (Self, Self) { <[T]>::split_at(self, mid) }
    fn into_seq(self) -> Self::IntoIter { self.iter() } }
impl<'a, T: Send> Splittable for &'a mut [T] { type Item = &'a mut T; type IntoIter = std::slice::IterMut<'a, T>;
    fn len(&self) -> usize { <[T]>::len(self) }
    fn split_at(self, mid: usize) -> (Self, Self) { self.split_at_mut(mid) }
    fn into_seq(self) -> Self::IntoIter { self.iter_mut() } }
impl<A: Splittable, B: Splittable> Splittable for (A, B) { type Item = (A::Item, B::Item); type IntoIter = std::iter::Zip<A::IntoIter, B::IntoIter>;
    fn len(&self) -> usize { self.0.len().min(self.1.len()) }
    fn split_at(self, mid: usize) -> (Self, Self) { let (a, b) = self.0.split_at(mid); let (c, d) = self.1.split_at(mid); ((a, c), (b, d)) }
    fn into_seq(self) -> Self::IntoIter { self.0.into_seq().zip(self.1.into_seq()) } }
pub struct Chunks<'a, T>(&'a [T], usize);
pub struct ChunksMut<'a, T>(&'a mut [T], usize);
/// Runs of `size` elements, the last one shorter.
pub fn chunks<T: Sync>(slice: &[T], size: usize) -> Chunks<'_, T> { assert!(size > 0); Chunks(slice, size) }
pub fn chunks_mut<T: Send>(slice: &mut [T], size: usize) -> ChunksMut<'_, T> { assert!(size > 0); ChunksMut(slice, size) }
impl<'a, T: Sync> Splittable for Chunks<'a, T> { type Item = &'a [T]; type IntoIter = std::slice::Chunks<'a, T>;
    fn len(&self) -> usize { self.0.len().div_ceil(self.1) }
    fn split_at(self, mid: usize) -> (Self, Self) { let (a, b) = self.0.split_at((mid * self.1).min(self.0.len())); (Chunks(a, self.1), Chunks(b, self.1)) }
    fn into_seq(self) -> Self::IntoIter { self.0.chunks(self.1) } }
impl<'a, T: Send> Splittable for ChunksMut<'a, T> { type Item = &'a mut [T]; type IntoIter = std::slice::ChunksMut<'a, T>;
    fn len(&self) -> usize { self.0.len().div_ceil(self.1) }
    fn split_at(self, mid: usize) -> (Self, Self) { let m = (mid * self.1).min(self.0.len()); let (a, b) = self.0.split_at_mut(m); (ChunksMut(a, self.1), ChunksMut(b, self.1)) }
    fn into_seq(self) -> Self::IntoIter { self.0.chunks_mut(self.1) } }

pub fn par_for_each<S: Splittable>(items: S, f: impl Fn(S::Item) + Sync) { items.into_seq().for_each(f) }
/// Results in order, written in place.
pub fn par_map<S: Splittable, R: Send>(items: S, f: impl Fn(S::Item) -> R + Sync) -> Vec<R> { items.into_seq().map(f).collect() }
/// Each piece folds from its own `identity()`; there are about as many pieces as steals.
pub fn par_reduce<S: Splittable, A: Send>(items: S, identity: impl Fn() -> A + Sync, fold: impl Fn(A, S::Item) -> A + Sync, combine: impl Fn(A, A) -> A + Sync) -> A {
    let _ = &combine; items.into_seq().fold(identity(), fold) }
