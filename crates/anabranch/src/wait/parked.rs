//! The waiter of a thread, which parks while it waits.
//!
//! It goes on as soon as it finds its waiter decided, be it before it has been woken: so the waiter and the parker are
//! on the heap, kept by the thread and by whoever is just waking it. A wake-up that comes late leaves a token in the
//! parker; the next wait takes it for a reason to look.

use crate::{
    sys::{parker::Parker, sync::Arc},
    wait::{
        spin_wait::LOOKS,
        waiter::{Kind, Waiter},
    },
};

/// See the [module](self).
#[repr(C)]
pub(crate) struct Parked {
    /// First, so that its address is the address of the whole.
    pub(crate) waiter: Waiter,
    pub(crate) parker: Parker,
}

static KIND: Kind = Kind::in_arc::<Parked>(wake, LOOKS, true);

/// # Safety
/// The waiter was retained.
unsafe fn wake(waiter: *const Waiter) {
    // SAFETY: the waiter of this kind is the first field of a `Parked` in an `Arc`, by `Parked::new`.
    unsafe { Arc::from_raw(waiter.cast::<Parked>()).parker.unpark() }
}

impl Parked {
    /// For one thread.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { waiter: Waiter::new(&KIND), parker: Parker::new() })
    }

    /// The address of the waiter, as that of the whole: whoever wakes it has to find the rest, and the counts of the
    /// `Arc`.
    pub(crate) fn waiter(this: &Arc<Self>) -> *const Waiter {
        Arc::as_ptr(this).cast()
    }
}
