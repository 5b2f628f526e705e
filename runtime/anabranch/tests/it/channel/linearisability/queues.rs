//! Recorded histories of every queue-like channel are linearisable. Small random programs on fibers and threads record
//! each operation with its result and the times before and after it.

use super::{
    Event, check,
    players::{Events, Part, Player, many, play},
    queue_spec::{Op, Queue, settle},
};
use anabranch::{
    Cx, Operation, WaitError,
    channel::{
        self, Closed, ClosedError, Receiver, ReceiverSet, RecvError, SendError, Sender, TryRecvError, TrySendError,
        oneshot, spsc,
    },
    select,
};
use std::time::Duration;

/// The number of histories of each kind.
const HISTORIES: u64 = 300;

/// The timeout of timed waits.
const BRIEFLY: Duration = Duration::from_micros(30);

fn received(result: Result<u64, RecvError>) -> Op {
    match result {
        Ok(value) => Op::Received(value),
        Err(RecvError::Closed) => Op::Ended,
        Err(RecvError::Cancelled) => Op::WaitedInVain,
    }
}

fn received_in_time(result: Result<Result<u64, Closed>, WaitError>) -> Op {
    match result {
        Ok(Ok(value)) => Op::Received(value),
        Ok(Err(Closed)) => Op::Ended,
        Err(_) => Op::WaitedInVain,
    }
}

fn received_at_once(result: Result<u64, TryRecvError>) -> Op {
    match result {
        Ok(value) => Op::Received(value),
        Err(TryRecvError::Closed) => Op::Ended,
        Err(TryRecvError::Empty) => Op::Empty,
    }
}

fn came_back(value: u64, back: u64, op: Op) -> Op {
    assert_eq!(value, back, "another value came back");
    op
}

fn sent(value: u64, result: Result<(), SendError<u64>>) -> Op {
    match result {
        Ok(()) => Op::Sent(value),
        Err(SendError::Closed(back)) => came_back(value, back, Op::Refused),
        Err(SendError::Cancelled(back)) => came_back(value, back, Op::GaveUp),
    }
}

/// The result of a send with a timeout, and the value that is left in its operation.
fn sent_in_time(value: u64, result: Result<Result<(), ClosedError<u64>>, WaitError>, left: Option<u64>) -> Op {
    match result {
        Ok(Ok(())) => Op::Sent(value),
        Ok(Err(ClosedError(back))) => came_back(value, back, Op::Refused),
        Err(_) => came_back(value, left.unwrap(), Op::GaveUp),
    }
}

fn sent_at_once(value: u64, result: Result<(), TrySendError<u64>>) -> Op {
    match result {
        Ok(()) => Op::Sent(value),
        Err(TrySendError::Full(back)) => came_back(value, back, Op::Full),
        Err(TrySendError::Closed(back)) => came_back(value, back, Op::Refused),
    }
}

type Ends = (Sender<u64>, Receiver<u64>);

fn new_channel(capacity: Option<usize>) -> Ends {
    match capacity {
        None => channel::unbounded(),
        Some(0) => channel::rendezvous(),
        Some(capacity) => channel::bounded(capacity),
    }
}

/// One operation at one channel.
fn step(cx: &Cx<'_>, player: &mut Player<Op>, at: usize, (sender, receiver): &Ends) {
    let value = player.value();
    let kind = player.random.below(24);
    let from = player.begin();
    let op = match kind {
        0..=3 => sent(value, sender.send(cx, value)),
        4 | 5 => sent_at_once(value, sender.try_send(value)),
        6 => {
            let mut send = sender.sending(value);
            sent_in_time(value, send.timeout(cx, BRIEFLY), send.into_inner())
        }
        7 => match cx.block_on(sender.sending(value).into_future()) {
            Ok(Ok(())) => Op::Sent(value),
            Ok(Err(refused)) => came_back(value, refused.into_inner(), Op::Refused),
            Err(_) => Op::PerhapsSent(value),
        },
        8..=10 => received(receiver.recv(cx)),
        11 => cx
            .block_on(receiver.receiving().into_future())
            .map_or(Op::WaitedInVain, |got| received(got.map_err(Into::into))),
        12 | 13 => received_at_once(receiver.try_recv()),
        14 => received_in_time(receiver.receiving().timeout(cx, BRIEFLY)),
        15 => {
            let mut batch = Vec::new();
            let result = receiver.recv_many(cx, &mut batch, 2).map(|_| batch[0]);
            // The first began to wait, the second was taken at once, both within the operation.
            batch.drain(..).skip(1).for_each(|value| player.end(from, at, Op::Received(value)));
            received(result)
        }
        16..=18 if sender.capacity() != Some(0) => {
            let permit = if kind == 16 { sender.try_reserve().ok() } else { sender.reserve(cx).ok() };
            match permit {
                Some(permit) => {
                    player.end(from, at, Op::Reserved);
                    player.linger(cx);
                    let is_used = player.random.below(3) > 0;
                    let from = player.begin();
                    let op = if is_used {
                        permit.send(value).map_or(Op::RefusedReserved, |()| Op::SentReserved(value))
                    } else {
                        drop(permit);
                        Op::GivenBack
                    };
                    return player.end(from, at, op);
                }
                None if kind == 16 => Op::NotReserved,
                None => Op::GaveUp,
            }
        }
        19 => Op::SeenClosed(sender.is_closed()),
        20 | 21 => Op::Len(receiver.len()),
        22 if value.is_multiple_of(4) => {
            receiver.close();
            Op::Closed
        }
        _ => return cx.yield_now(),
    };
    player.end(from, at, op);
}

