//! The shelf and the latch: each fork runs once, on its owner or on one thief, and its result arrives.

use super::{
    explore,
    worker_entry::{Fork, WorkerEntry, explore_beside, raid, thief},
};
use crate::{
    fork::{
        frame::{Lineage, Running},
        shelf::Theft,
    },
    sys::{asymmetric_fence::Fence, sync::Ordering},
};
use loom::thread;
use std::ptr;

#[test]
fn models_shelf_owner_and_thief_take_fork_once() {
    explore_beside("shelf, one thief", None, [WorkerEntry::steal], |worker| {
        let (outer, inner) = (Fork::new(), Fork::new());
        worker.fork(&outer);
        assert_eq!(worker.publish(1), 1);
        worker.fork(&inner);
        worker.join(&inner);
        worker.join(&outer);
    });
}

#[test]
fn models_shelf_two_thieves_take_two_forks() {
    explore_beside("shelf, two forks and two thieves", Some(2), [WorkerEntry::steal, WorkerEntry::steal], |worker| {
        let (outer, inner) = (Fork::new(), Fork::new());
        worker.fork(&outer);
        worker.fork(&inner);
        assert_eq!([1; 3].map(|most| worker.publish(most)), [1, 1, 0]);
        worker.join(&inner);
        worker.join(&outer);
    });
}

fn steal_twice(worker: &WorkerEntry) {
    worker.steal();
    worker.steal();
}

/// A publisher stores a note in a frame. The next publisher uses the note only while that frame is in the list.
#[test]
fn models_shelf_frames_are_popped_between_publications() {
    explore_beside("shelf, traces", Some(2), [steal_twice], |worker| {
        let (first, second, third, fourth) = (Fork::new(), Fork::new(), Fork::new(), Fork::new());
        worker.fork(&first);
        worker.fork(&second);
        worker.fork(&third);
        assert_eq!(worker.publish(1), 1);
        // Traced and private: another follows the second one, and is traced in turn.
        worker.join(&third);
        worker.fork(&fourth);
        assert_eq!(worker.publish(1), 1);
        assert_eq!(worker.publish(2), 1);
        worker.join(&fourth);
        worker.join(&second);
        // All that was traced is gone.
        third.reset();
        worker.fork(&third);
        assert_eq!(worker.publish(2), 1);
        worker.join(&third);
        worker.join(&first);
    });
}

/// The oldest private frame is popped, and the next frame is at another address.
#[test]
fn models_shelf_traced_frames_are_popped() {
    explore("shelf, stale traces", None, || {
        let worker = WorkerEntry::new();
        let (first, second, third) = (Fork::new(), Fork::new(), Fork::new());
        worker.fork(&first);
        worker.fork(&second);
        assert_eq!(worker.publish(1), 1);
        worker.join(&second);
        worker.fork(&third);
        assert_eq!(worker.publish(1), 1);
        assert_eq!(worker.publish(1), 0);
        worker.join(&third);
        worker.join(&first);
    });
}

/// A thief requests descendants and takes no other frame. A theft is recorded from its beginning to its end.
#[test]
fn models_shelf_thief_takes_only_descendants() {
    explore("shelf, descendants", Some(3), || {
        let worker = WorkerEntry::new();
        let (outer, inner) = (Fork::new(), Fork::new());
        worker.fork(&outer);
        worker.fork(&inner);
        assert_eq!(worker.publish(2), 2);
        let other = thief(&worker, |worker| {
            let theft = Theft { thief: 7, base: 3 };
            let (root, stranger) = (ptr::null(), ptr::NonNull::<Lineage>::dangling().as_ptr().cast_const());
            assert!(worker.stack.shelf.take_descendant(0, stranger, theft).is_none());
            assert!(worker.stack.shelf.take_descendant(2, stranger, theft).is_none());
            assert!(worker.stack.shelf.take_descendant(0, root, theft).is_none(), "null is the root, and no ancestor");
            if let Some(claim) = worker.stack.shelf.take(theft) {
                let stolen = (worker.stack.shelf.theft_at(0), worker.stack.shelf.oldest_theft(0));
                assert_eq!(stolen, (Some(theft), Some(theft)));
                assert_eq!(worker.stack.shelf.oldest_theft(1), None);
                claim.run();
                assert_eq!(worker.stack.shelf.theft_at(0), None);
            }
        });
        worker.join(&inner);
        worker.join(&outer);
        other.join().unwrap();
    });
}

