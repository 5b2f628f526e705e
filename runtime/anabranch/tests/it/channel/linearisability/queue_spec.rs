//! The specification of channels that hand each value to one receiver: a queue with a capacity, which may be zero.

use super::{Event, Spec};

/// Values are unique within a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Sent(u64),
    /// Not sent: the channel is closed.
    Refused,
    /// Not sent: the channel is full.
    Full,
    Received(u64),
    /// Not received: the channel is closed, and empty.
    Ended,
    /// Not received: there is nothing.
    Empty,
    /// Not received: cancelled, or out of time, or another operation was done.
    WaitedInVain,
    /// Not sent, likewise.
    GaveUp,
    /// The future was dropped before it reported whether it had sent. See [`settle`].
    PerhapsSent(u64),
    Reserved,
    NotReserved,
    SentReserved(u64),
    RefusedReserved,
    GivenBack,
    Closed,
    SeenClosed(bool),
    Len(usize),
}

/// A channel.
///
/// With capacity zero a send and a receive pair: both are pending, and the receive follows the send.
pub struct Queue {
    pub capacity: Option<usize>,
    /// It closes with the one value.
    pub is_oneshot: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct State {
    values: Vec<u64>,
    permits: usize,
    is_closed: bool,
    /// In a rendezvous: what was sent has to be received by the next operation.
    is_meeting: bool,
}

impl Queue {
    pub fn new(capacity: Option<usize>) -> Self {
        Self { capacity, is_oneshot: false }
    }

    fn has_room(&self, state: &State) -> bool {
        self.capacity.is_none_or(|capacity| state.values.len() + state.permits < capacity)
    }
}

impl Spec for Queue {
    type Op = Op;
    type State = State;

    fn start(&self) -> State {
        State::default()
    }

    fn apply<'a>(&self, state: &State, op: &Op, mut others: impl Iterator<Item = &'a Op> + Clone) -> Option<State> {
        let mut next = state.clone();
        if state.is_meeting && !matches!(op, Op::Received(_)) {
            return None;
        }
        let has_room = self.has_room(state);
        let is_empty = state.values.is_empty();
        let is_possible = match *op {
            Op::Sent(value) => {
                next.values.push(value);
                next.is_closed = self.is_oneshot;
                next.is_meeting = self.capacity == Some(0);
                let is_met = next.is_meeting && others.any(|op| *op == Op::Received(value));
                !state.is_closed && (has_room || is_met)
            }
            Op::Refused => state.is_closed,
            // In a rendezvous a receiver may be under way and not wait yet.
            Op::Full => !state.is_closed && !has_room,
            Op::Received(value) => {
                next.is_meeting = false;
                !is_empty && next.values.remove(0) == value
            }
            Op::Ended => state.is_closed && is_empty,
            Op::Empty => !state.is_closed && is_empty,
            Op::WaitedInVain | Op::GaveUp => true,
            Op::PerhapsSent(_) => unreachable!("it is settled"),
            Op::Reserved => {
                next.permits += 1;
                !state.is_closed && has_room
            }
            Op::NotReserved => state.is_closed || !has_room,
            Op::SentReserved(value) => {
                next.permits = state.permits.checked_sub(1)?;
                next.values.push(value);
                !state.is_closed
            }
            Op::RefusedReserved => {
                next.permits = state.permits.checked_sub(1)?;
                state.is_closed
            }
            Op::GivenBack => {
                next.permits = state.permits.checked_sub(1)?;
                true
            }
            Op::Closed => {
                next.is_closed = true;
                true
            }
            Op::SeenClosed(is_closed) => state.is_closed == is_closed,
            Op::Len(len) => state.values.len() == len,
        };
        is_possible.then_some(next)
    }
}

/// What was perhaps sent to a channel that has been emptied since was sent if it was received.
pub fn settle(history: &mut [Event<Op>]) {
    for index in 0..history.len() {
        if let Op::PerhapsSent(value) = history[index].op {
            let was_sent = history.iter().any(|event| event.op == Op::Received(value));
            history[index].op = if was_sent { Op::Sent(value) } else { Op::GaveUp };
        }
    }
}
