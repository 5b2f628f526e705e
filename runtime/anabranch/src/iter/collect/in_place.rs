//! Collecting a sequence of known length: each item is written directly to its place.
//!
//! The items are zipped with *places* in the spare capacity of a vector, and both are cut together. A thread that has
//! filled places owns the items in them, as [`Written`], until all places are filled and the vector takes the items. So
//! a panic drops each finished item once.
//!
//! All pointers are derived from the pointer that [`Places::new`] makes, which may access all of the places. A pointer
//! derived from a reference to the places of one block could not access the items of another block. Nor could it be
//! used once the reference has been used again.
//!
//! A [`Producer`] is safe code and may yield any number of items. Places that remain empty are detected via the total
//! number of written items, which is checked before the vector takes them. Surplus items find no place.

use crate::iter::plumbing::{Consumer, Drive, DriveIndexed, Driven, Producer, bridge, bridge::run};
use std::{iter, marker::PhantomData, mem, mem::MaybeUninit, ptr, slice};

/// Appends the items of `iter` to `vec`.
///
/// # Panics
/// Panics when `iter` yields fewer items than its length. `vec` is then as before.
#[track_caller]
pub(in crate::iter) fn extend<I: DriveIndexed>(vec: &mut Vec<I::Item>, mut iter: I) {
    let len = iter.len();
    vec.reserve(len);
    let written = fill(iter.producer(), Places::new(vec, len), len);
    // SAFETY: see `take`. The places are those of the spare capacity of `vec`, and `fill` has filled `len` of them.
    unsafe { take(vec, written) };
}

/// Appends the items of `iter` to two vectors.
///
/// # Panics
/// Panics when `iter` yields fewer items than its length. The vectors are then as before.
#[track_caller]
pub(in crate::iter) fn extend_both<I, A, B>(left: &mut Vec<A>, right: &mut Vec<B>, mut iter: I)
where
    I: DriveIndexed<Item = (A, B)>,
    A: Send,
    B: Send,
{
    let len = iter.len();
    left.reserve(len);
    right.reserve(len);
    let places = (Places::new(left, len), Places::new(right, len));
    let (written_left, written_right) = fill(iter.producer(), places, len);
    // SAFETY: see `take`. The places are those of the spare capacity of the vectors, and `fill` has filled `len` of
    // each.
    unsafe {
        take(left, written_left);
        take(right, written_right);
    }
}

/// Fills `len` places with the items of `items`.
#[track_caller]
fn fill<P: Producer, G: Target<P::Item>>(items: P, target: G, len: usize) -> G::Written {
    let written = run(Filling { items, target }, &Fill, ());
    let filled = G::count(&written);
    assert!(filled == len, "a parallel iterator of length {len} yielded only {filled} items");
    written
}

/// Lets `vec` own the items in its spare capacity.
///
/// # Safety
/// `written` owns the items in the first places of the spare capacity of `vec`.
unsafe fn take<T>(vec: &mut Vec<T>, written: Written<T>) {
    let len = vec.len() + written.len;
    mem::forget(written);
    // SAFETY: the items between the old and the new length were written, as the caller promises. `written`, which owned
    // them, is forgotten, so that the vector alone owns them.
    unsafe { vec.set_len(len) };
}

/// Places for items of type `T`, which are filled from front to back.
trait Target<T>: Send + Sized {
    /// The items that were written.
    type Written: Send;

    fn nothing() -> Self::Written;
    fn split_at(self, mid: usize) -> (Self, Self);
    /// Writes the items to the places, as far as there are both.
    fn fill(self, items: impl Iterator<Item = T>) -> Self::Written;
    /// Joins two runs. If they are not adjacent, because items were missing, drops the second one.
    fn join(left: Self::Written, right: Self::Written) -> Self::Written;
    fn count(written: &Self::Written) -> usize;
}

/// `len` empty places from `start` on.
struct Places<'a, T> {
    start: *mut T,
    len: usize,
    _borrows: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: it stands for `&mut [MaybeUninit<T>]`, which is `Send` if `T` is: no two `Places` overlap.
unsafe impl<T: Send> Send for Places<'_, T> {}

impl<'a, T> Places<'a, T> {
    /// Returns the first `len` places in the spare capacity of `vec`.
    fn new(vec: &'a mut Vec<T>, len: usize) -> Self {
        let spare = &mut vec.spare_capacity_mut()[..len];
        Self { start: spare.as_mut_ptr().cast(), len, _borrows: PhantomData }
    }

    /// Returns the places as a slice, and the items that were written to them so far: none.
    #[inline]
    fn open(self) -> (&'a mut [MaybeUninit<T>], Written<T>) {
        let written = Written { start: self.start, len: 0 };
        // SAFETY: the places are within the spare capacity of a vector that is borrowed for `'a`, and nothing else
        // refers to them: `written` uses its own pointer only after the last use of the slice.
        (unsafe { slice::from_raw_parts_mut(self.start.cast(), self.len) }, written)
    }
}

