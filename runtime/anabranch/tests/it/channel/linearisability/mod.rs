//! Whether a recorded history is linearisable: whether its operations, each at some point between its invocation and
//! its response, form a run of a sequential specification (Herlihy, Wing 1990).
//!
//! The checker is that of Wing and Gong ("Testing and verifying concurrent objects", 1993). The next operation is any
//! remaining one that was invoked before the first response of the remaining ones. The checker tries it on the
//! specification, and backtracks if the rest does not fit. With Lowe's cache ("Testing for linearizability", 2017), a
//! set of completed operations together with the resulting state is not searched twice. Without the cache the search
//! takes time exponential in the number of overlapping operations.
//!
//! Linearisability is a local property, so each object is checked separately.
//!
//! In a rendezvous an operation takes effect only while others are pending. The specification therefore sees the
//! operations that may be next. They can be pending at the same time, since all were invoked before the first response
//! of the remaining ones.

mod checker;
mod players;
mod queue_spec;
mod queues;
mod versioned;
mod versioned_spec;

use std::{
    collections::HashSet,
    fmt::Debug,
    hash::Hash,
    sync::atomic::{AtomicU64, Ordering},
};

/// The sequential specification of an object.
pub trait Spec {
    /// An operation, with its result.
    type Op: Debug;
    type State: Clone + Eq + Hash;

    fn start(&self) -> Self::State;

    /// The state after the operation; `None` if it would have had another result. `others` may be under way.
    fn apply<'a>(
        &self,
        state: &Self::State,
        op: &Self::Op,
        others: impl Iterator<Item = &'a Self::Op> + Clone,
    ) -> Option<Self::State>
    where
        Self::Op: 'a;
}

/// An operation that took effect between these two times.
#[derive(Debug, Clone)]
pub struct Event<O> {
    pub op: O,
    pub from: u64,
    pub to: u64,
}

/// A logical clock.
#[derive(Default)]
pub struct Recorder(AtomicU64);

impl Recorder {
    pub fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    /// The current time.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Up to 64 operations.
pub fn is_linearisable<S: Spec>(spec: &S, history: &[Event<S::Op>]) -> bool {
    assert!(history.len() <= 64, "a history is short");
    search(spec, history, 0, spec.start(), &mut HashSet::new())
}

fn search<S: Spec>(
    spec: &S,
    history: &[Event<S::Op>],
    done: u64,
    state: S::State,
    seen: &mut HashSet<(u64, S::State)>,
) -> bool {
    let left = || (0..history.len()).filter(|index| done & 1 << index == 0);
    let Some(first_response) = left().map(|index| history[index].to).min() else { return true };
    let next = left().filter(|&index| history[index].from < first_response);
    for index in next.clone() {
        let others = next.clone().filter(|&other| other != index).map(|other| &history[other].op);
        let Some(state) = spec.apply(&state, &history[index].op, others) else { continue };
        let done = done | 1 << index;
        if seen.insert((done, state.clone())) && search(spec, history, done, state, seen) {
            return true;
        }
    }
    false
}

/// Panics with the history if it is not linearisable.
#[track_caller]
pub fn check<S: Spec>(spec: &S, mut history: Vec<Event<S::Op>>, what: &str) {
    if !is_linearisable(spec, &history) {
        history.sort_by_key(|event| event.from);
        let lines: String = history.iter().map(|e| format!("{:>4} ..{:>4}  {:?}\n", e.from, e.to, e.op)).collect();
        panic!("not linearisable: {what}\n{lines}");
    }
}
