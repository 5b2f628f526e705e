//! Channels with one end each, and those on which everybody sees everything.

use super::{SHORT, Stage, await_for, run_program, wait_randomly};
use crate::{
    common::Counted,
    explore::{Event::*, any, explore},
};
use anabranch::{
    Cx, Operation, WaitError,
    channel::{Closed, RecvError, TryRecvError, broadcast, broadcast::ClosedOrLagged, oneshot, spsc, watch},
    select,
};
use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering},
};

/// One value, once, or a word that it will not come.
#[test]
fn oneshots_deliver_once_or_close() {
    let seen = explore(12_000, |seen| {
        run_program(seen, 4, |cx, stage| {
            let (sender, mut receiver) = oneshot::channel();
            let (sent, got) = cx.join(
                |cx| {
                    _ = wait_randomly(cx);
                    if any(0, 5) == 0 { false } else { sender.send(stage.trap.step()).is_ok() }
                },
                |cx| {
                    for _ in 0..any(0, 2) {
                        match any(0, 4) {
                            0 => match receiver.try_recv() {
                                Ok(value) => return Ok(value),
                                Err(TryRecvError::Closed) => return Err(Closed),
                                Err(TryRecvError::Empty) => _ = wait_randomly(cx),
                            },
                            1 => match receiver.receiving().timeout(cx, SHORT) {
                                Ok(got) => return got,
                                Err(_) => seen.add(Late, 1),
                            },
                            2 => match await_for(cx, receiver.receiving().into_future()) {
                                Ok(result) => return result,
                                Err(WaitError::TimedOut) => seen.add(Late, 1),
                                Err(WaitError::Cancelled) => seen.add(CutShort, 1),
                            },
                            3 => match stage.with_random_cancellation(cx, |cx| receiver.recv(cx)) {
                                Ok(value) => return Ok(value),
                                Err(RecvError::Closed) => return Err(Closed),
                                Err(RecvError::Cancelled) => seen.add(CutShort, 1),
                            },
                            _ => match select!(cx, { got = receiver.receiving() => Some(got), () = cx.sleeping(SHORT) => None }) {
                                Ok(Some(result)) => return result,
                                _ => seen.add(Late, 1),
                            },
                        }
                    }
                    if any(0, 2) == 0 {
                        receiver.close();
                    }
                    receiver.recv(cx).map_err(|_| Closed)
                },
            );
            if sent || cx.is_cancelled() {
                // What was sent was received, closed or not.
                assert!(got.is_ok() || cx.is_cancelled());
            } else {
                assert!(got.is_err());
            }
            stage.note(got, Shut, Received);
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Late, Received, Shut]);
    seen.assert_panics_at(1);
}

type Parcel = (usize, Counted);

fn send(cx: &Cx<'_>, stage: &Stage<'_>, sender: &mut spsc::Sender<Parcel>, parcel: Parcel) -> bool {
    let sent = match any(0, 6) {
        0 => sender.try_send(parcel).map_err(drop),
        1 => sender.sending(parcel).timeout(cx, SHORT).map_err(drop).and_then(|sent| sent.map_err(drop)),
        2 => match await_for(cx, sender.sending(parcel).into_future()) {
            Ok(sent) => sent.map_err(drop),
            Err(_) => {
                stage.unsure.fetch_add(1, Ordering::Relaxed);
                Err(())
            }
        },
        3 => stage.with_random_cancellation(cx, |cx| sender.send(cx, parcel).map_err(drop)),
        4 => match stage.with_random_cancellation(cx, |cx| sender.reserve(cx)) {
            Ok(permit) if any(0, 3) > 0 => {
                _ = wait_randomly(cx);
                permit.send(parcel).map_err(drop)
            }
            _ => Err(()),
        },
        5 => match select!(cx, { sent = sender.sending(parcel) => sent, () = cx.sleeping(SHORT) => return false }) {
            Ok(sent) => sent.map_err(drop),
            Err(_) => Err(()),
        },
        _ => sender.send(cx, parcel).map_err(drop),
    };
    stage.note(sent, CutShort, Sent).is_some()
}

fn receive(cx: &Cx<'_>, stage: &Stage<'_>, receiver: &mut spsc::Receiver<Parcel>) -> Result<Vec<Parcel>, Closed> {
    let one = |parcel| Ok(vec![parcel]);
    let closed = match any(0, 6) {
        0 => match receiver.receiving().timeout(cx, SHORT) {
            Ok(Ok(parcel)) => return one(parcel),
            Ok(Err(Closed)) => true,
            Err(_) => false,
        },
        1 => match await_for(cx, receiver.receiving().into_future()) {
            Ok(Ok(parcel)) => return one(parcel),
            Ok(Err(Closed)) => true,
            Err(_) => false,
        },
        2 => match stage.with_random_cancellation(cx, |cx| receiver.recv(cx)) {
            Ok(parcel) => return one(parcel),
            Err(error) => error == RecvError::Closed,
        },
        3 => {
            let mut parcels = Vec::new();
            match receiver.recv_many(cx, &mut parcels, 3) {
                Ok(count) => {
                    assert!(count == parcels.len() && count > 0);
                    return Ok(parcels);
                }
                Err(error) => error == RecvError::Closed,
            }
        }
        4 => match select!(cx, { parcel = receiver.receiving() => Some(parcel), () = cx.sleeping(SHORT) => None }) {
            Ok(Some(Ok(parcel))) => return one(parcel),
            Ok(Some(Err(Closed))) => true,
            _ => false,
        },
        5 => match receiver.try_recv() {
            Ok(parcel) => return one(parcel),
            Err(error) => error == TryRecvError::Closed,
        },
        _ => match receiver.recv(cx) {
            Ok(parcel) => return one(parcel),
            Err(error) => error == RecvError::Closed,
        },
    };
    stage.seen.add(if closed { Shut } else { Late }, 1);
    if closed { Err(Closed) } else { Ok(Vec::new()) }
}

/// In order, once, all that was sent, also when an end is closed; what is not received is dropped.
#[test]
fn streams_deliver_in_order_once() {
    let seen = explore(16_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let (mut sender, mut receiver) = if any(0, 2) == 0 { spsc::unbounded() } else { spsc::bounded(any(1, 3)) };
            let leaves = any(0, 3) == 0;
            let (sent, got) = cx.join(
                |cx| {
                    let mut sent = 0;
                    for n in 0..any(1, 6) {
                        sent += usize::from(send(cx, stage, &mut sender, (n, stage.make())));
                    }
                    if any(0, 3) == 0 {
                        sender.close();
                    }
                    drop(sender);
                    sent
                },
                |cx| {
                    let (mut got, mut last) = (0, None);
                    let turns = if leaves { any(0, 4) } else { usize::MAX };
                    for _ in 0..turns {
                        let Ok(parcels) = receive(cx, stage, &mut receiver) else { break };
                        for (n, _) in parcels {
                            assert!(last < Some(n));
                            last = Some(n);
                            got += 1;
                        }
                        if any(0, 15) == 0 {
                            receiver.close();
                        }
                        _ = wait_randomly(cx);
                    }
                    drop(receiver);
                    got
                },
            );
            if leaves && got < sent {
                seen.add(Missed, (sent - got) as u64);
            } else {
                stage.assert_received(sent, got);
            }
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, CutShort, Late, Sent, Received, Shut, Missed]);
}

/// Everybody sees the last value, and none sees an older one after a newer.
#[test]
fn watches_never_go_back() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let (sender, receiver) = watch::channel((0, stage.make()));
            let highest = AtomicUsize::new(0);
            cx.scope(|s| {
                for _ in 0..2 {
                    let (sender, highest) = (sender.clone(), &highest);
                    s.spawn(move |cx| {
                        for _ in 0..2 {
                            // Of two senders the one may be overtaken by the other: so this is not what is sent last.
                            let n = highest.fetch_add(1, Ordering::Relaxed) + 1;
                            sender.send((n, stage.make())).unwrap();
                            seen.add(Sent, 1);
                            _ = wait_randomly(cx);
                        }
                    });
                }
                drop(sender);
                for _ in 0..2 {
                    let mut receiver = receiver.clone();
                    s.spawn(move |cx| {
                        let mut count = 0;
                        loop {
                            let result = match any(0, 2) {
                                0 => match receiver.receiving().timeout(cx, SHORT) {
                                    Ok(result) => result.map_err(|Closed| true),
                                    Err(_) => Err(false),
                                },
                                1 => match await_for(cx, receiver.receiving().into_future()) {
                                    Ok(result) => result.map_err(|Closed| true),
                                    Err(_) => Err(false),
                                },
                                _ => stage
                                    .with_random_cancellation(cx, |cx| receiver.recv(cx))
                                    .map_err(|error| error == RecvError::Closed),
                            };
                            match result {
                                Ok(_) => count += 1,
                                Err(true) => break,
                                Err(false) => seen.add(Late, 1),
                            }
                        }
                        assert!((1..=4).contains(&count) && !receiver.has_changed());
                        seen.add(Received, count);
                    });
                }
            });
            assert_eq!(highest.into_inner(), 4);
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, Late, Sent, Received]);
}

