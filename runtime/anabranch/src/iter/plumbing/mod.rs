//! The building blocks of parallel iterators, for writing sources and adapters.
//!
//! A [`Producer`] is a piece of a sequence that can be cut in two. A [`Consumer`] folds items. [`bridge`] runs a
//! producer into a consumer: it cuts the producer when other threads take work, and combines the results in the order
//! of the items. [`Drive`] connects the two: a source calls [`bridge`], and an adapter calls [`drive`](Drive::drive) of
//! its base with a consumer that transforms the items and passes them on. All types that implement [`Drive`] are
//! [parallel iterators](crate::iter::ParallelIterator).
//!
//! ```
//! use anabranch::iter::plumbing::{Consumer, Drive, Progress, delegate};
//! use anabranch::prelude::*;
//!
//! /// Iterates over the items of `base` that are even.
//! struct Even<I>(I);
//!
//! struct EvenConsumer<'a, C>(&'a C);
//!
//! impl<I: Drive<Item = u32>> Drive for Even<I> {
//!     type Item = u32;
//!
//!     fn drive<C: Consumer<u32>>(
//!         self,
//!         consumer: &C,
//!         folder: C::Folder,
//!         at: C::Position,
//!     ) -> Progress<C::Folder, C::Result> {
//!         self.0.drive(&EvenConsumer(consumer), folder, at)
//!     }
//! }
//!
//! impl<C: Consumer<u32>> Consumer<u32> for EvenConsumer<'_, C> {
//!     delegate!(C, self => self.0);
//!
//!     fn consume_iter(&self, folder: C::Folder, items: impl Iterator<Item = u32>) -> C::Folder {
//!         self.0.consume_iter(folder, items.filter(|item| item % 2 == 0))
//!     }
//! }
//!
//! let even: u32 = Even((0..10u32).into_par_iter()).map(|item| item * 10).sum();
//! assert_eq!(even, 200);
//! ```

mod blocks;
pub(super) mod bridge;
mod consumer;
mod drive;
pub(super) mod pair;
mod producer;

pub(in crate::iter) use self::consumer::Driven;
pub use self::{
    bridge::bridge,
    consumer::{Consumer, Position, Progress, Span},
    drive::{Drive, DriveIndexed, Visitor},
    producer::Producer,
};
pub use crate::{__accept_indexed as accept_indexed, __delegate as delegate, __drive_indexed as drive_indexed};
