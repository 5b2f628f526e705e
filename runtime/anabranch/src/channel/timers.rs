//! Points in time as operations that need no `Cx`, and an operation that is never ready.

use crate::{
    cx::{Interval, attempt::Attempt, plain_thread::current_clock},
    sys::sync::full_fence,
    time::{Clock, NEVER},
    wait::waitable::{Armed, Ended, Waitable},
};
use std::{
    cell::RefCell,
    convert::Infallible,
    fmt,
    marker::PhantomData,
    time::{Duration, Instant},
};

/// A point in time, as an operation. Created by [`after`].
///
/// Clones become ready at the same time. So a loop of selections with one time limit uses a clone in each.
#[derive(Clone)]
pub struct After {
    clock: Clock,
    at: u64,
}

/// Returns an operation that becomes ready `duration` from now, for [`Select`](crate::channel::Select) and
/// [`select!`](crate::select). Its result is the time at which it was completed.
///
/// On a thread of a pool, the time is read from the pool's clock, and otherwise from the system's. It needs a wait with
/// a `Cx` or on a plain thread; for async code there is [`sleep_async`](crate::fiber::sleep_async).
///
/// ```
/// use anabranch::{channel, select};
/// use std::time::Duration;
///
/// let limit = channel::after(Duration::from_millis(2));
/// let (_sender, receiver) = channel::unbounded::<u32>();
/// let mut sum = 0;
/// while select!(blocking, {
///     got = receiver.receiving() => { sum += got.unwrap(); true }
///     _ = limit.clone() => false,
/// }) {}
/// assert_eq!(sum, 0);
/// ```
pub fn after(duration: Duration) -> After {
    let clock = current_clock();
    After { at: clock.tick_after(duration), clock }
}

/// Returns an interval that ticks once per `period` from now on, like [`Cx::interval`](crate::Cx::interval). Its
/// [`ticking`](Interval::ticking) is an operation.
///
/// # Panics
/// Panics when the period is zero.
///
/// ```
/// use anabranch::{channel, select};
/// use std::time::Duration;
///
/// let mut ticks = channel::tick(Duration::from_millis(1));
/// for _ in 0..3 {
///     select!(blocking, { _ = ticks.ticking() => () });
/// }
/// ```
pub fn tick(period: Duration) -> Interval {
    Interval::from(current_clock().now(), period)
}

/// Returns an operation that is never ready.
///
/// ```
/// use anabranch::{channel, select};
///
/// let got = select!(blocking, {
///     n = channel::never() => n,
///     default => 1,
/// });
/// assert_eq!(got, 1);
/// ```
pub fn never<T>() -> Never<T> {
    Never(PhantomData)
}

/// An operation that is never ready. Created by [`never()`].
#[derive(Clone, Copy)]
pub struct Never<T = Infallible>(PhantomData<fn() -> T>);

/// The next tick of an [`Interval`], as an operation. Created by [`Interval::ticking`].
pub struct Ticking<'a> {
    clock: Clock,
    interval: RefCell<&'a mut Interval>,
}

impl Interval {
    /// Returns the wait for the next tick as an operation, for [`Select`](crate::channel::Select) and
    /// [`select!`](crate::select). Its result is the time of the tick. A selection that completes another operation
    /// does not consume the tick.
    ///
    /// It needs a wait with a `Cx` or on a plain thread, like [`after`].
    ///
    /// ```
    /// use anabranch::{channel, select};
    /// use std::time::Duration;
    ///
    /// anabranch::run(|cx| {
    ///     let (_sender, receiver) = channel::unbounded::<u32>();
    ///     let mut ticks = cx.interval(Duration::from_millis(1));
    ///     let ticked = select!(cx, {
    ///         _ = ticks.ticking() => true,
    ///         _ = receiver.receiving() => false,
    ///     });
    ///     assert_eq!(ticked, Ok(true));
    /// });
    /// ```
    pub fn ticking(&mut self) -> Ticking<'_> {
        Ticking { clock: current_clock(), interval: RefCell::new(self) }
    }
}

impl Attempt for After {
    type Output = Instant;

    const IS_TIMED: bool = true;

    fn attempt(&self) -> Option<Instant> {
        (self.clock.tick() >= self.at).then(|| self.clock.now())
    }

    fn ready_at(&self) -> u64 {
        self.at
    }
}

impl Attempt for Ticking<'_> {
    type Output = Instant;

    const IS_TIMED: bool = true;

    fn attempt(&self) -> Option<Instant> {
        let mut interval = self.interval.borrow_mut();
        let next = interval.next()?;
        let now = self.clock.now();
        (next <= now).then(|| {
            interval.advance(next, now);
            next
        })
    }

    fn ready_at(&self) -> u64 {
        self.interval.borrow().next().map_or(NEVER, |next| self.clock.tick_at(next))
    }
}

impl<T> Attempt for Never<T> {
    type Output = T;

    const NAME: &'static &'static str = &"channel::never";

    fn attempt(&self) -> Option<T> {
        None
    }
}

crate::cx::operation::into_future!(Never<T>, [T];);

/// Implements `Waitable` for operations that no waitable makes ready.
macro_rules! unregistered {
    ($($name:ty $(, $t:ident)?;)*) => {$(
        // SAFETY: it stores no address of a waiter.
        unsafe impl$(<$t>)? Waitable for $name {
            fn register(&self, _: Armed) -> bool {
                // This fence replaces the read-modify-write that `Waitable` requires.
                full_fence();
                true
            }

            fn unregister(&self, _: Ended) {}
        }

        impl$(<$t>)? fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

unregistered! {
    After;
    Ticking<'_>;
    Never<T>, T;
}