/// A thief takes the newest fork and leaves the oldest, which does not descend from the fork that it waits for. The
/// owner of both does not reclaim one instead of the other.
#[test]
fn models_shelf_thief_takes_descendant_above_unrelated_fork() {
    explore("shelf, newest taken", Some(3), || {
        let worker = WorkerEntry::new();
        let (oldest, newest) = (Fork::new(), Fork::new());
        worker.fork(&oldest);
        let lineage = Lineage::below(None);
        let record = Running::new(&raw const lineage);
        worker.stack.begin(&record);
        worker.fork(&newest);
        assert_eq!(worker.publish(2), 2);
        let ancestor = (&raw const lineage).expose_provenance();
        let other = thief(&worker, move |worker| {
            let ancestor = ptr::with_exposed_provenance(ancestor);
            if let Some(claim) = worker.stack.shelf.take_descendant(1, ancestor, Theft { thief: 7, base: 0 }) {
                claim.run();
            }
        });
        worker.join(&newest);
        worker.stack.end(&record);
        worker.join(&oldest);
        other.join().unwrap();
    });
}

/// A private fork has the same position and the same address as a published one before. A late thief must not take it.
#[test]
fn models_shelf_late_thief_misses_reused_frame() {
    explore_beside("shelf, reuse", Some(4), [steal_twice], |worker| {
        let fork = Fork::new();
        worker.fork(&fork);
        assert_eq!(worker.publish(1), 1);
        worker.join(&fork);
        fork.reset();
        worker.fork(&fork);
        worker.join(&fork);
    });
}

fn request_and_steal(worker: &WorkerEntry) {
    worker.stack.request_work();
    thread::yield_now();
    worker.steal();
}

/// A fork serves a request that it finds. loom does not reorder a plain store before an earlier load of the same word
/// by the same thread, so the model lets the thief run first explicitly.
#[test]
fn models_shelf_fork_serves_request() {
    explore_beside("shelf, demand", None, [request_and_steal], |worker| {
        thread::yield_now();
        let fork = Fork::new();
        let is_requested = worker.stack.is_requested();
        worker.fork(&fork);
        if is_requested {
            assert_eq!(worker.publish(1), 1);
        }
        worker.join(&fork);
    });
}

fn raid_and_steal(worker: &WorkerEntry) {
    worker.raid(2);
    worker.steal();
}

#[test]
fn models_raid_without_asymmetric_fence() {
    explore("raid, symmetric", Some(3), || raid_against_the_owner(Fence::Symmetric));
}

#[test]
fn models_raid_meets_owner() {
    explore("raid, asymmetric", None, || raid_against_the_owner(Fence::Asymmetric));
}

fn raid_against_the_owner(fence: Fence) {
    let worker = WorkerEntry::with(fence);
    let other = thief(&worker, raid_and_steal);
    let fork = Fork::new();
    worker.fork(&fork);
    worker.join(&fork);
    other.join().unwrap();
}

#[test]
fn models_raid_while_owner_forks() {
    explore_beside("raid, nested forks", Some(3), [raid_and_steal], |worker| {
        let (outer, inner, next) = (Fork::new(), Fork::new(), Fork::new());
        worker.fork(&outer);
        worker.fork(&inner);
        worker.join(&inner);
        worker.fork(&next);
        worker.join(&next);
        worker.join(&outer);
    });
}

#[test]
fn models_raid_while_owner_publishes() {
    explore_beside("raid, publication and a thief", Some(2), [raid_and_steal, WorkerEntry::steal], |worker| {
        let (outer, inner) = (Fork::new(), Fork::new());
        worker.fork(&outer);
        worker.publish(1);
        worker.fork(&inner);
        worker.join(&inner);
        worker.join(&outer);
    });
}

/// One barrier serves the raid of two stacks.
#[test]
fn models_raid_of_two_stacks() {
    explore("raid, two stacks", Some(3), || {
        let workers = [WorkerEntry::new(), WorkerEntry::new()];
        let raider = thread::spawn({
            let workers = workers.clone();
            move || {
                raid(workers.iter().map(|worker| &**worker), 2);
                workers[1].steal();
            }
        });
        let forks = [Fork::new(), Fork::new()];
        // One thread is the owner of both.
        for (worker, fork) in workers.iter().zip(&forks) {
            worker.fork(fork);
        }
        for (worker, fork) in workers.iter().zip(&forks) {
            worker.join(fork);
        }
        raider.join().unwrap();
    });
}

