//! Scopes whose fibers may wait: all fibers that were spawned in a scope have ended when it returns.
//!
//! The parent holds a share of `pending` that is larger than the shares of all possible children, and counts the
//! children that it spawns in a counter of its own. When it waits, it gives back its share minus that count. So a
//! parent that spawns does not write the cache line that children on other threads write when they end. The thread that
//! brings `pending` to zero ends the scope. A child that panics cancels the scope; the panic is passed on when all
//! children have ended. When the body panics, the parent catches the panic, cancels its children, and waits for them,
//! even in a cancelled scope. Then it resumes unwinding.
//!
//! Orderings: a child's decrement of `pending` releases what it did. The last decrement acquires all of it, and the
//! child then notifies the latch, from which the parent acquires. The child's last access to the data is that
//! notification, for which the parent waits.

use crate::{
    cx::{
        Cx,
        child::{self, ScopedHandle},
        one_fiber::{OneFiber, ScopeOfManyFibers},
        scope_data::{PARENT, ScopeData},
    },
    fiber::{placement, task::Name},
    fork::scope::{Panic, report},
    sys::{
        carrier::is_large,
        sync::{Ordering, lock},
        unwind::{catch_unwind, resume_unwind},
    },
    wait::{latch::LatchWait, suspend::WaitReason},
};
use std::{
    cell::Cell,
    fmt,
    marker::PhantomData,
    ops::Deref,
    panic::{AssertUnwindSafe, Location},
    sync::Arc,
};

/// A scope in which fibers that borrow are spawned; see [`Cx::scope`].
///
/// It dereferences to the [`Cx`] of the scope: waits with it are cancelled with the scope.
pub struct FiberScope<'scope, 'env: 'scope> {
    cx: Cx<'scope>,
    /// How many children the parent itself has spawned; [`ENDED`] once its body has ended.
    spawned: Cell<u64>,
    spawner: Spawner<'scope, 'env>,
}

// SAFETY: no type satisfies the condition, so this implements neither trait. See `one_fiber`.
#[doc(hidden)]
#[allow(private_bounds, reason = "never holds")]
unsafe impl Send for FiberScope<'_, '_> where for<'any> OneFiber<'any>: ScopeOfManyFibers {}
// SAFETY: no type satisfies the condition, so this implements neither trait. See `one_fiber`.
#[doc(hidden)]
#[allow(private_bounds, reason = "never holds")]
unsafe impl Sync for FiberScope<'_, '_> where for<'any> OneFiber<'any>: ScopeOfManyFibers {}

/// The part of a [`FiberScope`] that can be sent to its fibers, so that they can spawn in the scope too. See
/// [`FiberScope::spawner`].
pub struct Spawner<'scope, 'env: 'scope> {
    data: &'scope ScopeData,
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

impl Clone for Spawner<'_, '_> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for Spawner<'_, '_> {}

impl Cx<'_> {
    /// Runs `body`, which can spawn fibers that borrow, and waits for all of them.
    ///
    /// When a fiber or `body` panics, the scope is cancelled: all waits in it return [`Cancelled`](crate::Cancelled).
    /// When all fibers have ended, the panic is resumed. The wait for the fibers cannot be cancelled. When the
    /// enclosing scope is cancelled, so are the fibers.
    ///
    /// # Panics
    /// Panics when `body` or a fiber panics, once all have ended. The panic of `body` takes precedence.
    ///
    /// ```
    /// let words = ["ana", "branch", "rivers"];
    /// let mut lengths = [0; 3];
    /// anabranch::run(|cx| {
    ///     cx.scope(|s| {
    ///         for (word, length) in words.iter().zip(&mut lengths) {
    ///             s.spawn(move |_| *length = word.len());
    ///         }
    ///     });
    /// });
    /// assert_eq!(lengths, [3, 6, 6]);
    /// ```
    #[track_caller]
    pub fn scope<'env, R>(&self, body: impl for<'scope> FnOnce(&'scope FiberScope<'scope, 'env>) -> R) -> R {
        let reason = WaitReason::new(&"scope");
        // SAFETY: `close` precedes the end of the data, which does not move before.
        let data = unsafe { ScopeData::open(self) };
        let scope = FiberScope::new(self, &data);
        let outcome = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        close(self, &scope, outcome, reason)
    }
}

/// Waits for the fibers of a scope whose body has ended. Returns the outcome of the body, or resumes a panic.
pub(super) fn close<R>(cx: &Cx<'_>, scope: &FiberScope<'_, '_>, outcome: Result<R, Panic>, reason: WaitReason) -> R {
    let data = scope.spawner.data;
    if outcome.is_err() {
        data.cancel.cancel();
    }
    // Nothing between here and the end of the wait unwinds: the children borrow from the caller.
    let share = PARENT - scope.spawned.replace(ENDED);
    if data.pending.fetch_sub(share, Ordering::AcqRel) != share {
        while !data.done.is_notified() {
            cx.wait_shielded(&LatchWait::new(&data.done), reason);
        }
    }
    let panic = lock(&data.panic).take();
    match (outcome, panic) {
        (Ok(result), None) => result,
        (Ok(_), Some(panic)) => resume_unwind(panic),
        (Err(panic), surplus) => {
            if let Some(surplus) = surplus {
                report(surplus);
            }
            resume_unwind(panic)
        }
    }
}

/// The parent's share has been given back, so the parent does not count any more.
const ENDED: u64 = u64::MAX;

