//! The intervals of fibers.

use crate::{
    event::Site,
    timeline::{FiberInterval, FiberState, FiberTimeline},
};
use std::collections::BTreeMap;

/// A fiber that has not ended.
struct Open {
    /// Its index among all fibers.
    index: usize,
    /// The interval that has not ended, if one has begun.
    interval: Option<FiberInterval>,
}

/// All fibers.
#[derive(Default)]
pub(super) struct Fibers {
    open: BTreeMap<u32, Open>,
    all: Vec<FiberTimeline>,
}

impl Fibers {
    pub(super) fn start(&mut self, time: u64, lane: usize, fiber: u32, spawned: Site) {
        self.end(time, fiber);
        let open = self.find(fiber);
        open.interval = Some(running(time, lane, Site::UNKNOWN));
        let index = open.index;
        self.all[index].spawned = spawned;
    }

    pub(super) fn suspend(&mut self, time: u64, lane: usize, fiber: u32, site: Site) {
        self.change(fiber, FiberInterval { begin: time, end: time, state: FiberState::Waiting, site, lane });
    }

    /// A fiber can run from a time on.
    pub(super) fn wake(&mut self, time: u64, fiber: u32) {
        let interval = self.open.get(&fiber).and_then(|open| open.interval);
        if let Some(waiting) = interval.filter(|interval| interval.state == FiberState::Waiting) {
            // A timer may have been due before the wait began.
            let begin = time.max(waiting.begin);
            self.change(fiber, FiberInterval { begin, state: FiberState::Ready, ..waiting });
        }
    }

    pub(super) fn resume(&mut self, time: u64, lane: usize, fiber: u32) {
        let site = self.find(fiber).interval.map_or(Site::UNKNOWN, |interval| interval.site);
        self.change(fiber, running(time, lane, site));
    }

    pub(super) fn end(&mut self, time: u64, fiber: u32) {
        if let Some(open) = self.open.remove(&fiber) {
            push(&mut self.all[open.index], open.interval, time);
        }
    }

    pub(super) fn name(&mut self, fiber: u32, name: Site) {
        let index = self.find(fiber).index;
        self.all[index].name = name;
    }

    pub(super) fn finish(mut self, end: u64) -> Vec<FiberTimeline> {
        for open in self.open.into_values() {
            push(&mut self.all[open.index], open.interval, end);
        }
        self.all
    }

    /// Returns an open fiber, and adds it if its start was lost.
    fn find(&mut self, fiber: u32) -> &mut Open {
        let all = &mut self.all;
        self.open.entry(fiber).or_insert_with(|| {
            let (name, spawned) = (Site::UNKNOWN, Site::UNKNOWN);
            all.push(FiberTimeline { fiber, name, spawned, intervals: Vec::new() });
            Open { index: all.len() - 1, interval: None }
        })
    }

    fn change(&mut self, fiber: u32, next: FiberInterval) {
        let open = self.find(fiber);
        let (index, ended) = (open.index, open.interval.replace(next));
        push(&mut self.all[index], ended, next.begin);
    }
}

fn running(begin: u64, lane: usize, site: Site) -> FiberInterval {
    FiberInterval { begin, end: begin, state: FiberState::Running, site, lane }
}

fn push(fiber: &mut FiberTimeline, interval: Option<FiberInterval>, end: u64) {
    let ended = interval.filter(|interval| interval.begin < end);
    fiber.intervals.extend(ended.map(|interval| FiberInterval { end, ..interval }));
}
