//! All pools, and the phases in which none of them is active.
//!
//! A pool is active while something is open in it. If no pool is active, the program is in a phase outside of all
//! calls. Which thread it has waited for is known only at the end of the phase: the one that calls next. So the slots
//! of a phase are accounted for at its end.

use crate::{
    event::{Event, Role, Site},
    explain::{
        Cause, Subject,
        account::Account,
        lanes::Lane,
        ledger::{Amount, Key, Ledger},
    },
    read::Trace,
    timeline::Timeline,
};
use std::collections::{BTreeMap, HashMap};

/// How many pools may exist at the same time. What happens in further ones is not explained.
const MOST: usize = 64;

/// The thread that ends a phase outside.
#[derive(Clone, Copy)]
pub(super) struct Ender {
    /// Its last place, and the next one.
    after: Site,
    until: Site,
    /// The shares of CPU time and of blocked time that it had outside.
    shares: Option<(f64, f64)>,
}

/// A phase in which no pool is active.
struct Phase {
    begin: u64,
    /// The thread that has spawned a fiber from outside, and where.
    spawned: Option<(usize, Site)>,
}

/// See the [module](self).
pub(super) struct Pools {
    pub(super) accounts: Vec<Account>,
    /// The accounts by the numbers of the pools; `None` for a pool without one.
    index: HashMap<u32, Option<usize>>,
    threads: BTreeMap<u32, u32>,
    /// When each pool begins and ends.
    lives: BTreeMap<u32, (u64, u64)>,
    /// The accounts of pools that have not ended.
    alive: Vec<usize>,
    active: usize,
    /// The present phase, if no pool is active.
    phase: Option<Phase>,
    /// The thread that was the last one to leave a call.
    pub(super) last_guest: Option<usize>,
    /// Whether there were too many pools.
    pub(super) has_ignored: bool,
}

impl Pools {
    pub(super) fn new(trace: &Trace, timeline: &Timeline) -> Self {
        Self {
            accounts: Vec::new(),
            index: HashMap::new(),
            threads: threads(trace),
            lives: lives(trace, timeline),
            alive: Vec::new(),
            active: 0,
            phase: Some(Phase { begin: timeline.complete_from, spawned: None }),
            last_guest: None,
            has_ignored: false,
        }
    }

    /// Returns the account of a pool, which begins now if there is none.
    pub(super) fn index(&mut self, pool: u32, now: u64) -> Option<usize> {
        if let Some(&index) = self.index.get(&pool) {
            return index;
        }
        if self.alive.len() >= MOST {
            self.alive.retain(|&index| self.accounts[index].end > now);
        }
        let is_room = self.alive.len() < MOST;
        let index = is_room.then(|| {
            let (begin, end) = self.lives.get(&pool).copied().unwrap_or((now, now));
            let threads = self.threads.get(&pool).copied().unwrap_or(1).max(1);
            self.accounts.push(Account::new(pool, threads, begin, end));
            self.alive.push(self.accounts.len() - 1);
            self.accounts.len() - 1
        });
        self.has_ignored |= !is_room;
        self.index.insert(pool, index);
        index
    }

    /// Enters a loss into the account of a pool and into the ledger.
    pub(super) fn lose(&mut self, ledger: &mut Ledger, pool: usize, key: Key, amount: Amount) {
        self.accounts[pool].lost[key.cause as usize] += amount.time;
        ledger.add(key, amount);
    }

    /// Accounts for the time of a pool until now, as far as its causes are known.
    pub(super) fn settle(&mut self, ledger: &mut Ledger, pool: usize, now: u64) {
        let account = &mut self.accounts[pool];
        let idle = if account.is_active() {
            account.advance(now)
        } else if self.phase.is_none() {
            let idle = account.within(account.last, now) * f64::from(account.threads);
            account.last = account.last.max(now);
            idle
        } else {
            return;
        };
        let key = Key::at(Cause::Idle, Subject::Program, Site::UNKNOWN);
        let wall = idle / f64::from(self.accounts[pool].threads);
        self.lose(ledger, pool, key, Amount { time: idle, wall, end: now });
    }

    /// Changes what is open in a pool. If this begins what ends a phase outside, `ender` is the thread that does so.
    pub(super) fn change(
        &mut self,
        ledger: &mut Ledger,
        pool: usize,
        now: u64,
        ender: Option<Ender>,
        change: impl FnOnce(&mut Account),
    ) {
        self.settle(ledger, pool, now);
        let was_active = self.accounts[pool].is_active();
        change(&mut self.accounts[pool]);
        match (was_active, self.accounts[pool].is_active()) {
            (false, true) => {
                self.end_phase(ledger, now, ender.map(|ender| (ender, Some(pool))));
                self.active += 1;
            }
            (true, false) => {
                self.active -= 1;
                if self.active == 0 {
                    self.begin_phase(ledger, now);
                }
            }
            _ => {}
        }
    }

    /// Records that a thread outside has spawned a fiber.
    pub(super) fn spawned_outside(&mut self, lane: usize, site: Site) {
        if let Some(phase) = &mut self.phase {
            phase.spawned.get_or_insert((lane, site));
        }
    }

    /// Returns what a phase that ends now is due to, if a thread outside spawned a fiber.
    pub(super) fn spawner(&self, lanes: &[Lane]) -> Option<Ender> {
        let (lane, site) = self.phase.as_ref()?.spawned?;
        Some(Self::ender(&lanes[lane], site))
    }

    /// Returns what a phase that ends now is due to, if a thread makes a call.
    pub(super) fn ender(lane: &Lane, until: Site) -> Ender {
        Ender { after: lane.root, until, shares: lane.outside.shares() }
    }

