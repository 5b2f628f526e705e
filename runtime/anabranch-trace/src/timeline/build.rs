//! One pass over all events, in the order of time.

use crate::{
    event::{Event, Site},
    merge::Merged,
    read::Trace,
    timeline::{LaneTimeline, Mark, Span, Steal, Timeline, fibers::Fibers, lanes::LaneBuilder},
};
use std::collections::{BTreeMap, HashMap};

/// A span that has not ended.
struct OpenSpan {
    begin: u64,
    site: Site,
}

/// The open spans of a lane, outside of fibers, and of each fiber that has some. A span that a fiber opens is its own.
#[derive(Default)]
struct Spans {
    of_lanes: BTreeMap<usize, Vec<OpenSpan>>,
    of_fibers: BTreeMap<u32, (usize, Vec<OpenSpan>)>,
    ended: Vec<Span>,
}

impl Spans {
    fn begin(&mut self, begin: u64, lane: usize, fiber: Option<u32>, site: Site) {
        let stack = match fiber {
            Some(fiber) => &mut self.of_fibers.entry(fiber).or_insert_with(|| (lane, Vec::new())).1,
            None => self.of_lanes.entry(lane).or_default(),
        };
        stack.push(OpenSpan { begin, site });
    }

    fn end(&mut self, end: u64, lane: usize, fiber: Option<u32>) {
        let stack = match fiber {
            Some(fiber) => self.of_fibers.get_mut(&fiber).map(|(_, stack)| stack),
            None => self.of_lanes.get_mut(&lane),
        };
        let Some(stack) = stack else { return };
        let Some(OpenSpan { begin, site }) = stack.pop() else { return };
        self.ended.push(Span { begin, end, site, lane, fiber, depth: depth(stack) });
    }

    fn end_fiber(&mut self, end: u64, fiber: u32) {
        let Some((lane, mut stack)) = self.of_fibers.remove(&fiber) else { return };
        while let Some(OpenSpan { begin, site }) = stack.pop() {
            self.ended.push(Span { begin, end, site, lane, fiber: Some(fiber), depth: depth(&stack) });
        }
    }

    fn finish(mut self, end: u64) -> Vec<Span> {
        while let Some(&fiber) = self.of_fibers.keys().next() {
            self.end_fiber(end, fiber);
        }
        for (lane, mut stack) in self.of_lanes {
            while let Some(OpenSpan { begin, site }) = stack.pop() {
                self.ended.push(Span { begin, end, site, lane, fiber: None, depth: depth(&stack) });
            }
        }
        self.ended
    }
}

fn depth(stack: &[OpenSpan]) -> u32 {
    u32::try_from(stack.len()).unwrap_or(u32::MAX)
}

/// Returns the pool of a thread whose entry was lost. It is known only if there is one pool.
pub(crate) fn lost_pool(trace: &Trace) -> Option<u32> {
    let mut pools = trace.pools.keys();
    pools.next().copied().filter(|_| pools.next().is_none())
}

/// See [`Timeline::new`].
pub(super) fn build(trace: &Trace) -> Timeline {
    let (begin, end) = trace.extent();
    // What comes after the last event belongs to the program too.
    let end = trace.saved_at().unwrap_or(0).max(end);
    let lost_in = lost_pool(trace);
    let mut lanes: Vec<LaneBuilder> = trace
        .lanes
        .iter()
        .map(|lane| {
            let first = lane.events.first().map_or(begin, |&(time, _)| time);
            let name = lane.name.clone();
            let timeline = LaneTimeline { id: lane.id, thread: lane.thread, name, entry: None, intervals: Vec::new() };
            LaneBuilder::new(timeline, first, lane.lost > 0, lost_in)
        })
        .collect();
    let (mut steals, mut marks) = (Vec::new(), Vec::new());
    let (mut fibers, mut spans) = (Fibers::default(), Spans::default());
    // The entries of each thread, and the thread of each entry.
    let mut entries: Vec<Vec<(u32, u32)>> = vec![Vec::new(); lanes.len()];
    let mut workers: HashMap<(u32, u32), usize> = HashMap::new();
    // The fiber that each thread runs.
    let mut running: Vec<Option<u32>> = vec![None; lanes.len()];
    let mut last = vec![begin; lanes.len()];
    for (time, lane, event) in Merged::new(trace) {
        last[lane] = time;
        let worker_of = |worker| {
            let pool = entries[lane].last().map_or(lost_in, |&(pool, _)| Some(pool))?;
            workers.get(&(pool, worker)).copied()
        };
        let builder = &mut lanes[lane];
        match event {
            Event::Enter { role, pool, worker } => {
                builder.enter(time, role, pool, worker);
                entries[lane].push((pool, worker));
                workers.insert((pool, worker), lane);
            }
            Event::Leave => {
                builder.leave(time);
                if let Some(entry) = entries[lane].pop()
                    && workers.get(&entry) == Some(&lane)
                {
                    workers.remove(&entry);
                }
            }
            Event::State { state, site } => builder.state(time, state, site),
            Event::Steal { loot, victim, count } => {
                builder.found(time);
                steals.push(Steal { time, from: worker_of(victim), to: lane, loot, count });
            }
            Event::Publish { site, took, .. } => builder.published(time, took, site),
            Event::Raid { took, .. } => builder.published(time, took, Site::UNKNOWN),
            Event::FiberStart { fiber, site } => {
                fibers.start(time, lane, fiber, site);
                spans.end_fiber(time, fiber);
                running[lane] = Some(fiber);
            }
            Event::FiberSuspend { fiber, site } => {
                fibers.suspend(time, lane, fiber, site);
                running[lane] = None;
            }
            Event::FiberResume { fiber } => {
                fibers.resume(time, lane, fiber);
                running[lane] = Some(fiber);
            }
            Event::FiberEnd { fiber } => {
                fibers.end(time, fiber);
                spans.end_fiber(time, fiber);
                running[lane] = None;
            }
            Event::FiberName { fiber, site } => fibers.name(fiber, site),
            Event::Wake { fiber } => fibers.wake(time, fiber),
            Event::TimerDue { fiber, late } => fibers.wake(time.saturating_sub(late), fiber),
            Event::SpanBegin(site) => spans.begin(time, lane, running[lane], site),
            Event::SpanEnd => spans.end(time, lane, running[lane]),
            Event::Mark(site) => marks.push(Mark { time, site, lane }),
            Event::Blocked { worker } | Event::Unblocked { worker } => {
                if let Some(of) = worker_of(worker) {
                    lanes[of].set_blocked(time, matches!(event, Event::Blocked { .. }));
                }
            }
            Event::CpuTime(cpu) => builder.read_cpu(time, cpu),
            Event::RunDelay(delay) => builder.read_delay(time, delay),
            Event::Root(_) | Event::Spawn(_) | Event::Unpark { .. } | Event::Work(_) | Event::Span(_) => {}
            Event::CoresBusy(_) | Event::ThreadTime { .. } | Event::Step { .. } => {}
        }
    }
    // Events of a trace that was not read but built may be out of order.
    let end = last.iter().copied().fold(end, u64::max);
    let first_after_loss =
        |lane: &crate::read::Lane| lane.events.first().filter(|_| lane.lost > 0).map(|&(time, _)| time);
    let complete_from = trace.lanes.iter().filter_map(first_after_loss).fold(begin, u64::max);
    Timeline {
        begin,
        end,
        complete_from,
        lanes: lanes.into_iter().zip(last).map(|(lane, last)| lane.finish(last, end)).collect(),
        fibers: fibers.finish(end),
        spans: spans.finish(end),
        steals,
        marks,
    }
}
