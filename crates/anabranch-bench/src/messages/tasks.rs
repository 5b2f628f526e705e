//! Code that is `async`: tasks of tokio, on its pool of threads or on the calling thread.

use tokio::runtime::{Builder, Runtime};
use tokio::task::spawn;

/// A runtime with so many workers, or on the calling thread.
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

    /// Done once before the first channel, where the library asks for it.
    fn prepare() {}

    /// Makes one.
    fn new() -> (Self::Sender, Self::Receiver);

    /// Sends a value; the receiver is there.
    fn send(sender: &mut Self::Sender, value: u64) -> impl Future<Output = ()> + Send;

    /// Receives a value; `None` after the last one.
    fn recv(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send;
}

/// A channel with any number of senders.
pub trait Shared: Channel {
    /// One more sender.
    fn share(sender: &Self::Sender) -> Self::Sender;
}

/// Many channels, one sender each, and one task that receives from whichever has something.
pub trait Selection: 'static {
    /// The end that sends.
    type Sender: Send + 'static;
    /// All the ends that receive.
    type Receivers: Send + 'static;

    /// Makes `count` channels.
    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers);

    /// Sends a value; the receiver is there.
    fn send(sender: &mut Self::Sender, value: u64) -> impl Future<Output = ()> + Send;

    /// Receives so many `messages`, and calls `took` after each. Returns their sum.
    fn sum(
        receivers: &mut Self::Receivers,
        messages: u64,
        took: impl FnMut() + Send,
    ) -> impl Future<Output = u64> + Send;
}

/// Receives what there must be.
pub(super) async fn must_recv<C: Channel>(receiver: &mut C::Receiver) -> u64 {
    C::recv(receiver).await.expect("the sender has not gone")
}
