//! A monitor: a shared value for one user at a time, with waits for conditions on it.

use crate::{
    cx::Cx,
    sync::{
        condvar::Condvar,
        mutex::{Mutex, MutexGuard},
    },
    wait::{Cancelled, suspend::WaitReason},
};
use std::{
    fmt,
    ops::{Deref, DerefMut},
    sync::Arc,
};

/// A shared value that one fiber or thread at a time can use, and that others can wait for.
///
/// It is an [`Arc`], a [`Mutex`] and a [`Condvar`] in one: clones are handles of the same value, [`with`](Self::with)
/// uses it, and [`when`](Self::when) waits until a condition holds and then uses it. No explicit notification is
/// needed: after each use of the value, all waiters check their conditions. (The idea comes from the exclusive ARC in
/// the Rust of 2012; the conditions are Hoare's conditional critical regions.)
///
/// After each change every waiter checks its condition, so a monitor does not suit many waiters with frequent changes.
/// Use a [`Condvar`] with [`notify_one`](Condvar::notify_one) there.
///
/// ```
/// use anabranch::sync::Monitor;
/// use std::collections::VecDeque;
///
/// let queue = Monitor::new(VecDeque::new());
/// anabranch::run(|cx| {
///     cx.scope(|s| {
///         let consumer = queue.clone();
///         s.spawn(move |cx| {
///             for expected in 0..10 {
///                 let got = consumer.when(cx, |queue| !queue.is_empty(), |queue| queue.pop_front());
///                 assert_eq!(got, Ok(Some(expected)));
///             }
///         });
///         for item in 0..10 {
///             queue.with(cx, |queue| queue.push_back(item)).unwrap();
///         }
///     });
/// });
/// ```
pub struct Monitor<T: ?Sized>(Arc<Shared<T>>);

struct Shared<T: ?Sized> {
    changed: Condvar,
    value: Mutex<T>,
}

/// Wakes all waiters, which check their conditions.
struct Notice<'a>(&'a Condvar);

impl Drop for Notice<'_> {
    fn drop(&mut self) {
        self.0.notify_all();
    }
}

/// The value of a [`Monitor`] while [`with_cond`](Monitor::with_cond) uses it.
pub struct Held<'a, T: ?Sized> {
    guard: MutexGuard<'a, T>,
    // After the guard, so that a woken waiter finds the value unlocked.
    notice: Notice<'a>,
}

impl<T> Monitor<T> {
    /// Creates a monitor, as its first handle.
    pub fn new(value: T) -> Self {
        Self(Arc::new(Shared { changed: Condvar::new(), value: Mutex::new(value) }))
    }

    /// Returns the value if this is the last handle.
    ///
    /// # Errors
    /// Returns the handle if there are other handles.
    ///
    /// ```
    /// use anabranch::sync::Monitor;
    ///
    /// let one = Monitor::new(1);
    /// let other = one.clone();
    /// let one = one.into_inner().unwrap_err();
    /// drop(one);
    /// assert_eq!(other.into_inner().unwrap(), 1);
    /// ```
    pub fn into_inner(self) -> Result<T, Self> {
        Arc::try_unwrap(self.0).map(|shared| shared.value.into_inner()).map_err(Self)
    }
}

impl<T: ?Sized> Monitor<T> {
    /// Waits for the value and uses it. Afterwards the waiters check their conditions.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled. `body` does not run then.
    ///
    /// ```
    /// let total = anabranch::sync::Monitor::new(0);
    /// anabranch::run(|cx| {
    ///     total.with(cx, |total| *total += 1).unwrap();
    ///     assert_eq!(total.with(cx, |total| *total), Ok(1));
    /// });
    /// ```
    #[track_caller]
    pub fn with<R>(&self, cx: &Cx<'_>, body: impl FnOnce(&mut T) -> R) -> Result<R, Cancelled> {
        self.with_cond(cx, |held| body(held))
    }

    /// Like [`with`](Self::with), but no waiter checks its condition afterwards, since the value cannot have changed.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled.
    #[track_caller]
    pub fn read<R>(&self, cx: &Cx<'_>, body: impl FnOnce(&T) -> R) -> Result<R, Cancelled> {
        Ok(body(&*self.0.value.lock(cx)?))
    }

