//! Recorded histories of watch and broadcast channels are linearisable.

use super::{
    check,
    players::{Part, Player, many, play},
    versioned_spec::{Board, Op},
};
use anabranch::{
    Cx, Operation, WaitError,
    channel::{Closed, RecvError, TryRecvError, broadcast, watch},
};
use std::time::Duration;

/// The number of histories of each kind.
const HISTORIES: u64 = 300;

/// The timeout of timed waits.
const BRIEFLY: Duration = Duration::from_micros(30);

fn in_time(id: usize, missed: u64, result: Result<Result<u64, Closed>, WaitError>) -> Op {
    match result {
        Ok(Ok(value)) => Op::Received(id, value, missed),
        Ok(Err(Closed)) => Op::Ended(id),
        Err(_) => Op::WaitedInVain,
    }
}

fn at_once(id: usize, missed: u64, result: Result<u64, TryRecvError>) -> Op {
    match result {
        Ok(value) => Op::Received(id, value, missed),
        Err(TryRecvError::Closed) => Op::Ended(id),
        Err(TryRecvError::Empty) => Op::Empty(id),
    }
}

/// A receive from a broadcast, in any form.
fn heard(id: usize, missed: u64, result: Result<u64, impl Into<Unheard>>) -> Op {
    match result.map_err(Into::into) {
        Ok(value) => Op::Received(id, value, missed),
        Err(Unheard::Closed) => Op::Ended(id),
        Err(Unheard::Lagged(more)) => Op::Lagged(id, more, missed),
        Err(Unheard::Empty) => Op::Empty(id),
        Err(Unheard::InVain) => Op::WaitedInVain,
    }
}

/// Why a broadcast was not received.
enum Unheard {
    Closed,
    Lagged(u64),
    Empty,
    InVain,
}

impl From<WaitError> for Unheard {
    fn from(_: WaitError) -> Self {
        Self::InVain
    }
}

impl From<broadcast::ClosedOrLagged> for Unheard {
    fn from(error: broadcast::ClosedOrLagged) -> Self {
        broadcast::RecvError::from(error).into()
    }
}

impl From<broadcast::RecvError> for Unheard {
    fn from(error: broadcast::RecvError) -> Self {
        match error {
            broadcast::RecvError::Closed => Self::Closed,
            broadcast::RecvError::Lagged(more) => Self::Lagged(more),
            broadcast::RecvError::Cancelled => Self::InVain,
        }
    }
}

impl From<broadcast::TryRecvError> for Unheard {
    fn from(error: broadcast::TryRecvError) -> Self {
        match error {
            broadcast::TryRecvError::Closed => Self::Closed,
            broadcast::TryRecvError::Lagged(more) => Self::Lagged(more),
            broadcast::TryRecvError::Empty => Self::Empty,
        }
    }
}

/// A participant that sends and receives, with timeouts only: so it ends, and drops its sender.
fn watch_both(
    cx: &Cx<'_>,
    player: &mut Player<Op>,
    id: usize,
    sender: watch::Sender<u64>,
    mut receiver: watch::Receiver<u64>,
) {
    for _ in 0..player.random.below(8) {
        player.linger(cx);
        let value = player.value();
        let kind = player.random.below(12);
        let from = player.begin();
        let op = match kind {
            0..=4 => {
                sender.send(value).unwrap();
                Op::Sent(value)
            }
            5 => Op::Latest(*sender.get()),
            6 => Op::Latest(*receiver.get()),
            7 | 8 => at_once(id, 0, receiver.try_recv().map(|value| *value)),
            9 | 10 => in_time(id, 0, receiver.receiving().timeout(cx, BRIEFLY).map(|got| got.map(|value| *value))),
            _ => {
                receiver = sender.subscribe();
                Op::Subscribed(id)
            }
        };
        player.end(from, 0, op);
    }
    let from = player.begin();
    drop(sender);
    player.end(from, 0, Op::SenderGone);
}

