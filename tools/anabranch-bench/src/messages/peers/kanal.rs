//! kanal, between threads and between tasks.

use kanal::{AsyncReceiver, AsyncSender, Receiver, Sender, bounded, bounded_async, unbounded, unbounded_async};

use super::ROOM;

/// A channel, bounded or unbounded.
pub struct Kanal<const BOUNDED: bool>;

between_threads!(Kanal<BOUNDED>: Sender<u64>, Receiver<u64>, if BOUNDED { bounded(ROOM) } else { unbounded() });

between_tasks!(Kanal<BOUNDED>: AsyncSender<u64>, AsyncReceiver<u64>,
    if BOUNDED { bounded_async(ROOM) } else { unbounded_async() }, await);
