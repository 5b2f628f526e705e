//! The names of the libraries of parallel iterators, for the iterators of std: what the programs run as without
//! threads.
//!
//! `par_iter` is `iter`, and so on. What follows are methods of std's `Iterator`, of which the programs use only those
//! that the libraries have with the same arguments.

/// Calls `a` and then `b`.
#[inline(always)]
pub fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// The names that a program imports.
pub mod prelude {
    use std::slice::{Chunks, ChunksMut};
    use std::str::{Chars, Lines, SplitWhitespace};

    /// What can be turned into an iterator.
    pub trait IntoParallelIterator: IntoIterator + Sized {
        /// Returns `into_iter()`.
        #[inline(always)]
        fn into_par_iter(self) -> Self::IntoIter {
            self.into_iter()
        }
    }

    impl<I: IntoIterator> IntoParallelIterator for I {}

    /// What has an iterator over references.
    pub trait IntoParallelRefIterator<'data> {
        /// The iterator.
        type Iter;
        /// Returns `iter()`.
        fn par_iter(&'data self) -> Self::Iter;
    }

    impl<'data, I: ?Sized + 'data> IntoParallelRefIterator<'data> for I
    where
        &'data I: IntoIterator,
    {
        type Iter = <&'data I as IntoIterator>::IntoIter;

        #[inline(always)]
        fn par_iter(&'data self) -> Self::Iter {
            self.into_iter()
        }
    }

    /// What has an iterator over mutable references.
    pub trait IntoParallelRefMutIterator<'data> {
        /// The iterator.
        type Iter;
        /// Returns `iter_mut()`.
        fn par_iter_mut(&'data mut self) -> Self::Iter;
    }

    impl<'data, I: ?Sized + 'data> IntoParallelRefMutIterator<'data> for I
    where
        &'data mut I: IntoIterator,
    {
        type Iter = <&'data mut I as IntoIterator>::IntoIter;

        #[inline(always)]
        fn par_iter_mut(&'data mut self) -> Self::Iter {
            self.into_iter()
        }
    }

    /// The methods of slices.
    pub trait ParallelSlice<T> {
        /// Returns `chunks(size)`.
        fn par_chunks(&self, size: usize) -> Chunks<'_, T>;
        /// Returns `chunks_mut(size)`.
        fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>;
        /// Calls `sort`.
        fn par_sort(&mut self)
        where
            T: Ord;
        /// Calls `sort_unstable`.
        fn par_sort_unstable(&mut self)
        where
            T: Ord;
    }

    impl<T> ParallelSlice<T> for [T] {
        #[inline(always)]
        fn par_chunks(&self, size: usize) -> Chunks<'_, T> {
            self.chunks(size)
        }

        #[inline(always)]
        fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
            self.chunks_mut(size)
        }

        #[inline(always)]
        fn par_sort(&mut self)
        where
            T: Ord,
        {
            self.sort();
        }

        #[inline(always)]
        fn par_sort_unstable(&mut self)
        where
            T: Ord,
        {
            self.sort_unstable();
        }
    }

    /// The methods of strings.
    pub trait ParallelString {
        /// Returns `lines()`.
        fn par_lines(&self) -> Lines<'_>;
        /// Returns `split_whitespace()`.
        fn par_split_whitespace(&self) -> SplitWhitespace<'_>;
        /// Returns `chars()`.
        fn par_chars(&self) -> Chars<'_>;
    }

    impl ParallelString for str {
        #[inline(always)]
        fn par_lines(&self) -> Lines<'_> {
            self.lines()
        }

        #[inline(always)]
        fn par_split_whitespace(&self) -> SplitWhitespace<'_> {
            self.split_whitespace()
        }

        #[inline(always)]
        fn par_chars(&self) -> Chars<'_> {
            self.chars()
        }
    }

    /// The hints that the libraries take.
    pub trait Hints: Sized {
        /// Returns `self`.
        #[inline(always)]
        fn with_max_len(self, _most: usize) -> Self {
            self
        }
    }

    impl<I: Iterator> Hints for I {}
}
