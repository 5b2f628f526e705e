//! [`intersperse`](crate::iter::ParallelIterator::intersperse).
//!
//! Within a piece the separators stand between the items. Whether a separator belongs between two pieces is known when
//! both pieces have ended: it does if both have items. `combine` then inserts a piece that is the separator alone.

use crate::iter::{
    adapters::init::{Init, Shared},
    plumbing::{Consumer, Drive, DriveIndexed, Driven, Producer, Progress, Visitor, drive_indexed},
};
use std::{fmt, iter};

/// Yields clones of a value between the items.
/// [`ParallelIterator::intersperse`](crate::iter::ParallelIterator::intersperse) returns it.
#[derive(Clone)]
#[must_use = "parallel iterators are lazy and do nothing unless consumed"]
pub struct Intersperse<I, T: Clone> {
    base: I,
    separator: Shared<T>,
}

impl<I, T: Clone> Intersperse<I, T> {
    pub(in crate::iter) fn new(base: I, separator: T) -> Self {
        Self { base, separator: Shared::new(separator) }
    }
}

impl<I: fmt::Debug, T: Clone> fmt::Debug for Intersperse<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intersperse").field("base", &self.base).finish_non_exhaustive()
    }
}

impl<I: Drive<Item = T>, T: Clone + Send> Drive for Intersperse<I, T> {
    type Item = T;

    fn drive<C: Consumer<T>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Driven<C, T> {
        let between = IntersperseConsumer { base: consumer, separator: &self.separator };
        let folder = PieceFolder { base: folder, separator: None, at };
        match self.base.drive(&between, folder, at) {
            Progress::Folding(folder) => Progress::Folding(folder.base),
            Progress::Complete(result) => Progress::Complete(result.base),
        }
    }
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len().map(len)
    }
    fn accept<V: Visitor<T>>(self, visitor: V) -> V::Output {
        self.base.accept(IntersperseVisitor { visitor, separator: self.separator })
    }
}

/// Returns the number of items and of the separators between them.
fn len(items: usize) -> usize {
    items.checked_add(items.saturating_sub(1)).expect("the number of items and separators fits into a usize")
}

struct IntersperseConsumer<'a, C, T> {
    base: &'a C,
    separator: &'a Shared<T>,
}

struct PieceFolder<F, T, P> {
    base: F,
    /// `Some` once the piece has items.
    separator: Option<T>,
    at: P,
}

struct PieceResult<R, P> {
    base: R,
    is_empty: bool,
    at: P,
}

impl<T: Clone + Send, C: Consumer<T>> Consumer<T> for IntersperseConsumer<'_, C, T> {
    type Folder = PieceFolder<C::Folder, T, C::Position>;
    type Result = PieceResult<C::Result, C::Position>;
    type Position = C::Position;
    const IS_DETERMINISTIC: bool = C::IS_DETERMINISTIC;

    fn folder(&self, at: C::Position) -> Self::Folder {
        PieceFolder { base: self.base.folder(at), separator: None, at }
    }

    fn consume_iter(&self, mut folder: Self::Folder, mut items: impl Iterator<Item = T>) -> Self::Folder {
        if folder.separator.is_none() {
            let Some(first) = items.next() else { return folder };
            folder.base = self.base.consume_iter(folder.base, iter::once(first));
        }
        let separator = folder.separator.unwrap_or_else(|| self.separator.init());
        let items = items.flat_map(|item| [separator.clone(), item]);
        PieceFolder { base: self.base.consume_iter(folder.base, items), separator: Some(separator), at: folder.at }
    }

    fn complete(&self, folder: Self::Folder) -> Self::Result {
        PieceResult { base: self.base.complete(folder.base), is_empty: folder.separator.is_none(), at: folder.at }
    }

    fn combine(&self, left: Self::Result, right: Self::Result) -> Self::Result {
        let mut base = left.base;
        if !left.is_empty && !right.is_empty {
            let separator = self.base.consume_iter(self.base.folder(right.at), iter::once(self.separator.init()));
            base = self.base.combine(base, self.base.complete(separator));
        }
        PieceResult {
            base: self.base.combine(base, right.base),
            is_empty: left.is_empty && right.is_empty,
            at: if left.is_empty { right.at } else { left.at },
        }
    }

    fn is_full(&self, folder: &Self::Folder, rest: C::Position) -> bool {
        self.base.is_full(&folder.base, rest)
    }
}

