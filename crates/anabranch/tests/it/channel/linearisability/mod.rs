//! Whether a recorded history is linearisable: whether its operations, each at some point between its invocation and
//! its response, make up a run of a sequential specification (Herlihy, Wing 1990).
//!
//! The checker is that of Wing and Gong ("Testing and verifying concurrent objects", 1993): of the operations that have
//! not had their turn, any of those that were invoked before the first response of all may be the next; it is tried on
//! the specification, and taken back if the rest does not work out. With it, Lowe's memory ("Testing for
//! linearizability", 2017): the operations that have had their turn, as a set, together with the state to which they
//! led, are not searched twice. Without that memory the search takes time exponential in the number of operations that
//! overlap.
//!
//! Several objects are checked each for itself: linearisability is a local property.
//!
//! Where an operation may have its turn only while others are under way, as in a rendezvous, the specification is shown
//! those that may be next. They can be under way at the same time: all were invoked before the first response among
//! those that are left.

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

/// What an object does when its operations come one after the other.
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

/// An operation that has taken place between these two moments.
#[derive(Debug, Clone)]
pub struct Event<O> {
    pub op: O,
    pub from: u64,
    pub to: u64,
}

/// Counts moments.
#[derive(Default)]
pub struct Recorder(AtomicU64);

impl Recorder {
    pub fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    /// How many moments there have been.
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
