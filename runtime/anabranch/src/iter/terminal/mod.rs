//! The consumers of the methods that run a parallel iterator to its end.

pub(super) mod count;
pub(super) mod find;
pub(super) mod for_each;
pub(super) mod prefix_scan;
pub(super) mod reduce;
pub(super) mod sum;
pub(super) mod try_reduce;
