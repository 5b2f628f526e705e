//! Forks that may wait: each runs once, on its owner or on the fiber of a thief. An entry that stays in the queue after
//! the end of its fork does no harm. A raider tolerates a list that leaves its thread with a fiber and returns.

use super::{
    explore,
    thread::Thread,
    worker_entry::{Fork, WorkerEntry, explore_beside, thief},
};
use crate::sys::asymmetric_fence::Fence;
use std::ptr;

#[test]
fn models_offer_owner_and_thief_run_fork_once() {
    explore_beside("offer, one thief", None, [WorkerEntry::take_offer], |worker| {
        let owner = Thread::new();
        let fork = Fork::waiting();
        worker.fork(&fork);
        assert_eq!(worker.publish(1), 1);
        worker.join_waiting(&owner, &fork);
    });
}

/// One frame is offered twice. One of the two offers is stale.
#[test]
fn models_offer_stale_one_is_ignored() {
    explore_beside("offer, reuse", Some(3), [WorkerEntry::take_offer, WorkerEntry::take_offer], |worker| {
        let owner = Thread::new();
        let fork = Fork::waiting();
        worker.fork(&fork);
        assert_eq!(worker.publish(1), 1);
        worker.join_waiting(&owner, &fork);
        fork.reset();
        worker.fork(&fork);
        assert_eq!(worker.publish(1), 1);
        worker.join_waiting(&owner, &fork);
    });
}

/// One list has both kinds of forks. Plain forks go to the shelf in their order, the others to the queue.
#[test]
fn models_offer_beside_forks_that_cannot_wait() {
    explore_beside("offer, both kinds", Some(2), [WorkerEntry::steal, WorkerEntry::take_offer], |worker| {
        let owner = Thread::new();
        let (outer, middle, inner) = (Fork::new(), Fork::waiting(), Fork::new());
        worker.fork(&outer);
        worker.fork(&middle);
        worker.fork(&inner);
        assert_eq!(worker.publish(usize::MAX), 3);
        worker.join(&inner);
        worker.join_waiting(&owner, &middle);
        worker.join(&outer);
    });
}

fn raid_and_take(worker: &WorkerEntry) {
    worker.raid(8);
    worker.steal();
    worker.take_offer();
}

#[test]
fn models_offer_is_made_by_a_raider() {
    explore_beside("offer, raid of both kinds", Some(3), [raid_and_take], |worker| {
        let owner = Thread::new();
        let (outer, inner) = (Fork::new(), Fork::waiting());
        worker.fork(&outer);
        worker.fork(&inner);
        worker.join_waiting(&owner, &inner);
        worker.join(&outer);
    });
}

/// A fiber leaves the thread with its list, another fiber forks and joins, and the first one returns. A raider looks at
/// any moment.
fn a_list_leaves_and_comes_back(fence: Fence) {
    let worker = WorkerEntry::with(fence);
    let other = thief(&worker, raid_and_take);
    let owner = Thread::new();
    let (first, second) = (Fork::waiting(), Fork::waiting());
    worker.fork(&first);
    worker.publish(usize::MAX);
    // SAFETY: this thread is the owner; the one fork there is has been published, and is not on the shelf.
    let list = unsafe { worker.stack.replace(ptr::null()) };
    worker.fork(&second);
    worker.join_waiting(&owner, &second);
    // SAFETY: the second has been popped.
    unsafe { worker.stack.replace(list) };
    worker.join_waiting(&owner, &first);
    other.join().unwrap();
}

#[test]
fn models_offer_survives_switch_of_list() {
    explore("offer, detached, asymmetric", Some(3), || a_list_leaves_and_comes_back(Fence::Asymmetric));
    explore("offer, detached, symmetric", Some(3), || a_list_leaves_and_comes_back(Fence::Symmetric));
}
