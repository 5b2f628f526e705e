//! Shared channels: which fiber sends, receives or closes, and what has become of each value.

use super::{SHORT, Stage, await_for, run_program, wait_randomly};
use crate::{
    common::Counted,
    explore::{Event::*, Seen, any, explore},
};
use anabranch::{
    Cancelled, Cx, Operation, WaitError,
    channel::{self, Closed, Receiver, ReceiverSet, RecvError, Select, Sender, oneshot, spsc},
    select,
};
use shuttle::sync::Mutex;
use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
};

/// What goes through: the number of its sender, its sequence number, and something to be dropped.
type Parcel = (usize, usize, Counted);

/// One of the ways to send. Whether the channel has it, for sure.
fn send(cx: &Cx<'_>, stage: &Stage<'_>, sender: &Sender<Parcel>, parcel: Parcel) -> Result<bool, Closed> {
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
        4 if sender.capacity() != Some(0) => match stage.with_random_cancellation(cx, |cx| sender.reserve(cx)) {
            Ok(permit) => {
                _ = wait_randomly(cx);
                // Given back without a use, now and then.
                if any(0, 3) == 0 { Err(()) } else { permit.send(parcel).map_err(drop) }
            }
            Err(_) => Err(()),
        },
        5 => {
            match select!(cx, { sent = sender.sending(parcel) => sent, () = cx.sleeping(SHORT) => return Ok(false) }) {
                Ok(sent) => sent.map_err(drop),
                Err(Cancelled) => Err(()),
            }
        }
        _ => sender.send(cx, parcel).map_err(drop),
    };
    match stage.note(sent, CutShort, Sent) {
        Some(()) => Ok(true),
        None if sender.is_closed() => Err(Closed),
        None => Ok(false),
    }
}

/// One of the ways to receive. `None`: nothing for now.
fn receive(cx: &Cx<'_>, stage: &Stage<'_>, receiver: &Receiver<Parcel>) -> Result<Vec<Parcel>, Closed> {
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
            Err(error) => error == channel::TryRecvError::Closed,
        },
        _ => match receiver.recv(cx) {
            Ok(parcel) => return one(parcel),
            Err(error) => error == RecvError::Closed,
        },
    };
    stage.seen.add(if closed { Shut } else { Late }, 1);
    if closed { Err(Closed) } else { Ok(Vec::new()) }
}

/// What has come, by sender; each sender's in the order in which it was sent.
#[derive(Default)]
struct Ledger {
    sent: [usize; 2],
    got: Vec<(usize, usize)>,
}

/// Two senders, two receivers, one of whom stays until the channel is closed: what was sent is received, once.
fn check_delivery(seen: &Seen, open: impl Fn() -> (Sender<Parcel>, Receiver<Parcel>) + Sync) {
    run_program(seen, 0, |cx, stage| {
        let (sender, receiver) = open();
        let ledger = Mutex::new(Ledger::default());
        let ledger = &ledger;
        cx.scope(|s| {
            for id in 0..2 {
                let sender = sender.clone();
                s.spawn(move |cx| {
                    for n in 0..any(1, 3) {
                        match send(cx, stage, &sender, (id, n, stage.make())) {
                            Ok(sent) => ledger.lock().unwrap().sent[id] += usize::from(sent),
                            Err(Closed) => break,
                        }
                    }
                    if any(0, 7) == 0 {
                        sender.close();
                    }
                });
            }
            drop(sender);
            for stays in [true, false] {
                let receiver = receiver.clone();
                s.spawn(move |cx| {
                    let mut last = [None; 2];
                    let mut turns = any(0, 3);
                    while stays || turns > 0 {
                        turns = turns.saturating_sub(1);
                        let Ok(parcels) = receive(cx, stage, &receiver) else { break };
                        for (id, n, _) in parcels {
                            assert!(last[id] < Some(n), "{n} of {id} after {:?}", last[id]);
                            last[id] = Some(n);
                            ledger.lock().unwrap().got.push((id, n));
                        }
                        _ = wait_randomly(cx);
                    }
                });
            }
            drop(receiver);
        });
        let ledger = ledger.lock().unwrap();
        stage.assert_received(ledger.sent.iter().sum(), ledger.got.len());
        let mut once = ledger.got.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), ledger.got.len());
    });
}

