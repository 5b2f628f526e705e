//! Fork-join: forks, the fork stack of a worker, its shelf, and scopes of tasks.
//!
//! `join` links a [frame](frame) into the [fork stack](stack) of its worker. When another worker asks for work, the
//! oldest frames are published on the [shelf](shelf), from which any worker may take them. A [task](task) of a
//! [scope](scope) is on the heap instead.

pub(crate) mod frame;
pub(crate) mod offer;
mod publication;
pub(crate) mod raid;
pub(crate) mod shelf;
pub(crate) mod stack;

cfg_if! {
    if #[cfg(not(loom))] {
        pub(crate) mod compute;
        pub(crate) mod execute;
        pub(crate) mod join;
        pub(crate) mod scope;
        pub(crate) mod task;
    }
}
