//! Plain iterators as parallel ones.

use super::{Collect, check_order, in_order};
use crate::{
    common::{LONG, Tally, panic_text, pool, wait_until, watchdog},
    harness::{check, pools},
};
use anabranch::{iter::plumbing::Drive, prelude::*};
use std::{
    iter,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
};

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items
}

#[test]
fn each_item_is_yielded_once() {
    for len in [0, 1, 2, 10, 5000] {
        for max in [1, 3, 5000] {
            check((0..len).collect::<Vec<u32>>(), || sorted(in_order((0..len).par_bridge().max_batch(max))));
        }
    }
}

#[test]
fn ordered_items_are_in_order() {
    for len in [0, 1, 2, 10, 5000] {
        for max in [1, 3, 5000] {
            check_order(0..len, || (0..len).par_bridge().max_batch(max).ordered());
        }
        check_order(0..len, || (0..len).par_bridge_ordered());
    }
}

#[test]
fn what_the_folder_contains_stays_in_front() {
    for pool in pools() {
        let all = pool.install(|| {
            let progress = (0..1000).par_bridge().max_batch(1).ordered().drive(&Collect, vec![-2, -1], ());
            progress.finish(&Collect)
        });
        assert!(all.into_iter().eq(-2..1000));
    }
}

#[test]
fn iterator_that_forks_under_the_lock_ends() {
    watchdog(LONG, || {
        let pool = pool(8);
        pool.broadcast(|_| {
            let len = 2000;
            let items = (0..len).into_par_iter().map(|i| {
                let forking = iter::once_with(move || anabranch::join(move || i, move || i + 1).1);
                in_order(forking.par_bridge())[0]
            });
            assert!(in_order(items).into_iter().eq(1..=len));
            let forking = (0..len).map(|i| anabranch::join(|| i, || i + 1).1);
            assert!(sorted(in_order(forking.par_bridge())).into_iter().eq(1..=len));
        });
    });
}

/// A number, and a way to send the next one.
struct Message(u32, mpsc::Sender<Message>);

#[test]
fn thread_holds_no_items_while_it_waits_for_the_next() {
    // Each item is sent only once the one before has been processed.
    watchdog(LONG, || {
        for pool in pools() {
            let (sender, receiver) = mpsc::channel();
            sender.send(Message(0, sender.clone())).unwrap();
            drop(sender);
            let sum = pool.install(|| {
                receiver
                    .into_iter()
                    .par_bridge()
                    .map(|Message(item, sender)| {
                        if item < 200 {
                            sender.send(Message(item + 1, sender.clone())).unwrap();
                        }
                        item
                    })
                    .sum::<u32>()
            });
            assert_eq!(sum, 20_100);
        }
    });
}

#[test]
fn iterator_is_not_called_after_its_end_or_panic() {
    for pool in pools() {
        let calls = AtomicUsize::new(0);
        let ends = iter::from_fn(|| (calls.fetch_add(1, Ordering::Relaxed) < 100).then_some(1));
        assert_eq!(pool.install(|| ends.par_bridge().sum::<u32>()), 100);
        assert_eq!(calls.swap(0, Ordering::Relaxed), 101);
        let panics = || {
            iter::from_fn(|| {
                let call = calls.fetch_add(1, Ordering::Relaxed);
                assert!(call < 100, "the iterator is broken");
                Some(call)
            })
        };
        let text = panic_text(|| pool.install(|| panics().par_bridge().for_each(drop)));
        assert_eq!((text.as_str(), calls.swap(0, Ordering::Relaxed)), ("the iterator is broken", 101));
        let text = panic_text(|| pool.install(|| panics().par_bridge().ordered().for_each(drop)));
        assert_eq!((text.as_str(), calls.swap(0, Ordering::Relaxed)), ("the iterator is broken", 101));
    }
}

#[test]
fn panic_in_the_loop_drops_each_item_once() {
    for pool in pools() {
        let tally = Tally::default();
        let items = (0..500).map(|i| (i, tally.make()));
        panic_text(|| pool.install(|| items.par_bridge().for_each(|(i, _)| assert!(i != 300, "stop"))));
        tally.assert_all_dropped();
        let items = (0..500).map(|i| (i, tally.make()));
        panic_text(|| pool.install(|| items.par_bridge_ordered().for_each(|(i, _)| assert!(i != 300, "stop"))));
        tally.assert_all_dropped();
    }
}

#[test]
fn slow_items_are_processed_by_several_threads() {
    watchdog(LONG, || {
        for ordered in [false, true] {
            let running = AtomicUsize::new(0);
            let wait = |_| {
                running.fetch_add(1, Ordering::SeqCst);
                // The other item runs on another thread at the same time.
                while running.load(Ordering::SeqCst) < 2 {
                    std::thread::yield_now();
                }
            };
            pool(2).install(|| match ordered {
                false => (0..2).par_bridge().for_each(wait),
                true => (0..2).par_bridge_ordered().for_each(wait),
            });
        }
    });
}

#[test]
fn last_item_is_found_behind_a_batch_that_has_found_one() {
    struct SetOnDrop<'a>(&'a AtomicBool);

    impl Drop for SetOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    // A thread is at item 0 while another one finds item 1. The first thread goes on with item 3.
    watchdog(LONG, || {
        let (third, fourth, over) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
        let guard = SetOnDrop(&over);
        let (third, fourth) = (&third, &fourth);
        let items = (0..4).inspect(move |i| {
            let SetOnDrop(_) = &guard;
            match i {
                2 => third.store(true, Ordering::SeqCst),
                3 => fourth.store(true, Ordering::SeqCst),
                _ => {}
            }
        });
        let found = pool(2).install(|| {
            items.par_bridge().max_batch(1).ordered().find_last(|i| {
                match i {
                    0 => wait_until(|| third.load(Ordering::SeqCst)),
                    2 => wait_until(|| fourth.load(Ordering::SeqCst) || over.load(Ordering::SeqCst)),
                    _ => {}
                }
                true
            })
        });
        assert_eq!(found, Some(3));
    });
}

#[test]
fn search_in_an_endless_iterator_ends() {
    watchdog(LONG, || {
        for pool in pools() {
            assert_eq!(pool.install(|| (0..).par_bridge().find_any(|i| *i == 1000)), Some(1000));
            assert_eq!(pool.install(|| (0..).par_bridge_ordered().find_first(|i| *i >= 1000)), Some(1000));
            assert!(pool.install(|| (0..).par_bridge().try_for_each(|i| (i < 1000).then_some(()))).is_none());
        }
    });
}
