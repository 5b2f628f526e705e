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
        waiter::Waiter,
    },
};

/// Registers an address at a slot, unless the stream is closed.
///
/// # Safety
/// As for [`Word::register`](crate::wait::state_word::Word::register).
#[inline]
unsafe fn register<T>(
    at: &Cursor<T>,
    side: &Side,
    number: Content,
    node: &WaitNode,
    waiter: *const Waiter,
    ticket: u32,
) -> bool {
    let (shared, word) = (at.shared(), &at.slot().word);
    shared.sides.share(side);
    // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
    let is_registered = unsafe { word.register(number, node, waiter, ticket) };
    is_registered && !(shared.is_closed.load(Ordering::SeqCst) && word.withdraw(number, node))
}

/// Takes the address out again.
///
/// # Safety
/// As for [`Word::unregister`](crate::wait::state_word::Word::unregister).
#[inline]
unsafe fn unregister<T>(at: &Cursor<T>, side: &Side, number: Content, node: &WaitNode, is_selected: bool) {
    if !is_selected {
        at.shared().sides.share(side);
        // SAFETY: the caller has registered here, and its wait has ended.
        unsafe { at.slot().word.unregister(number, node, false) }
    }
}

/// The sender's wait for room, and the receiver's wait for a value.
///
/// Its owner neither moves nor drops the end while it is registered.
pub(crate) struct StreamWait {
    node: WaitNode,
}

impl StreamWait {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { node: WaitNode::new() }
    }

    /// # Safety
    /// As for [`Waitable::register`](crate::wait::waitable::Waitable::register).
    #[inline]
    pub(crate) unsafe fn register_producer<T>(
        &self,
        producer: &Producer<T>,
        waiter: *const Waiter,
        ticket: u32,
    ) -> bool {
        // SAFETY: the caller keeps the waiter and this object in place until `unregister`. Only the sender waits for
        // the end of FULL.
        unsafe { register(&producer.at, &producer.side, FULL, &self.node, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Waitable::unregister`](crate::wait::waitable::Waitable::unregister).
    #[inline]
    pub(crate) unsafe fn unregister_producer<T>(&self, producer: &Producer<T>, is_selected: bool) {
        // SAFETY: the caller has registered here, and its wait has ended.
        unsafe { unregister(&producer.at, &producer.side, FULL, &self.node, is_selected) }
    }

    /// # Safety
    /// As for [`Waitable::register`](crate::wait::waitable::Waitable::register).
    #[inline]
    pub(crate) unsafe fn register_consumer<T>(
        &self,
        consumer: &Consumer<T>,
        waiter: *const Waiter,
        ticket: u32,
    ) -> bool {
        // SAFETY: the caller keeps the waiter and this object in place until `unregister`. Only the receiver waits for
        // the end of EMPTY.
        unsafe { register(&consumer.at, &consumer.side, EMPTY, &self.node, waiter, ticket) }
    }

    /// # Safety
    /// As for [`Waitable::register_local`](crate::wait::waitable::Waitable::register_local).
    #[inline]
    pub(crate) unsafe fn register_consumer_local<T>(&self, consumer: &Consumer<T>, waiter: *const Waiter) -> bool {
        let at = &consumer.at;
        // The stream is not closed either, since closing ends every bias.
        let Some(_inside) = at.shared().sides.enter() else { return false };
        // SAFETY: the caller is the waiter's thread and keeps the waiter and this object in place. No other thread
        // writes the word while this thread is inside.
        unsafe { at.slot().word.register_alone(EMPTY, &self.node, waiter) }
    }

    /// Like [`register_consumer`](Self::register_consumer), for a persistent waiter, which is in no scope. For the
    /// owner it takes no update.
    ///
    /// # Safety
    /// The contract of [`register_consumer`](Self::register_consumer) holds.
    #[inline]
    pub(crate) unsafe fn register_persistent<T>(&self, consumer: &Consumer<T>, waiter: *const Waiter) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until it is withdrawn or
        // woken.
        unsafe { self.register_consumer_local(consumer, waiter) || self.register_persistent_shared(consumer, waiter) }
    }

    #[inline(never)]
    unsafe fn register_persistent_shared<T>(&self, consumer: &Consumer<T>, waiter: *const Waiter) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until it is withdrawn or
        // woken.
        unsafe { self.register_consumer(consumer, waiter, 0) }
    }

    /// Removes the receiver's address. Returns `false` if it is not where the receiver is now.
    pub(crate) fn withdraw_outlet<T>(&self, consumer: &Consumer<T>) -> bool {
        consumer.at.shared().sides.share(&consumer.side);
        consumer.at.slot().word.withdraw(EMPTY, &self.node)
    }

    /// # Safety
    /// As for [`Waitable::unregister`](crate::wait::waitable::Waitable::unregister).
    #[inline]
    pub(crate) unsafe fn unregister_consumer<T>(&self, consumer: &Consumer<T>, is_selected: bool) {
        // SAFETY: the caller has registered here, and its wait has ended.
        unsafe { unregister(&consumer.at, &consumer.side, EMPTY, &self.node, is_selected) }
    }
}