impl<T: Send> Target<T> for Places<'_, T> {
    type Written = Written<T>;

    #[inline]
    fn nothing() -> Written<T> {
        Written { start: ptr::null_mut(), len: 0 }
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        assert!(mid <= self.len, "the length of a parallel iterator has changed");
        // SAFETY: `mid` is at most the number of places, so the pointer is within the places or at their end.
        let middle = unsafe { self.start.add(mid) };
        (Self { len: mid, ..self }, Self { start: middle, len: self.len - mid, ..self })
    }
    #[inline]
    fn fill(self, items: impl Iterator<Item = T>) -> Written<T> {
        let (slots, mut written) = self.open();
        if mem::needs_drop::<T>() {
            for (slot, item) in slots.iter_mut().zip(items) {
                slot.write(item);
                written.len += 1;
            }
        } else {
            // A panic need not drop anything. Without the count in memory the loop is vectorised.
            written.len = slots.iter_mut().zip(items).fold(0, |len, (slot, item)| {
                slot.write(item);
                len + 1
            });
        }
        written
    }
    #[inline]
    fn join(left: Written<T>, right: Written<T>) -> Written<T> {
        left.followed_by(right)
    }
    #[inline]
    fn count(written: &Written<T>) -> usize {
        written.len
    }
}

impl<'a, A: Send, B: Send> Target<(A, B)> for (Places<'a, A>, Places<'a, B>) {
    type Written = (Written<A>, Written<B>);

    #[inline]
    fn nothing() -> Self::Written {
        (Places::nothing(), Places::nothing())
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (left_a, right_a) = self.0.split_at(mid);
        let (left_b, right_b) = self.1.split_at(mid);
        ((left_a, left_b), (right_a, right_b))
    }
    #[inline]
    fn fill(self, items: impl Iterator<Item = (A, B)>) -> Self::Written {
        let ((slots_a, mut written_a), (slots_b, mut written_b)) = (self.0.open(), self.1.open());
        for ((slot_a, slot_b), (a, b)) in slots_a.iter_mut().zip(slots_b).zip(items) {
            slot_a.write(a);
            slot_b.write(b);
            written_a.len += 1;
            written_b.len += 1;
        }
        (written_a, written_b)
    }
    #[inline]
    fn join(left: Self::Written, right: Self::Written) -> Self::Written {
        (left.0.followed_by(right.0), left.1.followed_by(right.1))
    }
    #[inline]
    fn count(written: &Self::Written) -> usize {
        written.0.len.min(written.1.len)
    }
}

/// Owned items in places, from `start` on. They are dropped if a panic prevents the vector from taking them.
struct Written<T> {
    /// A pointer of [`Places`].
    start: *mut T,
    len: usize,
}

// SAFETY: it alone owns its items, like a vector, and `T` is `Send`.
unsafe impl<T: Send> Send for Written<T> {}

impl<T> Written<T> {
    #[inline]
    fn followed_by(mut self, next: Self) -> Self {
        if self.len == 0 {
            return next;
        }
        if ptr::eq(self.start.wrapping_add(self.len), next.start) {
            self.len += next.len;
            mem::forget(next);
        }
        self
    }
}

impl<T> Drop for Written<T> {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: `len` items were written from `start` on, and this alone owns them. The pointer may access all of
            // them, as each pointer of `Places` may access all of the places.
            unsafe { ptr::slice_from_raw_parts_mut(self.start, self.len).drop_in_place() };
        }
    }
}

/// A piece of a sequence and the places of its items.
struct Filling<P, G> {
    items: P,
    target: G,
}

impl<P: Producer, G: Target<P::Item>> Drive for Filling<P, G> {
    /// The consumer gets whole blocks.
    type Item = Self;

    #[inline]
    fn drive<C: Consumer<Self>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, Self> {
        bridge(self, consumer, folder, at)
    }
}

impl<P: Producer, G: Target<P::Item>> Producer for Filling<P, G> {
    type Item = Self;
    type IntoIter = iter::Once<Self>;

    const IS_EXACT: bool = P::IS_EXACT;

    #[inline]
    fn len(&self) -> usize {
        self.items.len()
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        let (items, rest) = self.items.split_at(mid);
        let (target, others) = self.target.split_at(mid);
        (Self { items, target }, Self { items: rest, target: others })
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        iter::once(self)
    }
    #[inline]
    fn min_len(&self) -> usize {
        self.items.min_len()
    }
    #[inline]
    fn max_len(&self) -> usize {
        self.items.max_len()
    }
}

/// Fills the places.
struct Fill;

impl<P: Producer, G: Target<P::Item>> Consumer<Filling<P, G>> for Fill {
    type Folder = G::Written;
    type Result = G::Written;
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) -> G::Written {
        G::nothing()
    }
    #[inline]
    fn consume_iter(&self, folder: G::Written, blocks: impl Iterator<Item = Filling<P, G>>) -> G::Written {
        blocks.fold(folder, |written, block| G::join(written, block.target.fill(block.items.into_iter())))
    }
    #[inline]
    fn complete(&self, folder: G::Written) -> G::Written {
        folder
    }
    #[inline]
    fn combine(&self, left: G::Written, right: G::Written) -> G::Written {
        G::join(left, right)
    }
    #[inline]
    fn is_full(&self, _: &G::Written, (): ()) -> bool {
        false
    }
}
