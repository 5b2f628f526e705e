//! The intervals of one thread.

use crate::{
    event::{Role, Site, State},
    timeline::{Activity, Interval, LaneTimeline, PROMPT, shares::Clocks},
};

/// A worker entry that a thread has, with its last state.
struct Entry {
    role: Role,
    pool: u32,
    state: Option<(State, Site)>,
}

/// The interval that has not ended.
#[derive(Clone, Copy)]
struct Open {
    begin: u64,
    activity: Activity,
    pool: u32,
    site: Site,
}

/// The intervals of one thread, as far as its events are known.
pub(super) struct LaneBuilder {
    timeline: LaneTimeline,
    /// The pool of a thread whose entry was lost.
    lost_in: Option<u32>,
    /// The entries, the innermost last: a thread of one pool may be a guest in another.
    entries: Vec<Entry>,
    open: Option<Open>,
    clocks: Clocks,
}

/// The pool of an interval outside after which no pool is entered.
const NO_POOL: u32 = u32::MAX;

impl LaneBuilder {
    /// Begins with the first event of a thread. A thread with lost events is already in a pool.
    pub(super) fn new(timeline: LaneTimeline, first: u64, is_lost: bool, lost_in: Option<u32>) -> Self {
        let outside = Open { begin: first, activity: Activity::Outside, pool: NO_POOL, site: Site::UNKNOWN };
        Self { timeline, lost_in, entries: Vec::new(), open: (!is_lost).then_some(outside), clocks: Clocks::default() }
    }

    pub(super) fn enter(&mut self, time: u64, role: Role, pool: u32, worker: u32) {
        if let Some(open) = self.open.as_mut().filter(|open| open.activity == Activity::Outside) {
            open.pool = pool;
        }
        self.close(time);
        self.timeline.entry.get_or_insert((role, pool, worker));
        self.lost_in = None;
        self.entries.push(Entry { role, pool, state: None });
    }

    pub(super) fn leave(&mut self, time: u64) {
        self.close(time);
        self.lost_in = None;
        let left = self.entries.pop();
        if let Some(outer) = self.entries.last() {
            let (pool, state) = (outer.pool, outer.state);
            self.open = state.map(|(state, site)| Open { begin: time, activity: activity(state), pool, site });
        } else if left.is_none_or(|left| left.role == Role::Guest) {
            let (activity, pool, site) = (Activity::Outside, NO_POOL, Site::UNKNOWN);
            self.open = Some(Open { begin: time, activity, pool, site });
        }
    }

    pub(super) fn state(&mut self, time: u64, state: State, site: Site) {
        if self.entries.is_empty()
            && let Some(pool) = self.lost_in.take()
        {
            self.entries.push(Entry { role: Role::Worker, pool, state: None });
        }
        let Some(entry) = self.entries.last_mut() else { return };
        entry.state = Some((state, site));
        let (activity, pool) = (activity(state), entry.pool);
        if self.open.is_some_and(|open| (open.activity, open.pool, open.site) == (activity, pool, site)) {
            return;
        }
        self.close(time);
        self.open = Some(Open { begin: time, activity, pool, site });
    }

    /// The thread begins to run what it has taken.
    pub(super) fn found(&mut self, time: u64) {
        if self.open.is_some_and(|open| open.activity == Activity::Searching) {
            self.carve(time, PROMPT, Activity::Finding, Site::UNKNOWN);
        }
    }

    /// The thread has published for some time.
    pub(super) fn published(&mut self, time: u64, took: u32, site: Site) {
        if self.open.is_some_and(|open| open.activity != Activity::Outside) {
            self.carve(time, took.into(), Activity::Publishing, site);
        }
    }

    /// The pool has found that the thread is blocked, or no longer.
    pub(super) fn set_blocked(&mut self, time: u64, blocked: bool) {
        let (before, after) = match blocked {
            true => (Activity::Working, Activity::Blocked),
            false => (Activity::Blocked, Activity::Working),
        };
        if let Some(open) = self.open.filter(|open| open.activity == before) {
            self.close(time);
            self.open = Some(Open { begin: time, activity: after, ..open });
        }
    }

    pub(super) fn read_cpu(&mut self, time: u64, cpu: u64) {
        self.split(time);
        self.clocks.read_cpu(&mut self.timeline.intervals, cpu);
    }

    pub(super) fn read_delay(&mut self, time: u64, delay: u64) {
        self.split(time);
        self.clocks.read_delay(&mut self.timeline.intervals, delay);
    }

    /// Ends the timeline. A thread that is in a pool stays there until the end of the trace.
    pub(super) fn finish(mut self, last: u64, end: u64) -> LaneTimeline {
        let is_outside = self.open.is_some_and(|open| open.activity == Activity::Outside);
        self.close(if is_outside { last } else { end });
        self.timeline
    }

    /// Replaces the end of the open interval, up to now, by another one.
    fn carve(&mut self, time: u64, length: u64, activity: Activity, site: Site) {
        let Some(open) = self.open else { return };
        let begin = time.saturating_sub(length).max(open.begin);
        self.close(begin);
        self.open = Some(Open { begin, activity, site, ..open });
        self.close(time);
        self.open = Some(Open { begin: time, ..open });
    }

    /// Splits the open interval if it is one that a reading of a clock divides.
    fn split(&mut self, time: u64) {
        let open = self.open.filter(|open| matches!(open.activity, Activity::Working | Activity::Outside));
        if let Some(open) = open {
            self.close(time);
            self.open = Some(Open { begin: time, ..open });
        }
    }

    /// Ends the open interval.
    fn close(&mut self, end: u64) {
        let Some(Open { begin, activity, pool, site }) = self.open.take().filter(|open| open.begin < end) else {
            return;
        };
        match activity {
            Activity::Working | Activity::Outside => self.clocks.add(self.timeline.intervals.len()),
            Activity::Publishing => self.clocks.add_publishing(end - begin),
            _ => {}
        }
        self.timeline.intervals.push(Interval { begin, end, activity, pool, site, shares: None });
    }
}

fn activity(state: State) -> Activity {
    match state {
        State::Working => Activity::Working,
        State::Searching => Activity::Searching,
        State::Parked => Activity::Parked,
        State::Joining => Activity::Joining,
        State::JoinParked => Activity::JoinParked,
        State::Waiting => Activity::Waiting,
    }
}