/// Everybody gets everything, in the one order, or learns how much was missed.
#[test]
fn broadcasts_deliver_in_order_or_report_lag() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let (sender, receiver) = broadcast::channel(2);
            cx.scope(|s| {
                let mut receivers = vec![receiver];
                receivers.push(sender.subscribe());
                for id in 0..2 {
                    let sender = sender.clone();
                    s.spawn(move |cx| {
                        for n in 0..2 {
                            if sender.send((id, n, stage.make())).is_ok() {
                                seen.add(Sent, 1);
                            }
                            _ = wait_randomly(cx);
                        }
                    });
                }
                drop(sender);
                for mut receiver in receivers {
                    let stays = any(0, 3) > 0;
                    s.spawn(move |cx| {
                        let (mut count, mut last) = (0, [None; 2]);
                        let missed = Cell::new(0);
                        let lagged = |n| {
                            assert!(n > 0);
                            missed.set(missed.get() + n);
                            Ok(None)
                        };
                        while stays || count < 1 {
                            // `Ok(None)`: some were missed.
                            let result = match any(0, 2) {
                                0 => match receiver.receiving().timeout(cx, SHORT) {
                                    Ok(Ok(parcel)) => Ok(Some(parcel)),
                                    Ok(Err(ClosedOrLagged::Lagged(n))) => lagged(n),
                                    Ok(Err(ClosedOrLagged::Closed)) => Err(true),
                                    Err(_) => Err(false),
                                },
                                1 => match await_for(cx, receiver.receiving().into_future()) {
                                    Ok(Ok(parcel)) => Ok(Some(parcel)),
                                    Ok(Err(ClosedOrLagged::Lagged(n))) => lagged(n),
                                    Ok(Err(ClosedOrLagged::Closed)) => Err(true),
                                    Err(_) => Err(false),
                                },
                                _ => match stage.with_random_cancellation(cx, |cx| receiver.recv(cx)) {
                                    Ok(parcel) => Ok(Some(parcel)),
                                    Err(broadcast::RecvError::Lagged(n)) => lagged(n),
                                    Err(error) => Err(error == broadcast::RecvError::Closed),
                                },
                            };
                            match result {
                                Ok(None) => {}
                                Ok(Some(parcel)) => {
                                    assert!(last[parcel.0] < Some(parcel.1));
                                    last[parcel.0] = Some(parcel.1);
                                    count += 1;
                                }
                                Err(true) => break,
                                Err(false) => seen.add(Late, 1),
                            }
                            _ = wait_randomly(cx);
                        }
                        assert_eq!(missed.get(), receiver.lagged());
                        if stays {
                            assert_eq!(count + receiver.lagged(), 4);
                        }
                        seen.add(Received, count);
                        seen.add(Missed, receiver.lagged());
                    });
                }
            });
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, Late, Sent, Received, Missed]);
}
