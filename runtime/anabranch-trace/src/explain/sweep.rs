//! One pass over all events and intervals, in the order of time.

use crate::{
    event::{Event, Role, Site},
    explain::{
        Cause, Subject,
        account::{Account, Sums},
        lanes::{Doing, Entry, Lane},
        ledger::{Amount, Key, Ledger},
        pools::Pools,
        waits::{self, Wait},
    },
    merge::Merged,
    read::Trace,
    timeline::{Activity, FiberState, Interval, PROMPT, Timeline},
};
use std::collections::BTreeMap;

/// A fiber.
#[derive(Default)]
struct Fiber {
    /// Where it was spawned.
    spawned: Site,
    /// Its open spans.
    spans: Vec<Site>,
    wait: Option<FiberWait>,
}

#[derive(Clone, Copy)]
struct FiberWait {
    pool: usize,
    site: Site,
    kind: Wait,
    since: u64,
    mark: Sums,
}

/// A fiber begins to wait for its thread, which runs another one, or that wait ends.
#[derive(Clone, Copy)]
struct Ready {
    time: u64,
    /// The index of the wait.
    wait: usize,
    lane: usize,
    begins: bool,
}

/// Such a wait that has not ended.
#[derive(Clone, Copy)]
struct ReadyWait {
    pool: usize,
    since: u64,
    mark: f64,
    /// Where the fiber that has the thread was spawned.
    keeper: Site,
}

struct Sweep<'a> {
    trace: &'a Trace,
    begin: u64,
    pools: Pools,
    ledger: Ledger,
    lanes: Vec<Lane>,
    fibers: BTreeMap<u32, Fiber>,
    /// The fibers that wait for their thread, by the index of the wait.
    ready: BTreeMap<usize, ReadyWait>,
    /// Where the last fiber was spawned.
    spawned: Site,
}

/// Divides the time of all pools.
pub(super) fn sweep(trace: &Trace, timeline: &Timeline) -> (Pools, Ledger) {
    let mut sweep = Sweep {
        trace,
        begin: timeline.complete_from,
        pools: Pools::new(trace, timeline),
        ledger: Ledger::default(),
        lanes: trace.lanes.iter().map(|_| Lane::default()).collect(),
        fibers: BTreeMap::new(),
        ready: BTreeMap::new(),
        spawned: Site::UNKNOWN,
    };
    let mut changes = changes(timeline).into_iter().peekable();
    let mut readies = readies(timeline).into_iter().peekable();
    let mut steals = timeline.steals.iter();
    for (time, lane, event) in Merged::new(trace) {
        // At the same time, an event comes first: it says where the interval takes place.
        while let Some((at, lane, interval)) = changes.next_if(|&(at, ..)| at < time) {
            while let Some(ready) = readies.next_if(|ready| ready.time <= at) {
                sweep.ready(ready);
            }
            sweep.set(at, lane, interval);
        }
        while let Some(ready) = readies.next_if(|ready| ready.time < time) {
            sweep.ready(ready);
        }
        let from = match event {
            Event::Steal { .. } => steals.next().and_then(|steal| steal.from),
            _ => None,
        };
        sweep.event(time, lane, event, from);
        sweep.lanes[lane].next += 1;
    }
    for (at, lane, interval) in changes {
        while let Some(ready) = readies.next_if(|ready| ready.time <= at) {
            sweep.ready(ready);
        }
        sweep.set(at, lane, interval);
    }
    readies.for_each(|ready| sweep.ready(ready));
    sweep.finish(timeline.end)
}

/// Returns the waits of fibers for their thread that take longer than a thread needs to find a woken fiber.
fn readies(timeline: &Timeline) -> Vec<Ready> {
    let intervals = timeline.fibers.iter().flat_map(|fiber| &fiber.intervals);
    let long =
        intervals.filter(|interval| interval.state == FiberState::Ready && interval.end - interval.begin > PROMPT);
    let ends = long.enumerate().flat_map(|(wait, interval)| {
        [(interval.begin, true), (interval.end, false)].map(|(time, begins)| Ready {
            time,
            wait,
            lane: interval.lane,
            begins,
        })
    });
    let mut readies: Vec<Ready> = ends.collect();
    readies.sort_by_key(|ready| ready.time);
    readies
}

