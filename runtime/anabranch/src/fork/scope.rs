//! Scopes: any number of tasks that borrow from their parent, which waits for all of them (the *patient parent*).

use crate::{
    fork::{
        frame::Lineage,
        task::{Task, Tasks},
    },
    pool::{handle::Pool, registry::Registry, worker::Worker},
    sys::{
        parker::Parker,
        sync::{Arc, AtomicBool, AtomicU64, Mutex, Ordering, fence, lock},
        thread,
        unwind::{catch_unwind, resume_unwind},
    },
};
use std::{any::Any, fmt, marker::PhantomData, mem::MaybeUninit, panic::AssertUnwindSafe, ptr};

pub(crate) type Panic = Box<dyn Any + Send>;

/// The state that a parent shares with its tasks.
///
/// Orderings: a task's last access to the data is the decrement of `pending`, a release. The parent reads the zero with
/// acquire, so it sees all that its tasks did. A task copies `parent` before the decrement: as soon as `pending` is
/// zero the parent may return, and the data be gone.
pub(crate) struct ScopeData {
    lineage: Lineage,
    pending: AtomicU64,
    /// Whether a parent that can run new tasks waits. It is then woken for them too.
    is_waiting: AtomicBool,
    panic: Mutex<Option<Panic>>,
    /// The pool that runs the tasks. The parent keeps it alive.
    registry: *const Registry,
    parent: Parent,
}

/// The thread that waits for the tasks.
#[derive(Clone)]
enum Parent {
    /// A worker of the pool that runs the tasks. The threads that run the tasks keep that pool, and the worker, alive.
    Member(*const Worker),
    /// The worker with this index in another pool, which may end as soon as the parent has returned. So a task keeps
    /// that pool alive.
    Foreign(Arc<Registry>, usize),
    /// A thread outside of every pool.
    Outside(Arc<Parker>),
}

// SAFETY: the lineage, the pool and `parent` are only read, and outlive the tasks; the rest is made for sharing.
unsafe impl Sync for ScopeData {}

impl Parent {
    /// Returns the calling thread as the parent of tasks that `registry` runs.
    fn current(registry: &Registry) -> Self {
        let me = Worker::current();
        match me.registry() {
            Some(home) if ptr::eq(home, registry) => Self::Member(me),
            Some(home) => Self::Foreign(home.shared(), me.index),
            None => Self::Outside(Arc::new(Parker::new())),
        }
    }
}

impl ScopeData {
    /// Creates the data of a scope whose parent is the calling thread, and whose tasks `registry` runs.
    pub(crate) fn new(registry: &Registry) -> Self {
        // SAFETY: the lineage is that of the work that this thread runs, which ends after this scope.
        Self::with(registry, Lineage::below(unsafe { Worker::current().lineage().as_ref() }))
    }

    /// Creates the data of a broadcast whose parent is the calling thread, and whose parts `registry` runs.
    pub(crate) fn of_broadcast(registry: &Registry) -> Self {
        // SAFETY: the lineage is that of the work that this thread runs, which ends after this broadcast.
        Self::with(registry, Lineage::of_broadcast(unsafe { Worker::current().lineage().as_ref() }))
    }

    fn with(registry: &Registry, lineage: Lineage) -> Self {
        let parent = Parent::current(registry);
        Self {
            lineage,
            pending: AtomicU64::new(0),
            is_waiting: AtomicBool::new(false),
            panic: Mutex::new(None),
            registry,
            parent,
        }
    }

    /// Returns the pool that runs the tasks.
    pub(crate) fn registry(&self) -> &Registry {
        // SAFETY: the parent keeps the pool alive until it has returned, and the data ends before.
        unsafe { &*self.registry }
    }

    /// Returns the lineage of a broadcast inside of the scope.
    pub(crate) fn lineage_of_broadcast(&self) -> Lineage {
        Lineage::of_broadcast(Some(&self.lineage))
    }

    /// Counts a task as pending and puts it into `queue`. The task has the lineage of the scope, or else `below`, which
    /// descends from that.
    ///
    /// # Safety
    /// The caller waits until [`is_settled`](Self::is_settled) before it lets the data, or anything that `run` borrows,
    /// end.
    pub(crate) unsafe fn inject<'a>(
        &'a self,
        queue: &Tasks,
        below: Option<Arc<Lineage>>,
        run: impl FnOnce() + Send + 'a,
    ) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        let data = Shared(self);
        let lineage = below.as_deref().unwrap_or(&self.lineage) as *const Lineage;
        // References in the arguments of a function have to stay valid until it returns. But what `run` borrows may end
        // before the closure below returns, as soon as `strike` has counted the task. A `MaybeUninit` lifts that rule.
        let run = MaybeUninit::new(run);
        let run = move || {
            // A panic handler, which `strike` calls, may fork. So the lineage ends after that.
            let (data, _below) = (data, below);
            // SAFETY: `run` was initialised above. The closure, which owns it, runs only once.
            let outcome = catch_unwind(AssertUnwindSafe(move || unsafe { run.assume_init() }()));
            // SAFETY: this task is pending, and the caller of `inject` keeps the data alive until no task is.
            unsafe { ScopeData::strike(data.0, outcome.err()) };
        };
        // SAFETY: the caller waits for the task before the lineage of the scope, or anything that `run` borrows, ends.
        // The task owns the lineage `below`. `run` catches its panics.
        queue.push(unsafe { Task::new(lineage, Box::new(run)) });
    }

    /// Ends a task: keeps its panic, and wakes the parent after the last one.
    ///
    /// # Safety
    /// The task is still pending; the data may be gone afterwards.
    unsafe fn strike(this: *const Self, panic: Option<Panic>) {
        // SAFETY: the caller's task is pending, so the data is alive until the decrement. The calling thread runs the
        // task in the pool of the scope, which has the worker of a `Member`.
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
            let parent = (*this).parent.clone();
            if (*this).pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                match parent {
                    Parent::Member(worker) => (*worker).parking.unpark(),
                    Parent::Foreign(home, index) => home.worker(index).parking.unpark(),
                    Parent::Outside(parker) => parker.unpark(),
                }
            }
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    /// Blocks the parent of a broadcast until all parts have ended.
    pub(crate) fn wait_for_parts(&self) {
        match &self.parent {
            // SAFETY: this is the worker entry of the calling thread.
            Parent::Member(me) => unsafe { &**me }.fork_join().wait_for_broadcast(|| self.is_settled()),
            _ => self.wait(),
        }
    }

    /// Blocks the parent until all tasks have ended.
    fn wait(&self) {
        let is_over = || self.is_settled();
        match &self.parent {
            Parent::Member(me) => {
                self.is_waiting.store(true, Ordering::Relaxed);
                fence(Ordering::SeqCst);
                // SAFETY: this is the worker entry of the calling thread.
                unsafe { &**me }.fork_join().wait_for_tasks(&raw const self.lineage, is_over);
            }
            Parent::Foreign(home, index) => {
                home.worker(*index).fork_join().wait_for_tasks(&raw const self.lineage, is_over)
            }
            Parent::Outside(parker) => {
                while !is_over() {
                    parker.park();
                }
            }
        }
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
    match Pool::of_current() {
        Some(registry) => run_scope(registry, body),
        None => Pool::of_outside().enter(|| scope(body)),
    }
}

