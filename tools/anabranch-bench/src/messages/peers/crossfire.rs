//! crossfire, between threads and between tasks: its `spsc` for links between two ends, its `mpsc` for many senders.

use crossfire::select::{Multiplex, Mux};
use crossfire::{AsyncRx, AsyncTx, MAsyncTx, MTx, Rx, Tx, detect_backoff_cfg, mpsc, spsc};
use futures_util::StreamExt;
use futures_util::stream::SelectAll;

use super::ROOM;
use crate::messages::blocking::{Selection, Threads};
use crate::messages::tasks;

/// `spsc::unbounded_*`.
pub struct Unbounded;

/// `spsc::bounded_*`.
pub struct Bounded;

/// `mpsc::unbounded_*`.
pub struct SharedUnbounded;

/// `mpsc::bounded_*`.
pub struct SharedBounded;

// Each applies the setting that its documentation recommends for virtual machines.
between_threads!(Unbounded: Tx<spsc::List<u64>>, Rx<spsc::List<u64>>, spsc::unbounded_blocking(); detect_backoff_cfg());
between_threads!(Bounded: Tx<spsc::Array<u64>>, Rx<spsc::Array<u64>>,
    spsc::bounded_blocking(ROOM); detect_backoff_cfg());
between_threads!(SharedUnbounded: MTx<mpsc::List<u64>>, Rx<mpsc::List<u64>>,
    mpsc::unbounded_blocking(); detect_backoff_cfg());
between_threads!(SharedBounded: MTx<mpsc::Array<u64>>, Rx<mpsc::Array<u64>>,
    mpsc::bounded_blocking(ROOM); detect_backoff_cfg());

// A send to an unbounded channel never waits, so there is nothing to await.
between_tasks!(Unbounded: Tx<spsc::List<u64>>, AsyncRx<spsc::List<u64>>, spsc::unbounded_async(); detect_backoff_cfg());
between_tasks!(Bounded: AsyncTx<spsc::Array<u64>>, AsyncRx<spsc::Array<u64>>,
    spsc::bounded_async(ROOM), await; detect_backoff_cfg());
between_tasks!(SharedUnbounded: MTx<mpsc::List<u64>>, AsyncRx<mpsc::List<u64>>,
    mpsc::unbounded_async(); detect_backoff_cfg());
between_tasks!(SharedBounded: MAsyncTx<mpsc::Array<u64>>, AsyncRx<mpsc::Array<u64>>,
    mpsc::bounded_async(ROOM), await; detect_backoff_cfg());

/// `Multiplex`, which owns its receivers. Each channel has the capacity [`ROOM`].
pub struct Multiplexed;

impl Selection<Threads> for Multiplexed {
    type Sender = Tx<Mux<spsc::Array<u64>>>;
    type Receivers = Multiplex<spsc::Array<u64>>;
    type Answers = Unbounded;

    fn prepare() {
        detect_backoff_cfg();
    }

    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers) {
        let mut receivers = Multiplex::new();
        let senders = (0..count).map(|_| receivers.bounded_tx(ROOM)).collect();
        (senders, receivers)
    }

    #[inline(always)]
    fn send(_: &(), sender: &mut Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    fn sum(_: &(), receivers: &mut Self::Receivers, messages: u64, mut took: impl FnMut()) -> u64 {
        let next = |_| {
            let value = receivers.recv().expect("there are messages left");
            took();
            value
        };
        (0..messages).map(next).sum()
    }
}

/// Receivers as streams, from which `SelectAll` of futures-util selects. Each channel has the capacity [`ROOM`].
pub struct All;

impl tasks::Selection for All {
    type Sender = AsyncTx<spsc::Array<u64>>;
    type Receivers = SelectAll<crossfire::stream::AsyncStream<spsc::Array<u64>>>;

    fn new(count: usize) -> (Vec<Self::Sender>, Self::Receivers) {
        detect_backoff_cfg();
        let (senders, receivers): (Vec<_>, Vec<AsyncRx<_>>) = (0..count).map(|_| spsc::bounded_async(ROOM)).unzip();
        (senders, receivers.into_iter().map(AsyncRx::into_stream).collect())
    }

    async fn send(sender: &mut Self::Sender, value: u64) {
        sender.send(value).await.expect("the receiver is there");
    }

    async fn sum(receivers: &mut Self::Receivers, messages: u64, mut took: impl FnMut() + Send) -> u64 {
        let mut sum = 0;
        for _ in 0..messages {
            sum += receivers.next().await.expect("there are messages left");
            took();
        }
        sum
    }
}
