//! How far a side can run ahead of the other: co-live states.
//!
//! A state is co-live with itself if the side that sends in it can reach it again without an answer: by a path of
//! states of the same sender. (Singularity's channel contracts and the pipes of Rust's libcore of 2012 bound their
//! buffers so.) If no state is, the longest such path is the largest number of messages that can be under way, since a
//! side that has stopped sending receives all messages before it sends again, so there are never messages under way in
//! both directions.

use crate::model::{Capacity, Link, Side, State};

/// How many messages there is room for where a state is co-live with itself and nothing else is asked for.
pub(crate) const DEFAULT_BUFFER: usize = 16;

/// The graph of the states, of which the messages are the edges.
pub(crate) struct Graph<'a> {
    states: &'a [State],
}

impl<'a> Graph<'a> {
    pub(crate) fn new(states: &'a [State]) -> Self {
        Self { states }
    }

    fn next(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.states[state].messages.iter().filter_map(|message| message.next)
    }

    /// The next states in which the same side goes on sending.
    fn next_of_same(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.next(state).filter(move |&next| self.states[next].sender == self.states[state].sender)
    }

    /// The states on paths from those given, these included.
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

    /// Which states a conversation can come to.
    pub(crate) fn reachable(&self) -> Vec<bool> {
        self.closure(&[0], |state| self.next(state))
    }

    /// Which states have a way to the end.
    pub(crate) fn ending(&self) -> Vec<bool> {
        let is_last = |state: &State| state.messages.iter().any(|message| message.next.is_none());
        let mut ends: Vec<bool> = self.states.iter().map(is_last).collect();
        while let Some(state) = (0..ends.len()).find(|&state| !ends[state] && self.next(state).any(|next| ends[next])) {
            ends[state] = true;
        }
        ends
    }

    /// The states of the same sender that are reached from one, it itself only if it is co-live with itself.
    fn following(&self, state: usize) -> Vec<bool> {
        let next: Vec<usize> = self.next_of_same(state).collect();
        self.closure(&next, |state| self.next_of_same(state))
    }

    /// The states that are co-live with themselves.
    pub(crate) fn co_live(&self) -> Vec<bool> {
        (0..self.states.len()).map(|state| self.following(state)[state]).collect()
    }

    /// The states of the loop that a state is in.
    pub(crate) fn loop_of(&self, state: usize) -> Vec<usize> {
        let following = self.following(state);
        (0..self.states.len()).filter(|&other| following[other] && self.following(other)[state]).collect()
    }

    /// Whether there is a way out of a loop.
    pub(crate) fn has_exit(&self, members: &[usize]) -> bool {
        let leads_out = |next: Option<usize>| next.is_none_or(|next| !members.contains(&next));
        members.iter().any(|&state| self.states[state].messages.iter().any(|message| leads_out(message.next)))
    }

    /// The most messages that follow each other in one direction from states of `side` that are not `left_out`, of
    /// which none is co-live with itself.
    fn longest_run(&self, side: Side, left_out: &[bool]) -> usize {
        let is_counted = |state: usize| self.states[state].sender == side && !left_out[state];
        let mut runs: Vec<usize> = (0..self.states.len()).map(|state| usize::from(is_counted(state))).collect();
        // The runs have no loops, so they are no longer than there are states.
        for _ in 0..self.states.len() {
            for state in (0..self.states.len()).filter(|&state| is_counted(state)) {
                let rest = self.next_of_same(state).filter(|&next| is_counted(next)).map(|next| runs[next]).max();
                runs[state] = 1 + rest.unwrap_or(0);
            }
        }
        runs.into_iter().max().unwrap_or(0)
    }

    /// Which states' messages may find no room, and what the conversation goes over.
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

    /// The room of a state that is co-live with itself: what was asked for in its loop.
    fn capacity(&self, state: usize) -> Capacity {
        let asked = self.loop_of(state).into_iter().find_map(|member| self.states[member].capacity);
        asked.map_or(Capacity::Buffer(DEFAULT_BUFFER), |(capacity, _)| capacity)
    }
}
