//! Channels between fibers and threads of no pool, which block: every value arrives once, and a thread that waits is
//! woken by values, by room and by closing.

use super::{SHORT, Stage, run_program};
use crate::{
    common::Counted,
    explore::{Event::*, any, explore, pause_randomly},
};
use anabranch::{
    Cx, Operation, TimedOut,
    channel::{self, Receiver, Sender, oneshot, spsc},
    sync::{AcquireError, Semaphore, TryAcquireError},
};
use shuttle::thread;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// A thread of no pool sends up to three values, and perhaps closes the channel. Returns how many it has sent.
fn send_blocking(sender: Sender<Counted>, values: Vec<Counted>) -> usize {
    let count = values.into_iter().filter_map(|value| sender.send_blocking(value).ok()).count();
    if any(0, 3) == 0 {
        sender.close();
    }
    count
}

/// A thread of no pool receives until the channel is closed. Returns how many values have come.
fn receive_blocking(receiver: Receiver<Counted>) -> usize {
    let mut count = 0;
    loop {
        let received = match any(0, 1) {
            0 => Ok(receiver.recv_blocking()),
            _ => receiver.receiving().blocking_timeout(SHORT),
        };
        match received {
            Ok(Ok(_)) => count += 1,
            Ok(Err(_)) => return count,
            Err(TimedOut) => {}
        }
        if any(0, 7) == 0 {
            receiver.close();
        }
    }
}

/// The same on a fiber.
fn receive(cx: &Cx<'_>, stage: &Stage<'_>, receiver: &Receiver<Counted>) -> usize {
    let mut count = 0;
    while let Some(_value) = stage.note(receiver.recv(cx), Shut, Received) {
        count += 1;
    }
    count
}

#[test]
fn plain_threads_and_fibers_share_a_channel() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let (sender, receiver) = match any(0, 2) {
                0 => channel::rendezvous(),
                1 => channel::bounded(1),
                _ => channel::unbounded(),
            };
            let make = |count| (0..count).map(|_| stage.make()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..any(0, 2))
                .map(|_| (sender.clone(), make(any(1, 3))))
                .map(|(sender, values)| thread::spawn(move || (send_blocking(sender, values), 0)))
                .collect();
            let others: Vec<_> = (0..any(0, 2))
                .map(|_| receiver.clone())
                .map(|receiver| thread::spawn(move || (0, receive_blocking(receiver))))
                .collect();
            let (mut sent, mut received) = cx.scope(|s| {
                let sends = s.spawn(move |cx| {
                    let sent = make(any(0, 3)).into_iter().filter_map(|value| sender.send(cx, value).ok()).count();
                    drop(sender);
                    sent
                });
                let received = receive(s, stage, &receiver);
                (sends.join(s).unwrap(), received)
            });
            for (its_sent, its_received) in threads.into_iter().chain(others).map(|thread| thread.join().unwrap()) {
                sent += its_sent;
                received += its_received;
            }
            seen.add(Sent, sent as u64);
            assert_eq!(sent, received);
        });
    });
    seen.assert(&[Switch, Sent, Received, Shut]);
}

