//! Join sets: fibers of a scope whose results are taken in the order in which the fibers end.
//!
//! A lock guards the results and the list of the live members. A fiber that ends takes itself off the list, appends its
//! result and notifies the latch. The only consumer resets the latch before it checks for a result, so it misses none:
//! a result that comes after this check finds the latch reset.

use crate::{
    cx::{
        Cx,
        attempt::{Attempt, wait_shielded_for, wait_without_deadline},
        cancel_handle::{Cancel, CancelHandle, Target},
        join_error::JoinError,
        scope::{FiberScope, Spawner},
    },
    fiber::task::Name,
    fork::scope::{Panic, report},
    sys::{
        sync::{Mutex, lock},
        unwind::catch_unwind,
    },
    wait::{
        latch::{Latch, LatchWait},
        suspend::WaitReason,
        waitable::{Armed, Ended, Waitable},
    },
};
use std::{
    cell::Cell,
    collections::VecDeque,
    fmt, mem,
    panic::{AssertUnwindSafe, Location},
    sync::Arc,
};

/// Fibers of a scope whose results are taken in the order in which the fibers end. Created by [`FiberScope::join_set`]
/// and [`Spawner::join_set`].
///
/// A panic of a fiber does not cancel the scope. It is the result of that fiber, and the others continue. The fibers
/// belong to the scope, which waits for them in any case: dropping the set cancels the fibers that have not ended, and
/// drops the results. A panic that is dropped goes to the [panic handler](crate::Builder::on_panic) of the pool.
///
/// ```
/// use anabranch::{Cancelled, JoinError};
/// use std::time::Duration;
///
/// let order = anabranch::run(|cx| {
///     cx.scope(|s| {
///         let mut set = s.join_set();
///         for n in [60_000, 1, 15] {
///             set.spawn(move |cx| cx.sleep(Duration::from_millis(n)).map(|()| n));
///         }
///         let mut order = Vec::new();
///         while let Some(n) = set.join_next(s)? {
///             order.push(n?);
///             if order.len() == 2 {
///                 set.cancel_all();
///                 assert_eq!(set.join_next(s)?, Some(Err(Cancelled)));
///             }
///         }
///         Ok::<_, JoinError>(order)
///     })
/// });
/// assert_eq!(order.unwrap(), [1, 15]);
/// ```
#[doc(alias = "FuturesUnordered")]
#[doc(alias = "TaskTracker")]
pub struct JoinSet<'scope, 'env: 'scope, T> {
    spawner: Spawner<'scope, 'env>,
    /// How many results are to come.
    len: usize,
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Notified when there is a result.
    ready: Latch,
}

struct State<T> {
    results: VecDeque<Result<T, Panic>>,
    /// The handles that cancel the members that have not ended, and the free indices.
    live: Vec<Option<Arc<Target>>>,
    free: Vec<usize>,
    /// No results are taken any more.
    is_abandoned: bool,
}

/// Drops a result, or reports the panic.
fn discard<T>(result: Result<T, Panic>) {
    if let Err(panic) = result {
        report(panic);
    }
}

impl<T> Shared<T> {
    fn new() -> Arc<Self> {
        let state = State { results: VecDeque::new(), live: Vec::new(), free: Vec::new(), is_abandoned: false };
        Arc::new(Self { state: Mutex::new(state), ready: Latch::new() })
    }

    fn add(&self, target: Arc<Target>) -> usize {
        let mut state = lock(&self.state);
        match state.free.pop() {
            Some(index) => {
                state.live[index] = Some(target);
                index
            }
            None => {
                state.live.push(Some(target));
                state.live.len() - 1
            }
        }
    }

    /// Stores the result of a member that has ended.
    fn end(&self, index: usize, result: Result<T, Panic>) {
        let late = {
            let mut state = lock(&self.state);
            state.live[index] = None;
            state.free.push(index);
            if state.is_abandoned {
                Some(result)
            } else {
                state.results.push_back(result);
                None
            }
        };
        match late {
            Some(late) => discard(late),
            None => self.ready.notify(),
        }
    }

    fn cancel_all(&self) {
        // A canceller takes the locks of scopes, and a member takes this one only after it has left its scope.
        lock(&self.state).live.iter().flatten().for_each(|target| target.cancel());
    }

