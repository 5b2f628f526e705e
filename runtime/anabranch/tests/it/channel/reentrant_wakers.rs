//! Wakers that run their task at once: the task receives, sends or drops its ends while the waking operation is still
//! under way.

use crate::common::{Counted, LONG, Tally, watchdog};
use anabranch::{
    channel::{ReceiverSet, bounded, broadcast, oneshot, rendezvous, spsc, unbounded, watch},
    select,
};
use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A task that its waker polls.
struct Inline {
    task: Mutex<Option<Task>>,
    /// The task is dropped, not polled, when it is woken.
    is_dropped: bool,
    /// Woken while it was polled.
    again: AtomicBool,
    wakes: AtomicUsize,
}

impl Inline {
    fn poll(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        loop {
            // Nothing is locked while it is polled.
            let Some(mut task) = self.task.lock().unwrap().take() else {
                return self.again.store(true, Ordering::SeqCst);
            };
            self.again.store(false, Ordering::SeqCst);
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                return;
            }
            *self.task.lock().unwrap() = Some(task);
            if !self.again.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    /// Whether the task has neither ended nor been dropped.
    fn goes_on(&self) -> bool {
        self.task.lock().unwrap().is_some()
    }

    fn wakes(&self) -> usize {
        self.wakes.load(Ordering::SeqCst)
    }
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        if self.is_dropped {
            let task = self.task.lock().unwrap().take();
            drop(task);
        } else {
            self.poll();
        }
    }
}

/// Polls a task once, and from then on when it is woken, or drops it then.
#[track_caller]
fn inline(is_dropped: bool, task: impl Future<Output = ()> + Send + 'static) -> Arc<Inline> {
    let (task, again, wakes) = (Mutex::new(Some(Box::pin(task) as Task)), AtomicBool::new(false), AtomicUsize::new(0));
    let inline = Arc::new(Inline { task, is_dropped, again, wakes });
    inline.poll();
    assert!(inline.goes_on(), "it ought to wait");
    inline
}

/// The number of values that a task has received.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn add<T>(&self, value: T) {
        drop(value);
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Most of a share of time between two pauses of async code, which come on top of the wake-ups.
const MANY: usize = 100;

/// A task that receives by `$receiving` in a loop. `$send` sends to it, and returns whether the send failed.
macro_rules! check_receiver {
    ($tally:ident, $make:expr, |$receiver:ident| $receiving:expr, |$sender:ident, $value:ident| $send:expr) => {
        for is_dropped in [false, true] {
            let count = Count::default();
            #[allow(unused_mut, reason = "some are sent to by shared reference")]
            let (mut $sender, mut $receiver) = $make;
            let task = inline(is_dropped, {
                let count = count.clone();
                async move {
                    while let Ok(value) = $receiving.await {
                        count.add(value);
                    }
                }
            });
            for n in 0..MANY {
                let $value: Counted = $tally.make();
                let is_sent: bool = $send;
                assert!(is_sent || is_dropped);
                assert_eq!(task.goes_on(), !is_dropped);
                assert_eq!(count.get(), if is_dropped { 0 } else { n + 1 });
            }
            drop($sender);
            assert!(!task.goes_on());
            assert!(task.wakes() >= if is_dropped { 1 } else { MANY });
        }
        $tally.assert_all_dropped();
    };
}

