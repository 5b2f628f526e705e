//! The specification of channels whose receivers see all values, or the latest: a log in which each receiver has a
//! position.

use super::Spec;

/// Receivers have numbers, beginning at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Sent(u64),
    /// Not sent: there is no receiver, or the channel is closed.
    Refused,
    /// Received by this receiver, which has missed so many in total.
    Received(usize, u64, u64),
    /// This receiver learned of so many more missed values, and of so many in total.
    Lagged(usize, u64, u64),
    Empty(usize),
    Ended(usize),
    /// Not received: cancelled, or out of time.
    WaitedInVain,
    Latest(u64),
    /// This receiver sees what is sent from now on.
    Subscribed(usize),
    SenderGone,
    ReceiverGone,
    Closed,
}

/// A channel that keeps the last `capacity` values. A watch channel keeps the latest, does not count missed values, has
/// a value from the beginning, and accepts values without receivers.
pub struct Board {
    pub capacity: usize,
    pub is_watch: bool,
    pub senders: usize,
    pub receivers: usize,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    log: Vec<u64>,
    is_closed: bool,
    senders: usize,
    receivers: usize,
    /// For each receiver: the position in the log, and the number of missed values.
    places: Vec<(usize, u64)>,
}

impl Spec for Board {
    type Op = Op;
    type State = State;

    fn start(&self) -> State {
        State {
            log: Vec::new(),
            is_closed: false,
            senders: self.senders,
            receivers: self.receivers,
            places: vec![(0, 0); 8],
        }
    }

    fn apply<'a>(&self, state: &State, op: &Op, _: impl Iterator<Item = &'a Op> + Clone) -> Option<State> {
        let mut next = state.clone();
        let is_up_to_date = |receiver: usize| state.places[receiver].0 == state.log.len();
        let is_possible = match *op {
            Op::Sent(value) => {
                next.log.push(value);
                !state.is_closed && (self.is_watch || state.receivers > 0)
            }
            Op::Refused => state.is_closed || !self.is_watch && state.receivers == 0,
            Op::Received(receiver, value, missed) => {
                let (place, sum) = &mut next.places[receiver];
                let first = state.log.len().saturating_sub(self.capacity).max(*place);
                let has_lagged = !self.is_watch && first > *place;
                *place = first + 1;
                !has_lagged && state.log.get(first) == Some(&value) && *sum == missed
            }
            Op::Lagged(receiver, more, missed) => {
                let (place, sum) = &mut next.places[receiver];
                let first = state.log.len().saturating_sub(self.capacity).max(*place);
                let lag = (first - *place) as u64;
                *place = first;
                *sum += lag;
                lag > 0 && (lag, *sum) == (more, missed)
            }
            Op::Empty(receiver) => is_up_to_date(receiver) && !state.is_closed,
            Op::Ended(receiver) => is_up_to_date(receiver) && state.is_closed,
            Op::WaitedInVain => true,
            Op::Latest(value) => state.log.last().copied().unwrap_or(0) == value,
            Op::Subscribed(receiver) => {
                next.receivers += 1;
                next.places[receiver] = (state.log.len(), 0);
                true
            }
            Op::SenderGone => {
                next.senders -= 1;
                next.is_closed |= next.senders == 0;
                true
            }
            Op::ReceiverGone => {
                next.receivers -= 1;
                true
            }
            Op::Closed => {
                next.is_closed = true;
                true
            }
        };
        is_possible.then_some(next)
    }
}
