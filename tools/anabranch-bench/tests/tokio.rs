//! Channels where one end or both are in tasks of tokio: with its timers and its tasks, which drop a future wherever it
//! waits.
//!
//! Here, and not with the other tests of channels, because tokio is a dependency of the bench alone.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anabranch::{
    Pool,
    channel::{self, Closed, ReceiverSet, Select, bounded, broadcast, oneshot, rendezvous, spsc, unbounded, watch},
    fiber::sleep_async,
    select,
    sync::Mutex,
};
use tokio::{
    runtime::{Builder, Runtime},
    time::{sleep, timeout},
};

const SHORT: Duration = Duration::from_millis(1);
/// Longer than any test.
const LONG: Duration = Duration::from_secs(300);

/// On the runtime of one thread and on that of several, with a pool of one worker and of several.
fn everywhere<F: Future<Output = ()>>(test: impl Fn(Arc<Pool>) -> F) {
    let one = || Builder::new_current_thread().enable_time().build().unwrap();
    let several = || Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
    let runtimes: [fn() -> Runtime; 2] = [one, several];
    for runtime in runtimes {
        for threads in [1, 4] {
            let pool = Arc::new(Pool::builder().threads(threads).build().unwrap());
            runtime().block_on(async { timeout(LONG, test(pool)).await.expect("this hangs") });
        }
    }
}

/// A value that counts how often it was dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn fibers_send_and_tasks_receive() {
    everywhere(|pool| async move {
        for (sender, receiver) in [rendezvous(), bounded(1), bounded(64), unbounded()] {
            let sending = pool.spawn(move |cx| (0..1000_u64).try_for_each(|n| sender.send(cx, n)));
            let receiving: Vec<_> = (0..3)
                .map(|_| {
                    let receiver = receiver.clone();
                    tokio::spawn(async move {
                        let mut sum = 0;
                        while let Ok(n) = receiver.receiving().await {
                            sum += n;
                        }
                        sum
                    })
                })
                .collect();
            let mut sum = 0;
            for task in receiving {
                sum += task.await.unwrap();
            }
            assert_eq!(sum, 499_500);
            assert_eq!(sending.await.unwrap(), Ok(()));
        }
    });
}

#[test]
fn tasks_send_and_fibers_receive() {
    everywhere(|pool| async move {
        let (mut sender, mut receiver) = spsc::bounded(8);
        let receiving = pool.spawn(move |cx| receiver.iter(cx).eq((0..2000).map(Ok)));
        let sending = tokio::spawn(async move {
            for n in 0..2000 {
                sender.sending(n).await.unwrap();
            }
        });
        sending.await.unwrap();
        assert!(receiving.await.unwrap());
    });
}

/// A receive that tokio's timer drops has received nothing, and the value comes to the next.
#[test]
fn abandoned_receive_loses_nothing() {
    everywhere(|pool| async move {
        let (sender, receiver) = bounded(1);
        let (mut inlet, mut outlet) = spsc::bounded(1);
        let (reply, mut answer) = oneshot::channel();
        assert!(timeout(SHORT, receiver.receiving()).await.is_err());
        assert!(timeout(SHORT, outlet.receiving()).await.is_err());
        assert!(timeout(SHORT, answer.receiving()).await.is_err());
        let sending = pool.spawn(move |cx| {
            reply.send(0).unwrap();
            for n in 0..500_u32 {
                sender.send(cx, n).unwrap();
                inlet.send(cx, n).unwrap();
            }
        });
        for n in 0..500 {
            // The time is up before, while, and after the value comes.
            let time = Duration::from_micros(u64::from(n % 7) * 30);
            let got = loop {
                if let Ok(got) = timeout(time, receiver.receiving()).await {
                    break got;
                }
                tokio::task::yield_now().await;
            };
            assert_eq!(got, Ok(n));
            let got = loop {
                if let Ok(got) = timeout(time, outlet.receiving()).await {
                    break got;
                }
                tokio::task::yield_now().await;
            };
            assert_eq!(got, Ok(n));
        }
        assert_eq!(answer.receiving().await, Ok(0));
        assert_eq!(receiver.receiving().await, Err(Closed));
        drop(sending);
    });
}

