//! The critical path: the longest chain of pieces of work of which each had to wait for the one before.
//!
//! Each thread carries the length of the longest chain that ends where it is. Work adds to it, as far as it is on a
//! core. A thief continues the chain of its victim as it was when the victim published, because what it takes was
//! forked before. A thread that has waited continues the longest chain of those for which it may have waited. Where the
//! trace leaves open what came before, the longest candidate counts. So the result is at least the span.

use crate::{
    event::{Event, Loot, State},
    merge::Merged,
    read::Trace,
    timeline::{Activity, Interval, Timeline},
};
use std::collections::HashMap;

#[derive(Default)]
struct Lane {
    /// The length up to `since`, in nanoseconds.
    length: f64,
    since: u64,
    /// The index of the first interval that has not ended by then.
    next: usize,
    state: Option<State>,
    /// When the thread published last, and the length then.
    published: Option<(u64, f64)>,
    /// The longest chain of the threads that took forks of this one.
    returned: f64,
    /// From which thread it took what it runs.
    victim: Option<usize>,
    has_stolen: bool,
    pools: Vec<u32>,
    is_in_fiber: bool,
}

impl Lane {
    /// Adds the work until now.
    fn settle(&mut self, intervals: &[Interval], now: u64) {
        while let Some(interval) = intervals.get(self.next).filter(|interval| interval.begin < now) {
            let (from, to) = (interval.begin.max(self.since), interval.end.min(now));
            if matches!(interval.activity, Activity::Working | Activity::Outside) {
                let cpu = interval.shares.map_or(1.0, |shares| shares.cpu);
                self.length += to.saturating_sub(from) as f64 * cpu;
            }
            if interval.end > now {
                break;
            }
            self.next += 1;
        }
        self.since = self.since.max(now);
    }
}

/// Returns the length of the critical path, in nanoseconds.
pub(super) fn critical_path(trace: &Trace, timeline: &Timeline) -> f64 {
    let from = timeline.complete_from;
    let mut lanes: Vec<Lane> = trace.lanes.iter().map(|_| Lane { since: from, ..Lane::default() }).collect();
    let intervals = |lane: usize| &timeline.lanes[lane].intervals[..];
    // The longest chain that ends where each fiber is, or with what has woken it.
    let mut fibers: HashMap<u32, f64> = HashMap::new();
    // The last raid of each pool: it publishes for a thread that is not known.
    let mut raided: HashMap<u32, u64> = HashMap::new();
    let mut workers: HashMap<(u32, u32), usize> = HashMap::new();
    // The longest chains that lead to what is in queues, and that end in what nobody in particular waits for.
    let (mut queued, mut ended) = (0.0_f64, 0.0_f64);
    let mut steals = timeline.steals.iter();
    for (time, index, event) in Merged::new(trace) {
        let now = time.max(from);
        lanes[index].settle(intervals(index), now);
        match event {
            Event::Enter { pool, worker, .. } => {
                lanes[index].state = None;
                lanes[index].pools.push(pool);
                workers.insert((pool, worker), index);
            }
            Event::Leave => {
                let lane = &mut lanes[index];
                lane.length = lane.length.max(lane.returned).max(ended);
                ended = ended.max(lane.length);
                lane.pools.pop();
                lane.state = None;
            }
            Event::State { state, .. } => change(&mut lanes, index, state, &mut ended),
            Event::Steal { loot, .. } => {
                let from = steals.next().and_then(|steal| steal.from);
                let length = match from {
                    None => queued,
                    Some(from) => {
                        lanes[from].settle(intervals(from), now);
                        let last_raid = lanes[from].pools.last().and_then(|pool| raided.get(pool));
                        match lanes[from].published {
                            Some((at, length)) if last_raid.is_none_or(|&raid| raid < at) => length,
                            _ => lanes[from].length,
                        }
                    }
                };
                let lane = &mut lanes[index];
                let joins = matches!(lane.state, Some(State::Joining | State::JoinParked));
                lane.length = if joins { lane.length.max(length) } else { length };
                lane.victim = from.filter(|_| loot != Loot::Fibers);
                lane.has_stolen = true;
            }
            Event::Publish { .. } => lanes[index].published = Some((now, lanes[index].length)),
            Event::Raid { .. } => {
                if let Some(&pool) = lanes[index].pools.last() {
                    raided.insert(pool, now);
                }
            }
            Event::Spawn(_) => queued = queued.max(lanes[index].length),
            Event::FiberStart { fiber, .. } => {
                fibers.insert(fiber, queued);
                (lanes[index].length, lanes[index].is_in_fiber) = (queued, true);
            }
            Event::FiberResume { fiber } => {
                let length = *fibers.entry(fiber).or_default();
                (lanes[index].length, lanes[index].is_in_fiber) = (length, true);
            }
            Event::FiberSuspend { fiber, .. } => {
                let known = fibers.entry(fiber).or_default();
                *known = (*known).max(lanes[index].length);
                lanes[index].is_in_fiber = false;
            }
            Event::FiberEnd { fiber } => {
                ended = ended.max(lanes[index].length);
                fibers.remove(&fiber);
                lanes[index].is_in_fiber = false;
            }
            Event::Wake { fiber } => {
                let length = lanes[index].length;
                if let Some(known) = fibers.get_mut(&fiber) {
                    *known = (*known).max(length);
                }
            }
            Event::Unpark { worker } => {
                let length = lanes[index].length;
                let pool = lanes[index].pools.last().copied();
                if let Some(&woken) = pool.and_then(|pool| workers.get(&(pool, worker))) {
                    lanes[woken].returned = lanes[woken].returned.max(length);
                }
            }
            _ => {}
        }
    }
    for (index, lane) in lanes.iter_mut().enumerate() {
        lane.settle(intervals(index), timeline.end);
    }
    let longest = lanes.iter().map(|lane| lane.length).fold(ended, f64::max);
    longest.min((timeline.end - from) as f64)
}

fn change(lanes: &mut [Lane], index: usize, state: State, ended: &mut f64) {
    let lane = &mut lanes[index];
    let before = lane.state.replace(state);
    if state == State::Working {
        let has_waited = matches!(before, Some(State::Joining | State::JoinParked | State::Waiting));
        if has_waited && !lane.has_stolen {
            lane.length = lane.length.max(lane.returned).max(*ended);
        }
        lane.has_stolen = false;
    } else if before == Some(State::Working) && !lane.is_in_fiber {
        let (length, victim) = (lane.length, lane.victim);
        match victim {
            Some(victim) => lanes[victim].returned = lanes[victim].returned.max(length),
            None => *ended = (*ended).max(length),
        }
    }
}
