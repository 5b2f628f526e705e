//! The tree-vector of the `imbl` crate.

use crate::iter::{
    collect::{FromParallelIterator, ParallelExtend, from_extend, pieces},
    convert::IntoParallelIterator,
};
use imbl::Vector;

/// The threads collect trees, which are then concatenated in logarithmic time. With the feature `imbl`.
///
/// ```
/// use anabranch::prelude::*;
///
/// let squares: imbl::Vector<u64> = (0..1000u64).into_par_iter().map(|i| i * i).collect();
/// assert_eq!((squares.len(), squares[30]), (1000, 900));
/// ```
impl<T: Clone + Send + Sync> FromParallelIterator<T> for Vector<T> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        from_extend(items)
    }
}

/// With the feature `imbl`.
impl<T: Clone + Send + Sync> ParallelExtend<T> for Vector<T> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        for piece in pieces::collect::<Self, _>(items.into_par_iter()) {
            self.append(piece);
        }
    }
}