/// Tasks that wait are aborted: a task that waits behind them is woken in their place, and what they offered is dropped
/// once.
#[test]
fn tasks_that_are_aborted_leave_nothing_behind() {
    everywhere(|_| async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let make = || Counted(Arc::clone(&dropped));
        for round in 0..50 {
            let (sender, receiver) = bounded(1);
            let waiting = [(); 4].map(|()| {
                let receiver = receiver.clone();
                tokio::spawn(async move { receiver.receiving().await.is_ok() })
            });
            tokio::task::yield_now().await;
            assert!(sender.try_send(make()).is_ok());
            for task in waiting.iter().take(round % 4) {
                task.abort();
            }
            drop(receiver);
            while !sender.is_empty() {
                tokio::task::yield_now().await;
            }
            // The others learn that there is nothing more.
            sender.close();
            let mut received = 0;
            for task in waiting {
                received += usize::from(task.await.unwrap_or(false));
            }
            assert_eq!(received, 1);

            let (sender, receiver) = rendezvous();
            let offers = [(); 4].map(|()| {
                let (sender, value) = (sender.clone(), make());
                tokio::spawn(async move { sender.sending(value).await.is_ok() })
            });
            tokio::task::yield_now().await;
            for task in offers.iter().take(round % 5) {
                task.abort();
            }
            drop(sender);
            let mut taken = 0;
            while receiver.receiving().await.is_ok() {
                taken += 1;
            }
            let mut sent = 0;
            for task in offers {
                sent += usize::from(task.await.unwrap_or(false));
            }
            // A task that is aborted as its value is taken does not say that it was.
            assert!(sent <= taken && taken <= 4);
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 50 * 5);
    });
}

/// `select!`, a `Select` and a set, with sleeps of either runtime.
#[test]
fn selections_in_tasks() {
    everywhere(|pool| async move {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..10).map(|_| unbounded()).unzip();
        let (streams, outlets): (Vec<_>, Vec<_>) = (0..10).map(|_| spsc::bounded(2)).unzip();
        let (stop, mut stopped) = watch::channel(false);
        let sending = pool.spawn(move |cx| {
            for n in 0..300_u64 {
                senders[n as usize % 10].send(cx, n).unwrap();
                cx.yield_now();
            }
        });
        let streaming: Vec<_> = streams
            .into_iter()
            .map(|mut stream| {
                tokio::spawn(async move {
                    for n in 0..100_u64 {
                        stream.sending(n).await.unwrap();
                        if n % 40 == 0 {
                            sleep(SHORT).await;
                        }
                    }
                })
            })
            .collect();
        let chosen = tokio::spawn(async move {
            let mut select: Select<_> = receivers.iter().map(|receiver| receiver.receiving()).collect();
            let (mut sum, mut closed) = (0, 0);
            while closed < 10 {
                match timeout(SHORT, select.wait_async()).await {
                    Ok((_, Ok(n))) => sum += n,
                    Ok((index, Err(Closed))) => {
                        drop(select.swap_remove(index));
                        closed += 1;
                    }
                    Err(_) => {}
                }
            }
            sum
        });
        let streamed = tokio::spawn(async move {
            let mut set: ReceiverSet<_> = outlets.into_iter().collect();
            let mut sum = 0;
            loop {
                let is_over = select!(async, {
                    got = set.receiving() => match got {
                        Ok((_, Ok(n))) => { sum += n; false }
                        Ok((_, Err(Closed))) => false,
                        Err(Closed) => true,
                    },
                    () = sleep_async(SHORT) => false,
                    _ = stopped.receiving() => panic!("nobody stops this"),
                });
                if is_over {
                    return sum;
                }
            }
        });
        assert_eq!(chosen.await.unwrap(), 300 * 299 / 2);
        assert_eq!(streamed.await.unwrap(), 10 * 4950);
        for task in streaming {
            task.await.unwrap();
        }
        drop((stop, sending));
    });
}

/// All get all, on whichever runtime they are, and locks are the same for both.
#[test]
fn shared_data_is_seen_by_both_runtimes() {
    everywhere(|pool| async move {
        let (events, _) = broadcast::channel(1000);
        let total = Arc::new(Mutex::new(0));
        let (ready, is_ready) = channel::unbounded();
        let fibers = [(); 3].map(|()| {
            let (mut events, total, ready) = (events.subscribe(), Arc::clone(&total), ready.clone());
            pool.spawn(move |cx| {
                ready.send(cx, ()).unwrap();
                while let Ok(n) = events.recv(cx) {
                    *total.lock(cx).unwrap() += *n;
                }
            })
        });
        let tasks = [(); 3].map(|()| {
            let (mut events, total, ready) = (events.subscribe(), Arc::clone(&total), ready.clone());
            tokio::spawn(async move {
                ready.sending(()).await.unwrap();
                while let Ok(n) = events.receiving().await {
                    *total.locking().await += *n;
                }
            })
        });
        for _ in 0..6 {
            is_ready.receiving().await.unwrap();
        }
        for n in 0..500_u64 {
            events.send(n).unwrap();
            if n % 50 == 0 {
                sleep(SHORT).await;
            }
        }
        drop(events);
        for task in tasks {
            task.await.unwrap();
        }
        for fiber in fibers {
            fiber.await.unwrap();
        }
        assert_eq!(*total.try_lock().unwrap(), 6 * 500 * 499 / 2);
    });
}
