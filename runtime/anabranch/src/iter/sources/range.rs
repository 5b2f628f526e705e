//! Ranges of integers and of `char`.

use crate::iter::{
    convert::IntoParallelIterator,
    plumbing::{Consumer, Drive, DriveIndexed, Driven, Position, Producer, Progress, Visitor, bridge},
};
use std::ops::{Range, RangeInclusive};

mod private {
    /// A type whose values can be counted.
    pub trait Number: Copy + PartialOrd + Send + Sync {
        /// Returns the number of values from `self` to `end`, without `end`. `end` is not less than `self`.
        fn distance(self, end: Self) -> u128;
        /// Returns the value that is `n` values later. There has to be one.
        fn plus(self, n: usize) -> Self;
    }
}
use private::Number;

macro_rules! integers {
    ($($int:ty)*) => {$(
        impl Number for $int {
            #[inline]
            fn distance(self, end: Self) -> u128 {
                // The difference of two signed numbers may not fit their type, but it fits the unsigned one.
                end.abs_diff(self) as u128
            }
            #[inline]
            fn plus(self, n: usize) -> Self {
                // The sum fits the type, even if `n` wraps in a signed type.
                self.wrapping_add(n as $int)
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// The first surrogate, and how many there are. No `char` has such a number.
const SURROGATES: (u32, u32) = (0xD800, 0x800);

impl Number for char {
    #[inline]
    fn distance(self, end: Self) -> u128 {
        let (start, end) = (u32::from(self), u32::from(end));
        let has_surrogates = start < SURROGATES.0 && end >= SURROGATES.0;
        u128::from(end - start - if has_surrogates { SURROGATES.1 } else { 0 })
    }
    #[inline]
    fn plus(self, n: usize) -> Self {
        let start = u32::from(self);
        let number = start + n as u32;
        let has_surrogates = start < SURROGATES.0 && number >= SURROGATES.0;
        char::from_u32(number + if has_surrogates { SURROGATES.1 } else { 0 }).expect("a char within the range")
    }
}

/// The values from `start` on.
#[derive(Debug, Clone, Copy)]
struct Values<T> {
    start: T,
    /// The number of values less one. `None`: there are none.
    ///
    /// Less one, because `0..=u128::MAX` has one value more than a `u128` can count.
    last: Option<u128>,
}

impl<T: Number> Values<T> {
    #[inline]
    fn of(range: &Range<T>) -> Self {
        let last = if range.start < range.end { Some(range.start.distance(range.end) - 1) } else { None };
        Self { start: range.start, last }
    }

    #[inline]
    fn of_inclusive(range: &RangeInclusive<T>) -> Self {
        // An exhausted range is empty, whatever its ends.
        let last = if range.is_empty() { None } else { Some(range.start().distance(*range.end())) };
        Self { start: *range.start(), last }
    }

    /// Returns the number of values, if it fits.
    #[inline]
    fn len(&self) -> Option<usize> {
        match self.last {
            None => Some(0),
            Some(last) => usize::try_from(last).ok()?.checked_add(1),
        }
    }

    #[inline]
    fn producer(&self) -> Option<RangeProducer<T>> {
        Some(RangeProducer { start: self.start, len: self.len()? })
    }

    /// Folds the values in parts that are as long as a producer can be, one after the other.
    #[cold]
    fn drive_parts<C: Consumer<T>>(mut self, consumer: &C, folder: C::Folder, mut at: C::Position) -> Driven<C, T> {
        const PART: usize = isize::MAX as usize;
        let mut progress = Progress::Folding(folder);
        loop {
            let here = self.producer().unwrap_or(RangeProducer { start: self.start, len: PART });
            let is_rest = self.len().is_some();
            // A part is never more than half of what is left, as far as a `Position` can tell.
            let (at_here, at_rest) = if is_rest { (at, at) } else { at.split_at(1, 2) };
            progress = match progress {
                Progress::Folding(folder) => bridge(here, consumer, folder, at_here),
                Progress::Complete(left) => {
                    let right = bridge(here, consumer, consumer.folder(at_here), at_here).finish(consumer);
                    Progress::Complete(consumer.combine(left, right))
                }
            };
            let is_full = match &progress {
                Progress::Folding(folder) => consumer.is_full(folder, at_rest),
                Progress::Complete(_) => consumer.is_full(&consumer.folder(at_rest), at_rest),
            };
            if is_rest || is_full {
                return progress;
            }
            at = at_rest;
            self.last = self.last.map(|last| last - PART as u128);
            self.start = self.start.plus(PART);
        }
    }
}

/// Implements the parallel iterator over a range.
macro_rules! iter {
    ($doc:literal $name:ident, $range:ident, $values:ident) => {
        #[doc = $doc]
        ///
        /// It has a known length as long as `usize` can count the values. Otherwise only its methods that need the
        /// length panic.
        #[derive(Debug, Clone)]
        pub struct $name<T>($range<T>);

        impl<T: Number> IntoParallelIterator for $range<T> {
            type Iter = $name<T>;
            type Item = T;

            #[inline]
            fn into_par_iter(self) -> $name<T> {
                $name(self)
            }
        }

        impl<T: Number> Drive for $name<T> {
            type Item = T;

            #[inline]
            fn drive<C: Consumer<T>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, T> {
                let values = Values::$values(&self.0);
                match values.producer() {
                    Some(producer) => bridge(producer, consumer, folder, at),
                    None => values.drive_parts(consumer, folder, at),
                }
            }
            #[inline]
            fn opt_len(&self) -> Option<usize> {
                Values::$values(&self.0).len()
            }
            #[inline]
            fn accept<V: Visitor<T>>(self, visitor: V) -> V::Output {
                if self.opt_len().is_some() { visitor.visit_indexed(self) } else { visitor.visit(self) }
            }
        }

        impl<T: Number> DriveIndexed for $name<T> {
            type Producer<'a>
                = RangeProducer<T>
            where
                Self: 'a;

            #[inline]
            fn len(&self) -> usize {
                self.opt_len().expect("the length of a parallel range does not fit usize")
            }
            #[inline]
            fn producer(&mut self) -> RangeProducer<T> {
                Values::$values(&self.0).producer().expect("the length of a parallel range does not fit usize")
            }
        }
    };
}

iter!("A parallel iterator over a range `a..b` of integers or of `char`." Iter, Range, of);
iter!("A parallel iterator over a range `a..=b` of integers or of `char`." InclusiveIter, RangeInclusive, of_inclusive);

/// A piece of a range.
#[derive(Debug, Clone, Copy)]
pub struct RangeProducer<T> {
    start: T,
    len: usize,
}

impl<T: Number> Producer for RangeProducer<T> {
    type Item = T;
    type IntoIter = RangeIter<T>;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }
    #[inline]
    fn split_at(self, mid: usize) -> (Self, Self) {
        assert!(mid <= self.len, "split beyond the end of a range");
        // A start after the last value may not exist, and no value follows from it.
        let start = if mid < self.len { self.start.plus(mid) } else { self.start };
        (Self { len: mid, ..self }, Self { start, len: self.len - mid })
    }
    #[inline]
    fn into_iter(self) -> RangeIter<T> {
        RangeIter { start: self.start, indices: 0..self.len }
    }
}

/// An iterator over a piece of a range.
#[derive(Debug, Clone)]
pub struct RangeIter<T> {
    start: T,
    indices: Range<usize>,
}

impl<T: Number> Iterator for RangeIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.indices.next().map(|index| self.start.plus(index))
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.indices.nth(n).map(|index| self.start.plus(index))
    }
    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        self.indices.fold(init, |acc, index| f(acc, self.start.plus(index)))
    }
}

impl<T: Number> DoubleEndedIterator for RangeIter<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.indices.next_back().map(|index| self.start.plus(index))
    }
    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        self.indices.nth_back(n).map(|index| self.start.plus(index))
    }
    #[inline]
    fn rfold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        self.indices.rfold(init, |acc, index| f(acc, self.start.plus(index)))
    }
}

impl<T: Number> ExactSizeIterator for RangeIter<T> {}
impl<T: Number> std::iter::FusedIterator for RangeIter<T> {}
