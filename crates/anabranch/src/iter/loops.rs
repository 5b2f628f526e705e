//! The loops themselves.

use crate::iter::{Splittable, drive::Reduction};
use std::{mem::MaybeUninit, ptr};

/// Calls `body` for each item, in parallel.
///
/// # Panics
/// When `body` panics: once all that had begun has ended, with one of the panics. The remaining items may or may not have
/// been visited.
///
/// ```
/// let mut xs = vec![1.0f64; 1000];
/// anabranch::par_for_each(&mut xs[..], |x| *x = x.sin());
/// ```
#[track_caller]
pub fn par_for_each<S: Splittable>(items: S, body: impl Fn(S::Item) + Sync) {
    let reduction =
        Reduction { identity: &|| (), fold: &|(), block: S| block.into_seq().for_each(&body), combine: &|(), ()| () };
    reduction.start(items, ());
}

/// Folds the items in parallel.
///
/// The items are cut into pieces, about as many as other threads take. Each piece is folded from an `identity()` of its
/// own, from front to back, and the results of neighbouring pieces are combined in order. `combine` has to be associative
/// and `identity()` neutral for it, or else the result depends on where the cuts fell; for floating-point sums it does, in
/// the last digits.
///
/// An accumulator may be as heavy as it likes, a buffer say: there are few.
///
/// # Panics
/// When one of the closures panics: once all that had begun has ended, with one of the panics.
///
/// ```
/// let text = "it was the best of times";
/// let longest = anabranch::par_reduce(
///     &text.split(' ').collect::<Vec<_>>()[..],
///     || 0,
///     |longest, word| word.len().max(longest),
///     |a, b| a.max(b),
/// );
/// assert_eq!(longest, 5);
/// ```
#[track_caller]
pub fn par_reduce<S: Splittable, A: Send>(
    items: S,
    identity: impl Fn() -> A + Sync,
    fold: impl Fn(A, S::Item) -> A + Sync,
    combine: impl Fn(A, A) -> A + Sync,
) -> A {
    let acc = identity();
    let reduction =
        Reduction { identity: &identity, fold: &|acc, block: S| block.into_seq().fold(acc, &fold), combine: &combine };
    reduction.start(items, acc)
}

/// The results of `f` for each item, in order, computed in parallel.
///
/// Each result is written to its place in the vector at once; nothing is copied together afterwards.
///
/// # Panics
/// When `f` panics: once all that had begun has ended, with one of the panics; results that were made are dropped. When
/// the items' iterator yields fewer than their `len` promised.
///
/// ```
/// assert_eq!(anabranch::par_map(0..5u32, |i| i * i), [0, 1, 4, 9, 16]);
/// ```
#[track_caller]
pub fn par_map<S: Splittable, R: Send>(items: S, f: impl Fn(S::Item) -> R + Sync) -> Vec<R> {
    let len = items.len();
    let mut results = Vec::with_capacity(len);
    let places = Places(&mut results.spare_capacity_mut()[..len]);
    let reduction = Reduction {
        identity: &Written::nothing,
        fold: &|written: Written<R>, (block, places): (S, Places<'_, R>)| written.followed_by(fill(block, places, &f)),
        combine: &Written::followed_by,
    };
    let written = reduction.start((items, places), Written::nothing());
    assert_eq!(written.len, len, "a Splittable yielded fewer items than its len");
    std::mem::forget(written);
    // SAFETY: `written` says that the first `len` places, one next to the other, hold results; it is forgotten, so they are
    // the vector's now.
    unsafe { results.set_len(len) };
    results
}

/// Writes the results for a block into its places.
fn fill<S: Splittable, R>(block: S, places: Places<'_, R>, f: impl Fn(S::Item) -> R) -> Written<R> {
    let mut written = Written { start: places.0.as_mut_ptr().cast::<R>(), len: 0 };
    for (place, item) in places.0.iter_mut().zip(block.into_seq()) {
        place.write(f(item));
        written.len += 1;
    }
    written
}

/// Where a piece of a [`par_map`] puts its results.
struct Places<'a, R>(&'a mut [MaybeUninit<R>]);

impl<'a, R: Send> Splittable for Places<'a, R> {
    type Item = &'a mut MaybeUninit<R>;
    type IntoIter = std::slice::IterMut<'a, MaybeUninit<R>>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at_mut(mid);
        (Self(left), Self(right))
    }
    #[inline]
    fn into_seq(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

/// Results in place, from `start` on: owned, so that they are dropped if a panic keeps them from becoming the vector's.
struct Written<R> {
    start: *mut R,
    len: usize,
}

// SAFETY: it owns `R`s, as a vector would.
unsafe impl<R: Send> Send for Written<R> {}

impl<R> Written<R> {
    fn nothing() -> Self {
        Self { start: ptr::null_mut(), len: 0 }
    }

    /// Joins two runs. Where they do not touch, because an iterator fell short, the second one is dropped, and the length
    /// tells.
    fn followed_by(mut self, next: Self) -> Self {
        if self.len == 0 {
            return next;
        }
        if ptr::eq(self.start.wrapping_add(self.len), next.start) {
            self.len += next.len;
            std::mem::forget(next);
        }
        self
    }
}

impl<R> Drop for Written<R> {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: `len` results were written from `start` on, and this alone owns them.
            unsafe { ptr::slice_from_raw_parts_mut(self.start, self.len).drop_in_place() };
        }
    }
}
