//! Parallel sorting, for [`ParallelSliceMut`](crate::iter::ParallelSliceMut).

pub(super) mod cached_key;
mod merge;
mod run;
pub(super) mod stable;
#[cfg(all(test, not(shuttle)))]
mod tests;
mod tuned;
pub(super) mod unstable;
