//! The traits of the [parallel iterators](crate::iter), under the names that other crates use too, and the [waits of
//! operations](crate::Operation).
//!
//! ```
//! use anabranch::prelude::*;
//!
//! let sum: u64 = (0..1000u64).into_par_iter().map(|i| i * i).sum();
//! assert_eq!(sum, 332_833_500);
//! ```

#[cfg(not(loom))]
#[doc(no_inline)]
pub use crate::cx::Operation;
#[doc(no_inline)]
pub use crate::iter::plumbing::DriveIndexed as _;
pub use crate::iter::{
    FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelBridge, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
    ParallelIterator, ParallelSlice, ParallelSliceMut, ParallelString,
};
