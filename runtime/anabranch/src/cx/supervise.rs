//! Supervised fibers: a fiber that panics is restarted, as a supervisor of Erlang does with the strategy `one_for_one`.
//!
//! A fiber that panics spawns its successor in the same scope, and ends. So each start has a fiber of its own, with a
//! new stack and new fiber-locals, and the scope counts the successor before its predecessor has ended. The restarts of
//! all fibers of the scope are counted together. If there are too many within the window, the panic continues as in any
//! scope.

use crate::{
    cx::{
        Cx,
        join_error::panic_text,
        scope::{FiberScope, Spawner, close},
        scope_data::ScopeData,
    },
    fork::scope::{Panic, report},
    sys::{
        sync::{Mutex, lock},
        unwind::{catch_unwind, resume_unwind},
    },
    wait::suspend::WaitReason,
};
use std::{
    any::Any,
    collections::VecDeque,
    fmt,
    ops::Deref,
    panic::{AssertUnwindSafe, Location},
    sync::Arc,
    time::{Duration, Instant},
};

type Hook = Arc<dyn Fn(&Restart<'_>) + Send + Sync>;

/// How often and how fast the fibers of a [`Cx::supervise`] are restarted.
///
/// ```
/// use anabranch::fiber::Supervision;
/// use std::{sync::atomic::{AtomicU32, Ordering}, time::Duration};
///
/// let starts = AtomicU32::new(0);
/// let policy = Supervision::new()
///     .max_restarts(5, Duration::from_secs(60))
///     .backoff(Duration::from_millis(1), Duration::from_secs(1))
///     .on_restart(|restart| println!("{restart}"));
/// anabranch::run(|cx| {
///     cx.supervise(&policy, |s| {
///         s.keep("flaky", |_| assert!(starts.fetch_add(1, Ordering::Relaxed) == 2, "not yet"));
///     });
/// });
/// assert_eq!(starts.into_inner(), 3);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Supervision {
    restarts: usize,
    window: Duration,
    first_delay: Duration,
    longest_delay: Duration,
    on_restart: Option<Hook>,
}

impl Supervision {
    /// Allows three restarts within five seconds, and delays them by ten milliseconds at first and a second at most.
    pub fn new() -> Self {
        Self {
            restarts: 3,
            window: Duration::from_secs(5),
            first_delay: Duration::from_millis(10),
            longest_delay: Duration::from_secs(1),
            on_restart: None,
        }
    }

    /// Sets the maximum number of restarts within `window`, according to the clock of the pool, for all fibers of the
    /// scope together. If a fiber panics once more, the panic is resumed, and cancels the scope. Erlang calls the two
    /// the intensity and the period.
    pub fn max_restarts(mut self, restarts: usize, window: Duration) -> Self {
        self.restarts = restarts;
        self.window = window;
        self
    }

    /// Sets the delay before a fiber is started again. The first delay is `first`, and each further one is twice as
    /// long, up to `longest`. After a fiber has run for the window of [`max_restarts`](Self::max_restarts), its delay
    /// is `first` again.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.first_delay = first;
        self.longest_delay = longest;
        self
    }

    /// Sets a handler that is called before each restart, on the fiber that has ended. A panic in it cancels the scope.
    pub fn on_restart(mut self, handler: impl Fn(&Restart<'_>) + Send + Sync + 'static) -> Self {
        self.on_restart = Some(Arc::new(handler));
        self
    }

    fn delay(&self, failures: u32) -> Duration {
        self.first_delay.saturating_mul(2u32.saturating_pow(failures)).min(self.longest_delay)
    }
}

impl Default for Supervision {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Supervision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervision")
            .field("restarts", &self.restarts)
            .field("window", &self.window)
            .field("first_delay", &self.first_delay)
            .field("longest_delay", &self.longest_delay)
            .finish_non_exhaustive()
    }
}

/// A restart of a supervised fiber; see [`Supervision::on_restart`].
pub struct Restart<'a> {
    name: &'a str,
    panic: Option<&'a (dyn Any + Send)>,
    recent: usize,
    delay: Duration,
}

