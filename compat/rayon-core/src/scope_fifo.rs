//! Scopes whose jobs run oldest first.

use crate::{BroadcastContext, fifo::Fifo, global, tasks::Tasks};
use anabranch::pool::PoolId;
use std::{fmt, marker::PhantomData, sync::Arc};

type Job<'scope> = Box<dyn FnOnce(&ScopeFifo<'scope>) + Send + 'scope>;

/// Where jobs are spawned that borrow. They run in the order of their spawns. Made by [`scope_fifo`].
pub struct ScopeFifo<'scope> {
    tasks: Tasks<'scope>,
    fifo: Arc<Fifo<Job<'scope>>>,
    #[allow(clippy::type_complexity)]
    _marker: PhantomData<Box<dyn FnOnce(&ScopeFifo<'scope>) + Send + Sync + 'scope>>,
}

/// Runs `op` and the jobs that it spawns like [`scope`](crate::scope()), but the oldest job of the scope runs first.
///
/// # Panics
/// Panics like [`scope`](crate::scope()).
///
/// ```
/// use std::sync::Mutex;
///
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let order = Mutex::new(Vec::new());
/// pool.scope_fifo(|s| {
///     for i in 0..3 {
///         s.spawn_fifo({
///             let order = &order;
///             move |_| order.lock().unwrap().push(i)
///         });
///     }
/// });
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    global::run_in_pool(|pool| anabranch::scope(|s| ScopeFifo::run(s, pool, op)))
}

/// Runs `op` on the calling thread like [`in_place_scope`](crate::in_place_scope()), but the oldest job of the scope
/// runs first.
///
/// # Panics
/// Panics like [`scope`](crate::scope()).
///
/// ```
/// let mut value = 0;
/// rayon_core::in_place_scope_fifo(|s| s.spawn_fifo(|_| value = 22));
/// assert_eq!(value, 22);
/// ```
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    global::in_place(|s, pool| ScopeFifo::run(s, pool, op))
}

impl<'scope> ScopeFifo<'scope> {
    /// Runs the body of a scope whose tasks run in `pool`.
    pub(crate) fn run<'s, R>(scope: &'s anabranch::Scope<'s, 'scope>, pool: PoolId, op: impl FnOnce(&Self) -> R) -> R {
        // SAFETY: this runs in the body of the scope. `op` gets a reference of any lifetime, so it cannot keep it.
        let tasks = unsafe { Tasks::new(scope, pool) };
        op(&Self { tasks, fifo: Arc::new(Fifo::new()), _marker: PhantomData })
    }

    /// Spawns a job into the scope. The job gets a reference to the scope, to spawn further jobs.
    ///
    /// ```
    /// let mut value = 0;
    /// rayon_core::scope_fifo(|s| s.spawn_fifo(|s| s.spawn_fifo(|_| value = 22)));
    /// assert_eq!(value, 22);
    /// ```
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        self.fifo.push(Box::new(body));
        let scope = self.for_task();
        self.tasks.spawn(move || scope.fifo.take_oldest()(&scope));
    }

    /// Spawns a job on each thread of the pool.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build()?;
    /// let sum = AtomicUsize::new(0);
    /// pool.scope_fifo(|s| s.spawn_broadcast(|_, context| _ = sum.fetch_add(context.index(), Ordering::Relaxed)));
    /// assert_eq!(sum.into_inner(), 0 + 1 + 2);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let scope = self.for_task();
        self.tasks.spawn_broadcast(move |index| BroadcastContext::with(index, |context| body(&scope, context)));
    }

    /// Returns a scope for one task to own.
    fn for_task(&self) -> Self {
        // SAFETY: the task runs before the call that made the scope returns, and the copy ends with it. The task lends
        // it to a body that gets a reference of any lifetime.
        let tasks = unsafe { self.tasks.copy() };
        Self { tasks, fifo: self.fifo.clone(), _marker: PhantomData }
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo").field("num_fifos", &1).field("pool_id", &self.tasks.pool).finish_non_exhaustive()
    }
}
