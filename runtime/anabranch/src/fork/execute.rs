//! Detached tasks: compute work that no caller waits for.
//!
//! A detached task is a task like those of a scope. Its lineage is a root of its own, so a thread that waits never runs
//! the task. The pool counts the detached tasks, and its threads do not end before them.

use crate::{
    fork::{frame::Lineage, scope::report, task::Task},
    pool::{handle::Pool, registry::Registry, worker::Worker},
    sys::{sync::Arc, thread, unwind::catch_unwind},
};
use std::panic::AssertUnwindSafe;

/// The lineage of all tasks of [`execute`].
static ROOT: Lineage = Lineage::detached(0);

/// Counts a detached task, and returns it. The caller enqueues it in this pool. The task owns `lineage`.
pub(crate) fn detach(registry: &Registry, lineage: Arc<Lineage>, run: impl FnOnce() + Send + 'static) -> Task {
    let address = Arc::as_ptr(&lineage);
    let run = move || {
        // A panic handler may fork, so the lineage ends last.
        let _lineage = lineage;
        run_detached(run);
    };
    registry.injected.add_detached();
    // SAFETY: the task owns the lineage, and `run_detached` catches panics.
    unsafe { Task::new(address, Box::new(run)) }
}

#[track_caller]
fn execute_in(registry: &Registry, run: impl FnOnce() + Send + 'static) {
    registry.check_open();
    if !thread::CAN_START {
        return registry.enter(|| catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(report));
    }
    registry.injected.add_detached();
    // SAFETY: the lineage is a static, and `run_detached` catches panics.
    registry.submit(unsafe { Task::new(&raw const ROOT, Box::new(move || run_detached(run))) });
}

/// Runs a detached task, on a thread of its pool.
fn run_detached(run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        report(panic);
    }
    if let Some(registry) = Worker::current().registry() {
        registry.end_detached();
    }
}

/// Runs `task` on a thread of the pool that the caller is in, or else of the default one, and does not wait for it.
///
/// The task is compute code, and runs on the stack of the thread. Use [`spawn`](crate::spawn) for a task that waits,
/// or whose result is needed. A thread begins the task that it has executed last first, when its present work has
/// ended. Other threads take the oldest. A thread that waits in a [`join`](crate::join) or a [`scope`](crate::scope)
/// does not run the task, so the task may take a lock that the caller holds.
///
/// Dropping the pool waits for the task. A panic goes to the [panic handler](crate::Builder::on_panic). On a system
/// without threads the caller runs the task at once. Costs an allocation and one lock operation.
///
/// # Panics
/// Outside of any pool, when the default pool cannot be made.
///
/// ```
/// use std::sync::mpsc;
///
/// let (sender, receiver) = mpsc::channel();
/// anabranch::execute(move || sender.send(6 * 7).unwrap());
/// assert_eq!(receiver.recv(), Ok(42));
/// ```
#[track_caller]
pub fn execute(task: impl FnOnce() + Send + 'static) {
    execute_in(Pool::of_caller(), task);
}

impl Pool {
    /// Runs `task` on one of the threads of this pool, and does not wait for it. See [`execute`].
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// # let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// pool.execute(move || sender.send(anabranch::pool::current_num_threads()).unwrap());
    /// assert_eq!(receiver.recv(), Ok(2));
    /// ```
    #[track_caller]
    pub fn execute(&self, task: impl FnOnce() + Send + 'static) {
        execute_in(self.registry(), task);
    }
}
