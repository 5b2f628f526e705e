//! Scopes whose fibers may fail: the first error cancels the rest.
//!
//! The error is stored before the scope is cancelled. So the errors of the fibers that notice the cancellation come
//! later, and are dropped.

use crate::{
    cx::{
        Cx,
        child::ScopedHandle,
        scope::{FiberScope, Spawner, close},
        scope_data::ScopeData,
    },
    fiber::task::Name,
    sys::{
        sync::{Mutex, into_inner, lock},
        unwind::catch_unwind,
    },
    wait::suspend::WaitReason,
};
use std::{
    fmt,
    ops::Deref,
    panic::{AssertUnwindSafe, Location},
    sync::Arc,
};

/// A scope whose fibers may fail; see [`Cx::try_scope`].
///
/// It dereferences to the [`FiberScope`], and so to the [`Cx`] of the scope. [`FiberScope::spawn`] on it spawns a fiber
/// whose result does not count as a failure.
pub struct TryScope<'scope, 'env: 'scope, E> {
    scope: FiberScope<'scope, 'env>,
    error: &'scope Mutex<Option<E>>,
}

/// The part of a [`TryScope`] that can be sent to its fibers, so that they can spawn in the scope too. See
/// [`TryScope::spawner`].
pub struct TrySpawner<'scope, 'env: 'scope, E> {
    spawner: Spawner<'scope, 'env>,
    error: &'scope Mutex<Option<E>>,
}

impl<E> Clone for TrySpawner<'_, '_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for TrySpawner<'_, '_, E> {}

/// Stores an error if it is the first, and cancels the scope. A later error is dropped while nothing is locked.
fn fail<E>(spawner: Spawner<'_, '_>, error: &Mutex<Option<E>>, new: E) {
    let late = {
        let mut first = lock(error);
        if first.is_none() { first.replace(new) } else { Some(new) }
    };
    spawner.cancel();
    drop(late);
}

impl Cx<'_> {
    /// Runs `body`, which can spawn fibers that borrow and that may fail, and waits for all of them. The first error,
    /// of a fiber or of `body`, cancels the others.
    ///
    /// All waits in the cancelled scope return [`Cancelled`](crate::Cancelled). The errors that follow from that are
    /// dropped. The wait for the fibers cannot be cancelled. When the enclosing scope is cancelled, so are the fibers.
    ///
    /// For two functions there is [`try_join`](Self::try_join), for one function and many items
    /// [`map_concurrent`](Self::map_concurrent).
    ///
    /// # Errors
    /// Returns the error that occurred first. The result of `body` is dropped then.
    ///
    /// # Panics
    /// Panics when `body` or a fiber panics, once all have ended, even if there was an error before. The panic of
    /// `body` takes precedence over panics of fibers.
    ///
    /// ```
    /// use anabranch::{Cx, WaitError};
    /// use std::time::Duration;
    ///
    /// fn fetch(cx: &Cx<'_>, n: u64) -> Result<u64, WaitError> {
    ///     cx.sleep(Duration::from_millis(n))?;
    ///     if n == 7 { Err(WaitError::TimedOut) } else { Ok(n) }
    /// }
    ///
    /// let fetch_all = |numbers: &[u64]| anabranch::run(|cx| {
    ///     cx.try_scope(|s| {
    ///         let handles: Vec<_> = numbers.iter().map(|&n| s.spawn(move |cx| fetch(cx, n))).collect();
    ///         handles.into_iter().map(|handle| Ok(handle.join(s)?)).sum::<Result<u64, WaitError>>()
    ///     })
    /// });
    /// assert_eq!(fetch_all(&[1, 2, 3]), Ok(6));
    /// assert_eq!(fetch_all(&[1, 7, 3_600_000]), Err(WaitError::TimedOut));
    /// ```
    #[track_caller]
    pub fn try_scope<'env, R, E: Send>(
        &self,
        body: impl for<'scope> FnOnce(&'scope TryScope<'scope, 'env, E>) -> Result<R, E>,
    ) -> Result<R, E> {
        let reason = WaitReason::new(&"try_scope");
        let error = Mutex::new(None);
        // SAFETY: `close` precedes the end of the data, which does not move before.
        let data = unsafe { ScopeData::open(self) };
        let scope = TryScope { scope: FiberScope::new(self, &data), error: &error };
        // A late error is dropped here, and its drop may panic: the children have to end first.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            body(&scope).map_err(|error| fail(scope.scope.spawner(), scope.error, error)).ok()
        }));
        let result = close(self, &scope.scope, outcome, reason);
        match (into_inner(error), result) {
            (Some(error), _) => Err(error),
            (None, Some(result)) => Ok(result),
            (None, None) => unreachable!("the error of the body is stored"),
        }
    }
}

impl<'scope, 'env, E: Send> TryScope<'scope, 'env, E> {
    /// Spawns a fiber in the scope. If it returns an error, the scope is cancelled, and [`Cx::try_scope`] returns the
    /// error. Its handle then returns [`Cancelled`](crate::Cancelled).
    ///
    /// The handle may be dropped: the scope waits in any case.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        self.scope.spawn_child(Location::caller(), (), self.spawner().child(function))
    }

    /// Spawns a fiber in the scope, as [`spawn`](Self::spawn) does, with a name, which
    /// [`Pool::fibers`](crate::Pool::fibers) shows.
    #[track_caller]
    pub fn spawn_named<F, T>(&'scope self, name: &str, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        self.scope.spawn_child(Location::caller(), Arc::<str>::from(name), self.spawner().child(function))
    }

    /// Returns a [`TrySpawner`], with which the fibers of the scope can spawn further fibers. It can be copied and sent
    /// to them.
    #[must_use]
    pub fn spawner(&'scope self) -> TrySpawner<'scope, 'env, E> {
        TrySpawner { spawner: self.scope.spawner(), error: self.error }
    }
}

impl<'scope, 'env, E> Deref for TryScope<'scope, 'env, E> {
    type Target = FiberScope<'scope, 'env>;

    fn deref(&self) -> &Self::Target {
        &self.scope
    }
}

impl<E> fmt::Debug for TryScope<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryScope").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

impl<'scope, E: Send> TrySpawner<'scope, '_, E> {
    /// Returns the function of a child, without its error, which it stores.
    fn child<F, T>(self, function: F) -> impl FnOnce(&Cx<'_>) -> Option<T> + Send + 'scope
    where
        F: FnOnce(&Cx<'_>) -> Result<T, E> + Send + 'scope,
        Self: 'scope,
    {
        move |cx| function(cx).map_err(|error| fail(self.spawner, self.error, error)).ok()
    }

    /// Spawns a fiber in the scope. See [`TryScope::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(self, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_child((), function)
    }

    /// Spawns a fiber in the scope with a name. See [`TryScope::spawn_named`].
    #[track_caller]
    pub fn spawn_named<F, T>(self, name: &str, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_child(Arc::<str>::from(name), function)
    }

    #[track_caller]
    fn spawn_child<F, T>(self, name: impl Name, function: F) -> ScopedHandle<'scope, T>
    where
        F: FnOnce(&Cx<'_>) -> Result<T, E> + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawner.spawn_child(Location::caller(), name, self.child(function))
    }

    /// Cancels the scope. See [`FiberScope::cancel`].
    pub fn cancel(self) {
        self.spawner.cancel();
    }
}

impl<E> fmt::Debug for TrySpawner<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrySpawner").finish_non_exhaustive()
    }
}