    /// Drops the results that there are, and those to come.
    fn abandon(&self) {
        let results = {
            let mut state = lock(&self.state);
            state.is_abandoned = true;
            mem::take(&mut state.results)
        };
        results.into_iter().for_each(discard);
    }
}

impl<'scope, 'env> FiberScope<'scope, 'env> {
    /// Returns an empty [`JoinSet`], whose fibers belong to this scope.
    #[must_use]
    pub fn join_set<T>(&'scope self) -> JoinSet<'scope, 'env, T> {
        self.spawner().join_set()
    }
}

impl<'scope, 'env> Spawner<'scope, 'env> {
    /// Returns an empty [`JoinSet`], whose fibers belong to this scope. See [`FiberScope::join_set`].
    #[must_use]
    pub fn join_set<T>(self) -> JoinSet<'scope, 'env, T> {
        JoinSet { spawner: self, len: 0, shared: Shared::new() }
    }
}

impl<'scope, T: Send + 'scope> JoinSet<'scope, '_, T> {
    /// Spawns a fiber in the set. The returned handle cancels this fiber alone, and may be dropped.
    #[track_caller]
    pub fn spawn<F>(&mut self, function: F) -> CancelHandle
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'scope,
    {
        self.spawn_member(Location::caller(), (), function)
    }

    /// Spawns a fiber in the set with a name, which [`Pool::fibers`](crate::Pool::fibers) shows.
    #[track_caller]
    pub fn spawn_named<F>(&mut self, name: &str, function: F) -> CancelHandle
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'scope,
    {
        self.spawn_member(Location::caller(), Arc::<str>::from(name), function)
    }

    pub(super) fn spawn_member<F>(
        &mut self,
        origin: &'static Location<'static>,
        name: impl Name,
        function: F,
    ) -> CancelHandle
    where
        F: FnOnce(&Cx<'_>) -> T + Send + 'scope,
    {
        let target = Target::new();
        let index = self.shared.add(Arc::clone(&target));
        let (shared, own) = (Arc::clone(&self.shared), Arc::clone(&target));
        self.len += 1;
        self.spawner.spawn_child(origin, name, move |cx| {
            let result = own.run(cx, |cx| catch_unwind(AssertUnwindSafe(|| function(cx))));
            shared.end(index, result);
            Some(())
        });
        CancelHandle::of(target)
    }
}

impl<T> JoinSet<'_, '_, T> {
    /// Waits for the next fiber to end, and returns its result. Returns `None` if the set is empty. A result that is
    /// already available is returned without waiting, even in a cancelled scope.
    ///
    /// # Errors
    /// - Returns [`JoinError::Panicked`] with the payload if the fiber panicked. The set can still be used.
    /// - Returns [`JoinError::Cancelled`] if the wait was cancelled. No result is lost.
    #[track_caller]
    pub fn join_next(&mut self, cx: &Cx<'_>) -> Result<Option<T>, JoinError> {
        self.join_next_for(cx, WaitReason::new(&"JoinSet::join_next"))
    }

    pub(super) fn join_next_for(&mut self, cx: &Cx<'_>, reason: WaitReason) -> Result<Option<T>, JoinError> {
        if self.is_empty() {
            return Ok(None);
        }
        let joining = self.joining();
        match joining.attempt() {
            Some(result) => result.map(Some),
            None => {
                cx.checkpoint()?;
                wait_without_deadline(cx, &joining, reason)?.map(Some)
            }
        }
    }

    /// Returns the result of a fiber that has ended, or `None` if there is none. Never waits.
    ///
    /// # Errors
    /// Returns [`JoinError::Panicked`] with the payload if the fiber panicked.
    pub fn try_join_next(&mut self) -> Result<Option<T>, JoinError> {
        self.joining().pop().transpose()
    }