    /// Uses the value if it is not in use. Returns `None` if it is.
    ///
    /// ```
    /// let exclusive = anabranch::sync::Monitor::new(1);
    /// let inside = exclusive.try_with(|_| exclusive.try_with(|_| ()));
    /// assert_eq!(inside, Some(None));
    /// ```
    pub fn try_with<R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.0.value.try_lock().map(|guard| body(&mut self.hold(guard)))
    }

    /// Like [`with`](Self::with), but `body` may wait for conditions by [`Held::wait_until`].
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled before `body` runs.
    ///
    /// ```
    /// use anabranch::{Cancelled, sync::Monitor};
    ///
    /// let account = Monitor::new(0);
    /// anabranch::run(|cx| {
    ///     cx.join(
    ///         |cx| {
    ///             account.with_cond(cx, |balance| {
    ///                 balance.wait_until(cx, |balance| *balance >= 10)?;
    ///                 **balance -= 10;
    ///                 balance.wait_until(cx, |balance| *balance >= 20)?;
    ///                 **balance -= 20;
    ///                 Ok::<_, Cancelled>(())
    ///             })
    ///         },
    ///         |cx| (0..6).for_each(|_| account.with(cx, |balance| *balance += 5).unwrap()),
    ///     )
    ///     .0
    ///     .unwrap()
    ///     .unwrap();
    ///     assert_eq!(account.read(cx, |balance| *balance), Ok(0));
    /// });
    /// ```
    #[track_caller]
    pub fn with_cond<R>(&self, cx: &Cx<'_>, body: impl FnOnce(&mut Held<'_, T>) -> R) -> Result<R, Cancelled> {
        let guard = self.0.value.lock(cx)?;
        Ok(body(&mut self.hold(guard)))
    }

    /// Blocks until `condition` holds, and uses the value while it does. [`Cx::timeout`](crate::Cx::timeout) limits the
    /// time.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled. `body` does not run then.
    ///
    /// ```
    /// use anabranch::{WaitError, sync::Monitor};
    /// use std::time::Duration;
    ///
    /// let flag = Monitor::new(false);
    /// let late = anabranch::run(|cx| {
    ///     cx.timeout(Duration::from_millis(1), |cx| Ok::<_, WaitError>(flag.when(cx, |flag| *flag, |_| ())?))
    /// });
    /// assert_eq!(late, Err(WaitError::TimedOut));
    /// ```
    #[track_caller]
    pub fn when<R>(
        &self,
        cx: &Cx<'_>,
        mut condition: impl FnMut(&T) -> bool,
        body: impl FnOnce(&mut T) -> R,
    ) -> Result<R, Cancelled> {
        let mut guard = self.0.value.lock(cx)?;
        let reason = WaitReason::new(&"Monitor::when");
        self.0.changed.wait_while_for(cx, &mut guard, |value| !condition(value), reason)?;
        Ok(body(&mut self.hold(guard)))
    }

    /// Like [`with`](Self::with), for async code.
    pub async fn with_async<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        let guard = self.0.value.locking().await;
        body(&mut self.hold(guard))
    }

    /// Like [`when`](Self::when), for async code. The future may be dropped at any time.
    ///
    /// ```
    /// use anabranch::sync::Monitor;
    ///
    /// async fn take(slot: &Monitor<Option<u32>>) -> Option<u32> {
    ///     slot.when_async(|slot| slot.is_some(), |slot| slot.take()).await
    /// }
    /// # let slot = Monitor::new(Some(1));
    /// # assert_eq!(anabranch::run(|cx| cx.block_on(take(&slot))), Ok(Some(1)));
    /// ```
    pub async fn when_async<R>(&self, mut condition: impl FnMut(&T) -> bool, body: impl FnOnce(&mut T) -> R) -> R {
        let guard = self.0.value.locking().await;
        let guard = self.0.changed.wait_while_async(guard, |value| !condition(value)).await;
        body(&mut self.hold(guard))
    }

    /// Returns whether both are handles of the same value.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the value without waiting if this is the only handle.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        Arc::get_mut(&mut self.0).map(|shared| shared.value.get_mut())
    }

    fn hold<'a>(&'a self, guard: MutexGuard<'a, T>) -> Held<'a, T> {
        Held { guard, notice: Notice(&self.0.changed) }
    }
}

impl<T: ?Sized> Held<'_, T> {
    /// Unlocks the value until `condition` holds. Other users may change it meanwhile in any way that `condition`
    /// allows.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled.
    #[track_caller]
    pub fn wait_until(&mut self, cx: &Cx<'_>, mut condition: impl FnMut(&T) -> bool) -> Result<(), Cancelled> {
        let reason = WaitReason::new(&"Monitor::wait_until");
        cx.checkpoint()?;
        if condition(&self.guard) {
            return Ok(());
        }
        // The body may have changed the value so far.
        self.notice.0.notify_all();
        let condition = |value: &mut T| !condition(value);
        self.notice.0.wait_while_for(cx, &mut self.guard, condition, reason)
    }
}

impl<T: ?Sized> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Held<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> Clone for Monitor<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Monitor<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Monitor<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Shows the value if it is not in use.
impl<T: ?Sized + fmt::Debug> fmt::Debug for Monitor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Monitor");
        match self.0.value.try_lock() {
            Some(guard) => shown.field("value", &&*guard).finish(),
            None => shown.field("value", &format_args!("<in use>")).finish(),
        }
    }
}
