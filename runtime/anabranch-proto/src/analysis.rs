//! Computes how many messages one side can send before it has to receive, by finding *co-live* states.
//!
//! A state is co-live with itself if its sender can reach it again without an answer, by a path of states in which the
//! same side sends. The channel contracts of Singularity and the pipes of Rust's libcore of 2012 used this rule to
//! bound their buffers.
//!
//! If no state is co-live with itself, the number of messages in flight is bounded by the longest path of states with
//! one sender. Messages are never in flight in both directions: a side that has stopped sending receives all messages
//! before it sends again.

use crate::model::{Capacity, Link, Side, State};

/// The capacity of a state that is co-live with itself and has no attribute about its buffer.
pub(crate) const DEFAULT_BUFFER: usize = 16;

/// A graph with the states as nodes and the messages as edges.
pub(crate) struct Graph<'a> {
    states: &'a [State],
}

impl<'a> Graph<'a> {
    pub(crate) fn new(states: &'a [State]) -> Self {
        Self { states }
    }

    /// Returns the states to which the messages of `state` lead.
    fn next(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.states[state].messages.iter().filter_map(|message| message.next)
    }

    /// Returns those next states in which the same side sends again.
    fn next_of_same(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.next(state).filter(move |&next| self.states[next].sender == self.states[state].sender)
    }

    /// Returns for each state whether a path of `edges` leads to it from a state in `from`. The states in `from` count.
    fn closure<I: Iterator<Item = usize>>(&self, from: &[usize], edges: impl Fn(usize) -> I) -> Vec<bool> {
        let mut found = vec![false; self.states.len()];
        let mut open = from.to_vec();
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut found[state], true) {
                open.extend(edges(state));
            }
        }
        found
    }

    /// Returns for each state whether a conversation can reach it.
    pub(crate) fn reachable(&self) -> Vec<bool> {
        self.closure(&[0], |state| self.next(state))
    }

    /// Returns for each state whether a conversation can reach the end from it.
    pub(crate) fn ending(&self) -> Vec<bool> {
        let is_last = |state: &State| state.messages.iter().any(|message| message.next.is_none());
        let mut ends: Vec<bool> = self.states.iter().map(is_last).collect();
        while let Some(state) = (0..ends.len()).find(|&state| !ends[state] && self.next(state).any(|next| ends[next])) {
            ends[state] = true;
        }
        ends
    }

    /// Returns for each state whether the sender of `state` can reach it by sending alone. `state` itself counts only
    /// if it is co-live with itself.
    fn following(&self, state: usize) -> Vec<bool> {
        let next: Vec<usize> = self.next_of_same(state).collect();
        self.closure(&next, |state| self.next_of_same(state))
    }

    /// Returns for each state whether it is co-live with itself.
    pub(crate) fn co_live(&self) -> Vec<bool> {
        (0..self.states.len()).map(|state| self.following(state)[state]).collect()
    }

    /// Returns the states that `state` shares a loop with. In all of them the same side sends.
    pub(crate) fn loop_of(&self, state: usize) -> Vec<usize> {
        let following = self.following(state);
        (0..self.states.len()).filter(|&other| following[other] && self.following(other)[state]).collect()
    }

    /// Returns whether a message leads out of a loop.
    pub(crate) fn has_exit(&self, members: &[usize]) -> bool {
        let leads_out = |next: Option<usize>| next.is_none_or(|next| !members.contains(&next));
        members.iter().any(|&state| self.states[state].messages.iter().any(|message| leads_out(message.next)))
    }

    /// Returns the largest number of messages that `side` can send in a row, not counting states in `left_out`. No
    /// other state of `side` may be co-live with itself.
    fn longest_run(&self, side: Side, left_out: &[bool]) -> usize {
        let is_counted = |state: usize| self.states[state].sender == side && !left_out[state];
        let mut runs: Vec<usize> = (0..self.states.len()).map(|state| usize::from(is_counted(state))).collect();
        // A run has no loop, so it is at most as long as there are states.
        for _ in 0..self.states.len() {
            for state in (0..self.states.len()).filter(|&state| is_counted(state)) {
                let rest = self.next_of_same(state).filter(|&next| is_counted(next)).map(|next| runs[next]).max();
                runs[state] = 1 + rest.unwrap_or(0);
            }
        }
        runs.into_iter().max().unwrap_or(0)
    }

    /// Returns for each state whether a send in it may have to wait for room, and the transport of the conversation.
    pub(crate) fn plan(&self) -> (Vec<bool>, Link) {
        let co_live = self.co_live();
        if !co_live.contains(&true) {
            let none = vec![false; self.states.len()];
            let longest = Side::BOTH.map(|side| self.longest_run(side, &none));
            return (none, Link::Ring(longest[0].max(longest[1])));
        }
        let from: Vec<usize> = (0..self.states.len()).filter(|&state| co_live[state]).collect();
        let mut waits = self.closure(&from, |state| self.next_of_same(state));
        let [client, server] = Side::BOTH.map(|side| {
            let of_side = |state: &usize| self.states[*state].sender == side;
            let asked: Vec<Capacity> = from.iter().copied().filter(of_side).map(|state| self.capacity(state)).collect();
            let unbounded = asked.contains(&Capacity::Unbounded);
            let run = self.longest_run(side, &waits).max(1);
            if unbounded {
                (0..self.states.len()).filter(of_side).for_each(|state| waits[state] = false);
                return Capacity::Unbounded;
            }
            let buffers = asked.iter().map(|capacity| if let Capacity::Buffer(count) = capacity { *count } else { 0 });
            Capacity::Buffer(buffers.max().unwrap_or(0).max(run))
        });
        (waits, Link::Duplex { client, server })
    }

    /// Returns the capacity of a state that is co-live with itself. An attribute at any state of its loop sets it.
    fn capacity(&self, state: usize) -> Capacity {
        let asked = self.loop_of(state).into_iter().find_map(|member| self.states[member].capacity);
        asked.map_or(Capacity::Buffer(DEFAULT_BUFFER), |(capacity, _)| capacity)
    }
}