#[test]
fn bounded_channels_deliver_each_value_once() {
    let seen = explore(8_000, |seen| check_delivery(seen, || channel::bounded(any(1, 2))));
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, CutShort, Late, Sent, Received, Shut]);
}

#[test]
fn unbounded_channels_deliver_each_value_once() {
    let seen = explore(6_000, |seen| check_delivery(seen, channel::unbounded));
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, CutShort, Late, Sent, Received, Shut]);
}

#[test]
fn rendezvous_channels_deliver_each_value_once() {
    let seen = explore(8_000, |seen| check_delivery(seen, channel::rendezvous));
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, CutShort, Late, Sent, Received, Shut]);
}

/// Receivers go before the senders: what is not received is dropped, and a send that cannot succeed returns an error.
#[test]
fn values_are_dropped_or_returned_after_receivers_leave() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 6, |cx, stage| {
            let (sender, receiver) = match any(0, 2) {
                0 => channel::rendezvous(),
                1 => channel::bounded(1),
                _ => channel::unbounded(),
            };
            cx.scope(|s| {
                for _ in 0..2 {
                    let (sender, receiver) = (sender.clone(), receiver.clone());
                    s.spawn(move |cx| {
                        while sender.send(cx, stage.trap.step()).is_ok() {
                            stage.seen.add(Sent, 1);
                            _ = wait_randomly(cx);
                        }
                        assert!(sender.is_closed() || cx.is_cancelled());
                    });
                    s.spawn(move |cx| {
                        for _ in 0..any(0, 2) {
                            let got = stage.with_random_cancellation(cx, |cx| receiver.recv(cx));
                            stage.note(got, CutShort, Received);
                        }
                        drop((stage.trap.step(), receiver));
                    });
                }
                drop((sender, receiver));
            });
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Sent, Received]);
    seen.assert_panics_at(4);
}

/// Both sides send and receive at the same time, each by one wait for either: every value goes once, and none is lost
/// with an arm that was not chosen.
#[test]
fn select_delivers_each_value_once() {
    let seen = explore(10_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let open = || if any(0, 1) == 0 { channel::rendezvous() } else { channel::bounded(1) };
            let (forth, back) = (open(), open());
            const COUNT: usize = 2;
            cx.scope(|s| {
                let sides = [(forth.0.clone(), back.1.clone()), (back.0.clone(), forth.1.clone())];
                drop((forth, back));
                for (sender, receiver) in sides {
                    s.spawn(move |cx| {
                        let (mut sent, mut received) = (0, 0);
                        while sent < COUNT || received < COUNT {
                            let nap = SHORT * any(0, 4) as u32;
                            let done = if sent == COUNT {
                                select!(cx, { got = receiver.receiving() => Some(got), () = cx.sleeping(nap) => None })
                            } else {
                                select!(cx, {
                                    result = sender.sending((sent, stage.make())) => {
                                        assert!(result.is_ok());
                                        sent += 1;
                                        None
                                    }
                                    got = receiver.receiving() => Some(got),
                                    () = cx.sleeping(nap) => {
                                        stage.seen.add(Late, 1);
                                        None
                                    }
                                })
                            };
                            if let Some((n, _)) = done.unwrap().transpose().unwrap() {
                                assert_eq!(n, received);
                                received += 1;
                                stage.seen.add(Received, 1);
                            }
                        }
                    });
                }
            });
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, Late, Received]);
}

