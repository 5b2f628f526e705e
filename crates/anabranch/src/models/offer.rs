//! Forks that may wait: each is run once, by its owner or by the fiber of a thief; what lies in the queue when it is
//! long over does no harm; and a list that leaves its thread with a fiber, and comes back, is nothing to a raider.

use super::{
    explore,
    seat::{Fork, Seat, thief},
    thread::Thread,
};
use crate::sys::asymmetric_fence::Fence;

#[test]
fn models_offer_owner_against_a_thief() {
    explore("offer, one thief", None, || {
        let seat = Seat::new();
        let other = thief(&seat, Seat::take_offer);
        let owner = Thread::new();
        let fork = Fork::waiting();
        seat.fork(&fork);
        assert_eq!(seat.publish(1), 1);
        seat.join_waiting(&owner, &fork);
        other.join().unwrap();
    });
}

/// The same frame again. Of the two offers one is stale.
#[test]
fn models_offer_a_stale_one_is_left_alone() {
    explore("offer, reuse", Some(3), || {
        let seat = Seat::new();
        let others = [thief(&seat, Seat::take_offer), thief(&seat, Seat::take_offer)];
        let owner = Thread::new();
        let fork = Fork::waiting();
        seat.fork(&fork);
        assert_eq!(seat.publish(1), 1);
        seat.join_waiting(&owner, &fork);
        fork.reset();
        seat.fork(&fork);
        assert_eq!(seat.publish(1), 1);
        seat.join_waiting(&owner, &fork);
        for other in others {
            other.join().unwrap();
        }
    });
}

/// Both kinds in one list: the plain ones go to the shelf in their order, the others to the queue.
#[test]
fn models_offer_beside_forks_that_cannot_wait() {
    explore("offer, both kinds", Some(2), || {
        let seat = Seat::new();
        let others = [thief(&seat, Seat::steal), thief(&seat, Seat::take_offer)];
        let owner = Thread::new();
        let (outer, middle, inner) = (Fork::new(), Fork::waiting(), Fork::new());
        seat.fork(&outer);
        seat.fork(&middle);
        seat.fork(&inner);
        assert_eq!(seat.publish(usize::MAX), 3);
        seat.join(&inner);
        seat.join_waiting(&owner, &middle);
        seat.join(&outer);
        for other in others {
            other.join().unwrap();
        }
    });
}

fn raid_and_take(seat: &Seat) {
    seat.raid(8);
    seat.steal();
    seat.take_offer();
}

#[test]
fn models_offer_is_made_by_a_raider() {
    explore("offer, raid of both kinds", Some(3), || {
        let seat = Seat::new();
        let other = thief(&seat, raid_and_take);
        let owner = Thread::new();
        let (outer, inner) = (Fork::new(), Fork::waiting());
        seat.fork(&outer);
        seat.fork(&inner);
        seat.join_waiting(&owner, &inner);
        seat.join(&outer);
        other.join().unwrap();
    });
}

/// A fiber leaves the thread with its list, another forks and joins, the first comes back. A raider looks at any
/// moment.
fn a_list_leaves_and_comes_back(fence: Fence) {
    let seat = Seat::with(fence);
    let other = thief(&seat, raid_and_take);
    let owner = Thread::new();
    let (first, second) = (Fork::waiting(), Fork::waiting());
    seat.fork(&first);
    seat.publish(usize::MAX);
    // SAFETY: this thread is the owner; the one fork there is has been published, and is not on the shelf.
    let list = unsafe { seat.stack.detach() };
    seat.fork(&second);
    seat.join_waiting(&owner, &second);
    // SAFETY: the second has been popped.
    unsafe { seat.stack.attach(list) };
    seat.join_waiting(&owner, &first);
    other.join().unwrap();
}

#[test]
fn models_offer_a_list_leaves_and_comes_back() {
    explore("offer, detached, asymmetric", Some(3), || a_list_leaves_and_comes_back(Fence::Asymmetric));
    explore("offer, detached, symmetric", Some(3), || a_list_leaves_and_comes_back(Fence::Symmetric));
}