/// Two threads raid a stack. Neither opens it while the other one walks the list.
#[test]
fn models_raid_by_two_threads() {
    let raid: fn(&WorkerEntry) = |worker| _ = worker.raid(2);
    explore_beside("raid, two raiders", Some(3), [raid; 2], |worker| {
        let forks = [Fork::new(), Fork::new()];
        worker.fork(&forks[0]);
        worker.fork(&forks[1]);
        worker.join(&forks[1]);
        worker.join(&forks[0]);
    });
}

fn raid_and_steal_twice(worker: &WorkerEntry) {
    worker.raid(1);
    worker.raid(1);
    worker.steal();
    worker.steal();
}

/// Two raids, one after the other. The second continues from the note of the first, even if some of those frames are
/// gone.
#[test]
fn models_raid_twice_while_owner_joins() {
    explore_beside("raid, traces", Some(2), [raid_and_steal_twice], |worker| {
        let (outer, inner, next) = (Fork::new(), Fork::new(), Fork::new());
        worker.fork(&outer);
        worker.fork(&inner);
        worker.join(&inner);
        worker.fork(&next);
        worker.join(&next);
        worker.join(&outer);
    });
}

/// The next raid may skip a stack that a raid has swept. Frames that the owner forks afterwards are published by then.
#[test]
fn models_raid_may_be_skipped_for_swept_stack() {
    explore("raid, swept", Some(3), || {
        let worker = WorkerEntry::new();
        let other = thief(&worker, |worker| {
            worker.stack.request_work();
            worker.raid(8);
        });
        let forks = [Fork::new(), Fork::new()];
        for fork in &forks {
            let is_requested = worker.stack.is_requested();
            worker.fork(fork);
            if is_requested {
                worker.publish(1);
            }
        }
        other.join().unwrap();
        worker.stack.request_work();
        worker.raid(8);
        assert_eq!(worker.stack.shelf.open(), 2, "a private fork is left");
        forks.iter().rev().for_each(|fork| worker.join(fork));
    });
}

/// A guest leaves, and the next guest has forks that the raid on the first has not seen.
#[test]
fn models_raid_is_not_skipped_for_next_guest() {
    explore("raid, next guest", Some(3), || {
        let worker = WorkerEntry::new();
        let other = thief(&worker, |worker| {
            worker.stack.request_work();
            worker.raid(8);
        });
        let mut fork = Fork::new();
        worker.fork(&fork);
        worker.join(&fork);
        // At the same address.
        fork = Fork::new();
        worker.roots.fetch_add(1, Ordering::Relaxed);
        worker.stack.set_demand(false);
        let is_requested = worker.stack.is_requested();
        worker.fork(&fork);
        if is_requested {
            worker.publish(1);
        }
        other.join().unwrap();
        worker.stack.request_work();
        worker.raid(8);
        assert_eq!(worker.stack.shelf.open(), 1, "a private fork is left");
        worker.join(&fork);
    });
}

/// The owner ends a fork, is raided, and begins another fork at the same address. It has served a request meanwhile, or
/// not.
#[test]
fn models_raid_is_not_skipped_for_reused_address() {
    for requests in [true, false] {
        explore(if requests { "raid, old address, demand" } else { "raid, old address" }, Some(3), move || {
            let worker = WorkerEntry::new();
            let other = thief(&worker, move |worker| {
                if requests {
                    worker.stack.request_work();
                }
                worker.raid(8);
            });
            let mut fork = Fork::new();
            let begin = |fork: &Fork| {
                let is_requested = worker.stack.is_requested();
                worker.fork(fork);
                if is_requested {
                    worker.publish(1);
                }
            };
            for _ in 0..2 {
                begin(&fork);
                worker.join(&fork);
                fork = Fork::new();
            }
            begin(&fork);
            other.join().unwrap();
            worker.stack.request_work();
            worker.raid(8);
            assert_eq!(worker.stack.shelf.open(), 1, "a private fork is left");
            worker.join(&fork);
        });
    }
}