/// A receive from either channel, or a send to the one and a receive from the other.
fn select_step(cx: &Cx<'_>, player: &mut Player<Op>, channels: &[Ends]) {
    let (value, first) = (player.value(), player.random.below(2) as usize);
    let second = 1 - first;
    let sends = player.random.below(2) == 0;
    let from = player.begin();
    let got = if sends {
        select!(cx, {
            result = channels[first].0.sending(value) => (first, result.map_or(Op::Refused, |()| Op::Sent(value))),
            got = channels[second].1.receiving() => (second, received(got.map_err(Into::into))),
        })
    } else {
        select!(cx, {
            got = channels[first].1.receiving() => (first, received(got.map_err(Into::into))),
            got = channels[second].1.receiving() => (second, received(got.map_err(Into::into))),
        })
    };
    // A receiver that got nothing may have been waiting.
    let done = got.map_or(2, |(at, op)| {
        player.end(from, at, op);
        at
    });
    for at in [first, second] {
        if at != done && !(sends && at == first) {
            player.end(from, at, Op::WaitedInVain);
        }
    }
}

/// Receives from all channels as a set.
fn play_set(cx: &Cx<'_>, player: &mut Player<Op>, channels: &[Ends]) {
    let beginning = player.begin();
    let mut set = ReceiverSet::new();
    let members: Vec<_> = channels.iter().map(|(_, receiver)| set.insert(receiver.clone())).collect();
    for _ in 0..player.random.below(6) {
        player.linger(cx);
        let from = player.begin();
        let got = match player.random.below(3) {
            0 => set.receiving().timeout(cx, BRIEFLY).ok().and_then(Result::ok),
            1 => set.try_recv().ok(),
            _ => set.recv(cx).ok(),
        };
        if let Some((member, got)) = got {
            let at = members.iter().position(|other| *other == member).unwrap();
            player.end(from, at, received(got.map_err(Into::into)));
        }
    }
    drop(set);
    // A member waits also while the set is not in use.
    (0..channels.len()).for_each(|at| player.end(beginning, at, Op::WaitedInVain));
}

/// How a player may deal with several channels at once.
#[derive(Clone, Copy, PartialEq)]
enum Together {
    No,
    Select,
    Set,
}

fn check_shared(capacities: &'static [Option<usize>], together: Together) {
    many(HISTORIES, |pool, seed| {
        let channels: Vec<_> = capacities.iter().map(|capacity| new_channel(*capacity)).collect();
        let parts = (0..2 + seed / 3 % 3).map(|index| {
            let channels = channels.clone();
            let part = move |cx: &Cx<'_>, player: &mut Player<Op>| {
                if together == Together::Set && index == 0 {
                    return play_set(cx, player, &channels);
                }
                for _ in 0..2 + player.random.below(4) {
                    player.linger(cx);
                    if together == Together::Select && player.random.below(2) == 0 {
                        select_step(cx, player, &channels);
                    } else {
                        let at = player.random.below(channels.len() as u64) as usize;
                        step(cx, player, at, &channels[at]);
                    }
                }
            };
            Box::new(part) as Part<Op>
        });
        let close = |player: &mut Player<Op>| {
            for (at, (sender, _)) in channels.iter().enumerate() {
                let from = player.begin();
                sender.close();
                player.end(from, at, Op::Closed);
            }
        };
        let empty = |player: &mut Player<Op>| {
            for (at, (_, receiver)) in channels.iter().enumerate() {
                loop {
                    let from = player.begin();
                    let op = received_at_once(receiver.try_recv());
                    player.end(from, at, op);
                    if op == Op::Ended {
                        break;
                    }
                }
            }
        };
        let events = play(pool, seed, parts.collect(), close, empty);
        for (at, capacity) in capacities.iter().enumerate() {
            let here = events.iter().filter(|(object, _)| *object == at);
            let mut history: Vec<_> = here.map(|(_, event)| event.clone()).collect();
            settle(&mut history);
            check(&Queue::new(*capacity), history, &format!("capacity {capacity:?}, seed {seed}"));
        }
    });
}

#[test]
fn bounded_channels_are_linearisable() {
    check_shared(&[Some(1)], Together::No);
    check_shared(&[Some(2)], Together::No);
}

#[test]
fn unbounded_channels_are_linearisable() {
    check_shared(&[None], Together::No);
}

#[test]
fn rendezvous_is_linearisable() {
    check_shared(&[Some(0)], Together::No);
}

#[test]
fn selections_are_linearisable() {
    check_shared(&[Some(0), Some(1)], Together::Select);
    check_shared(&[Some(0), None], Together::Select);
}

