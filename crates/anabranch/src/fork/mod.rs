//! Fork-join: forks, the fork stack of a worker, its shelf, and scopes of tasks.
//!
//! `join` links a [frame](frame) into the [fork stack](stack) of its worker. When another worker asks for work, the
//! oldest frames are published on the [shelf](shelf), from which any worker may take them. A [task](task) of a
//! [scope](scope) is on the heap instead.

#[cfg(not(loom))]
pub(crate) mod compute;
#[cfg(not(loom))]
pub(crate) mod execute;
pub(crate) mod frame;
#[cfg(not(loom))]
pub(crate) mod join;
pub(crate) mod offer;
pub(crate) mod raid;
#[cfg(not(loom))]
pub(crate) mod scope;
pub(crate) mod shelf;
pub(crate) mod stack;
#[cfg(not(loom))]
pub(crate) mod task;
