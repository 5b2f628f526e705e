//! The channels of a random program, and the record of what is sent and received.

use crate::common::{Counted, Tally};
use anabranch::{
    Cancelled, Cx, Operation,
    channel::{self, Closed, Receiver, ReceiverSet, RecvError, Sender, broadcast, oneshot, spsc, watch},
    select,
};
use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// How a leaf sends.
#[derive(Clone, Copy)]
pub enum Sends {
    Wait,
    AtOnce,
    Briefly,
    Async,
    Permit,
}

/// How a leaf receives.
#[derive(Clone, Copy)]
pub enum Receives {
    Wait,
    AtOnce,
    Briefly,
    Async,
    Many,
}

/// A message: the number of its leaf, and its sequence number.
pub struct Parcel {
    pub leaf: u64,
    pub number: u64,
    _counted: Counted,
}

/// A channel, and the fate of the values that were to be sent to it.
#[derive(Clone)]
pub struct Line {
    pub sender: Sender<Parcel>,
    pub receiver: Receiver<Parcel>,
    pub book: Arc<Mutex<Book>>,
}

#[derive(Default)]
pub struct Book {
    pub sent: HashSet<(u64, u64)>,
    /// By futures that were dropped before they reported it.
    pub perhaps: HashSet<(u64, u64)>,
    pub received: HashSet<(u64, u64)>,
}

/// The shared state of a program.
#[derive(Clone)]
pub struct World {
    pub tally: Tally,
    pub lines: Vec<Line>,
    pub leaves: Arc<AtomicU64>,
}

const BRIEFLY: Duration = Duration::from_micros(30);

/// The last message that a leaf has received from each other leaf, for each channel.
type Last = HashMap<(usize, u64), u64>;

/// Whether the wait was cancelled.
fn cancelled<T>(result: Result<T, RecvError>) -> Result<Option<T>, Cancelled> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(RecvError::Closed) => Ok(None),
        Err(RecvError::Cancelled) => Err(Cancelled),
    }
}

impl World {
    fn parcel(&self, leaf: u64, number: u64) -> Parcel {
        Parcel { leaf, number, _counted: self.tally.make() }
    }

    fn new_leaf(&self) -> u64 {
        self.leaves.fetch_add(1, Ordering::Relaxed)
    }

    pub fn line(&self, at: usize) -> (usize, &Line) {
        let at = at % self.lines.len();
        (at, &self.lines[at])
    }

    fn note_sent(&self, at: usize, name: (u64, u64)) {
        assert!(self.lines[at].book.lock().unwrap().sent.insert(name), "sent twice");
    }

    fn note_received(&self, at: usize, last: &mut Last, parcel: Parcel) {
        let Parcel { leaf, number, .. } = parcel;
        assert!(self.lines[at].book.lock().unwrap().received.insert((leaf, number)), "received twice");
        let before = last.insert((at, leaf), number);
        assert!(before.is_none_or(|before| before < number), "in another order than sent");
    }

    pub fn send(&self, cx: &Cx<'_>, at: usize, how: Sends, count: u64) -> Result<(), Cancelled> {
        let (at, Line { sender, book, .. }) = self.line(at);
        let leaf = self.new_leaf();
        for number in 0..count {
            let parcel = self.parcel(leaf, number);
            let result = match how {
                Sends::Permit if sender.capacity() != Some(0) => match sender.reserve(cx) {
                    Ok(permit) if !number.is_multiple_of(3) => permit.send(parcel).is_ok(),
                    Err(channel::SendError::Cancelled(())) => return Err(Cancelled),
                    _ => false,
                },
                Sends::Wait | Sends::Permit => match sender.send(cx, parcel) {
                    Ok(()) => true,
                    Err(channel::SendError::Closed(_)) => return Ok(()),
                    Err(channel::SendError::Cancelled(_)) => return Err(Cancelled),
                },
                Sends::AtOnce => sender.try_send(parcel).is_ok(),
                Sends::Briefly => matches!(sender.sending(parcel).timeout(cx, BRIEFLY), Ok(Ok(()))),
                Sends::Async => {
                    book.lock().unwrap().perhaps.insert((leaf, number));
                    let result = cx.block_on(sender.sending(parcel).into_future())?;
                    book.lock().unwrap().perhaps.remove(&(leaf, number));
                    result.is_ok()
                }
            };
            if result {
                self.note_sent(at, (leaf, number));
            }
        }
        Ok(())
    }

    pub fn receive(&self, cx: &Cx<'_>, at: usize, how: Receives, count: u64) -> Result<(), Cancelled> {
        let (at, Line { receiver, .. }) = self.line(at);
        let mut last = Last::new();
        let mut batch = Vec::new();
        for _ in 0..count {
            let parcel = match how {
                Receives::Wait => cancelled(receiver.recv(cx))?,
                Receives::AtOnce => receiver.try_recv().ok(),
                Receives::Briefly => receiver.receiving().timeout(cx, BRIEFLY).ok().and_then(Result::ok),
                Receives::Async => cx.block_on(receiver.receiving().into_future())?.ok(),
                Receives::Many => {
                    let result = cancelled(receiver.recv_many(cx, &mut batch, 3));
                    batch.drain(..).for_each(|parcel| self.note_received(at, &mut last, parcel));
                    result?;
                    None
                }
            };
            if let Some(parcel) = parcel {
                self.note_received(at, &mut last, parcel);
            }
        }
        Ok(())
    }