#[test]
fn sets_are_linearisable() {
    check_shared(&[Some(1), None], Together::Set);
    check_shared(&[Some(0), Some(1)], Together::Set);
}

fn histories_of(events: Events<Op>) -> Vec<Event<Op>> {
    events.into_iter().map(|(_, event)| event).collect()
}

fn check_stream(capacity: Option<usize>) {
    many(HISTORIES, |pool, seed| {
        let (mut sender, mut receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
        let sending = move |cx: &Cx<'_>, player: &mut Player<Op>| {
            for _ in 0..player.random.below(10) {
                player.linger(cx);
                let value = player.value();
                let kind = player.random.below(12);
                let from = player.begin();
                let op = match kind {
                    0..=4 => sent(value, sender.send(cx, value)),
                    5 | 6 => sent_at_once(value, sender.try_send(value)),
                    7 => {
                        let mut send = sender.sending(value);
                        sent_in_time(value, send.timeout(cx, BRIEFLY), send.into_inner())
                    }
                    8 => match sender.reserve(cx) {
                        Ok(permit) => permit.send(value).map_or(Op::Refused, |()| Op::Sent(value)),
                        Err(_) => Op::GaveUp,
                    },
                    9 => {
                        let done = select!(cx, {
                            result = sender.sending(value) => result.map_or(Op::Refused, |()| Op::Sent(value)),
                            () = cx.sleeping(BRIEFLY) => Op::GaveUp,
                        });
                        done.unwrap_or(Op::GaveUp)
                    }
                    10 => Op::SeenClosed(sender.is_closed()),
                    _ if !value.is_multiple_of(4) => continue,
                    _ => {
                        sender.close();
                        Op::Closed
                    }
                };
                player.end(from, 0, op);
            }
            let from = player.begin();
            drop(sender);
            player.end(from, 0, Op::Closed);
        };
        let receiving = move |cx: &Cx<'_>, player: &mut Player<Op>| {
            for _ in 0..player.random.below(12) {
                player.linger(cx);
                let kind = player.random.below(40);
                let from = player.begin();
                let op = match kind {
                    0..=19 => received(receiver.recv(cx)),
                    20..=29 => received_at_once(receiver.try_recv()),
                    30..=34 => received_in_time(receiver.receiving().timeout(cx, BRIEFLY)),
                    35..=37 => match cx.block_on(receiver.receiving().into_future()) {
                        Ok(got) => received(got.map_err(Into::into)),
                        Err(_) => Op::WaitedInVain,
                    },
                    38 => Op::SeenClosed(receiver.is_closed()),
                    _ => {
                        receiver.close();
                        Op::Closed
                    }
                };
                player.end(from, 0, op);
            }
            // All that is there when it goes.
            let from = player.begin();
            receiver.close();
            player.end(from, 0, Op::Closed);
            loop {
                let from = player.begin();
                let op = received_at_once(receiver.try_recv());
                player.end(from, 0, op);
                if op == Op::Ended {
                    break;
                }
            }
        };
        let events = play(pool, seed, vec![Box::new(sending), Box::new(receiving)], |_| (), |_| ());
        check(&Queue::new(capacity), histories_of(events), &format!("stream, capacity {capacity:?}, seed {seed}"));
    });
}

#[test]
fn spsc_channels_are_linearisable() {
    check_stream(Some(1));
    check_stream(Some(2));
    check_stream(None);
}

#[test]
fn oneshot_channels_are_linearisable() {
    many(HISTORIES, |pool, seed| {
        let (sender, mut receiver) = oneshot::channel();
        let sending = move |cx: &Cx<'_>, player: &mut Player<Op>| {
            player.linger(cx);
            let (value, sends) = (player.value(), player.random.below(4) > 0);
            let from = player.begin();
            let op = if sends {
                sender.send(value).map_or_else(|back| came_back(value, back.0, Op::Refused), |()| Op::Sent(value))
            } else {
                drop(sender);
                Op::Closed
            };
            player.end(from, 0, op);
        };
        let receiving = move |cx: &Cx<'_>, player: &mut Player<Op>| {
            for _ in 0..player.random.below(5) {
                player.linger(cx);
                let kind = player.random.below(12);
                let from = player.begin();
                let op = match kind {
                    0..=3 => received(receiver.recv(cx)),
                    4..=6 => received_at_once(receiver.try_recv()),
                    7 | 8 => received_in_time(receiver.receiving().timeout(cx, BRIEFLY)),
                    9 | 10 => cx
                        .block_on(receiver.receiving().into_future())
                        .map_or(Op::WaitedInVain, |got| received(got.map_err(Into::into))),
                    _ => {
                        receiver.close();
                        Op::Closed
                    }
                };
                player.end(from, 0, op);
            }
            let from = player.begin();
            drop(receiver);
            player.end(from, 0, Op::Closed);
        };
        let events = play(pool, seed, vec![Box::new(sending), Box::new(receiving)], |_| (), |_| ());
        let spec = Queue { capacity: Some(1), is_oneshot: true };
        check(&spec, histories_of(events), &format!("one shot, seed {seed}"));
    });
}
