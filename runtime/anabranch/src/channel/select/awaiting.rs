//! A future as an operation.

use crate::{
    cx::attempt::Attempt,
    wait::{
        latch::{Latch, LatchWait},
        waitable::waits_by,
    },
};
use std::{
    cell::RefCell,
    fmt,
    ops::Deref,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

/// Waiting for a future, as an operation. Created by [`awaiting`].
pub struct Awaiting<F: Future> {
    /// `None` after its end.
    future: RefCell<Option<Pin<Box<F>>>>,
    bell: Bell,
    wait: LatchWait<Bell>,
}

/// The latch that the waker of a future notifies.
#[derive(Clone)]
struct Bell(Arc<LatchWaker>);

struct LatchWaker(Latch);

impl Deref for Bell {
    type Target = Latch;

    fn deref(&self) -> &Latch {
        &self.0.0
    }
}

impl Wake for LatchWaker {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

/// Returns the wait for a future as an operation, for [`Select`](crate::channel::Select) and
/// [`select!`](crate::select).
///
/// A selection polls the future, even if it then completes another operation. To continue with the same future in a
/// later selection, pass a reference: `awaiting(&mut future)` of a future that is [`Unpin`], such as a
/// [`JoinHandle`](crate::JoinHandle) or a `Pin<Box<_>>`. Allocates twice.
///
/// A future of another runtime, such as tokio's, is polled outside of its runtime: see
/// [`Cx::block_on`](crate::Cx::block_on).
///
/// # Panics
/// A selection panics if it attempts the operation again after its end, as happens when a
/// [`Select`](crate::channel::Select) is reused.
///
/// ```
/// use anabranch::{channel, select};
/// use std::time::Duration;
///
/// let mut handle = anabranch::spawn(|_| 42);
/// let got = anabranch::run(|cx| select!(cx, {
///     answer = channel::awaiting(&mut handle) => answer.ok(),
///     () = channel::awaiting(std::future::pending()) => None,
///     () = cx.sleeping(Duration::from_secs(60)) => None,
/// }));
/// assert_eq!(got, Ok(Some(42)));
/// ```
pub fn awaiting<F: IntoFuture>(future: F) -> Awaiting<F::IntoFuture> {
    let bell = Bell(Arc::new(LatchWaker(Latch::new())));
    let future = RefCell::new(Some(Box::pin(future.into_future())));
    Awaiting { future, wait: LatchWait::new(bell.clone()), bell }
}

impl<F: Future> Attempt for Awaiting<F> {
    type Output = F::Output;

    const NAME: &'static &'static str = &"future";

    fn attempt(&self) -> Option<F::Output> {
        let mut place = self.future.borrow_mut();
        let future = place.as_mut().expect("the future of `awaiting` has returned its result before");
        // Before the poll, which may notify it again.
        self.bell.reset();
        let waker = Waker::from(Arc::clone(&self.bell.0));
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => {
                *place = None;
                Some(output)
            }
            Poll::Pending => None,
        }
    }
}

crate::cx::operation::into_future!(Awaiting<F>, [F: Future];);

waits_by!(wait: Awaiting<F>, [F: Future]);

impl<F: Future> fmt::Debug for Awaiting<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Awaiting").finish_non_exhaustive()
    }
}
