//! Code that blocks while it waits: fibers, coroutines and threads.

use std::thread::{self, JoinHandle};

/// How fibers or threads of one kind are begun and joined.
pub trait Blocking: 'static {
    /// What permits to wait; nothing where anybody may.
    type Cx<'a>;
    /// Whatever holds the threads.
    type Pool;
    /// What a fiber or thread is joined by.
    type Handle<R: Send + 'static>;

    /// A pool in which `workers` threads run fibers or threads.
    fn pool(workers: usize) -> Self::Pool;

    /// Runs `body` as the first fiber or thread.
    fn root<R: Send + 'static>(pool: &Self::Pool, body: impl FnOnce(&Self::Cx<'_>) -> R + Send + 'static) -> R;

    /// Begins a fiber or thread, from within one.
    fn spawn<R: Send + 'static>(body: impl FnOnce(&Self::Cx<'_>) -> R + Send + 'static) -> Self::Handle<R>;

    /// Waits for what a fiber or thread returns.
    fn join<R: Send + 'static>(cx: &Self::Cx<'_>, handle: Self::Handle<R>) -> R;
}

/// A channel from one fiber or thread to another. Sending and receiving wait where they must.
pub trait Channel<S: Blocking>: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// The end that receives.
    type Receiver: Send + 'static;

    /// Done once before the first channel, where the library asks for it.
    fn prepare() {}

    /// Makes one.
    fn new() -> (Self::Sender, Self::Receiver);

    /// Sends a value; the receiver is there.
    fn send(cx: &S::Cx<'_>, sender: &mut Self::Sender, value: u64);

    /// Receives a value; `None` after the last one.
    fn recv(cx: &S::Cx<'_>, receiver: &mut Self::Receiver) -> Option<u64>;
}

/// A channel with any number of senders.
pub trait Shared<S: Blocking>: Channel<S> {
    /// One more sender.
    fn share(sender: &Self::Sender) -> Self::Sender;
}

/// Many channels, one sender each, and one fiber or thread that receives from whichever has something.
pub trait Selection<S: Blocking>: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// All the ends that receive.
    type Receivers: Send + 'static;
    /// How the receiver answers.
    type Answers: Channel<S>;

    /// Whether [`sum`](Self::sum) returns only when all channels have been closed.
    const WAITS_FOR_THE_END: bool = false;

    /// Done once before the first channel, where the library asks for it.
    fn prepare() {}

    /// Makes `count` channels.
    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers);

    /// Sends a value; the receiver is there.
    fn send(cx: &S::Cx<'_>, sender: &mut Self::Sender, value: u64);

    /// Receives so many `messages`, passing over channels that have been closed, and calls `took` after each. Returns
    /// their sum.
    fn sum(cx: &S::Cx<'_>, receivers: &mut Self::Receivers, messages: u64, took: impl FnMut()) -> u64;
}

/// Receives what there must be.
#[inline(always)]
pub(super) fn must_recv<S: Blocking, C: Channel<S>>(cx: &S::Cx<'_>, receiver: &mut C::Receiver) -> u64 {
    C::recv(cx, receiver).expect("the sender has not gone")
}

/// Threads of the system.
pub struct Threads;

impl Blocking for Threads {
    type Cx<'a> = ();
    type Pool = ();
    type Handle<R: Send + 'static> = JoinHandle<R>;

    fn pool(_workers: usize) {}

    fn root<R: Send + 'static>(_: &(), body: impl FnOnce(&()) -> R + Send + 'static) -> R {
        body(&())
    }

    fn spawn<R: Send + 'static>(body: impl FnOnce(&()) -> R + Send + 'static) -> JoinHandle<R> {
        thread::spawn(move || body(&()))
    }

    fn join<R: Send + 'static>(_: &(), handle: JoinHandle<R>) -> R {
        handle.join().expect("no thread panics")
    }
}
