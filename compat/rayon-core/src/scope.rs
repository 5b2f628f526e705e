//! Scopes whose jobs run newest first.

use crate::{BroadcastContext, global, tasks::Tasks};
use anabranch::pool::PoolId;
use std::{fmt, marker::PhantomData};

/// Where jobs are spawned that borrow. Made by [`scope`].
pub struct Scope<'scope> {
    tasks: Tasks<'scope>,
    #[allow(clippy::type_complexity)]
    _marker: PhantomData<Box<dyn FnOnce(&Scope<'scope>) + Send + Sync + 'scope>>,
}

/// Runs `op`, which may spawn jobs, and waits for all of them. A call from outside of any pool runs in the global pool.
///
/// Jobs may borrow what outlives the scope, and spawn further jobs. A thread runs the newest of its own jobs first;
/// other threads take the oldest. While the caller waits, it runs only jobs of this scope.
///
/// # Panics
/// Panics when `op` or a job panics, after all jobs have ended.
///
/// ```
/// let mut values = [0; 3];
/// rayon_core::scope(|s| {
///     for (index, value) in values.iter_mut().enumerate() {
///         s.spawn(move |_| *value = index + 1);
///     }
/// });
/// assert_eq!(values, [1, 2, 3]);
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    global::run_in_pool(|pool| anabranch::scope(|s| Scope::run(s, pool, op)))
}

/// Runs `op` on the calling thread, and the jobs that it spawns in the caller's pool, or in the global pool if the
/// caller is outside of any. Waits for all jobs.
///
/// # Panics
/// Panics like [`scope`].
///
/// ```
/// let mut value = 0;
/// rayon_core::in_place_scope(|s| s.spawn(|_| value = 22));
/// assert_eq!(value, 22);
/// ```
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    global::in_place(|s, pool| Scope::run(s, pool, op))
}

impl<'scope> Scope<'scope> {
    /// Runs the body of a scope whose tasks run in `pool`.
    pub(crate) fn run<'s, R>(scope: &'s anabranch::Scope<'s, 'scope>, pool: PoolId, op: impl FnOnce(&Self) -> R) -> R {
        // SAFETY: this runs in the body of the scope. `op` gets a reference of any lifetime, so it cannot keep it.
        let tasks = unsafe { Tasks::new(scope, pool) };
        op(&Self { tasks, _marker: PhantomData })
    }

    /// Spawns a job into the scope. The job gets a reference to the scope, to spawn further jobs.
    ///
    /// ```
    /// let (mut a, mut b) = (0, 0);
    /// rayon_core::scope(|s| {
    ///     s.spawn(|s| {
    ///         a = 22;
    ///         s.spawn(|_| b = 44);
    ///     });
    /// });
    /// assert_eq!((a, b), (22, 44));
    /// ```
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let scope = self.for_task();
        self.tasks.spawn(move || body(&scope));
    }

    /// Spawns a job on each thread of the pool.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build()?;
    /// let sum = AtomicUsize::new(0);
    /// pool.scope(|s| s.spawn_broadcast(|_, context| _ = sum.fetch_add(context.index(), Ordering::Relaxed)));
    /// assert_eq!(sum.into_inner(), 0 + 1 + 2);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let scope = self.for_task();
        self.tasks.spawn_broadcast(move |index| BroadcastContext::with(index, |context| body(&scope, context)));
    }

    /// Returns a scope for one task to own.
    fn for_task(&self) -> Self {
        // SAFETY: the task runs before the call that made the scope returns, and the copy ends with it. The task lends
        // it to a body that gets a reference of any lifetime.
        Self { tasks: unsafe { self.tasks.copy() }, _marker: PhantomData }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("pool_id", &self.tasks.pool).finish_non_exhaustive()
    }
}
