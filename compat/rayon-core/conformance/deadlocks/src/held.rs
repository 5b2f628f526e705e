//! A job holds or owes something while it waits for its own parallel work. rayon's waiting thread runs another job of
//! the pool meanwhile, on top of the same stack, and that job needs the same thing.

use crate::{Counter, Program, parallel_work, pause, requests};
use rayon::prelude::*;
use std::{
    cell::RefCell,
    sync::{LazyLock, Mutex, OnceLock, RwLock},
    thread,
};

pub const PROGRAMS: &[Program] = &[
    ("mutex_across_join", mutex_across_join),
    ("mutex_across_par_iter", mutex_across_par_iter),
    ("mutex_across_scope", mutex_across_scope),
    ("read_lock_before_waiting_writer", read_lock_before_waiting_writer),
    ("once_lock_with_parallel_initialiser", once_lock_with_parallel_initialiser),
    ("lazy_table_with_parallel_initialiser", lazy_table_with_parallel_initialiser),
    ("once_locks_in_each_other", once_locks_in_each_other),
    ("thread_local_borrowed_across_join", thread_local_borrowed_across_join),
    ("connection_held_across_join", connection_held_across_join),
    ("reply_sent_after_join", reply_sent_after_join),
];

fn mutex_across_join() {
    let total = Mutex::new(0);
    let first = || {
        let mut total = total.lock().unwrap();
        *total += parallel_work();
    };
    requests(first, || *total.lock().unwrap() += 1);
    assert!(*total.lock().unwrap() > 2);
}

fn mutex_across_par_iter() {
    let table = Mutex::new(Vec::new());
    let fill = || {
        let mut table = table.lock().unwrap();
        if table.is_empty() {
            let entry = |i: u64| {
                pause(100 + 500 * i);
                i
            };
            *table = (0..2u64).into_par_iter().map(entry).collect();
        }
        assert_eq!(*table, [0, 1]);
    };
    requests(fill, fill);
}

fn mutex_across_scope() {
    let total = Mutex::new(0);
    let first = || {
        let mut total = total.lock().unwrap();
        rayon::scope(|s| {
            s.spawn(|_| pause(600));
            pause(100);
        });
        *total += 2;
    };
    requests(first, || *total.lock().unwrap() += 1);
    assert!(*total.lock().unwrap() > 2);
}

fn read_lock_before_waiting_writer() {
    let state = RwLock::new(0);
    thread::scope(|threads| {
        let first = || {
            let before = state.read().unwrap();
            threads.spawn(|| *state.write().unwrap() += 1);
            // A writer that waits keeps further readers out.
            while state.try_read().is_ok() {
                thread::yield_now();
            }
            assert_eq!(*before + parallel_work(), 2);
        };
        requests(first, || assert!(*state.read().unwrap() <= 1));
    });
    assert_eq!(*state.read().unwrap(), 1);
}

fn once_lock_with_parallel_initialiser() {
    let table = OnceLock::new();
    let look_up = || assert_eq!(*table.get_or_init(parallel_work), 2);
    requests(look_up, look_up);
}

fn lazy_table_with_parallel_initialiser() {
    static TABLE: LazyLock<usize> = LazyLock::new(parallel_work);
    let look_up = || assert_eq!(*TABLE, 2);
    requests(look_up, look_up);
}

/// A reader of files: the metadata of a table are those of its first file.
fn once_locks_in_each_other() {
    let (table, file) = (OnceLock::new(), OnceLock::new());
    let metadata_of_file = || *file.get_or_init(parallel_work);
    requests(|| assert_eq!(*table.get_or_init(metadata_of_file), 2), || assert_eq!(metadata_of_file(), 2));
}

/// rayon does not hang but panics: the buffer is borrowed already.
fn thread_local_borrowed_across_join() {
    thread_local!(static BUFFER: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) });
    let first = || BUFFER.with_borrow_mut(|buffer| buffer.push(parallel_work()));
    let later = || {
        // So each idle thread gets one.
        pause(50);
        BUFFER.with_borrow_mut(|buffer| buffer.push(1));
    };
    requests(first, later);
}

/// There are two connections, and more requests than that.
fn connection_held_across_join() {
    let connections = Counter::new();
    connections.add(2);
    let request = |work: fn() -> usize| {
        connections.take();
        work();
        connections.add(1);
    };
    rayon::in_place_scope(|s| {
        // Both at the same time, if there are four threads.
        s.spawn(|_| request(parallel_work));
        s.spawn(|_| request(parallel_work));
        pause(300);
        for _ in 0..crate::many() {
            s.spawn(|_| request(|| 1));
        }
    });
    assert_eq!(connections.get(), 2);
}

fn reply_sent_after_join() {
    let replies = Counter::new();
    requests(|| replies.add(parallel_work()), || replies.wait_until(2));
}
