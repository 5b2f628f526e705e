//! A member of a set of receivers: how it waits, and whom it tells. See `set`.

use super::source::Source;
use crate::{
    sys::sync::{Arc, Mutex, lock},
    wait::{
        slot::Slot,
        waiter::{Kind, Outcome, Waiter},
    },
};

/// The name of a member of a [`ReceiverSet`](crate::channel::ReceiverSet).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// What those who wake members need.
pub(super) struct Desk {
    pub(super) bell: Slot,
    pub(super) inbox: Mutex<Vec<Member>>,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { bell: Slot::new(), inbox: Mutex::new(Vec::new()) }
    }
}

/// The waiter of a member.
#[repr(C)]
struct Notice {
    /// First, so that its address is the address of the whole.
    waiter: Waiter,
    member: Member,
    desk: Arc<Desk>,
}

static KIND: Kind = Kind::in_arc::<Notice>(wake, 0);

/// # Safety
/// The waiter was retained.
unsafe fn wake(waiter: *const Waiter) {
    // SAFETY: the waiter of this kind is the first field of a `Notice` in an `Arc`, by `insert`.
    let notice = unsafe { Arc::from_raw(waiter.cast::<Notice>()) };
    lock(&notice.desk.inbox).push(notice.member);
    notice.desk.bell.notify();
}

pub(super) struct Seat<R: Source> {
    pub(super) receiver: R,
    wait: R::Wait,
    notice: Arc<Notice>,
    is_waiting: bool,
}

impl<R: Source> Seat<R> {
    pub(super) fn new(receiver: R, member: Member, desk: Arc<Desk>) -> Self {
        let notice = Notice { waiter: Waiter::new(&KIND), member, desk };
        Self { receiver, wait: R::wait(), notice: Arc::new(notice), is_waiting: false }
    }

    /// Begins to wait. `false`: there is something to receive.
    pub(super) fn listen(&mut self) -> bool {
        let waiter = &raw const self.notice.waiter;
        self.notice.waiter.arm(std::ptr::null());
        // SAFETY: armed; the seat is in a box and unregistered before that ends.
        self.is_waiting = unsafe { self.receiver.register(&self.wait, waiter) };
        if !self.is_waiting {
            // Nobody else knows of this wait.
            let is_over = self.notice.waiter.disarm();
            debug_assert!(is_over);
        }
        self.is_waiting
    }

    /// Ends a wait, whatever its outcome. Whether the channel has ended it.
    pub(super) fn stop_listening(&mut self) -> bool {
        if !std::mem::take(&mut self.is_waiting) {
            return false;
        }
        let was_first = self.notice.waiter.decide_for_itself(Outcome::Cancelled);
        // SAFETY: registered, and the wait has ended.
        unsafe { self.receiver.unregister(&self.wait, !was_first) };
        !was_first
    }
}

impl<R: Source> Drop for Seat<R> {
    fn drop(&mut self) {
        if self.stop_listening() {
            self.receiver.pass_on();
        }
    }
}

impl<R: Source> Seat<R> {
    /// The seat does not wait.
    pub(super) fn into_receiver(self) -> R {
        debug_assert!(!self.is_waiting);
        let seat = std::mem::ManuallyDrop::new(self);
        // SAFETY: each field is taken once, and the seat is not dropped as a whole.
        unsafe {
            drop(std::ptr::read(&raw const seat.notice));
            drop(std::ptr::read(&raw const seat.wait));
            std::ptr::read(&raw const seat.receiver)
        }
    }
}
