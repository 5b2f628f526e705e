//! The shelf and the latch: every fork is run once, by its owner or by one thief, and its result arrives.

use super::explore;
use crate::{
    pool::{
        fork_stack::{ForkStack, Outcome},
        frame::Frame,
        offer::Offer,
    },
    sys::{barrier::Fence, parker::Parker},
};
use loom::{cell::UnsafeCell, sync::Arc, thread};
use std::ptr;

/// A fork as `join` makes it, reduced to a number that running it increments. Loom sees every access to the number, so a
/// missing ordering shows as a race.
#[repr(C)]
struct Fork {
    frame: Frame,
    runs: UnsafeCell<u32>,
}

impl Fork {
    fn new() -> Self {
        Self { frame: Frame::new(Self::execute, ptr::null(), false), runs: UnsafeCell::new(0) }
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
        Self::with(Fence::Asymmetric)
    }

    fn with(fence: Fence) -> Arc<Self> {
        Arc::new(Self { stack: ForkStack::new(4, fence), parker: Parker::new() })
    }

    /// Makes the frame anew, for it may have been used, and links it.
    fn fork(&self, fork: &Fork) {
        let frame = &raw const fork.frame;
        // SAFETY: the model's owner calls this, and joins; until it is linked the frame is the owner's alone.
        unsafe {
            frame.cast_mut().write(Frame::new(Fork::execute, self.stack.newest(), false));
            self.stack.push(frame);
        }
    }

    fn publish(&self) -> bool {
        // SAFETY: the model's owner calls this.
        unsafe { self.stack.serve(&self.parker, 1, no_offers) == 1 }
    }

    /// As the end of `join`.
    fn join(&self, fork: &Fork) {
        let frame = &raw const fork.frame;
        // SAFETY: the model's owner calls this with what it forked last.
        unsafe {
            if self.stack.pop(frame) || self.stack.finish(frame, |_| self.parker.park()) != Outcome::Done {
                fork.run();
            }
        }
        assert_eq!(fork.runs(), 1, "a fork has to be run exactly once");
    }
}

/// For forks that cannot wait; the others are in [`offer`](super::offer).
fn no_offers(_: std::sync::Arc<Offer>) {
    unreachable!("none of these forks may wait");
}

fn thief(seat: &Arc<Seat>, act: impl Fn(&Seat) + Send + 'static) -> thread::JoinHandle<()> {
    let seat = Arc::clone(seat);
    thread::spawn(move || act(&seat))
}

fn steal(seat: &Seat) {
    if let Some((_, claim)) = seat.stack.shelf.take_oldest(0) {
        claim.run();
    }
}

fn steal_and_put_back(seat: &Seat) {
    if let Some((_, claim)) = seat.stack.shelf.take_oldest(0) {
        claim.put_back();
    }
}

#[test]
fn models_shelf_owner_against_a_thief() {
    explore("shelf, one thief", None, || {
        let seat = Seat::new();
        let other = thief(&seat, steal);
        let (outer, inner) = (Fork::new(), Fork::new());
        seat.fork(&outer);
        assert!(seat.publish());
        seat.fork(&inner);
        seat.join(&inner);
        seat.join(&outer);
        other.join().unwrap();
    });
}

#[test]
fn models_shelf_two_published_two_thieves() {
    explore("shelf, two forks and two thieves", Some(2), || {
        let seat = Seat::new();
        let others = [thief(&seat, steal), thief(&seat, steal)];
        let (outer, inner) = (Fork::new(), Fork::new());
        seat.fork(&outer);
        seat.fork(&inner);
        assert!(seat.publish() && seat.publish() && !seat.publish());
        seat.join(&inner);
        seat.join(&outer);
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
        seat.fork(&fork);
        assert!(seat.publish());
        seat.join(&fork);
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
        seat.fork(&fork);
        assert!(seat.publish());
        seat.join(&fork);
        fork.runs.with_mut(|runs| {
            // SAFETY: joined, so the owner's alone.
            unsafe { *runs = 0 }
        });
        seat.fork(&fork);
        seat.join(&fork);
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
        let is_asked = seat.stack.is_asked();
        seat.fork(&fork);
        if is_asked {
            assert!(seat.publish());
        }
        seat.join(&fork);
        other.join().unwrap();
    });
}

fn raid_and_steal(seat: &Seat) {
    seat.stack.raid(&seat.parker, 2, no_offers);
    steal(seat);
}

#[test]
fn models_raid_without_an_asymmetric_barrier() {
    explore("raid, symmetric", Some(3), || raid_against_the_owner(Fence::Symmetric));
}

#[test]
fn models_raid_against_the_owner() {
    explore("raid, asymmetric", None, || raid_against_the_owner(Fence::Asymmetric));
}

fn raid_against_the_owner(fence: Fence) {
    {
        let seat = Seat::with(fence);
        let other = thief(&seat, raid_and_steal);
        let fork = Fork::new();
        seat.fork(&fork);
        seat.join(&fork);
        other.join().unwrap();
    }
}

#[test]
fn models_raid_while_the_owner_forks_on() {
    explore("raid, nested forks", Some(3), || {
        let seat = Seat::new();
        let other = thief(&seat, raid_and_steal);
        let (outer, inner, next) = (Fork::new(), Fork::new(), Fork::new());
        seat.fork(&outer);
        seat.fork(&inner);
        seat.join(&inner);
        seat.fork(&next);
        seat.join(&next);
        seat.join(&outer);
        other.join().unwrap();
    });
}

#[test]
fn models_raid_while_the_owner_publishes() {
    explore("raid, publication and a thief", Some(2), || {
        let seat = Seat::new();
        let others = [thief(&seat, raid_and_steal), thief(&seat, steal)];
        let (outer, inner) = (Fork::new(), Fork::new());
        seat.fork(&outer);
        seat.publish();
        seat.fork(&inner);
        seat.join(&inner);
        seat.join(&outer);
        for other in others {
            other.join().unwrap();
        }
    });
}