    /// Returns [`join_next`](Self::join_next) as an [operation](crate::Operation): for a time limit, for async code,
    /// and for [`select!`](crate::select). It is not ready while the set is empty.
    ///
    /// ```
    /// use anabranch::{Cancelled, channel::unbounded, select};
    ///
    /// let (sender, requests) = unbounded();
    /// (0..3).for_each(|n| sender.try_send(n).unwrap());
    /// drop(sender);
    /// let sum = anabranch::run(|cx| {
    ///     cx.scope(|s| {
    ///         let (mut set, mut sum) = (s.join_set(), 0);
    ///         loop {
    ///             select!(cx, {
    ///                 request = requests.receiving() => match request {
    ///                     Ok(n) => _ = set.spawn(move |_| n * n),
    ///                     Err(_) => break,
    ///                 },
    ///                 answer = set.joining() => sum += answer.unwrap(),
    ///             })?;
    ///         }
    ///         while let Some(answer) = set.join_next(cx).unwrap() {
    ///             sum += answer;
    ///         }
    ///         Ok::<_, Cancelled>(sum)
    ///     })
    /// });
    /// assert_eq!(sum, Ok(5));
    /// ```
    pub fn joining(&mut self) -> Joining<'_, T> {
        Joining {
            wait: LatchWait::new(&self.shared.ready),
            state: &self.shared.state,
            len: Cell::from_mut(&mut self.len),
        }
    }

    /// Waits until all fibers have ended, and returns the results in the order in which they did.
    ///
    /// # Errors
    /// Returns the first error of [`join_next`](Self::join_next). The set is dropped then, so the fibers that have not
    /// ended are cancelled.
    #[track_caller]
    pub fn join_all(mut self, cx: &Cx<'_>) -> Result<Vec<T>, JoinError> {
        let mut results = Vec::with_capacity(self.len);
        while let Some(result) = self.join_next(cx)? {
            results.push(result);
        }
        Ok(results)
    }

    /// Cancels all fibers that have not ended: their waits return [`Cancelled`](crate::Cancelled). Does not wait for
    /// their end, and does not remove them. Fibers that are spawned later are not cancelled.
    #[doc(alias = "abort_all")]
    pub fn cancel_all(&self) {
        self.shared.cancel_all();
    }

    /// Cancels all fibers, waits for their end, even in a cancelled scope, and drops the results. The set is empty
    /// then, and can be used again.
    #[track_caller]
    pub fn shutdown(&mut self, cx: &Cx<'_>) {
        let reason = WaitReason::new(&"JoinSet::shutdown");
        self.cancel_all();
        while !self.is_empty() {
            if let Err(JoinError::Panicked(panic)) = wait_shielded_for(cx, &self.joining(), reason) {
                report(panic);
            }
        }
    }

    /// Removes all fibers from the set. They continue, the scope waits for them, and their results are dropped.
    pub fn detach_all(&mut self) {
        let shared = mem::replace(&mut self.shared, Shared::new());
        self.len = 0;
        shared.abandon();
    }

    /// Returns the number of fibers in the set, including fibers that have ended and whose results were not taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no fibers in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> Drop for JoinSet<'_, '_, T> {
    fn drop(&mut self) {
        if self.len > 0 {
            self.cancel_all();
            self.shared.abandon();
        }
    }
}

impl<T> fmt::Debug for JoinSet<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ready = lock(&self.shared.state).results.len();
        f.debug_struct("JoinSet").field("len", &self.len).field("ready", &ready).finish_non_exhaustive()
    }
}

/// The next result of a [`JoinSet`], as an operation. Created by [`JoinSet::joining`].
#[must_use = "an operation does nothing unless it is selected"]
pub struct Joining<'a, T> {
    wait: LatchWait<&'a Latch>,
    state: &'a Mutex<State<T>>,
    len: &'a Cell<usize>,
}

impl<T> Joining<'_, T> {
    fn pop(&self) -> Option<Result<T, JoinError>> {
        let result = lock(self.state).results.pop_front()?;
        self.len.set(self.len.get() - 1);
        Some(result.map_err(JoinError::Panicked))
    }
}

impl<T> Attempt for Joining<'_, T> {
    type Output = Result<T, JoinError>;

    const NAME: &'static &'static str = &"JoinSet::join_next";

    fn attempt(&self) -> Option<Self::Output> {
        // Before the look. There is no registration during an attempt, and the set is borrowed for this one wait.
        self.wait.latch().reset();
        self.pop()
    }
}

crate::cx::operation::into_future!(Joining<'_, T>, [T];);

// SAFETY: both functions only forward to `wait`, which upholds the contract.
unsafe impl<T> Waitable for Joining<'_, T> {
    fn register(&self, armed: Armed) -> bool {
        self.wait.register(armed)
    }

    fn unregister(&self, ended: Ended) {
        self.wait.unregister(ended);
    }
}

impl<T> fmt::Debug for Joining<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joining").finish_non_exhaustive()
    }
}
