//! Scopes: any number of tasks that borrow from their parent, which waits for all of them (the *patient parent*).

use crate::{
    fork::{
        frame::Lineage,
        task::{Task, Tasks},
    },
    pool::{handle::Pool, worker::Worker},
    sys::{
        parker::Parker,
        sync::{AtomicBool, AtomicU64, Mutex, Ordering, fence, lock},
        unwind::{catch_unwind, resume_unwind},
    },
};
use std::{any::Any, fmt, marker::PhantomData, panic::AssertUnwindSafe, ptr};

pub(crate) type Panic = Box<dyn Any + Send>;

/// The state that a parent shares with its tasks.
///
/// Orderings: a task's last access to the data is the decrement of `pending`, a release. The parent reads the zero with
/// acquire, so it sees all that its tasks did. A task reads the parker that it wakes before the decrement: as soon as
/// `pending` is zero the parent may return, and the data be gone.
pub(crate) struct ScopeData {
    lineage: Lineage,
    pending: AtomicU64,
    /// Whether the parent waits. It is then woken for new tasks too, since it can run them.
    is_waiting: AtomicBool,
    panic: Mutex<Option<Panic>>,
    /// The worker on which the parent runs. It lives as long as its pool.
    parent: *const Worker,
}

// SAFETY: `lineage` and `parent` are only read, and outlive the tasks; the rest is made for sharing.
unsafe impl Sync for ScopeData {}

impl ScopeData {
    /// Creates the data of a scope whose parent is the calling thread.
    pub(crate) fn new(parent: &Worker) -> Self {
        // SAFETY: the lineage is that of the work that this thread runs, which ends after this scope.
        Self::with(unsafe { Lineage::below(parent.stack.lineage()) }, parent)
    }

    /// Creates the data of a broadcast whose parent is the calling thread.
    pub(crate) fn of_broadcast(parent: &Worker) -> Self {
        // SAFETY: the lineage is that of the work that this thread runs, which ends after this broadcast.
        Self::with(unsafe { Lineage::of_broadcast(parent.stack.lineage()) }, parent)
    }

    fn with(lineage: Lineage, parent: &Worker) -> Self {
        Self {
            lineage,
            pending: AtomicU64::new(0),
            is_waiting: AtomicBool::new(false),
            panic: Mutex::new(None),
            parent,
        }
    }

