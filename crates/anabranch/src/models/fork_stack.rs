//! The shelf and the latch: every fork is run once, by its owner or by one thief, and its result arrives.

use super::explore;
use crate::{
    pool::{
        fork_stack::{ForkStack, Outcome, Slot},
        frame::Frame,
    },
    sys::parker::Parker,
};
use loom::{cell::UnsafeCell, sync::Arc, thread};

/// A fork as `join` makes it, reduced to a number that running it increments. Loom sees every access to the number, so a
/// missing ordering shows as a race.
#[repr(C)]
struct Fork {
    frame: Frame,
    runs: UnsafeCell<u32>,
}

impl Fork {
    fn new() -> Self {
        Self { frame: Frame::new(Self::execute), runs: UnsafeCell::new(0) }
    }

    unsafe fn execute(frame: *const Frame) {
        // SAFETY: `frame` is the first field of a fork, which is alive while it runs.
        unsafe { (*frame.cast::<Self>()).run() };
    }

    fn run(&self) {
        // SAFETY: the fork is run by whoever has it; loom reports it if two have.
        self.runs.with_mut(|runs| unsafe { *runs += 1 });
    }

    fn runs(&self) -> u32 {
        // SAFETY: called by the owner after the join.
        self.runs.with(|runs| unsafe { *runs })
    }
}

/// What of a worker the protocol needs. It outlives the forks, as the seats of a pool do.
struct Seat {
    stack: ForkStack,
    parker: Parker,
}

impl Seat {
    fn new() -> Arc<Self> {
        Arc::new(Self { stack: ForkStack::new(4), parker: Parker::new() })
    }

    fn fork(&self, fork: &Fork) -> *const Slot {
        // SAFETY: the model's owner calls this, and joins.
        unsafe { self.stack.push_unasked(&raw const fork.frame) }.expect("the model stays within the stack")
    }

    fn publish(&self) -> bool {
        // SAFETY: the model's owner calls this.
        unsafe { self.stack.publish_oldest(&self.parker) }
    }

    /// As the end of `join`.
    fn join(&self, slot: *const Slot, fork: &Fork) {
        // SAFETY: the model's owner calls this with what it forked last.
        unsafe {
            if self.stack.pop(slot)
                || self.stack.finish(slot, &raw const fork.frame, || self.parker.park()) == Outcome::Reclaimed
            {
                fork.run();
            }
        }
        assert_eq!(fork.runs(), 1, "a fork has to be run exactly once");
    }
}

fn thief(seat: &Arc<Seat>, act: impl Fn(&Seat) + Send + 'static) -> thread::JoinHandle<()> {
    let seat = Arc::clone(seat);
    thread::spawn(move || act(&seat))
}

fn steal(seat: &Seat) {
    if let Some((_, claim)) = seat.stack.take_oldest(0) {
        claim.run();
    }
}

fn steal_and_put_back(seat: &Seat) {
    if let Some((_, claim)) = seat.stack.take_oldest(0) {
        claim.put_back();
    }
}

#[test]
fn models_shelf_owner_against_a_thief() {
    explore("shelf, one thief", None, || {
        let seat = Seat::new();
        let other = thief(&seat, steal);
        let (outer, inner) = (Fork::new(), Fork::new());
        let outer_slot = seat.fork(&outer);
        assert!(seat.publish());
        let inner_slot = seat.fork(&inner);
        seat.join(inner_slot, &inner);
        seat.join(outer_slot, &outer);
        other.join().unwrap();
    });
}

#[test]
fn models_shelf_two_published_two_thieves() {
    explore("shelf, two forks and two thieves", Some(2), || {
        let seat = Seat::new();
        let others = [thief(&seat, steal), thief(&seat, steal)];
        let (outer, inner) = (Fork::new(), Fork::new());
        let outer_slot = seat.fork(&outer);
        let inner_slot = seat.fork(&inner);
        assert!(seat.publish() && seat.publish() && !seat.publish());
        seat.join(inner_slot, &inner);
        seat.join(outer_slot, &outer);
        for other in others {
            other.join().unwrap();
        }
    });
}

#[test]
fn models_shelf_a_claim_is_put_back() {
    explore("shelf, put back", Some(3), || {
        let seat = Seat::new();
        let others = [thief(&seat, steal_and_put_back), thief(&seat, steal)];
        let fork = Fork::new();
        let slot = seat.fork(&fork);
        assert!(seat.publish());
        seat.join(slot, &fork);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// The same slot and the same address again, this time private: a thief with an old reading must not get it.
#[test]
fn models_shelf_the_slot_and_the_frame_are_reused() {
    explore("shelf, reuse", Some(4), || {
        let seat = Seat::new();
        let other = thief(&seat, |seat| {
            steal(seat);
            steal(seat);
        });
        let fork = Fork::new();
        let slot = seat.fork(&fork);
        assert!(seat.publish());
        seat.join(slot, &fork);
        fork.runs.with_mut(|runs| {
            // SAFETY: joined, so the owner's alone.
            unsafe { *runs = 0 }
        });
        let again = seat.fork(&fork);
        assert_eq!(again, slot);
        seat.join(again, &fork);
        other.join().unwrap();
    });
}

/// A fork that finds the demand serves it. Loom does not reorder a plain store before a load that the same thread has
/// just made of the same word, so the thief gets the first turn explicitly.
#[test]
fn models_shelf_demand_is_served() {
    explore("shelf, demand", None, || {
        let seat = Seat::new();
        let other = thief(&seat, |seat| {
            seat.stack.ask();
            thread::yield_now();
            steal(seat);
        });
        thread::yield_now();
        let fork = Fork::new();
        // SAFETY: the owner forks, and joins below.
        let slot = match unsafe { seat.stack.push(&raw const fork.frame) } {
            Some(slot) => slot,
            None => {
                let slot = seat.fork(&fork);
                seat.stack.serve();
                assert!(seat.publish());
                slot
            }
        };
        seat.join(slot, &fork);
        other.join().unwrap();
    });
}

fn raid_and_steal(seat: &Seat) {
    seat.stack.raid(&seat.parker, 2);
    steal(seat);
}

#[test]
fn models_raid_against_the_owner() {
    explore("raid", None, || {
        let seat = Seat::new();
        let other = thief(&seat, raid_and_steal);
        let fork = Fork::new();
        let slot = seat.fork(&fork);
        seat.join(slot, &fork);
        other.join().unwrap();
    });
}

#[test]
fn models_raid_while_the_owner_forks_on() {
    explore("raid, nested forks", Some(3), || {
        let seat = Seat::new();
        let other = thief(&seat, raid_and_steal);
        let (outer, inner, next) = (Fork::new(), Fork::new(), Fork::new());
        let outer_slot = seat.fork(&outer);
        let inner_slot = seat.fork(&inner);
        seat.join(inner_slot, &inner);
        let next_slot = seat.fork(&next);
        seat.join(next_slot, &next);
        seat.join(outer_slot, &outer);
        other.join().unwrap();
    });
}

#[test]
fn models_raid_while_the_owner_publishes() {
    explore("raid, publication and a thief", Some(2), || {
        let seat = Seat::new();
        let others = [thief(&seat, raid_and_steal), thief(&seat, steal)];
        let (outer, inner) = (Fork::new(), Fork::new());
        let outer_slot = seat.fork(&outer);
        seat.publish();
        let inner_slot = seat.fork(&inner);
        seat.join(inner_slot, &inner);
        seat.join(outer_slot, &outer);
        for other in others {
            other.join().unwrap();
        }
    });
}