impl Restart<'_> {
    /// Returns the name of the fiber.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Returns the payload of the panic, or `None` if the function has returned.
    pub fn panic(&self) -> Option<&(dyn Any + Send)> {
        self.panic
    }

    /// Returns how many restarts there were in the window, of all fibers of the scope, including this one.
    pub fn recent(&self) -> usize {
        self.recent
    }

    /// Returns the delay before the fiber is started again.
    pub fn delay(&self) -> Duration {
        self.delay
    }
}

/// Includes the text of the panic.
impl fmt::Display for Restart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fiber `{}` ", self.name)?;
        match self.panic {
            Some(panic) => {
                write!(f, "panicked: {}", panic_text(panic).unwrap_or("with a payload that is not a string"))?
            }
            None => f.write_str("has returned")?,
        }
        write!(f, "; starts again in {:?} (restart {} within the window)", self.delay, self.recent)
    }
}

impl fmt::Debug for Restart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Restart").field("name", &self.name).field("recent", &self.recent).finish_non_exhaustive()
    }
}

/// A scope with supervised fibers; see [`Cx::supervise`].
///
/// It dereferences to the [`FiberScope`], and so to the [`Cx`] of the scope. A panic of a fiber that is spawned by
/// [`FiberScope::spawn`] cancels the scope, as in any scope.
pub struct Supervisor<'scope, 'env: 'scope> {
    scope: FiberScope<'scope, 'env>,
    shared: &'scope Shared<'scope>,
}

struct Shared<'a> {
    policy: &'a Supervision,
    /// When there were restarts, within the window.
    recent: Mutex<VecDeque<Instant>>,
}

/// The data with which a supervised fiber is restarted.
struct Child<'scope, 'env, F> {
    shared: &'scope Shared<'scope>,
    spawner: Spawner<'scope, 'env>,
    /// Where it was spawned first.
    origin: &'static Location<'static>,
    name: Arc<str>,
    function: F,
    /// Whether a return is followed by a restart, too.
    is_permanent: bool,
}

impl Cx<'_> {
    /// Runs `body`, which can spawn fibers that are started again when they panic, and waits for all of them.
    ///
    /// This is Erlang's strategy `one_for_one`: a fiber that panics does not concern the others. If there are more
    /// restarts than the policy allows, the last panic is resumed: it cancels the scope, and leaves this function when
    /// all fibers have ended. In a supervised fiber of an outer `supervise` it is then one panic of that fiber.
    ///
    /// Once the scope is cancelled, no fiber is started again; a later panic goes to the [panic
    /// handler](crate::Builder::on_panic), as do the panics after which a fiber is started again.
    ///
    /// # Panics
    /// Panics when there are too many restarts, or when `body`, a handler or an unsupervised fiber of the scope panics.
    ///
    /// ```
    /// use anabranch::{channel::unbounded, fiber::Supervision};
    ///
    /// let (sender, requests) = unbounded();
    /// ["1", "two", "3"].iter().for_each(|text| sender.try_send(*text).unwrap());
    /// drop(sender);
    /// let sum = std::sync::atomic::AtomicU32::new(0);
    /// anabranch::run(|cx| {
    ///     cx.supervise(&Supervision::new(), |s| {
    ///         // The request that it panics at is lost, and it continues with the next one.
    ///         s.keep("worker", |cx| {
    ///             while let Ok(text) = requests.recv(cx) {
    ///                 sum.fetch_add(text.parse::<u32>().unwrap(), std::sync::atomic::Ordering::Relaxed);
    ///             }
    ///         });
    ///     });
    /// });
    /// assert_eq!(sum.into_inner(), 4);
    /// ```
    #[track_caller]
    pub fn supervise<'env, R>(
        &self,
        policy: &Supervision,
        body: impl for<'scope> FnOnce(&'scope Supervisor<'scope, 'env>) -> R,
    ) -> R {
        let reason = WaitReason::new(&"supervise");
        let shared = Shared { policy, recent: Mutex::default() };
        // SAFETY: `close` precedes the end of the data, which does not move before.
        let data = unsafe { ScopeData::open(self) };
        let scope = Supervisor { scope: FiberScope::new(self, &data), shared: &shared };
        let outcome = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        close(self, &scope.scope, outcome, reason)
    }
}