#[test]
fn receiver_may_receive_or_drop_inside_send() {
    watchdog(LONG, || {
        let tally = Tally::default();
        // The future takes the value from the sender, which has only begun to wait.
        check_receiver!(tally, rendezvous(), |receiver| receiver.receiving().into_future(), |sender, value| {
            let mut context = Context::from_waker(Waker::noop());
            matches!(pin!(sender.sending(value).into_future()).poll(&mut context), Poll::Ready(Ok(())))
        });
        for room in [1, 7] {
            check_receiver!(tally, bounded(room), |receiver| receiver.receiving().into_future(), |sender, value| {
                sender.try_send(value).is_ok()
            });
        }
        check_receiver!(tally, unbounded(), |receiver| receiver.receiving().into_future(), |sender, value| sender
            .try_send(value)
            .is_ok());
        check_receiver!(tally, spsc::bounded(1), |receiver| receiver.receiving().into_future(), |sender, value| sender
            .try_send(value)
            .is_ok());
        check_receiver!(tally, spsc::bounded(7), |receiver| receiver.receiving().into_future(), |sender, value| sender
            .try_send(value)
            .is_ok());
        check_receiver!(tally, spsc::unbounded(), |receiver| receiver.receiving().into_future(), |sender, value| {
            sender.try_send(value).is_ok()
        });
        check_receiver!(
            tally,
            broadcast::channel(3),
            |receiver| receiver.receiving().into_future(),
            |sender, value| sender.send(value).is_ok()
        );
        check_receiver!(
            tally,
            watch::channel(tally.make()),
            |receiver| receiver.receiving().into_future(),
            |sender, value| sender.send(value).is_ok()
        );
        check_receiver!(
            tally,
            {
                let (sender, receiver) = spsc::unbounded();
                (sender, ReceiverSet::from_iter([receiver]))
            },
            |set| async { set.receiving().await.and_then(|(_, received)| received) },
            |sender, value| sender.try_send(value).is_ok()
        );
        check_receiver!(
            tally,
            unbounded(),
            |receiver| async {
                select!(async, {
                    got = receiver.receiving() => got,
                    got = receiver.receiving() => got,
                })
            },
            |sender, value| sender.try_send(value).is_ok()
        );
    });
}

#[test]
fn oneshot_receiver_may_receive_or_drop_inside_send() {
    let tally = Tally::default();
    for is_dropped in [false, true] {
        for is_sent in [false, true] {
            let count = Count::default();
            let (sender, mut receiver) = oneshot::channel();
            let task = inline(is_dropped, {
                let count = count.clone();
                async move {
                    if let Ok(value) = receiver.receiving().await {
                        count.add(value);
                    }
                }
            });
            if is_sent {
                assert!(sender.send(tally.make()).is_ok())
            } else {
                drop(sender)
            }
            assert!(!task.goes_on() && task.wakes() == 1);
            assert_eq!(count.get(), usize::from(is_sent && !is_dropped));
        }
    }
    tally.assert_all_dropped();
}

/// A task that sends `MANY` values as capacity permits; each receive frees some.
macro_rules! check_sender {
    ($tally:ident, $make:expr) => {
        for is_dropped in [false, true] {
            #[allow(unused_mut, reason = "some are used by shared reference")]
            let (mut sender, mut receiver) = $make;
            let task = inline(is_dropped, {
                let tally = $tally.clone();
                async move {
                    for _ in 0..MANY {
                        if sender.sending(tally.make()).await.is_err() {
                            return;
                        }
                    }
                }
            });
            let mut received = 0;
            while let Ok(value) = receiver.try_recv() {
                received += 1;
                drop(value);
            }
            assert!(!task.goes_on() && receiver.is_closed());
            // What was offered when its sender went is gone with it, or was taken just before.
            assert!(if is_dropped { received < MANY } else { received == MANY }, "{received}");
        }
        $tally.assert_all_dropped();
    };
}

#[test]
fn sender_may_send_or_drop_inside_receive() {
    watchdog(LONG, || {
        let tally = Tally::default();
        check_sender!(tally, rendezvous());
        check_sender!(tally, bounded(1));
        check_sender!(tally, bounded(7));
        check_sender!(tally, spsc::bounded(1));
        check_sender!(tally, spsc::bounded(7));
    });
}

/// Two tasks pass a value back and forth, each within the send of the other.
#[test]
fn tasks_may_wake_each_other_recursively() {
    let ((there, inbox), (back, outbox)) = (unbounded(), unbounded());
    let count = Count::default();
    let echo = inline(false, async move {
        while let Ok(n) = inbox.receiving().await {
            back.try_send(n).unwrap();
        }
    });
    let first = there.clone();
    let caller = inline(false, {
        let count = count.clone();
        async move {
            while let Ok(n) = outbox.receiving().await {
                count.add(n);
                if n > 0 {
                    there.try_send(n - 1_usize).unwrap();
                } else {
                    return;
                }
            }
        }
    });
    first.try_send(MANY).unwrap();
    assert_eq!(count.get(), MANY + 1);
    assert!(!caller.goes_on() && echo.goes_on());
    drop(first);
    assert!(!echo.goes_on());
}
