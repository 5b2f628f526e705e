//! Streams that one thread has used alone, so that its fibers wait without atomic updates. Then another thread takes
//! over an end, or cancels the wait.

use crate::common::{self, LONG, Tally, pool, watchdog};
use anabranch::{
    Cx, Operation, Pool,
    channel::{RecvError, SendError, spsc},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// More messages than it takes for a thread to become the exclusive user.
const OFTEN: u64 = 1_200;

/// A stream that only the thread of this fiber has used.
fn own_stream(cx: &Cx<'_>, capacity: Option<usize>) -> (spsc::Sender<u64>, spsc::Receiver<u64>) {
    let (mut sender, mut receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
    for n in 0..OFTEN {
        sender.send(cx, n).unwrap();
        assert_eq!(receiver.recv(cx), Ok(n));
    }
    (sender, receiver)
}

/// Runs on a fiber of a pool of so many threads.
fn on_a_fiber<R: Send + 'static>(pool: &Pool, body: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> R {
    let fiber = pool.spawn(body);
    pool.run(|cx| fiber.join(cx)).unwrap()
}

/// Waits for a short time, which varies.
fn a_while(round: u64) {
    (0..round * 7 % 50).for_each(|_| thread::yield_now());
}

#[test]
fn sender_moved_to_another_thread_wakes_receiver() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            for round in 0..200 {
                on_a_fiber(&pool, move |cx| {
                    let (mut sender, mut receiver) = own_stream(cx, None);
                    let other = thread::spawn(move || {
                        a_while(round);
                        (0..3).for_each(|n| sender.try_send(n).unwrap());
                    });
                    assert_eq!(receiver.iter(cx).collect::<Vec<_>>(), [0, 1, 2].map(Ok));
                    assert_eq!(receiver.recv(cx), Err(RecvError::Closed));
                    other.join().unwrap();
                });
            }
        }
    });
}

#[test]
fn receiver_moved_to_another_thread_wakes_sender() {
    watchdog(LONG, || {
        let pool = pool(1);
        for round in 0..200 {
            on_a_fiber(&pool, move |cx| {
                let (mut sender, mut receiver) = own_stream(cx, Some(2));
                let other = thread::spawn(move || {
                    a_while(round);
                    let received: Vec<_> = (0..3).map(|_| anabranch::run(|cx| receiver.recv(cx)).unwrap()).collect();
                    received
                });
                (0..5).for_each(|n| {
                    // The last two may find the receiver dropped.
                    let sent = sender.send(cx, n);
                    assert!(sent.is_ok() || n > 2 && sent == Err(SendError::Closed(n)));
                });
                assert_eq!(other.join().unwrap(), [0, 1, 2]);
            });
        }
    });
}

#[test]
fn another_thread_may_cancel_local_wait() {
    watchdog(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            for round in 0..300 {
                on_a_fiber(&pool, move |cx| {
                    let (_sender, mut receiver) = own_stream(cx, None);
                    let other = cx.cancellable(|cx, canceller| {
                        let other = thread::spawn(move || {
                            a_while(round);
                            canceller.cancel();
                        });
                        assert_eq!(receiver.recv(cx), Err(RecvError::Cancelled));
                        assert_eq!(receiver.recv(cx), Err(RecvError::Cancelled));
                        other
                    });
                    other.join().unwrap();
                    // Outside of that scope it can be used as before.
                    assert!(receiver.try_recv().is_err());
                });
            }
        }
    });
}

/// Each value is received once or is still there, whichever came first.
#[test]
fn concurrent_value_and_cancellation_lose_nothing() {
    watchdog(LONG, || {
        let pool = pool(2);
        for round in 0..300 {
            on_a_fiber(&pool, move |cx| {
                let (mut sender, mut receiver) = own_stream(cx, None);
                let (sending, first) = cx.cancellable(|cx, canceller| {
                    let sending = thread::spawn(move || {
                        a_while(round);
                        sender.try_send(7).unwrap();
                    });
                    let cancelling = thread::spawn(move || {
                        a_while(round + 3);
                        canceller.cancel();
                    });
                    let first = receiver.recv(cx);
                    cancelling.join().unwrap();
                    assert_eq!(receiver.recv(cx), Err(RecvError::Cancelled));
                    (sending, first)
                });
                sending.join().unwrap();
                let left = receiver.try_recv().ok();
                assert!(
                    matches!((first, left), (Ok(7), None) | (Err(RecvError::Cancelled), Some(7))),
                    "{first:?}, and {left:?} left"
                );
                assert_eq!(receiver.recv(cx), Err(RecvError::Closed));
            });
        }
    });
}

