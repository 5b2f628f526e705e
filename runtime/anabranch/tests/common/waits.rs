//! Helpers for tests of waits: futures that the test polls by hand, and a view of what fibers wait for.

use anabranch::Pool;
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

/// A future or operation that the test polls by hand, with a count of its wakeups.
pub struct Polled<F: Future> {
    future: Option<Pin<Box<F>>>,
    bell: Arc<Bell>,
}

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl<F: Future> Polled<F> {
    pub fn new(future: F) -> Self {
        Self { future: Some(Box::pin(future)), bell: Arc::default() }
    }

    /// Returns a future that has been polled once and is pending.
    #[track_caller]
    pub fn waiting(future: impl IntoFuture<Output = F::Output, IntoFuture = F>) -> Self {
        let mut polled = Self::new(future.into_future());
        assert!(polled.poll().is_none(), "this ought to have to wait");
        polled
    }

    /// Returns a future that has been polled once, and may have been ready.
    pub fn begun(future: impl IntoFuture<Output = F::Output, IntoFuture = F>) -> Self {
        let mut polled = Self::new(future.into_future());
        drop(polled.poll());
        polled
    }

    pub fn poll(&mut self) -> Option<F::Output> {
        let waker = Waker::from(Arc::clone(&self.bell));
        let future = self.future.as_mut().expect("polled after its end");
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => None,
            Poll::Ready(output) => {
                self.future = None;
                Some(output)
            }
        }
    }

    /// Returns how often it was woken.
    pub fn wakes(&self) -> usize {
        self.bell.0.load(Ordering::SeqCst)
    }

    pub fn is_woken(&self) -> bool {
        self.wakes() > 0
    }

    /// Drops the future, and continues to count wakeups.
    pub fn forsake(self) -> Self {
        Self { future: None, bell: self.bell }
    }
}

/// Waits until so many fibers of the pool wait for `what`.
pub fn until_waiting(pool: &Pool, count: usize, what: &str) {
    while pool.fibers().iter().filter(|fiber| fiber.waits_for() == Some(what)).count() != count {
        thread::sleep(Duration::from_micros(100));
    }
}

/// Like [`until_waiting`], from a fiber, which lets the others of its worker run meanwhile.
pub fn until_waiting_beside(cx: &anabranch::Cx<'_>, count: usize, what: &str) {
    while anabranch::fiber::fibers().iter().filter(|fiber| fiber.waits_for() == Some(what)).count() != count {
        cx.sleep(Duration::from_micros(100)).unwrap();
    }
}

/// Runs `body` on a fiber, and returns what it returns.
pub fn on_a_fiber<R: Send>(pool: &Pool, body: impl FnOnce(&anabranch::Cx<'_>) -> R + Send) -> R {
    pool.run(|cx| cx.scope(|s| s.spawn(body).join(s).expect("nobody cancels this")))
}

/// Like [`on_a_fiber`], in a pool where one thread runs all fibers: the others run only while this one waits.
pub fn on_the_only_thread<R: Send>(body: impl FnOnce(&anabranch::Cx<'_>) -> R + Send) -> R {
    on_a_fiber(&super::one_thread().build().unwrap(), body)
}
