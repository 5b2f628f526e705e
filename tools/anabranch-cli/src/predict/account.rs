//! Where the time of the virtual cores goes, by the causes of `anabranch explain`.
//!
//! The replay says what begins and ends. Between two changes each core has one use: work, or one cause.

use std::cell::Cell;
use std::time::Duration;

use anabranch_sim::thread;
use anabranch_trace::explain::Cause;

/// A change of the state that the account follows.
#[derive(Clone, Copy)]
pub enum Change {
    /// A piece of work begins or ends.
    Busy(i32),
    /// A half of a fork, or a task, could begin, or has begun.
    Ready(i32),
    /// A thread waits for a half that another one runs, or goes on.
    Waiting(i32),
    /// The program is in a call, or outside.
    Call(bool),
    /// The program outside of a call computes, or has no core.
    Outside(bool),
}

/// The uses of the cores until now, in seconds of one core.
#[derive(Clone, Copy, Default)]
pub struct Account {
    cores: f64,
    last: Duration,
    busy: i32,
    ready: i32,
    waiting: i32,
    is_in_call: bool,
    is_outside: bool,
    pub work: f64,
    /// The lost time by cause, in the order of [`Cause::ALL`].
    pub lost: [f64; Cause::ALL.len()],
}

thread_local! {
    /// All virtual threads are on one thread of the system.
    static ACCOUNT: Cell<Account> = Cell::new(Account::default());
}

/// Begins the account of a simulation.
pub fn begin(cores: usize) {
    ACCOUNT.set(Account { cores: cores as f64, last: thread::time(), ..Account::default() });
}

/// Records a change, at the present virtual time.
pub fn change(change: Change) {
    let now = thread::time();
    let mut account = ACCOUNT.get();
    account.advance(now);
    match change {
        Change::Busy(more) => account.busy += more,
        Change::Ready(more) => account.ready += more,
        Change::Waiting(more) => account.waiting += more,
        Change::Call(is_in_call) => account.is_in_call = is_in_call,
        Change::Outside(is_outside) => account.is_outside = is_outside,
    }
    ACCOUNT.set(account);
}

/// Returns the account until now.
pub fn end() -> Account {
    let mut account = ACCOUNT.get();
    account.advance(thread::time());
    account
}

impl Account {
    /// Divides the time until now as the accounting of `explain` does.
    fn advance(&mut self, now: Duration) {
        let time = now.saturating_sub(self.last).as_secs_f64();
        self.last = self.last.max(now);
        let mut lose = |cause: Cause, cores: f64| self.lost[cause as usize] += cores * time;
        let (all, busy, ready, waiting) =
            (self.cores, f64::from(self.busy), f64::from(self.ready), f64::from(self.waiting));
        if !self.is_in_call {
            let own = f64::from(u8::from(self.is_outside));
            self.work += own * time;
            return lose(if self.is_outside { Cause::SequentialOutside } else { Cause::Blocked }, all - own);
        }
        let working = busy.min(all);
        self.work += working * time;
        let mut free = all - working;
        // What could run, and does not yet: its thief searches, or wakes up.
        let competing = ready.min(free);
        lose(Cause::Competing, competing);
        free -= competing;
        if busy == 0.0 {
            return lose(Cause::Overhead, free);
        }
        let is_few = busy == 1.0 || 4.0 * busy <= all;
        let long = if waiting == 0.0 {
            0.0
        } else if is_few {
            free
        } else {
            waiting.min(free)
        };
        lose(Cause::LongPiece, long);
        free -= long;
        lose(if busy == 1.0 { Cause::SequentialInside } else { Cause::Idle }, free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the work and the losses of a second.
    fn of(account: Account) -> (f64, Vec<(Cause, f64)>) {
        let mut account = account;
        account.advance(Duration::from_secs(1));
        let lost = Cause::ALL.into_iter().map(|cause| (cause, account.lost[cause as usize]));
        (account.work, lost.filter(|&(_, lost)| lost > 0.0).collect())
    }

    #[test]
    fn each_core_has_one_use() {
        let outside = Account { cores: 4.0, is_outside: true, ..Account::default() };
        assert_eq!(of(outside), (1.0, vec![(Cause::SequentialOutside, 3.0)]));
        assert_eq!(of(Account { is_outside: false, ..outside }), (0.0, vec![(Cause::Blocked, 4.0)]));
        let call = Account { is_in_call: true, busy: 1, ..outside };
        assert_eq!(of(call), (1.0, vec![(Cause::SequentialInside, 3.0)]));
        assert_eq!(of(Account { waiting: 1, ..call }), (1.0, vec![(Cause::LongPiece, 3.0)]));
        assert_eq!(of(Account { busy: 2, ..call }), (2.0, vec![(Cause::Idle, 2.0)]));
        let mixed = Account { busy: 2, ready: 1, waiting: 3, ..call };
        assert_eq!(of(mixed), (2.0, vec![(Cause::LongPiece, 1.0), (Cause::Competing, 1.0)]));
        assert_eq!(of(Account { busy: 0, ..call }), (0.0, vec![(Cause::Overhead, 4.0)]));
        assert_eq!(of(Account { busy: 9, ready: 9, ..call }), (4.0, vec![]));
    }
}
