//! The pools of the process, for reports about all of them. The list is used when a pool is made, and for a report.

use crate::{
    pool::{inspect, registry::Registry, report::Report, stacks},
    sys::{diagnostics, report_signal},
};
use std::{
    backtrace::{Backtrace, BacktraceStatus},
    sync::{Arc, Mutex, Weak},
};

/// Not from `sys`, and not used under shuttle, where a pool belongs to one execution.
static POOLS: Mutex<Vec<Weak<Registry>>> = Mutex::new(Vec::new());

/// Adds a new pool to the list. With the first one, the process begins to listen to the signal for reports, if the
/// environment names one.
pub(crate) fn add(registry: &Arc<Registry>) {
    if cfg!(shuttle) {
        return;
    }
    let is_first = {
        let mut pools = lock();
        // So the list is no longer than the largest number of pools that there were at a time.
        pools.retain(|pool| pool.strong_count() > 0);
        let is_first = pools.is_empty();
        pools.push(Arc::downgrade(registry));
        is_first
    };
    if is_first {
        report_signal::add(print);
        report_signal::start();
    }
}

/// Returns the pools that have not ended.
pub(crate) fn all() -> Vec<Arc<Registry>> {
    lock().iter().filter_map(Weak::upgrade).collect()
}

/// Returns what the fibers and threads of all pools do.
pub(crate) fn report() -> Report {
    let pools = all();
    inspect::report(&pools.iter().map(|pool| &**pool).collect::<Vec<_>>())
}

/// Returns what the fibers and threads of all pools do, with stacks.
pub(crate) fn report_with_stacks() -> Report {
    let mut report = report();
    add_stacks(&mut report);
    report
}

/// Adds stacks to a report of some pools.
fn add_stacks(report: &mut Report) {
    let pools = all();
    stacks::add(report, &pools.iter().map(|pool| &**pool).collect::<Vec<_>>());
}

/// Adds stacks to a report that the runtime makes by itself, if the environment asks for the backtraces of panics.
pub(crate) fn add_stacks_if_wanted(report: &mut Report) {
    // The standard library has the rule, and remembers the environment.
    if Backtrace::capture().status() == BacktraceStatus::Captured {
        add_stacks(report);
    }
}

/// Writes the report of all pools to the standard error stream.
fn print() {
    let mut report = report();
    add_stacks_if_wanted(&mut report);
    diagnostics::print(&format!("anabranch: {report}"));
}

fn lock() -> std::sync::MutexGuard<'static, Vec<Weak<Registry>>> {
    POOLS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
