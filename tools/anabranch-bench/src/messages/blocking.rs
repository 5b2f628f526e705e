//! Blocking code: fibers, coroutines and threads, here all called members.

use std::thread::{self, JoinHandle};

/// How to start and join members of one kind.
pub trait Blocking: 'static {
    /// The permission to wait; `()` if none is needed.
    type Cx<'a>;
    /// The pool of threads.
    type Pool;
    /// The handle of a member.
    type Handle<R: Send + 'static>;

    /// Makes a pool in which `workers` threads run members.
    fn pool(workers: usize) -> Self::Pool;

    /// Runs `body` as the first fiber or thread.
    fn root<R: Send + 'static>(pool: &Self::Pool, body: impl FnOnce(&Self::Cx<'_>) -> R + Send + 'static) -> R;

    /// Starts a member from another one.
    fn spawn<R: Send + 'static>(body: impl FnOnce(&Self::Cx<'_>) -> R + Send + 'static) -> Self::Handle<R>;

    /// Waits for the result of a member.
    fn join<R: Send + 'static>(cx: &Self::Cx<'_>, handle: Self::Handle<R>) -> R;
}

/// A channel from one member to another. Sending and receiving wait if necessary.
pub trait Channel<S: Blocking>: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// The end that receives.
    type Receiver: Send + 'static;

    /// Prepares the library, once before the first channel.
    fn prepare() {}

    /// Creates a channel.
    fn new() -> (Self::Sender, Self::Receiver);

    /// Sends a value; the receiver exists.
    fn send(cx: &S::Cx<'_>, sender: &mut Self::Sender, value: u64);

    /// Receives a value. Returns `None` after the last one.
    fn recv(cx: &S::Cx<'_>, receiver: &mut Self::Receiver) -> Option<u64>;
}

/// Many channels with one sender each, and one member that receives from all of them.
pub trait Selection<S: Blocking>: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// All the ends that receive.
    type Receivers: Send + 'static;
    /// The channel for the receiver's answers.
    type Answers: Channel<S>;

    /// Whether [`sum`](Self::sum) returns only when all channels have been closed.
    const WAITS_FOR_THE_END: bool = false;

    /// Prepares the library, once before the first channel.
    fn prepare() {}

    /// Creates `count` channels.
    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers);

    /// Sends a value; the receiver exists.
    fn send(cx: &S::Cx<'_>, sender: &mut Self::Sender, value: u64);

    /// Receives `messages` messages, skips closed channels, and calls `took` after each message. Returns the sum.
    fn sum(cx: &S::Cx<'_>, receivers: &mut Self::Receivers, messages: u64, took: impl FnMut()) -> u64;
}

/// Receives a value that must exist.
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
