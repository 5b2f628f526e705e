//! The parallel loops.

use crate::iter::{Splittable, drive::Reduction};
use std::{marker::PhantomData, mem::MaybeUninit, ptr, slice};

/// Calls `body` for each item, in parallel.
///
/// # Panics
/// Panics with one of the panics when `body` panics, once all started items have ended. The remaining items may or may
/// not have been visited.
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
/// The loop cuts the items into pieces, about as many as other threads take. It folds each piece from its own
/// `identity()`, from front to back, and combines the results of neighbouring pieces in order. `combine` must be
/// associative, and `identity()` neutral for it. Otherwise the result depends on the cuts. For floating-point sums it
/// does so, in the last digits.
///
/// An accumulator may be large, for example a buffer, because there are few of them.
///
/// # Panics
/// Panics with one of the panics when a closure panics, once all started pieces have ended.
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

/// Returns the results of `f` for each item, in order, computed in parallel.
///
/// Each result is written directly to its place in the vector.
///
/// # Panics
/// Panics with one of the panics when `f` panics, once all started items have ended; the finished results are dropped.
/// Also panics when the items' iterator yields fewer items than `len` promised. Extra items are ignored.
///
/// ```
/// assert_eq!(anabranch::par_map(0..5u32, |i| i * i), [0, 1, 4, 9, 16]);
/// ```
#[track_caller]
pub fn par_map<S: Splittable, R: Send>(items: S, f: impl Fn(S::Item) -> R + Sync) -> Vec<R> {
    let len = items.len();
    let mut results = Vec::with_capacity(len);
    let places = Places::of(&mut results, len);
    let reduction = Reduction {
        identity: &Written::nothing,
        fold: &|written: Written<R>, block: Mapped<'_, S, R>| written.followed_by(fill(block, &f)),
        combine: &Written::followed_by,
    };
    let written = reduction.start(Mapped { items, places }, Written::nothing());
    assert_eq!(written.len, len, "a Splittable yielded fewer items than its len");
    std::mem::forget(written);
    // SAFETY: each place is filled at most once, so `len` adjacent results fill all places. `written`, which owned
    // them, is forgotten, and nothing else refers to them any more.
    unsafe { results.set_len(len) };
    results
}

/// Writes the results of a block to its places.
fn fill<S: Splittable, R>(block: Mapped<'_, S, R>, f: impl Fn(S::Item) -> R) -> Written<R> {
    let Mapped { items, places } = block;
    let mut written = Written { start: places.start, len: 0 };
    // SAFETY: the places are within the vector's spare capacity, which outlives `places`, and nothing else refers to
    // them. The reference is no longer used when `written`, which has its own pointer, is dropped or passed on.
    let slots = unsafe { slice::from_raw_parts_mut(places.start.cast::<MaybeUninit<R>>(), places.len) };
    for (slot, item) in slots.iter_mut().zip(items.into_seq()) {
        slot.write(f(item));
        written.len += 1;
    }
    written
}

/// The places for the results of a piece of a [`par_map`]: `len` of them from `start` on.
///
/// All pointers of a map are derived from the one that [`Places::of`] makes, which may access all of the places. A
/// pointer derived from a reference to the places of one block could not access the results of another block. Nor could
/// it be used once the reference has been used again.
struct Places<'a, R> {
    start: *mut R,
    len: usize,
    _borrows: PhantomData<&'a mut [MaybeUninit<R>]>,
}

// SAFETY: it stands for `&mut [MaybeUninit<R>]`, which is `Send` if `R` is: no two `Places` overlap.
unsafe impl<R: Send> Send for Places<'_, R> {}

impl<'a, R> Places<'a, R> {
    /// Returns the places for `len` results in a vector's spare capacity.
    fn of(results: &'a mut Vec<R>, len: usize) -> Self {
        let spare = &mut results.spare_capacity_mut()[..len];
        Self { start: spare.as_mut_ptr().cast(), len, _borrows: PhantomData }
    }

    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        assert!(mid <= self.len, "the len of a Splittable has changed");
        // SAFETY: `mid` is at most the number of places, so the pointer is within the places or at their end.
        let middle = unsafe { self.start.add(mid) };
        (Self { len: mid, ..self }, Self { start: middle, len: self.len - mid, ..self })
    }
}

/// The items of a map, and the places for their results.
struct Mapped<'a, S, R> {
    items: S,
    places: Places<'a, R>,
}

impl<S: Splittable, R: Send> Splittable for Mapped<'_, S, R> {
    // The driver passes whole blocks, see `fill`.
    type Item = ();
    type IntoIter = std::iter::Empty<()>;

    #[inline]
    fn len(&self) -> usize {
        self.items.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (items, rest) = self.items.split_at(mid);
        let (places, others) = self.places.split_at(mid);
        (Self { items, places }, Self { items: rest, places: others })
    }
    fn into_seq(self) -> Self::IntoIter {
        std::iter::empty()
    }
}

/// Owned results in place, from `start` on. They are dropped if a panic prevents the vector from taking them.
struct Written<R> {
    /// A pointer of [`Places`].
    start: *mut R,
    len: usize,
}

// SAFETY: it alone owns its results, like a vector, and `R` is `Send`.
unsafe impl<R: Send> Send for Written<R> {}

impl<R> Written<R> {
    fn nothing() -> Self {
        Self { start: ptr::null_mut(), len: 0 }
    }

    /// Joins two adjacent runs. If they are not adjacent, because an iterator yielded too few items, drops the second
    /// one. The length then shows the gap.
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
            // SAFETY: `len` results were written from `start` on, and this alone owns them. The pointer may access all
            // of them, as each pointer of `Places` may access all of the places of the map.
            unsafe { ptr::slice_from_raw_parts_mut(self.start, self.len).drop_in_place() };
        }
    }
}
