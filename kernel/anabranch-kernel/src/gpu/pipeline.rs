//! A cache of compiled operations, with their descriptions as keys.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::driver::Pipeline;
use crate::Error;
use crate::tree::{BufferId, Node, Operator};

/// A file of skeletons.
#[derive(Debug)]
pub(super) struct Skeleton {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    /// The names of the entry points.
    pub(super) entries: &'static [&'static str],
    /// The number of bindings that it writes.
    pub(super) outputs: u32,
    /// The bytes of workgroup memory, beside those of its items: fixed ones, and those of a lane.
    pub(super) shared: (u32, u32),
    /// The items in workgroup memory for each lane.
    pub(super) shared_items: u32,
    /// The most lanes of a block.
    pub(super) most_lanes: u32,
    /// Whether the skeleton itself can trap.
    pub(super) can_trap: bool,
    /// The most rounds of its loops for an element.
    pub(super) rounds: u32,
    /// The most elements for which one block is used, because more blocks need more dispatches.
    pub(super) one_block: u32,
}

/// The elements that a block takes in about the time of a dispatch.
///
/// A core of a GPU reads about 50 bytes in a nanosecond, and a dispatch takes some microseconds. llvmpipe reads fewer
/// than 4 bytes, and needs 150 microseconds and more: see `most_of_one_block` of [`geometry`](super::geometry).
pub(super) const ONE_BLOCK: u32 = 1 << 14;

/// The data that the compiled form of an operation depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) skeleton: &'static str,
    pub(super) lanes: u32,
    pub(super) roots: Vec<(Node, usize)>,
    pub(super) operator: Option<Operator>,
    /// The words of the graph's values, and of the operation's.
    pub(super) values: (usize, usize),
}

/// A buffer that a launch reads, and the bytes of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    pub(super) buffer: BufferId,
    pub(super) stride: u32,
}

/// A compiled operation.
pub(super) struct Compiled {
    /// Its entry points are those of the skeleton.
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) inputs: Vec<Input>,
    pub(super) lengths: Vec<(BufferId, usize)>,
    pub(super) spilled: bool,
    pub(super) can_trap: bool,
}

/// The compiled operations of a device.
#[derive(Default)]
pub(super) struct Pipelines {
    known: Mutex<HashMap<Key, Arc<Compiled>>>,
}

impl Pipelines {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Compiled>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of compiled operations.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns an operation. Compiles it if it is new, without the lock: two threads may compile the same one.
    pub(super) fn get(
        &self,
        key: Key,
        compile: impl FnOnce(&Key) -> Result<Compiled, Error>,
    ) -> Result<Arc<Compiled>, Error> {
        if let Some(known) = self.lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let compiled = Arc::new(compile(&key)?);
        Ok(first_of(&self.known, key, compiled))
    }
}

/// Returns the value of a key, which becomes `new` if there is none. Otherwise drops `new`, without the lock:
/// dropping a pipeline may wait for the device.
fn first_of<K: Eq + Hash, V>(known: &Mutex<HashMap<K, Arc<V>>>, key: K, new: Arc<V>) -> Arc<V> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let first = Arc::clone(known.entry(key).or_insert_with(|| Arc::clone(&new)));
    drop(known);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_is_kept_and_the_other_dropped_without_the_lock() {
        struct Compiled(&'static str, Arc<Mutex<HashMap<u32, Arc<Compiled>>>>);
        impl Drop for Compiled {
            fn drop(&mut self) {
                assert!(self.1.try_lock().is_ok(), "{} is dropped under the lock", self.0);
            }
        }
        let known = Arc::default();
        let keep = |name| first_of(&known, 7, Arc::new(Compiled(name, Arc::clone(&known))));
        assert_eq!((keep("first").0, keep("second").0), ("first", "first"));
        let kept = known.lock().unwrap().remove(&7);
        assert_eq!(kept.unwrap().0, "first");
    }
}
