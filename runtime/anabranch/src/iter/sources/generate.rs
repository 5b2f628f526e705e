//! Parallel iterators over given values: repeated, a single one, or none.

use crate::iter::{
    plumbing::{Consumer, Drive, Driven, Position, Producer, Progress, bridge},
    sources::{option, producer::drive_producer},
};
use std::{fmt, iter, marker::PhantomData};

/// Returns a parallel iterator that yields clones of `element` forever.
///
/// It ends when its consumer does: see [`find_any`](crate::iter::ParallelIterator) and the like. To zip it with
/// something that ends, use [`Repeat::take`].
///
/// ```
/// use anabranch::iter::repeat;
/// use anabranch::prelude::*;
///
/// assert_eq!(repeat(2).take(5).sum::<u32>(), 10);
/// ```
pub fn repeat<T: Clone + Send>(element: T) -> Repeat<T> {
    Repeat(element)
}

/// A parallel iterator that yields clones of a value forever. [`repeat`] returns it.
#[derive(Debug, Clone)]
pub struct Repeat<T>(T);

impl<T: Clone + Send> Repeat<T> {
    /// Returns a parallel iterator over `n` clones: the same as [`repeat_n`].
    pub fn take(self, n: usize) -> RepeatN<T> {
        repeat_n(self.0, n)
    }
}

impl<T: Clone + Send> Drive for Repeat<T> {
    type Item = T;

    fn drive<C: Consumer<T>>(self, consumer: &C, mut folder: C::Folder, mut at: C::Position) -> Driven<C, T> {
        // As long as nothing ends the loop, parts that no loop reaches the end of.
        loop {
            let (here, rest) = at.split_at(1, 2);
            match bridge(repeat_n(self.0.clone(), usize::MAX), consumer, folder, here) {
                Progress::Folding(next) if consumer.is_full(&next, rest) => return Progress::Folding(next),
                Progress::Folding(next) => (folder, at) = (next, rest),
                Progress::Complete(result) => {
                    let next = consumer.folder(rest);
                    if consumer.is_full(&next, rest) {
                        return Progress::Complete(result);
                    }
                    let right = self.drive(consumer, next, rest).finish(consumer);
                    return Progress::Complete(consumer.combine(result, right));
                }
            }
        }
    }
}

/// Returns a parallel iterator that yields `n` clones of `element`.
///
/// ```
/// use anabranch::iter::repeat_n;
/// use anabranch::prelude::*;
///
/// assert_eq!(repeat_n(2, 5).sum::<u32>(), 10);
/// ```
pub fn repeat_n<T: Clone + Send>(element: T, n: usize) -> RepeatN<T> {
    RepeatN { element: (n > 0).then_some(element), len: n }
}

/// Returns a parallel iterator that yields `n` clones of `element`.
///
/// ```
/// # #![allow(deprecated)]
/// use anabranch::iter::repeatn;
/// use anabranch::prelude::*;
///
/// assert_eq!(repeatn(2, 5).sum::<u32>(), 10);
/// ```
#[deprecated(note = "use `repeat_n`")]
pub fn repeatn<T: Clone + Send>(element: T, n: usize) -> RepeatN<T> {
    repeat_n(element, n)
}

/// A parallel iterator that yields clones of a value a number of times. [`repeat_n`] returns it.
#[derive(Debug, Clone)]
pub struct RepeatN<T> {
    /// `None` if `len` is 0.
    element: Option<T>,
    len: usize,
}

impl<T: Clone + Send> Producer for RepeatN<T> {
    type Item = T;
    type IntoIter = RepeatNIter<T>;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        assert!(mid <= self.len, "split beyond the end of repeated values");
        let Self { element, len } = self;
        let (left, right) = match (mid, len - mid) {
            (0, _) => (None, element),
            (_, 0) => (element, None),
            _ => (element.clone(), element),
        };
        (Self { element: left, len: mid }, Self { element: right, len: len - mid })
    }
    #[inline]
    fn into_iter(self) -> RepeatNIter<T> {
        RepeatNIter(self)
    }
}

drive_producer!([T: Clone + Send] RepeatN<T>, T, |this| Self {
    element: this.element.take(),
    len: std::mem::take(&mut this.len),
});

/// An iterator over a piece of a [`RepeatN`].
pub struct RepeatNIter<T>(RepeatN<T>);

impl<T: Clone> Iterator for RepeatNIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.len = self.0.len.checked_sub(1)?;
        // The last one is the value itself.
        if self.0.len == 0 { self.0.element.take() } else { self.0.element.clone() }
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len, Some(self.0.len))
    }
}

impl<T: Clone> DoubleEndedIterator for RepeatNIter<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.next()
    }
}

impl<T: Clone> ExactSizeIterator for RepeatNIter<T> {}
impl<T: Clone> iter::FusedIterator for RepeatNIter<T> {}

/// Returns a parallel iterator over one value.
///
/// ```
/// use anabranch::iter::once;
/// use anabranch::prelude::*;
///
/// assert_eq!(once(3).sum::<u32>(), 3);
/// ```
pub fn once<T: Send>(item: T) -> Once<T> {
    Some(item).into()
}

/// A parallel iterator over one value. [`once`] returns it.
pub type Once<T> = option::IntoIter<T>;

/// Returns a parallel iterator without items.
///
/// ```
/// use anabranch::iter::empty;
/// use anabranch::prelude::*;
///
/// assert_eq!(empty::<u32>().sum::<u32>(), 0);
/// ```
pub fn empty<T: Send>() -> Empty<T> {
    Empty(PhantomData)
}

/// A parallel iterator without items. [`empty`] returns it.
pub struct Empty<T>(PhantomData<fn() -> T>);

impl<T> Clone for Empty<T> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<T> fmt::Debug for Empty<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Empty")
    }
}

impl<T: Send> Producer for Empty<T> {
    type Item = T;
    type IntoIter = iter::Empty<T>;

    #[inline]
    fn len(&self) -> usize {
        0
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        assert_eq!(mid, 0, "split beyond the end of nothing");
        (self.clone(), self)
    }
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        iter::empty()
    }
}

drive_producer!([T: Send] Empty<T>, T, |this| this.clone());