/// Runs a scope whose parent is the calling thread, and whose tasks `registry` runs. The caller keeps the pool alive.
fn run_scope<'env, R>(registry: &Registry, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    let scope = Scope { data: ScopeData::new(registry), scope: PhantomData, env: PhantomData };
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    let data = &scope.data;
    data.wait();
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

impl Pool {
    /// Runs `body` on the calling thread like [`scope`], and the tasks that it spawns in this pool.
    ///
    /// If the caller is in this pool, this is the same as [`scope`]. Otherwise the caller does not enter the pool: the
    /// pool's own threads run the tasks, and what `body` forks belongs to the caller's own pool. While it waits for the
    /// tasks, the caller runs only work of its own pool that these have called for. `body` need not be `Send`.
    ///
    /// # Panics
    /// Panics when `body` or a task panics, as [`scope`] does.
    ///
    /// ```
    /// # let pool = anabranch::Pool::builder().threads(2).build().unwrap();
    /// let (here, mut there) = (std::thread::current().id(), None);
    /// let body = pool.in_place_scope(|s| {
    ///     s.spawn(|| there = Some(std::thread::current().id()));
    ///     std::thread::current().id()
    /// });
    /// assert!(body == here && there.is_some_and(|there| there != here));
    /// ```
    pub fn in_place_scope<'env, R>(&self, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
        if !thread::CAN_START {
            // No other thread would run the tasks.
            return self.registry().enter(|| run_scope(self.registry(), body));
        }
        run_scope(self.registry(), body)
    }

    /// Runs `root` on one of this pool's own threads, and waits for it.
    ///
    /// In this pool this is a plain call. [`install`](Self::install) is far cheaper, because the caller runs the root
    /// itself. A call is for work that needs the pool's own threads: their stack size, name, priority, core, or what a
    /// start handler has set up.
    ///
    /// A caller in another pool releases its slot there while it waits. It runs only work that descends from `root`,
    /// so `root` may call back into the caller's pool, even if that has a single thread. A call from a fiber blocks the
    /// fiber's thread.
    ///
    /// # Panics
    /// Panics when `root` panics.
    ///
    /// ```
    /// let pool = anabranch::Pool::builder().threads(2).thread_name(|i| format!("big-{i}")).build()?;
    /// let name = pool.call(|| std::thread::current().name().map(str::to_owned));
    /// assert!(name.is_some_and(|name| name.starts_with("big-")));
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn call<R: Send>(&self, root: impl FnOnce() -> R + Send) -> R {
        if Worker::current().is_of(self.registry()) {
            return root();
        }
        let mut result = None;
        self.in_place_scope(|s| s.spawn(|| result = Some(root())));
        result.expect("a root that did not panic has left its result")
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
        let registry = self.data.registry();
        let here = Worker::current();
        let is_ours = here.is_of(registry);
        let queue = if is_ours { &here.compute.tasks } else { &registry.injected.tasks };
        // SAFETY: `scope` waits until the data is settled before it returns, also when it panics. `'scope` ends only
        // then.
        unsafe { self.data.inject(queue, None, task) };
        if let Parent::Member(parent) = self.data.parent {
            // The parent sets the flag and then looks into the queues; this thread has pushed and then looks at the
            // flag. With a fence between the two on both sides at least one of them sees what the other did.
            fence(Ordering::SeqCst);
            if self.data.is_waiting.load(Ordering::Relaxed) {
                // SAFETY: the parent waits for this scope, so its pool is alive, and the worker with it.
                unsafe { &*parent }.parking.unpark();
            }
        }
        // If this thread is a member of the pool, the pool has a heartbeat worker, which may be parked, and the thread
        // announces its tasks before it waits. Neither holds for another thread, and the parent does not look for tasks
        // while the body of the scope waits with a `Cx`.
        if is_ours { registry.wake_heartbeat_for_work() } else { registry.announce_work() }
    }

    /// Returns the data of the scope.
    pub(crate) fn data(&self) -> &ScopeData {
        &self.data
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("pending", &self.data.pending.load(Ordering::Relaxed)).finish_non_exhaustive()
    }
}
