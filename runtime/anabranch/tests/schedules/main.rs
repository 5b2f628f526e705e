//! Whole programs under thousands of random schedules (shuttle): no hang, no leak, no wrong result, no panic that gets
//! lost or comes twice, wherever one is thrown.
//!
//! Each execution makes its pools and drops them; all threads in it, the pool's included, take turns as the schedule
//! says. A hang is a deadlock, or an execution that never ends. Time passes at random, and random threads are taken for
//! blocked. shuttle has no weak memory: that is for the loom models.
//!
//! Nothing here may fork outside of every pool: the default pool is shared by all executions, which shuttle's threads
//! cannot be.
//!
//! `.ci/run shuttle` runs them. A failure prints file names; `ANABRANCH_REPLAY=<the last file>` repeats its schedule.
//!
//! - The closures of a program panic at one random step, and sometimes at more.
//! - In half of the executions, waits that another thread must end have no timeout, so a lost wake-up hangs.
//! - A waiting thread searches for work less often than in a real run.
//! - `std::thread::panicking` sees all threads of an execution as one, so `sys/unwind` counts panics per thread.
//! - Fibers run on their own stacks, and the shipped code switches between them. When shuttle switches away from a
//!   thread, it saves the stack that the thread is on. Fibers see the thread-locals of their worker.
#![cfg(shuttle)]

#[path = "../common/mod.rs"]
mod common;
mod explore;
mod fibers;
mod pools;
mod trap;
mod work;

use anabranch::{Pool, join};
use explore::Seen;
use std::sync::Arc;
use trap::Trap;

/// One execution of a program in a pool of its own, one of whose first `most` steps panics. What the program returns,
/// if nothing has.
fn attempt<R>(seen: &Seen, most: usize, program: impl FnOnce(&Pool, &Arc<Trap>) -> R) -> Option<R> {
    let trap = Trap::within(most);
    let pool = trap.pool();
    let result = trap.catch(|| program(&pool, &trap));
    // All that was forked or spawned has ended by now.
    let result = trap.settle(seen, result);
    assert_eq!(pool.install(|| sum(0, 6)), 15);
    seen.note(&pool);
    result
}

fn sum(low: u64, high: u64) -> u64 {
    if high - low <= 1 {
        return low;
    }
    let (a, b) = join(|| sum(low, low.midpoint(high)), || sum(low.midpoint(high), high));
    a + b
}

/// Forks down to 2^`depth` leaves, with a step at each node, and gives back how many leaves there were.
fn tree(trap: &Trap, depth: u32) -> u64 {
    let _kept = trap.step();
    if depth == 0 {
        return 1;
    }
    let (a, b) = join(|| tree(trap, depth - 1), || tree(trap, depth - 1));
    a + b
}