    /// Counts a task as pending and puts it into `queue`.
    ///
    /// # Safety
    /// The caller waits until [`is_settled`](Self::is_settled) before it lets the data, or anything that `run` borrows,
    /// end.
    pub(crate) unsafe fn inject<'a>(&'a self, queue: &Tasks, run: impl FnOnce() + Send + 'a) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        let data = Shared(self);
        let run = move || {
            let data = data;
            let outcome = catch_unwind(AssertUnwindSafe(run));
            // SAFETY: this task is pending, and the caller of `inject` keeps the data alive until no task is.
            unsafe { ScopeData::strike(data.0, outcome.err()) };
        };
        // SAFETY: the caller waits for the task before the lineage, or anything that `run` borrows, ends. `run` catches
        // its panics.
        queue.push(unsafe { Task::new(&raw const self.lineage, Box::new(run)) });
    }

    /// Ends a task: keeps its panic, and wakes the parent after the last one.
    ///
    /// # Safety
    /// The task is still pending; the data may be gone afterwards.
    unsafe fn strike(this: *const Self, panic: Option<Panic>) {
        // SAFETY: the caller's task is pending, so the data is alive until the decrement. The parker belongs to a
        // worker, which outlives the data.
        unsafe {
            if let Some(panic) = panic {
                let surplus = {
                    let mut first = lock(&(*this).panic);
                    if first.is_none() { first.replace(panic) } else { Some(panic) }
                };
                if let Some(surplus) = surplus {
                    report(surplus);
                }
            }
            let parker: *const Parker = &raw const (*(*this).parent).parker;
            if (*this).pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                (*parker).unpark();
            }
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    /// Resumes the first panic, if a task has panicked.
    pub(crate) fn rethrow(&self) {
        let panic = lock(&self.panic).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

struct Shared(*const ScopeData);

// SAFETY: `ScopeData` is `Sync`, and each task that has the pointer is pending, so the data is alive.
unsafe impl Send for Shared {}

/// Passes a panic that reaches no caller to the panic handler of the pool.
pub(crate) fn report(panic: Panic) {
    if let Some(registry) = Worker::current().registry() {
        registry.pool_threads.report(panic);
    }
}

/// Where tasks are spawned; see [`scope`].
///
/// `'scope` is the time in which the tasks run, `'env` that of what they borrow from outside.
pub struct Scope<'scope, 'env: 'scope> {
    data: ScopeData,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Runs `body`, which may spawn tasks, and waits for all of them.
///
/// Tasks may borrow what lives outside of the scope, and spawn further tasks. They run on any thread of the pool that
/// the caller is in, at the latest when the scope ends. A task costs an allocation and one lock operation. For two
/// known pieces of work [`join`](crate::join) is far cheaper, and for the elements of a collection so are the parallel
/// loops.
///
/// While it waits, the calling thread runs tasks of this scope and nothing else.
///
/// # Panics
/// Panics when `body` or a task panics, after all tasks have ended. The panic is that of `body` if there is one,
/// otherwise the first of the tasks'. Outside of any pool, also panics when the default pool cannot be made.
///
/// ```
/// let words = ["ana", "branch", "rivers"];
/// let mut lengths = [0; 3];
/// anabranch::scope(|s| {
///     for (word, length) in words.iter().zip(&mut lengths) {
///         s.spawn(move || *length = word.len());
///     }
/// });
/// assert_eq!(lengths, [3, 6, 6]);
/// ```
#[track_caller]
pub fn scope<'env, R>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    if Worker::current().registry().is_none() {
        return Pool::default().registry().enter(|| scope(body));
    }
    let me = Worker::current();
    let scope = Scope { data: ScopeData::new(me), scope: PhantomData, env: PhantomData };
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    let data = &scope.data;
    data.is_waiting.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    me.wait_for_tasks(&raw const data.lineage, || data.is_settled());
    match outcome {
        Ok(result) => {
            data.rethrow();
            result
        }
        Err(panic) => {
            let surplus = lock(&data.panic).take();
            if let Some(surplus) = surplus {
                report(surplus);
            }
            resume_unwind(panic)
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a task into the scope. It may run at once on another thread, and has run when the scope ends.
    ///
    /// Any thread may spawn into the scope, also one of another pool or of none. The pool of the scope runs the task.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let count = AtomicU32::new(0);
    /// anabranch::scope(|s| {
    ///     s.spawn(|| {
    ///         s.spawn(|| _ = count.fetch_add(1, Ordering::Relaxed));
    ///         count.fetch_add(1, Ordering::Relaxed);
    ///     });
    /// });
    /// assert_eq!(count.into_inner(), 2);
    /// ```
    pub fn spawn(&'scope self, task: impl FnOnce() + Send + 'scope) {
        // SAFETY: the parent's thread waits for this scope, so its pool, and the worker with it, is alive.
        let parent = unsafe { &*self.data.parent };
        let here = Worker::current();
        let is_ours = match (here.registry(), parent.registry()) {
            (Some(ours), Some(its)) => ptr::eq(ours, its),
            _ => false,
        };
        let queue = if is_ours { &here.tasks } else { &parent.tasks };
        // SAFETY: `scope` waits until the data is settled before it returns, also when it panics. `'scope` ends only
        // then.
        unsafe { self.data.inject(queue, task) };
        // The parent sets the flag and then looks into the queues; this thread has pushed and then looks at the flag.
        // With a fence between the two on both sides at least one of them sees what the other did.
        fence(Ordering::SeqCst);
        if self.data.is_waiting.load(Ordering::Relaxed) {
            parent.parker.unpark();
        }
        // If this thread is a member of the pool, the pool has a heartbeat worker, which may be parked, and the thread
        // announces its tasks before it waits. Neither holds for another thread, and the parent does not look into its
        // queue while the body of the scope waits with a `Cx`.
        if let Some(registry) = parent.registry() {
            if is_ours { registry.wake_heartbeat_for_work() } else { registry.announce_work() }
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("pending", &self.data.pending.load(Ordering::Relaxed)).finish_non_exhaustive()
    }
}
