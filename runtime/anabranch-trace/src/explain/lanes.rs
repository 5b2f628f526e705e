//! What is known of one thread while the events are read.

use crate::{
    event::{Role, Site},
    explain::{
        Cause, Subject,
        account::Sums,
        ledger::{Amount, Key, Ledger},
    },
    timeline::{Activity, Interval},
};

/// A worker entry that a thread has.
pub(super) struct Entry {
    pub(super) role: Role,
    /// The index of the account, if the pool has one.
    pub(super) pool: Option<usize>,
    /// The sums of the pool when the thread entered another pool.
    pub(super) mark: Sums,
}

/// What a thread does, with the account that pays for it.
#[derive(Clone, Copy)]
pub(super) struct Doing {
    pub(super) interval: Interval,
    pub(super) pool: usize,
}

impl Doing {
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.interval.activity, Activity::Working | Activity::Publishing | Activity::Blocked)
    }
}

/// What was lost by a thread, or because of it, since its place is the same.
#[derive(Default)]
struct Run {
    sequential: Amount,
    long: Amount,
    idle: Amount,
    blocked: Amount,
}

#[derive(Default)]
pub(super) struct Lane {
    /// The index of the next event.
    pub(super) next: usize,
    pub(super) doing: Option<Doing>,
    /// Since when the present amounts grow, and the sums then.
    pub(super) since: u64,
    pub(super) mark: Sums,
    pub(super) entries: Vec<Entry>,
    /// Where the piece of work comes from that the thread runs.
    pub(super) piece: Site,
    /// The last place that it passed.
    pub(super) after: Site,
    /// Both of the piece that waits in a join while the thread runs another one.
    outer: Option<(Site, Site)>,
    /// Whether it has taken work, and has not begun to run it.
    has_stolen: bool,
    /// The last fork that it published.
    pub(super) published: Site,
    /// Its last call into a pool.
    pub(super) root: Site,
    pub(super) fiber: Option<u32>,
    /// The open spans outside of fibers.
    pub(super) spans: Vec<Site>,
    /// The wall time outside of pools since the last call, and what is known of it.
    pub(super) outside: Outside,
    run: Run,
}

/// Time of a thread outside of pools, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Outside {
    measured: f64,
    cpu: f64,
    blocked: f64,
}

impl Outside {
    pub(super) fn add(&mut self, interval: &Interval) {
        if let Some(shares) = interval.shares {
            let length = interval.len() as f64;
            self.measured += length;
            self.cpu += length * shares.cpu;
            self.blocked += length * shares.blocked;
        }
    }

    /// Returns the shares of CPU time and of blocked time, if they are known.
    pub(super) fn shares(&self) -> Option<(f64, f64)> {
        (self.measured > 0.0).then(|| (self.cpu / self.measured, self.blocked / self.measured))
    }
}

impl Lane {
    /// The thread has taken a piece of work.
    pub(super) fn steal(&mut self, site: Site) {
        let is_joining = |doing: Doing| matches!(doing.interval.activity, Activity::Joining | Activity::JoinParked);
        if self.doing.is_some_and(is_joining) {
            self.outer.get_or_insert((self.piece, self.after));
        } else {
            self.outer = None;
        }
        self.has_stolen = true;
        (self.piece, self.after) = (site, site);
    }

    /// The thread begins to work. If it has waited in a join, it continues what waited, unless it has taken work.
    pub(super) fn begin_work(&mut self, before: Option<Activity>) {
        let has_joined = matches!(before, Some(Activity::Joining | Activity::JoinParked));
        if has_joined
            && !self.has_stolen
            && let Some(outer) = self.outer.take()
        {
            (self.piece, self.after) = outer;
        }
        self.has_stolen = false;
    }

    /// Adds what a busy thread lost or made others lose, which ends now.
    pub(super) fn add(&mut self, lost: &Sums, blocked: f64, own: f64, wall: f64, end: u64) {
        let mut grow = |amount: fn(&mut Run) -> &mut Amount, time: f64, wall: f64| {
            let amount = amount(&mut self.run);
            amount.time += time;
            amount.wall += wall;
            amount.end = end;
        };
        grow(|run| &mut run.sequential, lost.sequential * (1.0 - blocked), lost.sequential_wall);
        grow(|run| &mut run.long, lost.long * (1.0 - blocked), lost.long_wall);
        grow(|run| &mut run.idle, lost.idle, lost.idle_wall);
        grow(|run| &mut run.blocked, own + (lost.sequential + lost.long) * blocked, wall * blocked);
    }

    /// Enters what was lost at the present place, which the thread leaves, into the ledger.
    pub(super) fn flush(&mut self, ledger: &mut Ledger, span: Site, until: Site) {
        let run = std::mem::take(&mut self.run);
        let sequential = Key::at(Cause::SequentialInside, Subject::Phase, self.after);
        ledger.add(Key { span, until, ..sequential }, run.sequential);
        for (cause, amount) in [(Cause::LongPiece, run.long), (Cause::Idle, run.idle), (Cause::Blocked, run.blocked)] {
            ledger.add(Key { span, ..Key::at(cause, Subject::Piece, self.piece) }, amount);
        }
    }
}
