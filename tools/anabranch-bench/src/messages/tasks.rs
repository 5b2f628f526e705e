//! Code that is `async`: tasks of tokio, on its thread pool or on its current-thread runtime.

use tokio::runtime::{Builder, Runtime};
use tokio::task::spawn;

/// Makes a runtime with `workers` workers, or a current-thread runtime.
pub fn runtime(workers: Option<usize>) -> Runtime {
    let mut builder = match workers {
        Some(_) => Builder::new_multi_thread(),
        None => Builder::new_current_thread(),
    };
    builder.worker_threads(workers.unwrap_or(1)).build().expect("a runtime can be built")
}

/// Runs `body` as the first task.
pub fn root<R: Send + 'static>(runtime: &Runtime, body: impl Future<Output = R> + Send + 'static) -> R {
    runtime.block_on(async { spawn(body).await }).expect("the root ends in peace")
}

/// A channel from one task to another.
pub trait Channel: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// The end that receives.
    type Receiver: Send + 'static;

    /// Prepares the library, once before the first channel.
    fn prepare() {}

    /// Creates a channel.
    fn new() -> (Self::Sender, Self::Receiver);

    /// Sends a value; the receiver exists.
    fn send(sender: &mut Self::Sender, value: u64) -> impl Future<Output = ()> + Send;

    /// Receives a value. Returns `None` after the last one.
    fn recv(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send;
}

/// Many channels with one sender each, and one task that receives from all of them.
pub trait Selection: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// All the ends that receive.
    type Receivers: Send + 'static;

    /// Creates `count` channels.
    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers);

    /// Sends a value; the receiver exists.
    fn send(sender: &mut Self::Sender, value: u64) -> impl Future<Output = ()> + Send;

    /// Receives `messages` messages, and calls `took` after each. Returns the sum.
    fn sum(
        receivers: &mut Self::Receivers,
        messages: u64,
        took: impl FnMut() + Send,
    ) -> impl Future<Output = u64> + Send;
}

/// Receives a value that must exist.
pub(super) async fn must_recv<C: Channel>(receiver: &mut C::Receiver) -> u64 {
    C::recv(receiver).await.expect("the sender has not gone")
}
