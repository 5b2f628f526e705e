//! The replay of recorded calls: the scheduler that ships, on virtual cores.
//!
//! `anabranch_simulated` is the runtime, compiled for `anabranch_sim`. Its `join` and its scopes run here, and a piece
//! of work spends its recorded time. Between two calls the thread spends the recorded time outside of the pool.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anabranch_sim::{Machine, simulate, thread};
use anabranch_simulated::{Pool, join, scope};
use anabranch_trace::recording::{Piece, Recording};

use super::account::{self, Account, Change};

/// How a recording ran on some virtual cores.
#[derive(Clone, Copy)]
pub struct Run {
    pub time: Duration,
    pub account: Account,
}

/// Replays all calls on a machine, with a thread for each core.
pub fn replay(recording: &Arc<Recording>, machine: Machine, seed: u64) -> Run {
    let (recording, cores) = (Arc::clone(recording), machine.cores());
    let program = move || {
        let pool = Pool::builder().threads(cores).build().expect("virtual threads can always be started");
        account::begin(cores);
        let begin = thread::time();
        for call in &recording.calls {
            account::change(Change::Outside(true));
            thread::work(Duration::from_nanos(call.outside));
            account::change(Change::Outside(false));
            if call.away > 0 {
                thread::sleep(Duration::from_nanos(call.away));
            }
            account::change(Change::Call(true));
            pool.install(|| run(&recording.pieces, call.pieces.clone()));
            account::change(Change::Call(false));
        }
        Run { time: thread::time() - begin, account: account::end() }
    };
    simulate(machine, seed, program).value
}

/// Runs a sequence of pieces.
fn run(pieces: &[Piece], range: Range<usize>) {
    let mut at = range.start;
    while at < range.end {
        at = match pieces[at] {
            Piece::Work(time) => {
                account::change(Change::Busy(1));
                thread::work(Duration::from_nanos(time));
                account::change(Change::Busy(-1));
                at + 1
            }
            Piece::Fork { second, end } => {
                fork(pieces, at + 1..second, second..end);
                end
            }
            Piece::Tasks { end } => {
                tasks(pieces, at + 1..end);
                end
            }
            // A task is run by its wait.
            Piece::Task { end } => end,
        };
    }
}

fn fork(pieces: &[Piece], first: Range<usize>, second: Range<usize>) {
    // Not atomics of the machine: looking takes no virtual time.
    let (has_begun, has_ended, is_awaited) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    account::change(Change::Ready(1));
    join(
        || {
            run(pieces, first);
            // Another thread has taken the second half, and runs it still.
            if has_begun.load(Ordering::Relaxed) && !has_ended.load(Ordering::Relaxed) {
                is_awaited.store(true, Ordering::Relaxed);
                account::change(Change::Waiting(1));
            }
        },
        || {
            has_begun.store(true, Ordering::Relaxed);
            account::change(Change::Ready(-1));
            run(pieces, second);
            has_ended.store(true, Ordering::Relaxed);
        },
    );
    if is_awaited.load(Ordering::Relaxed) {
        account::change(Change::Waiting(-1));
    }
}

/// Runs the tasks of a wait. All of them can begin at once.
fn tasks(pieces: &[Piece], range: Range<usize>) {
    scope(|s| {
        let mut at = range.start;
        while at < range.end {
            let end = match pieces[at] {
                Piece::Task { end } => end,
                _ => at + 1,
            };
            account::change(Change::Ready(1));
            s.spawn(move || {
                account::change(Change::Ready(-1));
                run(pieces, at + 1..end);
            });
            at = end;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_trace::explain::Cause;
    use anabranch_trace::recording::Call;

    const MS: u64 = 1_000_000;

    fn recording(outside: u64, pieces: Vec<Piece>) -> Arc<Recording> {
        // Work and span are for the bounds only.
        let call = Call { outside, away: 0, work: 0, span: 0, pieces: 0..pieces.len() };
        Arc::new(Recording { calls: vec![call], pieces, merged: 0 })
    }

    /// Pieces of 1 ms, as a balanced tree.
    fn tree(pieces: &mut Vec<Piece>, leaves: usize) {
        if leaves == 1 {
            return pieces.push(Piece::Work(MS));
        }
        let at = pieces.len();
        pieces.push(Piece::Work(0));
        tree(pieces, leaves / 2);
        let second = pieces.len();
        tree(pieces, leaves - leaves / 2);
        pieces[at] = Piece::Fork { second, end: pieces.len() };
    }

    fn ms(run: &Run) -> f64 {
        run.time.as_secs_f64() * 1e3
    }

    #[test]
    fn tree_is_as_many_times_as_fast_as_there_are_cores() {
        let mut pieces = Vec::new();
        tree(&mut pieces, 64);
        let recording = recording(0, pieces);
        for (cores, least) in [(1, 64.0), (4, 16.0), (16, 4.0)] {
            let run = replay(&recording, Machine::server(cores), 0);
            assert!((least..least * 1.5).contains(&ms(&run)), "{cores}: {}", ms(&run));
            // A piece that is preempted by the heartbeat worker counts as work meanwhile.
            assert!((0.064..0.0642).contains(&run.account.work), "{cores}: {}", run.account.work);
            let all = run.account.work + run.account.lost.iter().sum::<f64>();
            assert!((all - run.time.as_secs_f64() * cores as f64).abs() < 1e-5, "{all}");
        }
    }

    #[test]
    fn sequential_half_is_named() {
        let mut pieces = vec![Piece::Work(20 * MS)];
        tree(&mut pieces, 16);
        let run = replay(&recording(40 * MS, pieces), Machine::server(8), 0);
        assert!((62.0..64.0).contains(&ms(&run)), "{}", ms(&run));
        let lost = |cause: Cause| run.account.lost[cause as usize] * 1e3;
        assert!((lost(Cause::SequentialOutside) - 7.0 * 40.0).abs() < 1.0);
        assert!((lost(Cause::SequentialInside) - 7.0 * 20.0).abs() < 4.0, "{}", lost(Cause::SequentialInside));
    }

    #[test]
    fn tasks_run_beside_each_other() {
        let mut pieces = vec![Piece::Tasks { end: 0 }];
        for _ in 0..4 {
            let at = pieces.len();
            pieces.extend([Piece::Task { end: at + 2 }, Piece::Work(10 * MS)]);
        }
        pieces[0] = Piece::Tasks { end: pieces.len() };
        let run = replay(&recording(0, pieces), Machine::server(4), 0);
        assert!((10.0..12.0).contains(&ms(&run)), "{}", ms(&run));
    }
}
