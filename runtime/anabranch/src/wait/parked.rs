//! The waiter of a thread, which parks while it waits.
//!
//! The thread continues as soon as it finds its waiter selected, even before it has been woken. So the waiter and the
//! parker are on the heap; the thread and each thread that is waking it keep them alive. A late wake-up leaves a token
//! in the parker, which makes the next wait check its waiter once more.

use crate::{
    sys::{parker::Parker, sync::Arc},
    wait::{
        spin_wait::SPINS,
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

static KIND: Kind = Kind { retries: true, ..Kind::in_arc::<Parked>(wake, SPINS, true) };

/// A thread that stands for a fiber in a model.
#[cfg(loom)]
static FIBER: Kind = Kind::in_arc::<Parked>(wake, SPINS, true);

/// # Safety
/// The waiter was retained for this call.
unsafe fn wake(waiter: *const Waiter) {
    // SAFETY: only `Parked::new` makes waiters of this kind, each the first field of a `Parked` in an `Arc`. The caller
    // has retained it.
    unsafe { Arc::from_raw(waiter.cast::<Parked>()).parker.unpark() }
}

impl Parked {
    /// Creates the waiter of one thread.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { waiter: Waiter::new(&KIND), parker: Parker::new() })
    }

    /// Creates the waiter of a thread that stands for a fiber.
    #[cfg(loom)]
    pub(crate) fn like_a_fiber() -> Arc<Self> {
        Arc::new(Self { waiter: Waiter::new(&FIBER), parker: Parker::new() })
    }

    /// Returns the address of the waiter. It is derived from a pointer to the whole, since `wake` accesses the other
    /// fields and the counts of the `Arc` by it.
    pub(crate) fn waiter(this: &Arc<Self>) -> *const Waiter {
        Arc::as_ptr(this).cast()
    }
}