    pub fn select(&self, cx: &Cx<'_>, to: usize, from: usize, count: u64) -> Result<(), Cancelled> {
        let ((to, out), (from, into)) = (self.line(to), self.line(from));
        let (leaf, mut last) = (self.new_leaf(), Last::new());
        for number in 0..count {
            select!(cx, {
                sent = out.sender.sending(self.parcel(leaf, number)) => if sent.is_ok() {
                    self.note_sent(to, (leaf, number));
                },
                got = into.receiver.receiving() => if let Ok(parcel) = got {
                    self.note_received(from, &mut last, parcel);
                },
                () = cx.sleeping(BRIEFLY * 10) => (),
            })?;
        }
        Ok(())
    }

    pub fn set(&self, cx: &Cx<'_>, members: &[usize], count: u64) -> Result<(), Cancelled> {
        let mut set = ReceiverSet::new();
        let names: HashMap<_, _> = members
            .iter()
            .map(|&at| {
                let (at, line) = self.line(at);
                (set.insert(line.receiver.clone()), at)
            })
            .collect();
        let mut last = Last::new();
        for round in 0..count {
            let got = if round % 2 == 0 { set.try_recv().ok() } else { cancelled(set.recv(cx))? };
            match got {
                Some((member, Ok(parcel))) => self.note_received(names[&member], &mut last, parcel),
                Some((_, Err(Closed))) | None => {}
            }
        }
        Ok(())
    }

    pub fn stream(&self, cx: &Cx<'_>, capacity: Option<usize>, count: u64) -> Result<(), Cancelled> {
        let (mut sender, mut receiver) = capacity.map_or_else(spsc::unbounded, spsc::bounded);
        let (sent, received) = cx.join(
            move |cx| (0..count).take_while(|&number| sender.send(cx, self.parcel(0, number)).is_ok()).count() as u64,
            move |cx| {
                let mut next = 0;
                // Whether it was cancelled is asked below.
                receiver.iter(cx).map_while(Result::ok).for_each(|parcel| {
                    assert_eq!(parcel.number, next);
                    next += 1;
                });
                next
            },
        );
        cx.check()?;
        assert_eq!((sent, received), (count, count));
        Ok(())
    }

    pub fn reply(&self, cx: &Cx<'_>, is_sent: bool) -> Result<(), Cancelled> {
        let (sender, mut receiver) = oneshot::channel();
        let parcel = is_sent.then(|| self.parcel(0, 7));
        let (_, got) = cx.join(
            |_| parcel.map(|parcel| sender.send(parcel)),
            move |cx| cancelled(receiver.recv(cx)).map(|got| got.map(|parcel| parcel.number)),
        );
        if let Ok(number) = got {
            assert_eq!(number.is_none(), !is_sent);
        }
        got.map(drop)
    }

    pub fn watch(&self, cx: &Cx<'_>, watchers: u64, count: u64) -> Result<(), Cancelled> {
        let (sender, receiver) = watch::channel(self.parcel(0, 0));
        cx.scope(|s| {
            for _ in 0..watchers {
                let mut receiver = receiver.clone();
                s.spawn(move |cx| {
                    let mut seen = 0;
                    while let Some(parcel) = cancelled(receiver.recv(cx))? {
                        assert!(parcel.number > seen, "not the latest");
                        seen = parcel.number;
                    }
                    assert_eq!(seen, count);
                    Ok::<_, Cancelled>(())
                });
            }
            (1..=count).for_each(|number| assert!(sender.send(self.parcel(0, number)).is_ok()));
            drop(sender);
        });
        cx.check()
    }

    pub fn broadcast(&self, cx: &Cx<'_>, capacity: usize, listeners: u64, count: u64) -> Result<(), Cancelled> {
        let (sender, receiver) = broadcast::channel::<Parcel>(capacity);
        cx.scope(|s| {
            for _ in 0..listeners {
                let mut receiver = receiver.clone();
                s.spawn(move |cx| {
                    let mut received = 0;
                    loop {
                        match receiver.recv(cx) {
                            Ok(parcel) => {
                                assert_eq!(parcel.number, received + receiver.lagged());
                                received += 1;
                            }
                            Err(broadcast::RecvError::Lagged(_)) => {}
                            Err(broadcast::RecvError::Closed) => break,
                            Err(broadcast::RecvError::Cancelled) => return Err(Cancelled),
                        }
                    }
                    assert_eq!(received + receiver.lagged(), count);
                    Ok::<_, Cancelled>(())
                });
            }
            for number in 0..count {
                assert!(sender.send(self.parcel(0, number)).is_ok());
                s.yield_now();
            }
            drop(sender);
        });
        cx.check()
    }
}
