//! One-shot channels: the value is received once or dropped once, whatever is closed, cancelled or dropped.

use crate::common::{self, LONG, Tally, in_pools, waits::Polled, watchdog};
use anabranch::channel::{Operation, RecvError, TryRecvError, oneshot};
use std::{thread, time::Duration};

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn oneshot_drops_each_value_once() {
    let tally = Tally::default();
    // Sent and received; sent and not received; not sent; refused; closed before and after.
    let (sender, mut receiver) = oneshot::channel();
    sender.send(tally.make()).unwrap();
    drop(receiver.try_recv().unwrap());
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Closed)));
    let (sender, receiver) = oneshot::channel();
    sender.send(tally.make()).unwrap();
    drop(receiver);
    let (sender, mut receiver) = oneshot::channel::<common::Counted>();
    drop(sender);
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Closed)));
    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    assert!(sender.is_closed());
    drop(sender.send(tally.make()).unwrap_err().0);
    let (sender, mut receiver) = oneshot::channel();
    receiver.close();
    assert!(receiver.is_closed());
    assert!(sender.send(tally.make()).is_err());
    let (sender, mut receiver) = oneshot::channel();
    sender.send(tally.make()).unwrap();
    receiver.close();
    assert!(!receiver.is_empty());
    assert!(receiver.try_recv().is_ok());
    tally.assert_all_dropped();
}

#[test]
fn oneshot_between_fibers() {
    in_pools(|pool| {
        pool.run(|cx| {
            for _ in 0..200 {
                let (sender, mut receiver) = oneshot::channel();
                let (ask, mut asked) = oneshot::channel();
                let (sum, ()) = cx.join(
                    move |cx| {
                        ask.send(20).unwrap();
                        receiver.recv(cx).unwrap() + 1
                    },
                    move |cx| sender.send(asked.recv(cx).unwrap() * 2).unwrap(),
                );
                assert_eq!(sum, 41);
            }
        });
    });
}

#[test]
fn dropped_oneshot_sender_wakes_receiver() {
    in_pools(|pool| {
        pool.run(|cx| {
            let (sender, mut receiver) = oneshot::channel::<u8>();
            let (received, ()) = cx.join(
                move |cx| receiver.recv(cx),
                move |cx| {
                    cx.sleep(SHORT).unwrap();
                    drop(sender);
                },
            );
            assert_eq!(received, Err(RecvError::Closed));
        });
    });
}

/// A future is polled, then dropped, while the other side sends or is dropped: the crate `oneshot` once freed the waker
/// twice here.
#[test]
fn oneshot_futures_may_be_dropped_in_every_state() {
    let tally = Tally::default();
    for sends in [false, true] {
        for polls in 0..3 {
            for ends_before in [false, true] {
                let (sender, mut receiver) = oneshot::channel();
                {
                    let mut future = Polled::new(receiver.receiving().into_future());
                    for _ in 0..polls {
                        assert!(future.poll().is_none());
                    }
                    if ends_before {
                        if sends {
                            sender.send(tally.make()).unwrap()
                        } else {
                            drop(sender)
                        }
                        assert_eq!(future.wakes(), usize::from(polls > 0));
                        // Dropped after it was woken, before it was polled.
                    } else {
                        let _later = thread::spawn({
                            let value = tally.make();
                            move || if sends { drop(sender.send(value)) } else { drop((sender, value)) }
                        });
                    }
                }
                if ends_before {
                    assert_eq!(receiver.try_recv().is_ok(), sends, "what was sent is still there");
                }
            }
        }
    }
    watchdog(LONG, || {
        while tally.made() != tally.dropped() {
            thread::yield_now()
        }
    });
    tally.assert_all_dropped();
}

/// A future that is leaked while it waits must not keep others from waiting.
#[test]
fn forgotten_future_does_not_block_receive() {
    watchdog(LONG, || {
        let (sender, mut receiver) = oneshot::channel();
        std::mem::forget(Polled::waiting(async { receiver.receiving().await }));
        // `receiver` is borrowed by what was forgotten, by the compiler's reckoning for no longer than this.
        let mut again = Polled::waiting(receiver.receiving().into_future());
        sender.send(1).unwrap();
        assert_eq!(again.poll(), Some(Ok(1)));
    });
}

#[test]
fn oneshot_stress_of_threads() {
    watchdog(LONG, || {
        let tally = Tally::default();
        for round in 0..2000 {
            let (sender, mut receiver) = oneshot::channel();
            let value = tally.make();
            let sending = thread::spawn(move || match round % 3 {
                0 => drop(sender.send(value)),
                1 => drop((sender, value)),
                _ => drop(sender.send(value).map_err(drop)),
            });
            match round % 4 {
                0 => drop(receiver),
                1 => receiver.close(),
                2 => drop(anabranch::run(|cx| receiver.recv(cx))),
                _ => drop(anabranch::run(|cx| receiver.receiving().timeout(cx, Duration::from_micros(5)))),
            }
            sending.join().unwrap();
        }
        tally.assert_all_dropped();
    });
}
