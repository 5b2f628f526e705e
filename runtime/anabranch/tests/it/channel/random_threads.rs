//! Threads send, receive, cancel, close and drop at random.

use crate::common::{Counted, LONG, Random, Tally, waits::Polled, watchdog};
use anabranch::{
    Operation,
    channel::{Closed, Receiver, ReceiverSet, Select, Sender, TryRecvError, bounded, rendezvous, spsc, unbounded},
    select,
};
use std::{collections::VecDeque, thread, time::Duration};

fn shared<T>() -> [(Sender<T>, Receiver<T>); 4] {
    [rendezvous(), bounded(1), bounded(50), unbounded()]
}

/// The sender, the sequence number, and the counter of drops.
type Numbered = (usize, u32, Counted);

/// Sends in a random form, which may be abandoned. Returns whether the value was sent.
fn send_somehow(chance: &mut Random, sender: &Sender<Numbered>, value: Numbered) -> Result<(), Option<Closed>> {
    let time = Duration::from_micros(chance.below(30));
    let has_room = sender.capacity() != Some(0);
    match chance.below(6) {
        0 => sender.try_send(value).map_err(|error| (!error.is_full()).then_some(Closed)),
        1 => anabranch::run(|cx| sender.sending(value).timeout(cx, time)).map_err(|_| None)?.map_err(|_| Some(Closed)),
        2 => match Polled::new(sender.sending(value).into_future()).poll() {
            Some(sent) => sent.map_err(|_| Some(Closed)),
            // It may be taken before it is dropped.
            None => Err(None),
        },
        3 if has_room => match sender.try_reserve().ok() {
            Some(permit) if chance.below(3) > 0 => permit.send(value).map_err(|_| Some(Closed)),
            _ => Err(None),
        },
        4 => anabranch::run(|cx| {
            select!(cx, {
                sent = sender.sending(value) => sent.map_err(|_| Some(Closed)),
                () = cx.sleeping(time) => Err(None),
            })
        })
        .unwrap(),
        _ => {
            let weak = sender.downgrade();
            let again = weak.upgrade().expect("there is this one");
            anabranch::run(|cx| again.sending(value).timeout(cx, time)).map_err(|_| None)?.map_err(|_| Some(Closed))
        }
    }
}

/// Receives in a random form, which may be abandoned.
fn receive_somehow(
    chance: &mut Random,
    receiver: &Receiver<Numbered>,
    got: &mut Vec<Numbered>,
) -> Result<(), Option<Closed>> {
    let time = Duration::from_micros(chance.below(30));
    match chance.below(6) {
        0 => got.push(receiver.try_recv().map_err(|error| (error == TryRecvError::Closed).then_some(Closed))?),
        1 => got.push(anabranch::run(|cx| receiver.receiving().timeout(cx, time)).map_err(|_| None)?.map_err(Some)?),
        2 => match Polled::new(receiver.receiving().into_future()).poll() {
            Some(received) => got.push(received.map_err(Some)?),
            None => return Err(None),
        },
        3 => got.extend(receiver.drain().take(3)),
        4 => {
            let mut select = Select::from(vec![receiver.receiving(), receiver.receiving()]);
            match anabranch::run(|cx| select.timeout(cx, time)) {
                Ok((_, received)) => got.push(received.map_err(Some)?),
                Err(_) => return Err(None),
            }
        }
        _ => {
            if !receiver.is_empty() {
                anabranch::run(|cx| {
                    cx.timeout(LONG, |cx| Ok::<_, anabranch::TimedOut>(receiver.recv_many(cx, got, 5)))
                })
                .map_err(|_| None)?
                .map_err(|_| Some(Closed))?;
            }
        }
    }
    Ok(())
}

/// Threads send, receive, give up, close and go in all ways: what was sent is received once or dropped once, in the
/// order of its sender.
#[test]
fn random_operations_of_threads_lose_nothing() {
    watchdog(LONG, || {
        for round in 0..12 {
            for (sender, receiver) in shared() {
                let tally = Tally::default();
                // What ends the channel: a sender or a receiver that closes it, or the drop of all ends.
                let end = round % 4;
                let got = thread::scope(|s| {
                    for id in 0..2 {
                        let (sender, tally) = (sender.clone(), tally.clone());
                        let mut chance = Random(0x5EED ^ (round * 31 + id as u64 + 1));
                        s.spawn(move || {
                            for n in 0..150 {
                                if send_somehow(&mut chance, &sender, (id, n, tally.make())) == Err(Some(Closed)) {
                                    return;
                                }
                            }
                            if end == 0 {
                                sender.close();
                            }
                        });
                    }
                    drop(sender);
                    let handles = [0, 1].map(|id| {
                        let receiver = receiver.clone();
                        let mut chance = Random(0xFEED_0000 ^ (round * 37 + id + 1));
                        s.spawn(move || {
                            let mut got = Vec::new();
                            for n in 0.. {
                                if receive_somehow(&mut chance, &receiver, &mut got) == Err(Some(Closed)) {
                                    break;
                                }
                                match end {
                                    1 if n == 60 => receiver.close(),
                                    2 if n == 60 => break,
                                    _ => {}
                                }
                            }
                            got
                        })
                    });
                    drop(receiver);
                    handles.map(|handle| handle.join().unwrap())
                });
                let mut all = Vec::new();
                for list in got {
                    let mut next = [0; 2];
                    for (id, n, value) in list {
                        assert!(n >= next[id], "the order of a sender");
                        next[id] = n + 1;
                        all.push((id, n));
                        drop(value);
                    }
                }
                let count = all.len();
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), count, "each comes once");
                tally.assert_all_dropped();
            }
        }
    });
}