    /// Begins a phase in which no pool is active.
    fn begin_phase(&mut self, ledger: &mut Ledger, now: u64) {
        self.alive.retain(|&index| self.accounts[index].end > self.accounts[index].last);
        for position in 0..self.alive.len() {
            self.settle(ledger, self.alive[position], now);
        }
        self.phase = Some(Phase { begin: now, spawned: None });
    }

    /// Accounts for the phase that ends now, if there is one. It was sequential if it has waited for a thread, which
    /// would have had one slot of a pool.
    fn end_phase(&mut self, ledger: &mut Ledger, now: u64, ender: Option<(Ender, Option<usize>)>) {
        let Some(phase) = self.phase.take() else { return };
        let (mut lost, mut lost_blocked) = (0.0, 0.0);
        for position in 0..self.alive.len() {
            let index = self.alive[position];
            let account = &mut self.accounts[index];
            let wall = account.within(account.last, now);
            account.last = account.last.max(now);
            let slots = wall * f64::from(account.threads);
            let Some((ender, pool)) = ender else {
                let key = Key::at(Cause::Idle, Subject::Program, Site::UNKNOWN);
                self.lose(ledger, index, key, Amount { time: slots, wall, end: now });
                continue;
            };
            let own = if pool == Some(index) { wall } else { 0.0 };
            let (cpu, blocked) = ender.shares.unwrap_or((1.0, 0.0));
            account.work.wall += own;
            account.work.time += own * cpu;
            if ender.shares.is_some() {
                account.work.measured += own;
                account.work.cpu += own * cpu;
            }
            let machine = own * (1.0 - cpu - blocked).max(0.0);
            let (rest, of_blocked) = ((slots - own) * (1.0 - blocked), (slots - own) * blocked + own * blocked);
            account.lost[Cause::SequentialOutside as usize] += rest;
            account.lost[Cause::Blocked as usize] += of_blocked;
            (lost, lost_blocked) = (lost + rest, lost_blocked + of_blocked);
            let key = Key::at(Cause::Machine, Subject::Program, Site::UNKNOWN);
            self.lose(ledger, index, key, Amount { time: machine, wall: machine, end: now });
        }
        if let Some((Ender { after, until, shares }, _)) = ender {
            let (_, blocked) = shares.unwrap_or((1.0, 0.0));
            let wall = now.saturating_sub(phase.begin) as f64;
            let key = |cause| Key { until, ..Key::at(cause, Subject::Outside, after) };
            let sequential = Amount { time: lost, wall: wall * (1.0 - blocked), end: now };
            ledger.add(key(Cause::SequentialOutside), sequential);
            ledger.add(key(Cause::Blocked), Amount { time: lost_blocked, wall: wall * blocked, end: now });
        }
    }

    /// Accounts for everything until the end.
    pub(super) fn finish(&mut self, ledger: &mut Ledger, lanes: &[Lane], end: u64) {
        let last = self.last_guest.map(|lane| Self::ender(&lanes[lane], Site::UNKNOWN));
        self.end_phase(ledger, end, last.map(|ender| (ender, None)));
        for position in 0..self.alive.len() {
            self.settle(ledger, self.alive[position], end);
        }
    }
}

/// Returns the number of threads of each pool. One that is not in the trace has as many as its own threads were.
fn threads(trace: &Trace) -> BTreeMap<u32, u32> {
    let mut threads: BTreeMap<u32, u32> = BTreeMap::new();
    for &(_, event) in trace.lanes.iter().flat_map(|lane| &lane.events) {
        if let Event::Enter { role: Role::Worker, pool, .. } = event {
            *threads.entry(pool).or_default() += 1;
        }
    }
    threads.extend(&trace.pools);
    threads
}

/// Returns when each pool begins and ends: when the first thread enters it, and when the last of its own threads has
/// left it.
fn lives(trace: &Trace, timeline: &Timeline) -> BTreeMap<u32, (u64, u64)> {
    let mut lives = BTreeMap::new();
    // For each pool its own threads that have left it, and whether one has not.
    let mut leavers: BTreeMap<u32, (usize, bool)> = BTreeMap::new();
    let live = |lives: &mut BTreeMap<_, (u64, u64)>, pool, from: u64, to: u64| {
        let life = lives.entry(pool).or_insert((from, to));
        *life = (life.0.min(from), life.1.max(to));
    };
    for (lane, of) in trace.lanes.iter().zip(&timeline.lanes) {
        let mut entries = Vec::new();
        for &(time, event) in &lane.events {
            match event {
                Event::Enter { role, pool, .. } => {
                    live(&mut lives, pool, time.max(timeline.complete_from), time);
                    entries.push((role, pool));
                }
                Event::Leave => {
                    let Some((role, pool)) = entries.pop() else { continue };
                    live(&mut lives, pool, time, time);
                    leavers.entry(pool).or_default().0 += usize::from(role != Role::Guest);
                }
                _ => {}
            }
        }
        for (_, pool) in entries {
            leavers.entry(pool).or_default().1 = true;
        }
        // A thread whose entry was lost.
        if lane.lost > 0 {
            for interval in of.intervals.iter().filter(|interval| interval.pool != u32::MAX) {
                live(&mut lives, interval.pool, timeline.complete_from, interval.end);
            }
        }
    }
    for (pool, life) in &mut lives {
        if !matches!(leavers.get(pool), Some(&(1.., false))) {
            life.1 = timeline.end;
        }
        life.1 = life.1.max(life.0);
    }
    lives
}