impl<'scope, 'env> FiberScope<'scope, 'env> {
    /// Creates the scope of data that `ScopeData::open` has made for this `Cx`.
    pub(super) fn new(cx: &'scope Cx<'_>, data: &'scope ScopeData) -> Self {
        Self {
            cx: cx.within(&data.cancel, cx.deadline, cx.locals),
            spawned: Cell::new(0),
            spawner: Spawner { data, _scope: PhantomData, _env: PhantomData },
        }
    }

    /// Counts a child. Once the body has ended, its fibers may still have a reference to this, if they run on the same
    /// thread. They then count as by a [`Spawner`].
    fn count(&self) {
        match self.spawned.get() {
            ENDED => _ = self.spawner.data.pending.fetch_add(1, Ordering::Relaxed),
            spawned => self.spawned.set(spawned + 1),
        }
    }

    /// Spawns a fiber in the scope. Cancelling the scope cancels it.
    ///
    /// The handle may be dropped: the scope waits in any case.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_child(Location::caller(), (), |cx| Some(function(cx)))
    }

    /// Spawns a fiber in the scope with a name, which [`Pool::fibers`](crate::Pool::fibers) shows.
    #[track_caller]
    pub fn spawn_named<F, T>(&'scope self, name: &str, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_child(Location::caller(), Arc::<str>::from(name), |cx| Some(function(cx)))
    }

    /// Spawns a fiber that has no result if its function returns `None`.
    pub(super) fn spawn_child<F, T>(
        &'scope self,
        origin: &'static Location<'static>,
        name: impl Name,
        function: F,
    ) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> Option<T> + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawner.check_open();
        self.count();
        if const { is_large::<F>() } {
            let function = Box::new(function);
            self.spawner.spawn_counted(origin, name, move |cx: &Cx<'_>| function(cx))
        } else {
            self.spawner.spawn_counted(origin, name, function)
        }
    }

    /// Returns a [`Spawner`], with which the fibers of the scope can spawn further fibers. It can be copied and sent to
    /// them.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let count = AtomicU32::new(0);
    /// anabranch::run(|cx| {
    ///     cx.scope(|s| {
    ///         let (spawner, count) = (s.spawner(), &count);
    ///         s.spawn(move |_| {
    ///             spawner.spawn(move |_| count.fetch_add(1, Ordering::Relaxed));
    ///         });
    ///     });
    /// });
    /// assert_eq!(count.into_inner(), 1);
    /// ```
    #[must_use]
    pub fn spawner(&'scope self) -> Spawner<'scope, 'env> {
        self.spawner
    }

    /// Cancels the scope: its own waits, and its fibers.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// anabranch::run(|cx| {
    ///     cx.scope(|s| {
    ///         s.spawn(|cx| cx.sleep(Duration::from_secs(3600)));
    ///         s.cancel();
    ///     });
    /// });
    /// ```
    pub fn cancel(&self) {
        self.spawner.data.cancel.cancel();
    }
}

impl<'scope> Deref for FiberScope<'scope, '_> {
    type Target = Cx<'scope>;

    fn deref(&self) -> &Self::Target {
        &self.cx
    }
}

impl fmt::Debug for FiberScope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FiberScope").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

impl<'scope> Spawner<'scope, '_> {
    /// Spawns a fiber in the scope. See [`FiberScope::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(self, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_child(Location::caller(), (), |cx| Some(function(cx)))
    }

    /// Cancels the scope. See [`FiberScope::cancel`].
    pub fn cancel(self) {
        self.data.cancel.cancel();
    }

    /// Spawns a fiber in the scope with a name. See [`FiberScope::spawn_named`].
    #[track_caller]
    pub fn spawn_named<F, T>(self, name: &str, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_child(Location::caller(), Arc::<str>::from(name), |cx| Some(function(cx)))
    }

    /// Spawns a fiber that has no result if its function returns `None`.
    pub(super) fn spawn_child<F, T>(
        self,
        origin: &'static Location<'static>,
        name: impl Name,
        function: F,
    ) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> Option<T> + Send + 'scope,
        T: Send + 'scope,
    {
        self.check_open();
        self.data.pending.fetch_add(1, Ordering::Relaxed);
        if const { is_large::<F>() } {
            let function = Box::new(function);
            self.spawn_counted(origin, name, move |cx: &Cx<'_>| function(cx))
        } else {
            self.spawn_counted(origin, name, function)
        }
    }

    /// Panics if the pool has ended; see [`Registry::check_open`](crate::pool::registry::Registry::check_open).
    #[track_caller]
    fn check_open(self) {
        // SAFETY: the registry outlives the data.
        unsafe { &*self.data.registry }.check_open();
    }

    /// Spawns a child that the caller has counted.
    fn spawn_counted<F, T>(
        self,
        origin: &'static Location<'static>,
        name: impl Name,
        function: F,
    ) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> Option<T> + Send + 'scope,
        T: Send + 'scope,
    {
        // SAFETY: the child is counted, so the scope waits until it has left the data. The registry, which runs the
        // job, outlives the data.
        unsafe {
            let (job, handle) = child::make(self.data, origin, name, function);
            placement::inject(&*self.data.registry, job);
            handle
        }
    }
}

impl fmt::Debug for Spawner<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner").field("is_cancelled", &self.data.cancel.is_cancelled()).finish_non_exhaustive()
    }
}
