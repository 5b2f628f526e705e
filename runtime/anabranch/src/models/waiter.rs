//! The waiter: exactly one of all threads that try to end a wait does so. The owner finds the outcome and the value of
//! that thread. The owner continues as soon as it finds itself selected, and may free its memory then.

use super::{
    explore,
    thread::{Thread, reason},
};
use crate::{
    sys::sync::{Arc, AtomicU64, Cell, Mutex, Ordering, lock},
    time::NEVER,
    wait::{
        cancel::CancelScope,
        parked::Parked,
        suspend::Suspend,
        waitable::{Armed, Ended, Waitable, WaiterRef},
        waiter::Selected,
    },
};
use loom::thread;

/// A minimal waitable: the address of a waiter behind a lock, and a value to hand over.
struct Spot {
    address: Mutex<Option<WaiterRef>>,
    value: Cell<u32>,
}

impl Spot {
    fn new() -> Self {
        Self { address: Mutex::new(None), value: Cell::new(0) }
    }

    /// Hands the value over, and wakes after it has released the lock. Returns whether a waiter received the value.
    fn hand_over(&self, value: u32) -> bool {
        let mut address = lock(&self.address);
        let Some(waiting) = address.take() else { return false };
        self.value.set(value);
        // SAFETY: it was in this waitable, whose lock is held.
        let wake = unsafe { waiting.try_select() };
        drop(address);
        wake.map(|wake| wake.wake()).is_some()
    }
}

// SAFETY: ends the wait before it lets go of the address, both under the lock.
unsafe impl Waitable for Spot {
    fn register(&self, armed: Armed) -> bool {
        *lock(&self.address) = Some(armed.into_ref());
        true
    }

    fn unregister(&self, ended: Ended) {
        // As a queue: a waiter that it has selected is no longer in it.
        if !ended.is_selected() {
            *lock(&self.address) = None;
        }
    }
}

struct Shared {
    root: CancelScope,
    spots: [Spot; 2],
    selections: AtomicU64,
}

// SAFETY: loom reports unordered accesses to the values.
unsafe impl Sync for Shared {}
// SAFETY: loom reports unordered accesses to the values.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            root: CancelScope::root(std::ptr::null()),
            spots: [Spot::new(), Spot::new()],
            selections: AtomicU64::new(0),
        })
    }

    fn hand_over(&self, spot: usize) {
        let is_received = self.spots[spot].hand_over(spot as u32 + 7);
        self.selections.fetch_add(u64::from(is_received), Ordering::Relaxed);
    }
}

fn spawn(shared: &Arc<Shared>, act: impl Fn(&Shared) + Send + 'static) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || act(&shared))
}

/// Two waitables and a scope try to end the wait. The owner frees its memory at once.
#[test]
fn models_waiter_exactly_one_of_three_ends_wait() {
    explore("waiter, two waitables and a scope", Some(2), || {
        let shared = Shared::new();
        let others = [
            spawn(&shared, |shared| shared.hand_over(0)),
            spawn(&shared, |shared| shared.hand_over(1)),
            spawn(&shared, |shared| shared.root.cancel()),
        ];
        let outcome = {
            let owner = Thread::new();
            // SAFETY: the root and the owner live longer.
            let scope = unsafe { CancelScope::below(&shared.root, owner.waiter(), false) };
            let outcome = owner.cx(&scope).wait_any(2, |index| &shared.spots[index], NEVER, reason());
            match outcome {
                Selected::Ready(index) => assert_eq!(shared.spots[index as usize].value.get(), index + 7),
                _ => assert!(scope.is_flagged(), "cancelled by nobody"),
            }
            outcome
        };
        for other in others {
            other.join().unwrap();
        }
        let expected = u64::from(matches!(outcome, Selected::Ready(_)));
        assert_eq!(shared.selections.load(Ordering::Relaxed), expected, "handed over to nobody, or not received");
    });
}

/// The owner gives up, or finds a value that was handed over at that moment.
#[test]
fn models_waiter_owner_gives_up() {
    explore("waiter, a waitable against the owner", None, || {
        let shared = Shared::new();
        let other = spawn(&shared, |shared| shared.hand_over(0));
        let outcome = Thread::new().shielded(|cx| cx.wait(&shared.spots[0], 1, reason()));
        if outcome == Selected::Ready(0) {
            assert_eq!(shared.spots[0].value.get(), 7);
        }
        other.join().unwrap();
        assert_eq!(shared.selections.load(Ordering::Relaxed), u64::from(outcome == Selected::Ready(0)));
    });
}

/// An owner tries to end its own wait and is too late. It sees the value that was handed over, without a lock and
/// without another attempt.
#[test]
fn models_waiter_late_owner_sees_outcome() {
    explore("waiter, too late to end its own wait", None, || {
        let parked = Parked::new();
        let spot = Arc::new(Spot::new());
        parked.waiter.arm(std::ptr::null());
        // SAFETY: the waiter is armed, and unregistered below.
        assert!(spot.register(unsafe { Armed::new(&raw const parked.waiter, 3) }));
        // So that loom lets the selection come before the first look, too.
        let done = Arc::new(AtomicU64::new(0));
        let other = thread::spawn({
            let (spot, done) = (Arc::clone(&spot), Arc::clone(&done));
            move || {
                let is_received = spot.hand_over(7);
                done.store(1, Ordering::Relaxed);
                is_received
            }
        });
        done.load(Ordering::Relaxed);
        let is_own = parked.waiter.select_itself(Selected::Cancelled);
        if !is_own {
            assert_eq!(spot.value.get(), 7);
        }
        // SAFETY: the wait has ended.
        spot.unregister(unsafe { Ended::new(!is_own) });
        assert_eq!(other.join().unwrap(), !is_own);
    });
}