struct IntersperseVisitor<V, T> {
    visitor: V,
    separator: Shared<T>,
}

impl<T: Clone + Send, V: Visitor<T>> Visitor<T> for IntersperseVisitor<V, T> {
    type Output = V::Output;

    fn visit<I: Drive<Item = T>>(self, base: I) -> V::Output {
        self.visitor.visit(Intersperse { base, separator: self.separator })
    }
    fn visit_indexed<I: DriveIndexed<Item = T>>(self, base: I) -> V::Output {
        self.visitor.visit_indexed(Indexed(Intersperse { base, separator: self.separator }))
    }
}

/// An [`Intersperse`] whose pieces have the positions that their lengths imply.
struct Indexed<I, T: Clone>(Intersperse<I, T>);

impl<I: DriveIndexed<Item = T>, T: Clone + Send> Drive for Indexed<I, T> {
    drive_indexed!(T);
}

impl<I: DriveIndexed<Item = T>, T: Clone + Send> DriveIndexed for Indexed<I, T> {
    type Producer<'a>
        = IntersperseProducer<'a, I::Producer<'a>, T>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        self.0.producer()
    }
}

impl<I: DriveIndexed<Item = T>, T: Clone + Send> DriveIndexed for Intersperse<I, T> {
    type Producer<'a>
        = IntersperseProducer<'a, I::Producer<'a>, T>
    where
        Self: 'a;

    fn len(&self) -> usize {
        len(self.base.len())
    }
    fn producer(&mut self) -> Self::Producer<'_> {
        let len = DriveIndexed::len(self);
        IntersperseProducer { base: self.base.producer(), separator: &self.separator, len, is_separator_next: false }
    }
}

/// A piece of an [`Intersperse`].
pub struct IntersperseProducer<'a, P, T> {
    base: P,
    separator: &'a Shared<T>,
    len: usize,
    /// Whether the piece begins with a separator.
    is_separator_next: bool,
}

impl<'a, P: Producer<Item = T>, T: Clone + Send> Producer for IntersperseProducer<'a, P, T> {
    type Item = T;
    type IntoIter = IntersperseIter<P::IntoIter, T>;

    fn len(&self) -> usize {
        self.len
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        let is_odd = mid % 2 == 1;
        let items = if self.is_separator_next { mid / 2 } else { mid.div_ceil(2) };
        let (left, right) = self.base.split_at(items);
        let is_separator_next = self.is_separator_next != is_odd;
        (Self { base: left, len: mid, ..self }, Self { base: right, len: self.len - mid, is_separator_next, ..self })
    }
    fn into_iter(self) -> Self::IntoIter {
        IntersperseIter {
            base: self.base.into_iter(),
            separator: self.separator.init(),
            len: self.len,
            is_separator_next: self.is_separator_next,
        }
    }
    fn min_len(&self) -> usize {
        self.base.min_len()
    }
    fn max_len(&self) -> usize {
        self.base.max_len()
    }
}

/// The iterator over a piece of an [`Intersperse`].
pub struct IntersperseIter<I, T> {
    base: I,
    separator: T,
    len: usize,
    is_separator_next: bool,
}

impl<I: Iterator<Item = T>, T: Clone> Iterator for IntersperseIter<I, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        let is_separator = self.is_separator_next;
        self.is_separator_next = !is_separator;
        if is_separator { Some(self.separator.clone()) } else { self.base.next() }
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<I: DoubleEndedIterator<Item = T>, T: Clone> DoubleEndedIterator for IntersperseIter<I, T> {
    fn next_back(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        let is_separator = self.is_separator_next != (self.len % 2 == 1);
        if is_separator { Some(self.separator.clone()) } else { self.base.next_back() }
    }
}

impl<I: DoubleEndedIterator<Item = T>, T: Clone> ExactSizeIterator for IntersperseIter<I, T> {
    fn len(&self) -> usize {
        self.len
    }
}