impl<'scope> Supervisor<'scope, '_> {
    /// Spawns a fiber that is started again after a panic, until `function` returns. Erlang calls such a child
    /// transient.
    ///
    /// `function` may find data that it shares with others in the state in which a panic has left it.
    #[track_caller]
    pub fn keep<F>(&'scope self, name: &str, function: F)
    where
        F: Fn(&Cx<'_>) + Send + Sync + 'scope,
    {
        self.start(name, function, false);
    }

    /// Spawns a fiber that is started again after a panic and after a return, until the scope is cancelled. Erlang
    /// calls such a child permanent.
    #[track_caller]
    pub fn keep_always<F>(&'scope self, name: &str, function: F)
    where
        F: Fn(&Cx<'_>) + Send + Sync + 'scope,
    {
        self.start(name, function, true);
    }

    #[track_caller]
    fn start<F>(&'scope self, name: &str, function: F, is_permanent: bool)
    where
        F: Fn(&Cx<'_>) + Send + Sync + 'scope,
    {
        let spawner = self.scope.spawner();
        let origin = Location::caller();
        Arc::new(Child { shared: self.shared, spawner, origin, name: Arc::from(name), function, is_permanent })
            .spawn(Duration::ZERO, 0);
    }
}

impl<'scope, 'env, F> Child<'scope, 'env, F>
where
    F: Fn(&Cx<'_>) + Send + Sync + 'scope,
{
    /// Spawns a fiber that runs the function after `delay`. There were so many failures in a row.
    fn spawn(self: Arc<Self>, delay: Duration, failures: u32) {
        self.spawner.spawn_child(self.origin, Arc::clone(&self.name), move |cx| {
            // A fiber that is cancelled before its first start runs, as in any scope.
            if !delay.is_zero() && cx.sleep(delay).is_err() {
                return None;
            }
            let start = cx.now();
            let outcome = catch_unwind(AssertUnwindSafe(|| (self.function)(cx)));
            self.restart(cx, start, failures, outcome.err());
            Some(())
        });
    }

    /// Spawns the successor of a fiber that has ended, if there is to be one.
    fn restart(self: Arc<Self>, cx: &Cx<'_>, start: Instant, failures: u32, panic: Option<Panic>) {
        if panic.is_none() && !self.is_permanent {
            return;
        }
        if cx.is_cancelled() {
            panic.into_iter().for_each(report);
            return;
        }
        let policy = self.shared.policy;
        let now = cx.now();
        let has_recovered = now.saturating_duration_since(start) >= policy.window;
        let failures = if has_recovered { 0 } else { failures };
        let Some(recent) = self.shared.count(now) else {
            match panic {
                Some(panic) => resume_unwind(panic),
                None => panic!("the supervised fiber `{}` has returned too often", self.name),
            }
        };
        let delay = policy.delay(failures);
        if let Some(handler) = &policy.on_restart {
            handler(&Restart { name: &self.name, panic: panic.as_deref(), recent, delay });
        }
        panic.into_iter().for_each(report);
        self.spawn(delay, failures.saturating_add(1));
    }
}

impl Shared<'_> {
    /// Counts a restart. Returns how many there were in the window, or `None` if this one is too many.
    fn count(&self, now: Instant) -> Option<usize> {
        let mut recent = lock(&self.recent);
        while let Some(&first) = recent.front()
            && now.saturating_duration_since(first) >= self.policy.window
        {
            recent.pop_front();
        }
        if recent.len() >= self.policy.restarts {
            return None;
        }
        recent.push_back(now);
        Some(recent.len())
    }
}

impl<'scope, 'env> Deref for Supervisor<'scope, 'env> {
    type Target = FiberScope<'scope, 'env>;

    fn deref(&self) -> &Self::Target {
        &self.scope
    }
}

impl fmt::Debug for Supervisor<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}
