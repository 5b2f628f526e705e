//! Locks held across forks: a waiting thread runs no unrelated work on top of the lock that it holds.

use crate::common::{in_pools, sum_to};
use anabranch::{join, prelude::*, scope};
use std::{
    cell::Cell,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

#[test]
fn join_with_lock_held_may_lock_others_in_branches() {
    /// Each level has one lock for all branches and all roots. Unrelated work that runs during a wait would request
    /// a lock that this very thread holds.
    fn descend(locks: &[Mutex<u64>]) {
        let Some((lock, deeper)) = locks.split_first() else { return };
        let mut count = lock.lock().unwrap();
        *count += 1;
        join(|| descend(deeper), || descend(deeper));
    }
    in_pools(|pool| {
        let locks: [_; 9] = std::array::from_fn(|_| Mutex::new(0));
        thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| pool.install(|| descend(&locks)));
            }
        });
        for (level, lock) in locks.into_iter().enumerate() {
            assert_eq!(lock.into_inner().unwrap(), 3 << level);
        }
    });
}

#[test]
fn loop_body_may_fork_while_it_holds_lock() {
    in_pools(|pool| {
        pool.install(|| {
            let total = Mutex::new(0);
            (0..200u64).into_par_iter().for_each(|_| {
                let mut total = total.lock().unwrap();
                join(thread::yield_now, thread::yield_now);
                *total += sum_to(20);
            });
            assert_eq!(total.into_inner().unwrap(), 200 * 210);
        });
    });
}

#[test]
fn loop_body_may_loop_while_it_holds_lock() {
    in_pools(|pool| {
        pool.install(|| {
            let total = Mutex::new(0);
            (0..100u64).into_par_iter().for_each(|_| {
                let mut total = total.lock().unwrap();
                let inner = AtomicU64::new(0);
                (0..50u64).into_par_iter().for_each(|i| _ = inner.fetch_add(i, Ordering::Relaxed));
                *total += inner.into_inner();
            });
            assert_eq!(total.into_inner().unwrap(), 100 * 1225);
        });
    });
}

#[test]
fn tasks_may_open_scopes_while_they_hold_lock() {
    in_pools(|pool| {
        pool.install(|| {
            let total = Mutex::new(0);
            scope(|s| {
                for _ in 0..100 {
                    s.spawn(|| {
                        let mut total = total.lock().unwrap();
                        let mut parts = [0; 4];
                        scope(|s| {
                            for part in &mut parts {
                                s.spawn(|| *part = sum_to(10));
                            }
                        });
                        *total += parts.iter().sum::<u64>();
                    });
                }
            });
            assert_eq!(total.into_inner().unwrap(), 100 * 4 * 55);
        });
    });
}

thread_local! {
    /// The root and the node of a binary tree, numbered as in a heap, whose end this thread waits for.
    static AWAITED: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

fn is_below(node: u64, ancestor: u64) -> bool {
    node >= ancestor && node >> (node.ilog2() - ancestor.ilog2()) == ancestor
}

/// A tree of forks in which each node checks that the thread it runs on waits for nothing else than an ancestor of it.
fn guarded(root: u64, node: u64, visits: &AtomicU64) {
    if let Some((awaited_root, awaited)) = AWAITED.get() {
        assert_eq!(root, awaited_root, "a stranger's root");
        assert!(is_below(node, awaited), "node {node} runs on a thread that waits for {awaited}");
    }
    visits.fetch_add(1, Ordering::Relaxed);
    if node >= 1 << 11 {
        thread::yield_now();
        return;
    }
    let outer = AWAITED.replace(None);
    join(
        || {
            guarded(root, 2 * node, visits);
            // From here on the thread waits for the other branch, unless it runs it itself.
            AWAITED.set(Some((root, 2 * node + 1)));
        },
        || {
            let outer = AWAITED.get();
            guarded(root, 2 * node + 1, visits);
            AWAITED.set(outer);
        },
    );
    AWAITED.set(outer);
}

#[test]
fn waiting_thread_runs_only_descendants_of_awaited_fork() {
    in_pools(|pool| {
        let visits = AtomicU64::new(0);
        thread::scope(|threads| {
            for root in 0..3 {
                let visits = &visits;
                threads.spawn(move || pool.install(|| (0..5).for_each(|_| guarded(root, 1, visits))));
            }
        });
        assert_eq!(visits.into_inner(), 3 * 5 * ((1 << 12) - 1));
    });
}

#[test]
fn waiting_parent_runs_only_tasks_of_its_scope() {
    fn nest(root: u64, node: u64, visits: &AtomicU64) {
        if let Some((awaited_root, awaited)) = AWAITED.get() {
            assert!(root == awaited_root && is_below(node, awaited), "{node} while waiting for {awaited}");
        }
        visits.fetch_add(1, Ordering::Relaxed);
        if node >= 1 << 8 {
            thread::yield_now();
            return;
        }
        let outer = AWAITED.replace(None);
        scope(|s| {
            for child in [2 * node, 2 * node + 1] {
                s.spawn(move || {
                    let outer = AWAITED.get();
                    nest(root, child, visits);
                    AWAITED.set(outer);
                });
            }
            AWAITED.set(Some((root, node)));
        });
        AWAITED.set(outer);
    }
    in_pools(|pool| {
        let visits = AtomicU64::new(0);
        thread::scope(|threads| {
            for root in 0..3 {
                let visits = &visits;
                threads.spawn(move || pool.install(|| (0..5).for_each(|_| nest(root, 1, visits))));
            }
        });
        assert_eq!(visits.into_inner(), 3 * 5 * 511);
    });
}