/// On one thread the order is certain: a cancelled receiver gets nothing that was sent afterwards.
#[test]
fn value_sent_after_cancellation_stays_in_channel() {
    watchdog(LONG, || {
        on_a_fiber(&common::one_thread().build().unwrap(), |cx| {
            let (mut give, mut given) = spsc::unbounded();
            let fiber = anabranch::spawn(move |cx| {
                let (sender, mut receiver) = own_stream(cx, None);
                give.send(cx, sender).unwrap();
                (receiver.recv(cx), receiver.try_recv())
            });
            let mut sender = given.recv(cx).unwrap();
            (0..3).for_each(|_| cx.yield_now());
            fiber.cancel();
            sender.send(cx, 5).unwrap();
            assert_eq!(fiber.join(cx).unwrap(), (Err(RecvError::Cancelled), Ok(5)));
        });
    });
}

#[test]
fn dropped_pool_cancels_local_waits() {
    watchdog(LONG, || {
        for threads in [1, 2, 8] {
            let (begun, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
            let pool = pool(threads);
            for _ in 0..50 {
                let (begun, ended) = (Arc::clone(&begun), Arc::clone(&ended));
                drop(pool.spawn(move |cx| {
                    let (_sender, mut receiver) = own_stream(cx, None);
                    begun.fetch_add(1, Ordering::Relaxed);
                    assert_eq!(receiver.recv(cx), Err(RecvError::Cancelled));
                    ended.fetch_add(1, Ordering::Relaxed);
                }));
            }
            common::wait_until(|| begun.load(Ordering::Relaxed) == 50);
            drop(pool);
            assert_eq!(ended.load(Ordering::Relaxed), 50);
        }
    });
}

#[test]
fn local_wait_has_deadline() {
    watchdog(LONG, || {
        on_a_fiber(&pool(1), |cx| {
            let (mut sender, mut receiver) = own_stream(cx, Some(1));
            let short = Duration::from_millis(1);
            assert!(receiver.receiving().timeout(cx, short).is_err());
            let waited = cx.timeout(short, |cx| receiver.recv(cx).map_err(|_| anabranch::TimedOut));
            assert!(waited.is_err());
            sender.send(cx, 1).unwrap();
            assert!(sender.sending(2).timeout(cx, short).is_err());
            assert_eq!(receiver.recv(cx), Ok(1));
        });
    });
}

/// Otherwise other fibers would run on a panicking thread.
#[test]
fn local_wait_of_unwinding_fiber_is_cancelled() {
    struct Waits<'a, 'b>(&'a Cx<'b>, spsc::Receiver<u64>, Arc<AtomicBool>);
    impl Drop for Waits<'_, '_> {
        fn drop(&mut self) {
            self.2.store(self.1.recv(self.0) == Err(RecvError::Cancelled), Ordering::Relaxed);
        }
    }
    watchdog(LONG, || {
        on_a_fiber(&pool(1), |cx| {
            let (_sender, receiver) = own_stream(cx, None);
            let was_cancelled = Arc::new(AtomicBool::new(false));
            let waits = Waits(cx, receiver, Arc::clone(&was_cancelled));
            let caught = catch_unwind(AssertUnwindSafe(move || {
                let _waits = waits;
                std::panic::resume_unwind(Box::new(()));
            }));
            assert!(caught.is_err() && was_cancelled.load(Ordering::Relaxed));
        });
    });
}

/// There the fiber cannot be suspended, and blocks its thread.
#[test]
fn local_wait_inside_another_pool_ends() {
    watchdog(LONG, || {
        let outer = pool(1);
        let inner = Arc::new(pool(1));
        for round in 0..50 {
            let inner = Arc::clone(&inner);
            on_a_fiber(&outer, move |cx| {
                let (mut sender, mut receiver) = own_stream(cx, None);
                let other = thread::spawn(move || {
                    a_while(round);
                    sender.try_send(9).unwrap();
                });
                assert_eq!(inner.run(|_| receiver.recv(cx)), Ok(9));
                other.join().unwrap();
            });
        }
    });
}

#[test]
fn values_are_dropped_once() {
    watchdog(LONG, || {
        let tally = Arc::new(Tally::default());
        for round in 0..100 {
            let tally = Arc::clone(&tally);
            on_a_fiber(&pool(1), move |cx| {
                let (mut sender, mut receiver) = spsc::unbounded();
                for _ in 0..OFTEN {
                    sender.send(cx, tally.make()).unwrap();
                    drop(receiver.recv(cx).unwrap());
                }
                let other = thread::spawn(move || {
                    a_while(round);
                    for _ in 0..5 {
                        drop(sender.try_send(tally.make()));
                    }
                });
                (0..round % 4).for_each(|_| drop(receiver.recv(cx)));
                drop(receiver);
                other.join().unwrap();
            });
        }
        tally.assert_all_dropped();
    });
}
