//! The events of all threads in the order of time.

use crate::{event::Event, read::Trace};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Yields each event with its time and the index of its lane. Takes time O(n log k) for n events of k lanes.
pub(crate) struct Merged<'a> {
    trace: &'a Trace,
    /// The time of the next event of each lane that has one.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    /// The index of that event.
    next: Vec<usize>,
}

impl<'a> Merged<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let first = |(index, lane): (usize, &crate::read::Lane)| Some(Reverse((lane.events.first()?.0, index)));
        let heads = trace.lanes.iter().enumerate().filter_map(first).collect();
        Self { trace, heads, next: vec![0; trace.lanes.len()] }
    }
}

impl Iterator for Merged<'_> {
    type Item = (u64, usize, Event);

    fn next(&mut self) -> Option<Self::Item> {
        let mut head = self.heads.peek_mut()?;
        let Reverse((time, lane)) = *head;
        let events = &self.trace.lanes[lane].events;
        let event = events[self.next[lane]].1;
        self.next[lane] += 1;
        match events.get(self.next[lane]) {
            // A trace that was not read but built may have times that go back.
            Some(&(following, _)) => *head = Reverse((following.max(time), lane)),
            None => drop(std::collections::binary_heap::PeekMut::pop(head)),
        }
        Some((time, lane, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Lane;

    #[test]
    fn events_of_all_lanes_come_in_the_order_of_time() {
        let lane = |times: &[u64]| Lane {
            id: 0,
            thread: 0,
            name: String::new(),
            lost: 0,
            events: times.iter().map(|&time| (time, Event::Leave)).collect(),
        };
        let trace = Trace { lanes: vec![lane(&[1, 5, 3, 9]), lane(&[]), lane(&[0, 5, 6])], ..Trace::default() };
        let order: Vec<_> = Merged::new(&trace).map(|(time, lane, _)| (time, lane)).collect();
        assert_eq!(order, [(0, 2), (1, 0), (5, 0), (5, 0), (5, 2), (6, 2), (9, 0)]);
    }
}