/// One end of a stream is on a thread of no pool, and either end closes.
#[test]
fn plain_thread_and_fiber_share_a_stream() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let (mut sender, mut receiver) = if any(0, 1) == 0 { spsc::bounded(1) } else { spsc::unbounded() };
            let values: Vec<_> = (0..any(1, 4)).map(|_| stage.make()).collect();
            // A sender that waits for the end sends no more.
            let most = any(0, values.len());
            let (sent, received);
            if any(0, 1) == 0 {
                let sending = thread::spawn(move || {
                    pause_randomly();
                    let sent = values.into_iter().filter_map(|value| sender.send_blocking(value).ok()).count();
                    if any(0, 1) == 0 {
                        // The receiver ends, and not before it has all.
                        sender.closing().blocking();
                    }
                    sent
                });
                let got = (0..most).map_while(|_| receiver.recv(cx).ok()).count();
                receiver.close();
                received = got + receiver.drain().count();
                drop(receiver);
                sent = sending.join().unwrap();
            } else {
                let receiving = thread::spawn(move || {
                    pause_randomly();
                    let got = (0..most).map_while(|_| receiver.recv_blocking().ok()).count();
                    receiver.close();
                    got + receiver.drain().count()
                });
                sent = values.into_iter().filter_map(|value| sender.send(cx, value).ok()).count();
                if any(0, 1) == 0 {
                    sender.closed(cx).expect("nothing cancels this");
                }
                drop(sender);
                received = receiving.join().unwrap();
            }
            seen.add(Sent, sent as u64);
            seen.add(Received, received as u64);
            assert_eq!(sent, received);
        });
    });
    seen.assert(&[Switch, Sent, Received]);
}

/// One end of a one-shot channel is on a thread of no pool.
#[test]
fn plain_thread_and_fiber_share_a_oneshot() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let (mut sender, mut receiver) = oneshot::channel();
            let value = stage.make();
            let sends = any(0, 2) > 0;
            let is_blocking = any(0, 1) == 0;
            if any(0, 1) == 0 {
                // The thread receives.
                let receiving = thread::spawn(move || receiver.recv_blocking().is_ok());
                if any(0, 1) == 0 {
                    pause_randomly();
                }
                let is_sent = if sends {
                    sender.send(value).is_ok()
                } else {
                    drop(sender);
                    false
                };
                assert_eq!(receiving.join().unwrap(), is_sent);
                seen.add(if is_sent { Received } else { Shut }, 1);
            } else {
                // The thread waits until the fiber, which receives or leaves, is gone; or the other way round.
                let going = thread::spawn(move || {
                    pause_randomly();
                    if any(0, 1) == 0 { receiver.close() } else { drop(receiver) }
                });
                if is_blocking {
                    sender.closing().blocking()
                } else {
                    sender.closed(cx).expect("nothing cancels this")
                }
                assert!(sender.is_closed() && sender.send(value).is_err());
                going.join().unwrap();
            }
        });
    });
    seen.assert(&[Switch, Received, Shut]);
}

#[test]
fn closing_a_semaphore_ends_every_wait() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            // Without a permit, only closing ends a wait.
            let permits = any(0, 2);
            let (semaphore, taken) = (Arc::new(Semaphore::new(permits)), AtomicUsize::new(0));
            let closing = thread::spawn({
                let semaphore = Arc::clone(&semaphore);
                move || {
                    (0..any(0, 6)).for_each(|_| pause_randomly());
                    semaphore.close();
                }
            });
            cx.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|cx| {
                        loop {
                            let count = any(1, 2);
                            let permit = match any(0, 2) {
                                0 => semaphore.acquiring(count).timeout(cx, SHORT).ok().and_then(Result::ok),
                                1 => semaphore.try_acquire_many(count).ok(),
                                _ => match semaphore.acquire_many(cx, count) {
                                    Ok(permit) => Some(permit),
                                    Err(error) => {
                                        assert_eq!(error, AcquireError::Closed);
                                        assert_eq!(semaphore.try_acquire().err(), Some(TryAcquireError::Closed));
                                        return stage.seen.add(Shut, 1);
                                    }
                                },
                            };
                            let Some(permit) = permit else { continue };
                            stage.seen.add(Received, 1);
                            assert!(taken.fetch_add(count, Ordering::Relaxed) + count <= permits);
                            cx.yield_now();
                            taken.fetch_sub(count, Ordering::Relaxed);
                            drop(permit);
                        }
                    });
                }
            });
            closing.join().unwrap();
            assert_eq!((semaphore.available(), semaphore.is_closed()), (permits, true));
        });
    });
    seen.assert(&[Fiber, Switch, Received, Shut]);
}
