//! anabranch, between fibers and between threads of the system: `spsc` for links between two ends, the shared channels
//! for any number of senders, a `ReceiverSet` and a `Select`.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anabranch::channel::{self, ReceiverSet, Select, spsc};
use anabranch::sync::Mutex;
use anabranch::{Cx, Pool};

use super::ROOM;
use crate::messages::blocking::{Blocking, Channel, Selection, Threads};

/// Fibers of a pool.
pub struct Fibers;

impl Blocking for Fibers {
    type Cx<'a> = Cx<'a>;
    type Pool = Pool;
    type Handle<R: Send + 'static> = anabranch::JoinHandle<R>;

    fn pool(workers: usize) -> Pool {
        Pool::builder().threads(workers).build().expect("a pool can be built")
    }

    fn root<R: Send + 'static>(pool: &Pool, body: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> R {
        let handle = pool.spawn(body);
        pool.run(|cx| handle.join(cx)).expect("the root ends in peace")
    }

    fn spawn<R: Send + 'static>(body: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> anabranch::JoinHandle<R> {
        anabranch::spawn(body)
    }

    fn join<R: Send + 'static>(cx: &Cx<'_>, handle: anabranch::JoinHandle<R>) -> R {
        handle.join(cx).expect("no fiber panics")
    }
}

/// Threads of the system, each of which gets a `Cx` from `anabranch::run`.
pub struct Guests;

impl Blocking for Guests {
    type Cx<'a> = Cx<'a>;
    type Pool = ();
    type Handle<R: Send + 'static> = JoinHandle<R>;

    fn pool(_workers: usize) {}

    fn root<R: Send + 'static>(_: &(), body: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> R {
        anabranch::run(body)
    }

    fn spawn<R: Send + 'static>(body: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> JoinHandle<R> {
        thread::spawn(|| anabranch::run(body))
    }

    fn join<R: Send + 'static>(_: &Cx<'_>, handle: JoinHandle<R>) -> R {
        handle.join().expect("no thread panics")
    }
}

/// `spsc`, bounded or unbounded.
pub struct Spsc<const BOUNDED: bool>;

impl<S, const BOUNDED: bool> Channel<S> for Spsc<BOUNDED>
where
    S: for<'a> Blocking<Cx<'a> = Cx<'a>>,
{
    type Sender = spsc::Sender<u64>;
    type Receiver = spsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        if BOUNDED { spsc::bounded(ROOM) } else { spsc::unbounded() }
    }

    #[inline(always)]
    fn send(cx: &Cx<'_>, sender: &mut Self::Sender, value: u64) {
        sender.send(cx, value).expect("the receiver is there");
    }

    #[inline(always)]
    fn recv(cx: &Cx<'_>, receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv(cx).ok()
    }
}

/// The channels with any number of senders and receivers, bounded or unbounded.
pub struct Mpmc<const BOUNDED: bool>;

impl<S, const BOUNDED: bool> Channel<S> for Mpmc<BOUNDED>
where
    S: for<'a> Blocking<Cx<'a> = Cx<'a>>,
{
    type Sender = channel::Sender<u64>;
    type Receiver = channel::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        if BOUNDED { channel::bounded(ROOM) } else { channel::unbounded() }
    }

    #[inline(always)]
    fn send(cx: &Cx<'_>, sender: &mut Self::Sender, value: u64) {
        sender.send(cx, value).expect("the receiver is there");
    }

    #[inline(always)]
    fn recv(cx: &Cx<'_>, receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv(cx).ok()
    }
}

/// The channels with any number of senders and receivers, between threads that join no pool.
pub struct Plain<const BOUNDED: bool>;

impl<const BOUNDED: bool> Channel<Threads> for Plain<BOUNDED> {
    type Sender = channel::Sender<u64>;
    type Receiver = channel::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        if BOUNDED { channel::bounded(ROOM) } else { channel::unbounded() }
    }

    #[inline(always)]
    fn send((): &(), sender: &mut Self::Sender, value: u64) {
        sender.send_blocking(value).expect("the receiver is there");
    }

    #[inline(always)]
    fn recv((): &(), receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv_blocking().ok()
    }
}

