//! The shelf and the latch: every fork is run once, by its owner or by one thief, and its result arrives.

use super::{
    explore,
    seat::{Fork, Seat, thief},
};
use crate::sys::{barrier::Fence, sync::Ordering};
use loom::thread;

fn steal_and_put_back(seat: &Seat) {
    if let Some((_, claim)) = seat.stack.shelf.take_oldest(0) {
        claim.put_back();
    }
}

#[test]
fn models_shelf_owner_against_a_thief() {
    explore("shelf, one thief", None, || {
        let seat = Seat::new();
        let other = thief(&seat, Seat::steal);
        let (outer, inner) = (Fork::new(), Fork::new());
        seat.fork(&outer);
        assert_eq!(seat.publish(1), 1);
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
        let others = [thief(&seat, Seat::steal), thief(&seat, Seat::steal)];
        let (outer, inner) = (Fork::new(), Fork::new());
        seat.fork(&outer);
        seat.fork(&inner);
        assert_eq!([1; 3].map(|most| seat.publish(most)), [1, 1, 0]);
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
        let others = [thief(&seat, steal_and_put_back), thief(&seat, Seat::steal)];
        let fork = Fork::new();
        seat.fork(&fork);
        assert_eq!(seat.publish(1), 1);
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
            seat.steal();
            seat.steal();
        });
        let fork = Fork::new();
        seat.fork(&fork);
        assert_eq!(seat.publish(1), 1);
        seat.join(&fork);
        fork.reset();
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
            seat.steal();
        });
        thread::yield_now();
        let fork = Fork::new();
        let is_asked = seat.stack.is_asked();
        seat.fork(&fork);
        if is_asked {
            assert_eq!(seat.publish(1), 1);
        }
        seat.join(&fork);
        other.join().unwrap();
    });
}

fn raid_and_steal(seat: &Seat) {
    seat.raid(2);
    seat.steal();
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
        let seat = Seat::with(4, fence);
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
        let others = [thief(&seat, raid_and_steal), thief(&seat, Seat::steal)];
        let (outer, inner) = (Fork::new(), Fork::new());
        seat.fork(&outer);
        seat.publish(1);
        seat.fork(&inner);
        seat.join(&inner);
        seat.join(&outer);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// A raid that leaves a stack swept may be skipped the next time: whatever the owner has forked meanwhile is published then.
#[test]
fn models_raid_may_be_skipped_where_all_is_swept() {
    explore("raid, swept", Some(3), || {
        let seat = Seat::new();
        let other = thief(&seat, |seat| {
            seat.stack.ask();
            seat.raid(8);
        });
        let forks = [Fork::new(), Fork::new()];
        for fork in &forks {
            let is_asked = seat.stack.is_asked();
            seat.fork(fork);
            if is_asked {
                seat.publish(1);
            }
        }
        other.join().unwrap();
        seat.stack.ask();
        seat.raid(8);
        assert_eq!(seat.stack.shelf.len(), 2, "a private fork is left");
        forks.iter().rev().for_each(|fork| seat.join(fork));
    });
}

/// A guest leaves, and the next has forks that the raid against the former has not seen.
#[test]
fn models_raid_is_not_skipped_for_the_next_guest() {
    explore("raid, next guest", Some(3), || {
        let seat = Seat::new();
        let other = thief(&seat, |seat| {
            seat.stack.ask();
            seat.raid(8);
        });
        let (first, second) = (Fork::new(), Fork::new());
        seat.fork(&first);
        seat.join(&first);
        seat.roots.fetch_add(1, Ordering::Relaxed);
        seat.stack.forget_demand();
        let is_asked = seat.stack.is_asked();
        seat.fork(&second);
        if is_asked {
            seat.publish(1);
        }
        other.join().unwrap();
        seat.stack.ask();
        seat.raid(8);
        assert_eq!(seat.stack.shelf.len(), 1, "a private fork is left");
        seat.join(&second);
    });
}
