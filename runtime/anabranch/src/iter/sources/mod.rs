//! Parallel iterators over collections and values.

pub mod array;
pub(super) mod bridged;
pub mod collections;
pub(super) mod drain;
pub(super) mod generate;
#[cfg(feature = "imbl")]
pub mod imbl;
pub mod option;
pub(super) mod owned;
mod producer;
#[cfg(test)]
mod random_cuts;
pub mod range;
pub mod result;
pub mod slice;
pub(super) mod split;
pub mod string;
pub mod vec;
pub(super) mod walk_tree;