/// `spsc`, between threads that join no pool.
pub struct PlainSpsc<const BOUNDED: bool>;

impl<const BOUNDED: bool> Channel<Threads> for PlainSpsc<BOUNDED> {
    type Sender = spsc::Sender<u64>;
    type Receiver = spsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        if BOUNDED { spsc::bounded(ROOM) } else { spsc::unbounded() }
    }

    #[inline(always)]
    fn send((): &(), sender: &mut Self::Sender, value: u64) {
        sender.send_blocking(value).expect("the receiver is there");
    }

    #[inline(always)]
    fn recv((): &(), receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv_blocking().ok()
    }
}

/// The one sender of an `spsc` channel behind a mutex that all clients lock: the *shared channel* of 2012.
pub struct Locked;

impl<S> Channel<S> for Locked
where
    S: for<'a> Blocking<Cx<'a> = Cx<'a>>,
{
    type Sender = Arc<Mutex<spsc::Sender<u64>>>;
    type Receiver = spsc::Receiver<u64>;

    fn new() -> (Self::Sender, Self::Receiver) {
        let (sender, receiver) = spsc::unbounded();
        (Arc::new(Mutex::new(sender)), receiver)
    }

    #[inline(always)]
    fn send(cx: &Cx<'_>, sender: &mut Self::Sender, value: u64) {
        let mut sender = sender.lock(cx).expect("nobody cancels");
        sender.send(cx, value).expect("the receiver is there");
    }

    #[inline(always)]
    fn recv(cx: &Cx<'_>, receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv(cx).ok()
    }
}

/// A `ReceiverSet` of `spsc` channels: the *port set* of 2012.
pub struct Set;

impl<S> Selection<S> for Set
where
    S: for<'a> Blocking<Cx<'a> = Cx<'a>>,
{
    type Sender = spsc::Sender<u64>;
    type Receivers = ReceiverSet<spsc::Receiver<u64>>;
    type Answers = Spsc<false>;

    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers) {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| spsc::unbounded()).unzip();
        (senders, receivers.into_iter().collect())
    }

    #[inline(always)]
    fn send(cx: &Cx<'_>, sender: &mut Self::Sender, value: u64) {
        sender.send(cx, value).expect("the receiver is there");
    }

    fn sum(cx: &Cx<'_>, receivers: &mut Self::Receivers, messages: u64, mut took: impl FnMut()) -> u64 {
        let (mut sum, mut left) = (0, messages);
        while left > 0 {
            if let (_, Ok(value)) = receivers.recv(cx).expect("there are messages left") {
                sum += value;
                left -= 1;
                took();
            }
        }
        sum
    }
}

/// A `Select` over receivers of `spsc` channels.
pub struct Selecting;

impl<S> Selection<S> for Selecting
where
    S: for<'a> Blocking<Cx<'a> = Cx<'a>>,
{
    type Sender = spsc::Sender<u64>;
    type Receivers = Vec<spsc::Receiver<u64>>;
    type Answers = Spsc<false>;

    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers) {
        (0..count).map(|_| spsc::unbounded()).unzip()
    }

    #[inline(always)]
    fn send(cx: &Cx<'_>, sender: &mut Self::Sender, value: u64) {
        sender.send(cx, value).expect("the receiver is there");
    }

    fn sum(cx: &Cx<'_>, receivers: &mut Self::Receivers, messages: u64, mut took: impl FnMut()) -> u64 {
        let mut select: Select<_> = receivers.iter_mut().map(spsc::Receiver::receiving).collect();
        let (mut sum, mut left) = (0, messages);
        while left > 0 {
            match select.wait(cx).expect("nobody cancels") {
                (_, Ok(value)) => {
                    sum += value;
                    left -= 1;
                    took();
                }
                (index, Err(_)) => {
                    select.swap_remove(index);
                }
            }
        }
        sum
    }
}
