//! Waits at a stream: for a value, or for room.

use crate::{
    bias::pair::Side,
    channel::spsc::stream::{
        consumer::Consumer,
        cursor::Cursor,
        producer::Producer,
        slab::{EMPTY, FULL},
    },
    sys::sync::Ordering,
    wait::{
        state_word::{Content, WaitNode},
        waitable::{Armed, Ended},
    },
};

/// Registers an address at a slot, unless the stream is closed.
#[inline]
fn register<T>(at: &Cursor<T>, side: &Side, number: Content, node: &WaitNode, armed: Armed) -> bool {
    let (shared, word) = (at.shared(), &at.slot().word);
    shared.sides.share(side);
    let is_registered = word.register(number, node, armed);
    is_registered && !(shared.is_closed.load(Ordering::SeqCst) && word.withdraw(number, node))
}

/// Takes the address out again.
#[inline]
fn unregister<T>(at: &Cursor<T>, side: &Side, number: Content, node: &WaitNode, ended: Ended) {
    if !ended.is_selected() {
        at.shared().sides.share(side);
        at.slot().word.unregister(number, node, ended);
    }
}

/// The sender's wait for room, and the receiver's wait for a value.
///
/// Its owner neither moves nor drops the end while it is registered. Only the sender waits for the end of FULL, and
/// only the receiver for the end of EMPTY.
pub(crate) struct StreamWait {
    node: WaitNode,
}

impl StreamWait {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { node: WaitNode::new() }
    }

    #[inline]
    pub(crate) fn register_producer<T>(&self, producer: &Producer<T>, armed: Armed) -> bool {
        register(&producer.at, &producer.side, FULL, &self.node, armed)
    }

    #[inline]
    pub(crate) fn unregister_producer<T>(&self, producer: &Producer<T>, ended: Ended) {
        unregister(&producer.at, &producer.side, FULL, &self.node, ended);
    }

    #[inline]
    pub(crate) fn register_consumer<T>(&self, consumer: &Consumer<T>, armed: Armed) -> bool {
        register(&consumer.at, &consumer.side, EMPTY, &self.node, armed)
    }

    /// Like [`register_consumer`](Self::register_consumer), without an update. Returns `false` if other threads may use
    /// the stream, too.
    #[inline]
    pub(crate) fn register_consumer_local<T>(&self, consumer: &Consumer<T>, armed: Armed) -> bool {
        let at = &consumer.at;
        // The stream is not closed either, since closing ends every bias.
        let Some(_inside) = at.shared().sides.enter() else { return false };
        // No other thread writes the word while this thread is inside.
        at.slot().word.register_alone(EMPTY, &self.node, armed)
    }

    /// Like [`register_consumer`](Self::register_consumer), for a persistent waiter, which is in no scope. For the
    /// owner it takes no update.
    #[inline]
    pub(crate) fn register_persistent<T>(&self, consumer: &Consumer<T>, armed: Armed) -> bool {
        let at = &consumer.at;
        match at.shared().sides.enter() {
            // No other thread writes the word while this thread is inside.
            Some(_inside) => at.slot().word.register_alone(EMPTY, &self.node, armed),
            None => self.register_persistent_shared(consumer, armed),
        }
    }

    #[inline(never)]
    fn register_persistent_shared<T>(&self, consumer: &Consumer<T>, armed: Armed) -> bool {
        self.register_consumer(consumer, armed)
    }

    /// Removes the receiver's address. Returns `false` if it is not where the receiver is now.
    pub(crate) fn withdraw_outlet<T>(&self, consumer: &Consumer<T>) -> bool {
        consumer.at.shared().sides.share(&consumer.side);
        consumer.at.slot().word.withdraw(EMPTY, &self.node)
    }

    #[inline]
    pub(crate) fn unregister_consumer<T>(&self, consumer: &Consumer<T>, ended: Ended) {
        unregister(&consumer.at, &consumer.side, EMPTY, &self.node, ended);
    }
}
