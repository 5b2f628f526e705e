//! Consumers, which fold items.

/// Folds items of type `T`, in pieces.
///
/// Threads share a consumer. Each piece of the sequence is folded on one thread, with a [`Folder`](Self::Folder) that
/// stays there, from front to back. A piece ends with a [`Result`](Self::Result), and the results of neighbouring
/// pieces are combined in order. There is about one piece for each time that another thread takes work.
pub trait Consumer<T>: Sync {
    /// The state of a piece that is being folded.
    type Folder;
    /// The result of a piece.
    type Result: Send;
    /// Where a piece is in the sequence: `()` for a consumer that does not need to know.
    type Position: Position;

    /// Whether the sequence has to be cut at the same places in each run, whatever the threads do; see
    /// [`deterministic`](crate::iter::ParallelIterator::deterministic).
    const IS_DETERMINISTIC: bool = false;

    /// Begins a piece.
    fn folder(&self, at: Self::Position) -> Self::Folder;

    /// Folds the next items of a piece.
    fn consume_iter(&self, folder: Self::Folder, items: impl Iterator<Item = T>) -> Self::Folder;

    /// Ends a piece.
    fn complete(&self, folder: Self::Folder) -> Self::Result;

    /// Combines the results of two neighbouring pieces.
    fn combine(&self, left: Self::Result, right: Self::Result) -> Self::Result;

    /// Returns whether further items, those at `rest`, cannot change the result. It is called between two blocks of
    /// items.
    fn is_full(&self, folder: &Self::Folder, rest: Self::Position) -> bool;
}

/// Where a piece is in the sequence.
pub trait Position: Copy + Send {
    /// Returns the positions of the parts of a piece of length `len` that is cut at `mid`.
    fn split_at(self, mid: usize, len: usize) -> (Self, Self);
}

impl Position for () {
    #[inline(always)]
    fn split_at(self, _: usize, _: usize) -> ((), ()) {
        ((), ())
    }
}

/// A part of a range of numbers. The earlier of two pieces in the sequence has the smaller `start`, unless the numbers
/// run out. Then they may be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first number.
    pub start: u64,
    /// The number after the last number.
    pub end: u64,
}

impl Span {
    /// The position of a whole sequence.
    pub const WHOLE: Self = Self { start: 0, end: u64::MAX };
}

impl Position for Span {
    fn split_at(self, mid: usize, len: usize) -> (Self, Self) {
        let width = u128::from(self.end - self.start);
        let boundary = self.start + (width * mid as u128 / (len as u128).max(1)) as u64;
        (Self { end: boundary, ..self }, Self { start: boundary, ..self })
    }
}

/// The result of [`Drive::drive`](crate::iter::plumbing::Drive::drive), for a consumer `C` of items `T`.
pub(in crate::iter) type Driven<C, T> = Progress<<C as Consumer<T>>::Folder, <C as Consumer<T>>::Result>;

/// How far the items have been folded.
#[derive(Debug)]
pub enum Progress<F, R> {
    /// This thread has folded all items, and the folder can fold more.
    Folding(F),
    /// Other threads have folded some of the items. This is the result of all of them, together with what the folder
    /// contained before.
    Complete(R),
}

impl<F, R> Progress<F, R> {
    /// Returns the result of all items.
    #[inline]
    pub fn finish<T, C: Consumer<T, Folder = F, Result = R>>(self, consumer: &C) -> R {
        match self {
            Self::Folding(folder) => consumer.complete(folder),
            Self::Complete(result) => result,
        }
    }
}

/// Implements the parts of a [`Consumer`] that passes everything on to another consumer, except
/// [`consume_iter`](Consumer::consume_iter).
///
/// `delegate!(C, self => self.0)` is used in an implementation of `Consumer`, where `C` is the type of the other
/// consumer and `self.0` the expression for it. `delegate!(C, self => self.0, until self.has_ended())` is for a
/// consumer that can also be full on its own.
#[doc(hidden)]
#[macro_export]
macro_rules! __delegate {
    ($base:ident, $self:ident => $inner:expr) => {
        $crate::__delegate!($base, $self => $inner, until false);
    };
    ($base:ident, $self:ident => $inner:expr, until $has_ended:expr) => {
        type Folder = $base::Folder;
        type Result = $base::Result;
        type Position = $base::Position;
        const IS_DETERMINISTIC: bool = $base::IS_DETERMINISTIC;

        #[inline]
        fn folder(&$self, at: Self::Position) -> Self::Folder {
            $inner.folder(at)
        }
        #[inline]
        fn complete(&$self, folder: Self::Folder) -> Self::Result {
            $inner.complete(folder)
        }
        #[inline]
        fn combine(&$self, left: Self::Result, right: Self::Result) -> Self::Result {
            $inner.combine(left, right)
        }
        #[inline]
        fn is_full(&$self, folder: &Self::Folder, rest: Self::Position) -> bool {
            $has_ended || $inner.is_full(folder, rest)
        }
    };
}