#[test]
fn watch_channels_are_linearisable() {
    many(2 * HISTORIES, |pool, seed| {
        let (sender, receiver) = watch::channel(0);
        let mut parts: Vec<Part<Op>> = Vec::new();
        for id in 0..2 {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            parts.push(Box::new(move |cx, player| watch_both(cx, player, id, sender, receiver)));
        }
        for id in 2..3 + (seed / 3 % 2) as usize {
            let mut receiver = receiver.clone();
            parts.push(Box::new(move |cx, player| {
                for _ in 0..player.random.below(6) {
                    player.linger(cx);
                    let from = player.begin();
                    let op = match receiver.recv(cx) {
                        Ok(value) => Op::Received(id, *value, 0),
                        Err(RecvError::Closed) => Op::Ended(id),
                        Err(RecvError::Cancelled) => Op::WaitedInVain,
                    };
                    player.end(from, 0, op);
                }
            }));
        }
        drop((sender, receiver));
        let events = play(pool, seed, parts, |_| (), |_| ());
        let history = events.into_iter().map(|(_, event)| event).collect();
        check(
            &Board { capacity: 1, is_watch: true, senders: 2, receivers: 0 },
            history,
            &format!("watch, seed {seed}"),
        );
    });
}

fn hear_both(
    cx: &Cx<'_>,
    player: &mut Player<Op>,
    id: usize,
    sender: broadcast::Sender<u64>,
    mut receiver: broadcast::Receiver<u64>,
) {
    for _ in 0..player.random.below(8) {
        player.linger(cx);
        let value = player.value();
        let kind = player.random.below(11);
        let from = player.begin();
        let op = match kind {
            10 if value.is_multiple_of(4) => {
                sender.close();
                Op::Closed
            }
            0..=5 => sender.send(value).map_or(Op::Refused, |()| Op::Sent(value)),
            6 | 7 => {
                let got = receiver.try_recv().map(|value| *value);
                heard(id, receiver.lagged(), got)
            }
            8 | 9 => {
                let got = match receiver.receiving().timeout(cx, BRIEFLY) {
                    Ok(got) => got.map(|value| *value).map_err(Unheard::from),
                    Err(late) => Err(late.into()),
                };
                heard(id, receiver.lagged(), got)
            }
            _ => {
                let old = std::mem::replace(&mut receiver, sender.subscribe());
                player.end(from, 0, Op::Subscribed(id));
                let from = player.begin();
                drop(old);
                player.end(from, 0, Op::ReceiverGone);
                continue;
            }
        };
        player.end(from, 0, op);
    }
    // One of them is dropped first, so that there may be no receiver left.
    let from = player.begin();
    drop(receiver);
    player.end(from, 0, Op::ReceiverGone);
    for _ in 0..player.random.below(3) {
        let value = player.value();
        let from = player.begin();
        let op = sender.send(value).map_or(Op::Refused, |()| Op::Sent(value));
        player.end(from, 0, op);
    }
    let from = player.begin();
    drop(sender);
    player.end(from, 0, Op::SenderGone);
}

#[test]
fn broadcast_channels_are_linearisable() {
    many(2 * HISTORIES, |pool, seed| {
        let capacity = 1 + (seed / 3 % 3) as usize;
        let (sender, receiver) = broadcast::channel(capacity);
        let mut parts: Vec<Part<Op>> = Vec::new();
        for id in 0..2 {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            parts.push(Box::new(move |cx, player| hear_both(cx, player, id, sender, receiver)));
        }
        let listeners = (seed / 9 % 3) as usize;
        for id in 2..2 + listeners {
            let mut receiver = receiver.clone();
            parts.push(Box::new(move |cx, player| {
                for _ in 0..player.random.below(6) {
                    player.linger(cx);
                    let from = player.begin();
                    let got = receiver.recv(cx).map(|value| *value);
                    let op = heard(id, receiver.lagged(), got);
                    player.end(from, 0, op);
                }
                let from = player.begin();
                drop(receiver);
                player.end(from, 0, Op::ReceiverGone);
            }));
        }
        drop((sender, receiver));
        let events = play(pool, seed, parts, |_| (), |_| ());
        let history = events.into_iter().map(|(_, event)| event).collect();
        let spec = Board { capacity, is_watch: false, senders: 2, receivers: 2 + listeners };
        check(&spec, history, &format!("broadcast, room for {capacity}, seed {seed}"));
    });
}