/// Many receivers as one, members that come and go, and a selection among a number that only the program knows.
#[test]
fn receiver_sets_deliver_each_value_once() {
    let seen = explore(8_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let (mut set, mut receivers) = (ReceiverSet::new(), Vec::new());
            let (sent, mut got) = (AtomicUsize::new(0), 0);
            cx.scope(|s| {
                let sent = &sent;
                for id in 0..3 {
                    let (sender, receiver) = match id {
                        0 => channel::rendezvous(),
                        1 => channel::bounded(1),
                        _ => channel::unbounded(),
                    };
                    receivers.push(receiver);
                    s.spawn(move |cx| {
                        for n in 0..2 {
                            if let Ok(true) = send(cx, stage, &sender, (id, n, stage.make())) {
                                sent.fetch_add(1, Ordering::Relaxed);
                            }
                            _ = wait_randomly(cx);
                        }
                    });
                }
                // The members, by the name that the set gave them.
                let mut names = HashMap::new();
                for (id, receiver) in receivers.drain(..).enumerate() {
                    names.insert(set.insert(receiver), id);
                }
                let mut out = Vec::new();
                loop {
                    if any(0, 7) == 0
                        && let Some(member) = names.keys().copied().min_by_key(|member| names[member])
                    {
                        // Perhaps it was called just now.
                        let id = names.remove(&member).unwrap();
                        let receiver = set.remove(member).unwrap();
                        if any(0, 1) == 0 {
                            names.insert(set.insert(receiver), id);
                        } else {
                            out.push(receiver);
                        }
                    }
                    let one = match any(0, 2) {
                        0 => match set.receiving().timeout(s, SHORT) {
                            Err(WaitError::TimedOut) => {
                                seen.add(Late, 1);
                                continue;
                            }
                            one => one.map_err(drop).and_then(|one| one.map_err(drop)),
                        },
                        1 => match await_for(s, set.receiving().into_future()) {
                            Ok(one) => one.map_err(drop),
                            Err(_) => continue,
                        },
                        _ => set.recv(s).map_err(drop),
                    };
                    match one {
                        Ok((member, Ok((id, _, _)))) => {
                            assert_eq!(names[&member], id);
                            got += 1;
                        }
                        Ok((member, Err(Closed))) => {
                            seen.add(Shut, 1);
                            names.remove(&member).unwrap();
                        }
                        Err(()) => break,
                    }
                }
                assert!(names.is_empty() && set.is_empty());
                let mut select: Select<_> = out.iter().map(|receiver| receiver.receiving()).collect();
                while !select.is_empty() {
                    match select.wait(s).unwrap() {
                        (_, Ok(_)) => got += 1,
                        (index, Err(Closed)) => drop(select.swap_remove(index)),
                    }
                }
            });
            stage.assert_received(sent.into_inner(), got);
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, CutShort, Late, Sent, Received, Shut]);
}

/// Requests, each with a place for the answer, to a fiber that may stop.
#[test]
fn services_answer_or_close() {
    let seen = explore(6_000, |seen| {
        run_program(seen, 8, |cx, stage| {
            let trap = std::sync::Arc::clone(&stage.trap);
            let service =
                stage.pool.spawn_service(move |cx, requests: Receiver<(u64, oneshot::Sender<(u64, Counted)>)>| {
                    let mut served = 0;
                    for (n, reply) in requests.iter(cx).map_while(Result::ok) {
                        _ = reply.send((n + 1, trap.step()));
                        served += 1;
                    }
                    served
                });
            let answered = AtomicUsize::new(0);
            cx.scope(|s| {
                for n in 0..2 {
                    let (service, answered) = (&service, &answered);
                    s.spawn(move |cx| {
                        for _ in 0..2 {
                            let answer = stage.with_random_cancellation(cx, |cx| service.call(cx, |reply| (n, reply)));
                            if let Some((answer, _)) = stage.note(answer, CutShort, Received) {
                                assert_eq!(answer, n + 1);
                                answered.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    });
                }
            });
            if let Some(served) = stage.trap.ended(service.stop(cx)) {
                assert!((answered.into_inner()..=4).contains(&served));
            }
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Panic, Fiber, Switch, CutShort, Received]);
    seen.assert_panics_at(2);
}

/// A stream as a member of a set of streams.
#[test]
fn receiver_sets_of_streams_deliver_each_value_once() {
    let seen = explore(6_000, |seen| {
        run_program(seen, 0, |cx, stage| {
            let mut set = ReceiverSet::new();
            let mut got = 0;
            cx.scope(|s| {
                for id in 0..3 {
                    let (mut sender, receiver) = if id == 0 { spsc::unbounded() } else { spsc::bounded(id) };
                    set.insert(receiver);
                    s.spawn(move |cx| {
                        for n in 0..3 {
                            sender.send(cx, (id, n, stage.make())).unwrap();
                            _ = wait_randomly(cx);
                        }
                    });
                }
                let mut next = [0; 3];
                loop {
                    match set.recv(s) {
                        Ok((_, Ok((id, n, _)))) => {
                            assert_eq!(n, next[id]);
                            next[id] += 1;
                            got += 1;
                        }
                        Ok((_, Err(Closed))) => seen.add(Shut, 1),
                        Err(error) => break assert_eq!(error, RecvError::Closed),
                    }
                }
            });
            assert_eq!(got, 9);
        });
    });
    seen.assert(&[Stolen, Spare, Lent, Fiber, Switch, Shut]);
}