/// Like [`send_somehow`], for the first of these, or the first few, into a stream.
fn stream_somehow(
    chance: &mut Random,
    sender: &mut spsc::Sender<Numbered>,
    values: &mut VecDeque<Numbered>,
) -> Result<(), Closed> {
    let time = Duration::from_micros(chance.below(30));
    let Some(value) = values.pop_front() else { return Ok(()) };
    // What was not sent comes first the next time, if it came back.
    let back = match chance.below(7) {
        0 => sender.try_send(value).map_err(|error| (!error.is_full(), Some(error.into_inner()))),
        1 => {
            let mut send = sender.sending(value);
            match anabranch::run(|cx| send.timeout(cx, time)) {
                Ok(sent) => sent.map_err(|refused| (true, Some(refused.0))),
                Err(_) => Err((false, send.into_inner())),
            }
        }
        2 => match Polled::new(sender.sending(value).into_future()).poll() {
            Some(sent) => sent.map_err(|refused| (true, Some(refused.0))),
            None => Err((false, None)),
        },
        3 => match sender.try_reserve().ok() {
            Some(permit) if chance.below(3) > 0 => permit.send(value).map_err(|refused| (true, Some(refused.0))),
            _ => Err((false, Some(value))),
        },
        4 => anabranch::run(|cx| {
            select!(cx, {
                sent = sender.sending(value) => sent.map_err(|refused| (true, Some(refused.0))),
                () = cx.sleeping(time) => Err((false, None)),
            })
        })
        .unwrap(),
        5 => {
            values.push_front(value);
            let mut few: VecDeque<_> = values.drain(..values.len().min(5)).collect();
            let sent = Polled::new(sender.send_all_async(&mut few)).poll();
            few.append(values);
            *values = few;
            return sent.unwrap_or(Ok(()));
        }
        _ => match anabranch::run(|cx| sender.reserving().timeout(cx, time)) {
            Ok(Ok(permit)) => permit.send(value).map_err(|refused| (true, Some(refused.0))),
            Ok(Err(Closed)) => Err((true, Some(value))),
            Err(_) => Err((false, Some(value))),
        },
    };
    let Err((is_closed, value)) = back else { return Ok(()) };
    value.into_iter().for_each(|value| values.push_front(value));
    if is_closed { Err(Closed) } else { Ok(()) }
}

/// Like [`receive_somehow`], from a stream.
fn take_somehow(
    chance: &mut Random,
    receiver: &mut spsc::Receiver<Numbered>,
    got: &mut Vec<Numbered>,
) -> Result<(), Option<Closed>> {
    let time = Duration::from_micros(chance.below(30));
    match chance.below(6) {
        0 => got.push(receiver.try_recv().map_err(|error| (error == TryRecvError::Closed).then_some(Closed))?),
        1 => got.push(anabranch::run(|cx| receiver.receiving().timeout(cx, time)).map_err(|_| None)?.map_err(Some)?),
        2 => match Polled::new(receiver.receiving().into_future()).poll() {
            Some(received) => got.push(received.map_err(Some)?),
            None => return Err(None),
        },
        3 => got.extend(receiver.drain().take(3)),
        4 => {
            let mut select = Select::from(vec![receiver.receiving()]);
            // From the second wait on it goes on waiting between them.
            for _ in 0..3 {
                match anabranch::run(|cx| select.timeout(cx, time)) {
                    Ok((_, received)) => got.push(received.map_err(Some)?),
                    Err(_) => return Err(None),
                }
            }
        }
        _ => {
            // For a while it is a member of a set.
            let (_, elsewhere) = spsc::unbounded();
            let mut set = ReceiverSet::new();
            let member = set.insert(std::mem::replace(receiver, elsewhere));
            let received = anabranch::run(|cx| set.receiving().timeout(cx, time));
            if let Ok(Ok((_, Err(Closed)))) = received {
                return Err(Some(Closed));
            }
            *receiver = set.remove(member).expect("it has not closed");
            got.push(received.map_err(|_| None)?.map_err(Some)?.1.map_err(Some)?);
        }
    }
    Ok(())
}

/// The same for streams. Their values arrive in order, and only those of abandoned sends are missing.
#[test]
fn random_operations_on_spsc_lose_nothing() {
    watchdog(LONG, || {
        for round in 0..24 {
            for (mut sender, mut receiver) in [spsc::bounded(1), spsc::bounded(50), spsc::unbounded()] {
                let tally = Tally::default();
                let end = round % 4;
                let got = thread::scope(|s| {
                    let mut chance = Random(0x5EED ^ (round * 31 + 1));
                    let mut values: VecDeque<_> = (0..300).map(|n| (0, n, tally.make())).collect();
                    s.spawn(move || {
                        while !values.is_empty() {
                            if stream_somehow(&mut chance, &mut sender, &mut values).is_err() {
                                assert!(sender.is_closed());
                                return;
                            }
                        }
                        if end == 0 {
                            sender.close();
                        }
                    });
                    let mut chance = Random(0xFEED_0000 ^ (round * 37 + 1));
                    let receiving = s.spawn(move || {
                        let mut got = Vec::new();
                        for n in 0.. {
                            if take_somehow(&mut chance, &mut receiver, &mut got) == Err(Some(Closed)) {
                                break;
                            }
                            match end {
                                1 if n == 60 => receiver.close(),
                                2 if n == 60 => break,
                                _ => {}
                            }
                        }
                        got
                    });
                    receiving.join().unwrap()
                });
                assert!(got.is_sorted_by(|(_, a, _), (_, b, _)| a < b), "in their order, and each once");
                drop(got);
                tally.assert_all_dropped();
            }
        }
    });
}
