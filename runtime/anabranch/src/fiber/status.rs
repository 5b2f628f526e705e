//! The data that other threads may read at any time about a fiber or a waiting thread: its name, its state, and what it
//! waits for.
//!
//! All of it is information for people, so each field is read and written on its own, relaxed: a reader may see the
//! state of one moment with the reason of another.
//!
//! When the wait began. A suspension reads no clock: it stores the worker's tick, the time at which the worker began
//! its present round of fibers. So a wait may seem longer by the time that the round took before the wait, and never
//! shorter.

use crate::{
    sys::sync::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Mutex, Ordering, lock},
    wait::{awaited_lock::AwaitedLock, suspend::WaitReason},
};
use std::{panic::Location, ptr, sync::Arc};

/// The state of a fiber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    Idle,
    Running,
    Ready,
    Suspended,
    /// Like `Suspended`, but its wait has a deadline.
    SuspendedUntil,
}

impl State {
    /// Returns whether it waits, with a deadline or without.
    pub(crate) fn is_suspended(self) -> bool {
        matches!(self, State::Suspended | State::SuspendedUntil)
    }
}

/// See the [module](self).
#[repr(C)]
pub(crate) struct FiberStatus {
    state: AtomicU8,
    /// The worker's tick at the last suspension.
    since: AtomicU32,
    what: AtomicPtr<&'static str>,
    at: AtomicPtr<Location<'static>>,
    /// Where it was spawned, or null.
    origin: AtomicPtr<Location<'static>>,
    /// Spares those without a name the lock.
    is_named: AtomicBool,
    name: Mutex<Option<Arc<str>>>,
    /// The lock that it waits for.
    pub(crate) lock: AwaitedLock,
}

impl FiberStatus {
    pub(crate) const fn new() -> Self {
        Self {
            state: AtomicU8::new(State::Idle as u8),
            since: AtomicU32::new(0),
            what: AtomicPtr::new(ptr::null_mut()),
            at: AtomicPtr::new(ptr::null_mut()),
            origin: AtomicPtr::new(ptr::null_mut()),
            is_named: AtomicBool::new(false),
            name: Mutex::new(None),
            lock: AwaitedLock::new(),
        }
    }

    #[inline]
    pub(crate) fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    pub(crate) fn state(&self) -> State {
        match self.state.load(Ordering::Relaxed) {
            1 => State::Running,
            2 => State::Ready,
            3 => State::Suspended,
            4 => State::SuspendedUntil,
            _ => State::Idle,
        }
    }

    pub(crate) fn is_named(&self) -> bool {
        self.is_named.load(Ordering::Relaxed)
    }

    pub(crate) fn clear_name(&self) {
        self.is_named.store(false, Ordering::Relaxed);
        *lock(&self.name) = None;
    }

    pub(crate) fn set_name(&self, name: Arc<str>) {
        self.is_named.store(true, Ordering::Relaxed);
        *lock(&self.name) = Some(name);
    }

    /// Marks it as waiting, since this tick of its worker.
    pub(crate) fn suspend(&self, reason: WaitReason, tick: u32) {
        self.since.store(tick, Ordering::Relaxed);
        self.what.store(ptr::from_ref(reason.what).cast_mut(), Ordering::Relaxed);
        self.at.store(ptr::from_ref(reason.at).cast_mut(), Ordering::Relaxed);
        self.set(State::Suspended);
    }

    pub(crate) fn name(&self) -> Option<Arc<str>> {
        lock(&self.name).clone()
    }

    /// Returns the worker's tick at which it began to wait, if it waits.
    pub(crate) fn since(&self) -> u32 {
        self.since.load(Ordering::Relaxed)
    }

    /// Records where it was spawned.
    #[inline]
    pub(crate) fn set_origin(&self, origin: Option<&'static Location<'static>>) {
        let origin = origin.map_or(ptr::null(), ptr::from_ref);
        self.origin.store(origin.cast_mut(), Ordering::Relaxed);
    }

    /// Returns where it was spawned, if that is known.
    pub(crate) fn origin(&self) -> Option<&'static Location<'static>> {
        // SAFETY: null, or from a reference with static lifetime.
        unsafe { self.origin.load(Ordering::Relaxed).as_ref() }
    }

    /// Returns what it waits for, or waited for last.
    pub(crate) fn reason(&self) -> Option<WaitReason> {
        // SAFETY: both are null or come from references with static lifetime.
        unsafe {
            let what = self.what.load(Ordering::Relaxed).as_ref()?;
            let at = self.at.load(Ordering::Relaxed).as_ref()?;
            Some(WaitReason { what, at })
        }
    }
}