/// Returns when which thread begins which interval, or ends one after which nothing is known.
fn changes(timeline: &Timeline) -> Vec<(u64, usize, Option<Interval>)> {
    let mut changes = Vec::new();
    for (lane, of) in timeline.lanes.iter().enumerate() {
        for (index, &interval) in of.intervals.iter().enumerate() {
            changes.push((interval.begin, lane, Some(interval)));
            if of.intervals.get(index + 1).is_none_or(|next| next.begin > interval.end) {
                changes.push((interval.end, lane, None));
            }
        }
    }
    changes.sort_by_key(|&(time, ..)| time);
    changes
}

impl Sweep<'_> {
    fn event(&mut self, time: u64, lane: usize, event: Event, from: Option<usize>) {
        match event {
            Event::Enter { role, pool, .. } => self.enter(time, lane, role, pool),
            Event::Leave => self.leave(time, lane),
            Event::Root(site) => {
                let lane = &mut self.lanes[lane];
                (lane.root, lane.piece, lane.after) = (site, site, site);
            }
            Event::Steal { .. } => {
                if self.lanes[lane].doing.is_some_and(|doing| doing.is_busy()) {
                    self.pass(time, lane, Site::UNKNOWN);
                }
                let site = match from {
                    Some(from) if self.lanes[from].published != Site::UNKNOWN => self.lanes[from].published,
                    Some(from) => self.lanes[from].piece,
                    None => self.spawned,
                };
                self.lanes[lane].steal(site);
            }
            Event::Publish { site, .. } => {
                self.pass(time, lane, site);
                (self.lanes[lane].after, self.lanes[lane].published) = (site, site);
            }
            Event::Spawn(site) => {
                self.spawned = site;
                if self.lanes[lane].entries.is_empty() {
                    self.lanes[lane].root = site;
                    self.pools.spawned_outside(lane, site);
                }
            }
            Event::SpanBegin(site) => {
                self.pass(time, lane, Site::UNKNOWN);
                self.spans(lane).push(site);
            }
            Event::SpanEnd => {
                self.pass(time, lane, Site::UNKNOWN);
                self.spans(lane).pop();
            }
            Event::FiberStart { fiber, site } => {
                self.end_wait(time, fiber);
                self.fibers.insert(fiber, Fiber { spawned: site, ..Fiber::default() });
                self.run_fiber(time, lane, Some(fiber));
            }
            Event::FiberResume { fiber } => {
                self.end_wait(time, fiber);
                self.run_fiber(time, lane, Some(fiber));
            }
            Event::FiberSuspend { fiber, site } => {
                self.run_fiber(time, lane, None);
                self.begin_wait(time, lane, fiber, site);
            }
            Event::FiberEnd { fiber } => {
                self.run_fiber(time, lane, None);
                self.end_wait(time, fiber);
                self.fibers.remove(&fiber);
            }
            Event::Wake { fiber } => self.end_wait(time, fiber),
            _ => {}
        }
    }

    fn enter(&mut self, time: u64, lane: usize, role: Role, pool: u32) {
        self.set(time, lane, None);
        // A thread of one pool is a guest in another.
        if let Some(outer) = self.lanes[lane].entries.last_mut()
            && let Some(pool) = outer.pool
        {
            self.pools.change(&mut self.ledger, pool, time, None, |account| account.elsewhere += 1);
            outer.mark = self.pools.accounts[pool].sums;
        }
        let pool = self.pools.index(pool, time);
        if let Some(pool) = pool {
            match role {
                Role::Guest => self.pools.accounts[pool].all_guests += 1,
                Role::Spare => self.pools.accounts[pool].all_spares += 1,
                Role::Worker => {}
            }
            if role == Role::Guest {
                let ender = Pools::ender(&self.lanes[lane], self.next_root(lane));
                self.pools.change(&mut self.ledger, pool, time, Some(ender), |account| account.guests += 1);
            }
        }
        self.lanes[lane].entries.push(Entry { role, pool, mark: Sums::default() });
    }

    /// Returns the site of the call that begins with an entry, which follows it.
    fn next_root(&self, lane: usize) -> Site {
        let events = &self.trace.lanes[lane].events[self.lanes[lane].next..];
        let root = events.iter().skip(1).take(4).find_map(|&(_, event)| match event {
            Event::Root(site) => Some(site),
            _ => None,
        });
        root.unwrap_or(Site::UNKNOWN)
    }

    fn leave(&mut self, time: u64, lane: usize) {
        self.set(time, lane, None);
        self.lanes[lane].outside = Default::default();
        let Some(entry) = self.lanes[lane].entries.pop() else { return };
        if let Some(pool) = entry.pool
            && entry.role == Role::Guest
        {
            self.pools.last_guest = Some(lane);
            self.pools.change(&mut self.ledger, pool, time, None, |account| account.guests -= 1);
        }
        self.end_elsewhere(time, lane);
    }

    /// A thread returns from another pool into its own one.
    fn end_elsewhere(&mut self, time: u64, lane: usize) {
        let Some(&Entry { pool: Some(pool), mark, .. }) = self.lanes[lane].entries.last() else { return };
        self.pools.settle(&mut self.ledger, pool, time);
        let lost = self.pools.accounts[pool].sums - mark;
        let time_lost = lost.blocked + lost.sequential + lost.long + lost.idle;
        let key = Key::at(Cause::Blocked, Subject::Piece, self.lanes[lane].root);
        self.pools.lose(&mut self.ledger, pool, key, Amount { time: time_lost, wall: lost.blocked, end: time });
        self.pools.change(&mut self.ledger, pool, time, None, |account| account.elsewhere -= 1);
    }

    /// The open spans of what a thread runs.
    fn spans(&mut self, lane: usize) -> &mut Vec<Site> {
        match self.lanes[lane].fiber {
            Some(fiber) => &mut self.fibers.entry(fiber).or_default().spans,
            None => &mut self.lanes[lane].spans,
        }
    }

    /// A thread passes a place: what follows is lost elsewhere.
    fn pass(&mut self, time: u64, lane: usize, until: Site) {
        self.grow(time, lane);
        let span = self.spans(lane).last().copied().unwrap_or_default();
        self.lanes[lane].flush(&mut self.ledger, span, until);
    }

    fn run_fiber(&mut self, time: u64, lane: usize, fiber: Option<u32>) {
        self.pass(time, lane, Site::UNKNOWN);
        self.lanes[lane].fiber = fiber;
        if let Some(fiber) = fiber {
            let spawned = self.fibers.entry(fiber).or_default().spawned;
            (self.lanes[lane].piece, self.lanes[lane].after) = (spawned, spawned);
        }
    }

    fn begin_wait(&mut self, time: u64, lane: usize, fiber: u32, site: Site) {
        self.end_wait(time, fiber);
        let Some(pool) = self.lanes[lane].doing.map(|doing| doing.pool) else { return };
        let kind = waits::kind(self.trace, site);
        self.pools.change(&mut self.ledger, pool, time, None, |account| *account.waits_mut(kind) += 1);
        let mark = self.pools.accounts[pool].sums;
        let wait = FiberWait { pool, site, kind, since: time, mark };
        self.fibers.entry(fiber).or_default().wait = Some(wait);
    }

    fn end_wait(&mut self, time: u64, fiber: u32) {
        let wait = self.fibers.get_mut(&fiber).and_then(|fiber| fiber.wait.take());
        if let Some(FiberWait { pool, site, kind, since, mark }) = wait {
            self.waited(time, pool, site, kind, since, &mark);
            self.pools.change(&mut self.ledger, pool, time, None, |account| *account.waits_mut(kind) -= 1);
        }
    }

    /// A fiber begins or ends to wait for its thread. If the thread does nothing then, the fiber waits for the system.
    fn ready(&mut self, Ready { time, wait, lane, begins }: Ready) {
        if begins {
            let Some(Doing { pool, .. }) = self.lanes[lane].doing.filter(|doing| doing.is_busy()) else { return };
            self.pools.change(&mut self.ledger, pool, time, None, |account| account.ready += 1);
            let keeper = self.lanes[lane].fiber.and_then(|fiber| self.fibers.get(&fiber));
            let keeper = keeper.map_or(self.lanes[lane].piece, |fiber| fiber.spawned);
            let mark = self.pools.accounts[pool].sums.kept;
            self.ready.insert(wait, ReadyWait { pool, since: time, mark, keeper });
        } else if let Some(ReadyWait { pool, since, mark, keeper }) = self.ready.remove(&wait) {
            self.pools.change(&mut self.ledger, pool, time, None, |account| account.ready -= 1);
            let lost = self.pools.accounts[pool].sums.kept - mark;
            let amount = Amount { time: lost, wall: self.wall(since, time), end: time };
            self.pools.lose(&mut self.ledger, pool, Key::at(Cause::Kept, Subject::Ready, keeper), amount);
        }
    }

    /// Enters what was lost during a wait.
    fn waited(&mut self, time: u64, pool: usize, site: Site, kind: Wait, since: u64, mark: &Sums) {
        self.pools.settle(&mut self.ledger, pool, time);
        let sums = self.pools.accounts[pool].sums;
        let lost = sums.wait(kind) - mark.wait(kind);
        let wall = self.wall(since, time);
        let amount = |lost: f64| Amount { time: lost, wall, end: time };
        if kind != Wait::Lock {
            return self.pools.lose(&mut self.ledger, pool, Key::at(Cause::Idle, Subject::Wait, site), amount(lost));
        }
        let standstill = sums.standstill - mark.standstill;
        let (still, rest) = (amount(standstill), amount(lost - standstill));
        for (subject, amount) in [(Subject::Standstill, still), (Subject::Wait, rest)] {
            self.pools.lose(&mut self.ledger, pool, Key::at(Cause::Locked, subject, site), amount);
        }
    }

    /// The part of a time that is explained.
    fn wall(&self, from: u64, to: u64) -> f64 {
        to.saturating_sub(from.max(self.begin)) as f64
    }

    /// A thread does something else now.
    fn set(&mut self, time: u64, lane: usize, interval: Option<Interval>) {
        if let Some(interval) = &interval
            && interval.activity == Activity::Outside
        {
            self.lanes[lane].outside.add(interval);
        }
        let inside = interval.filter(|interval| interval.activity != Activity::Outside);
        let index = inside.and_then(|interval| self.pools.index(interval.pool, time));
        let next = inside.zip(index).map(|(interval, pool)| Doing { interval, pool });
        let before = self.lanes[lane].doing;
        if before.is_some_and(|doing| doing.is_busy()) && !next.is_some_and(|doing| doing.is_busy()) {
            self.pass(time, lane, Site::UNKNOWN);
        } else {
            self.grow(time, lane);
        }
        if next.is_some_and(|next| next.interval.activity == Activity::Working) {
            self.lanes[lane].begin_work(before.map(|doing| doing.interval.activity));
        }
        self.lanes[lane].doing = next;
        self.lanes[lane].since = time;
        let kind = |doing: Doing| {
            let is_wait = doing.interval.activity == Activity::Waiting;
            is_wait.then(|| waits::kind(self.trace, doing.interval.site))
        };
        let (ends, begins) = (before.and_then(kind), next.and_then(kind));
        let count = |account: &mut Account, doing: Doing, wait: Option<Wait>, more: bool| {
            let change = |count: &mut u32| *count = if more { *count + 1 } else { *count - 1 };
            change(account.lanes_mut(doing.interval.activity));
            if let Some(wait) = wait {
                change(account.waits_mut(wait));
            }
        };
        let ender = self.pools.spawner(&self.lanes);
        match (before, next) {
            // In one step, so that a pool is not closed and opened in between.
            (Some(before), Some(next)) if before.pool == next.pool => {
                self.pools.change(&mut self.ledger, next.pool, time, ender, |account| {
                    count(account, before, ends, false);
                    count(account, next, begins, true);
                });
            }
            _ => {
                if let Some(before) = before {
                    let change = |account: &mut _| count(account, before, ends, false);
                    self.pools.change(&mut self.ledger, before.pool, time, None, change);
                }
                if let Some(next) = next {
                    let change = |account: &mut _| count(account, next, begins, true);
                    self.pools.change(&mut self.ledger, next.pool, time, ender, change);
                }
            }
        }
        if let Some(next) = next {
            self.lanes[lane].mark = self.pools.accounts[next.pool].sums;
        }
    }

    /// Accounts for what a thread has done until now.
    fn grow(&mut self, time: u64, lane: usize) {
        let Some(Doing { interval, pool }) = self.lanes[lane].doing else { return };
        self.pools.settle(&mut self.ledger, pool, time);
        let sums = self.pools.accounts[pool].sums;
        let lost = sums - std::mem::replace(&mut self.lanes[lane].mark, sums);
        let since = std::mem::replace(&mut self.lanes[lane].since, time);
        let wall = self.wall(since, time);
        let account = &mut self.pools.accounts[pool];
        // The part of the time for which the thread is blocked, and the slots that it has then.
        let (blocked, own) = match interval.activity {
            Activity::Working => {
                let (cpu, blocked) = interval.shares.map_or((1.0, 0.0), |shares| (shares.cpu, shares.blocked));
                account.work.time += lost.work * cpu;
                account.work.wall += lost.work;
                if interval.shares.is_some() {
                    account.work.measured += lost.work;
                    account.work.cpu += lost.work * cpu;
                }
                let machine = lost.work * (1.0 - cpu - blocked).max(0.0);
                let key = Key::at(Cause::Machine, Subject::Program, Site::UNKNOWN);
                self.pools.lose(&mut self.ledger, pool, key, Amount { time: machine, wall: machine, end: time });
                (blocked, lost.work * blocked)
            }
            Activity::Blocked => (1.0, lost.blocked),
            Activity::Publishing => {
                let amount = Amount { time: lost.publishing, wall, end: time };
                let key = Key::at(Cause::Overhead, Subject::Fork, interval.site);
                self.pools.lose(&mut self.ledger, pool, key, amount);
                (0.0, 0.0)
            }
            Activity::Finding => {
                let amount = Amount { time: lost.finding, wall, end: time };
                let key = Key::at(Cause::Competing, Subject::Search, self.lanes[lane].piece);
                return self.pools.lose(&mut self.ledger, pool, key, amount);
            }
            Activity::Waiting => {
                let kind = waits::kind(self.trace, interval.site);
                let mark = sums - lost;
                return self.waited(time, pool, interval.site, kind, since, &mark);
            }
            _ => return,
        };
        let account = &mut self.pools.accounts[pool];
        account.lost[Cause::SequentialInside as usize] += lost.sequential * (1.0 - blocked);
        account.lost[Cause::LongPiece as usize] += lost.long * (1.0 - blocked);
        account.lost[Cause::Idle as usize] += lost.idle;
        account.lost[Cause::Blocked as usize] += own + (lost.sequential + lost.long) * blocked;
        self.lanes[lane].add(&lost, blocked, own, wall, time);
    }

    fn finish(mut self, end: u64) -> (Pools, Ledger) {
        for lane in 0..self.lanes.len() {
            self.set(end, lane, None);
            self.lanes[lane].entries.pop();
            while !self.lanes[lane].entries.is_empty() {
                self.end_elsewhere(end, lane);
                self.lanes[lane].entries.pop();
            }
        }
        let waiting: Vec<u32> = self.fibers.keys().copied().collect();
        for fiber in waiting {
            self.end_wait(end, fiber);
        }
        let ready: Vec<usize> = self.ready.keys().copied().collect();
        for wait in ready {
            self.ready(Ready { time: end, wait, lane: 0, begins: false });
        }
        self.pools.finish(&mut self.ledger, &self.lanes, end);
        (self.pools, self.ledger)
    }
}
