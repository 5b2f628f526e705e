//! Programs that lose time for one known reason each, to see what `anabranch explain` says:
//!
//! ```text
//! ANABRANCH_TRACE=run.trace cargo run --release -p anabranch --example losses -- long-piece
//! anabranch explain run.trace
//! ```
//!
//! `--help` lists them. Each takes about a second, and is for a machine with at least two cores that do
//! nothing else.

use anabranch::{channel, join, prelude::*, trace};
use std::{
    collections::BTreeMap,
    hint, mem,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const MS: Duration = Duration::from_millis(1);

/// Computes for a time.
fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        hint::spin_loop();
    }
}

/// Loses nothing: as many pieces as one likes, of equal length.
fn nothing() {
    (0..1000).into_par_iter().for_each(|_| compute(MS));
}

/// A call into the pool, in which the first half of the time is not parallel.
fn sequential_half() {
    join(
        || {
            let _span = trace::span("not parallel");
            compute(400 * MS);
            (0..400).into_par_iter().for_each(|_| compute(MS));
        },
        || (),
    );
}

/// Two calls into the pool, and the time between them.
fn sequential_outside() {
    nothing();
    compute(400 * MS);
    nothing();
}

/// One of the pieces takes as long as all others together, and comes last.
fn long_piece() {
    let lengths: Vec<u32> = (0..400).map(|i| if i == 399 { 400 } else { 1 }).collect();
    lengths.par_iter().for_each(|&length| compute(length * MS));
}

/// Fewer pieces than threads.
fn few_pieces() {
    (0..anabranch::pool::current_num_threads().div_ceil(2)).into_par_iter().for_each(|_| compute(500 * MS));
}

/// A lock that is held nearly all the time.
fn held_lock() {
    let sum = Mutex::new(0);
    (0..500u64).into_par_iter().for_each(|i| {
        let mut sum = sum.lock().unwrap();
        compute(MS);
        *sum += i;
    });
}

/// Pieces that sleep.
fn sleeper() {
    (0..100).into_par_iter().for_each(|_| thread::sleep(10 * MS));
}

/// Fibers that all wait for one that computes.
fn one_message() {
    anabranch::run(|cx| {
        let (sender, receiver) = channel::unbounded();
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                anabranch::spawn(move |cx| receiver.recv(cx))
            })
            .collect();
        let computing = anabranch::spawn(move |cx| {
            compute(500 * MS);
            (0..4).for_each(|i| sender.send(cx, i).unwrap());
        });
        computing.join(cx).unwrap();
        waiting.into_iter().for_each(|fiber| _ = fiber.join(cx).unwrap());
    });
}

/// A fiber that computes for 100 ms at a time, on a thread whose other fibers sleep for 2 ms each time.
fn computing_fiber() {
    anabranch::run(|cx| {
        cx.scope(|s| {
            for _ in 0..8 * anabranch::pool::current_num_threads() {
                s.spawn(|cx| (0..200).for_each(|_| cx.sleep(2 * MS).unwrap()));
            }
            s.spawn(|cx| {
                for _ in 0..4 {
                    cx.sleep(20 * MS).unwrap();
                    compute(100 * MS);
                }
            });
        });
    });
}

/// Changes far more than fits into the caches: where one core uses most of the bandwidth, more threads do not get more
/// memory. Compare with a run of one thread by `anabranch explain run.trace --alone one.trace`.
fn memory_bound() {
    // Made in parallel, and never freed: both would be sequential phases.
    let mut numbers: Vec<u64> = (0..64u64 << 20).into_par_iter().collect();
    (0..8).for_each(|_| numbers.par_iter_mut().for_each(|number| *number += 1));
    assert_eq!(numbers[17], 25);
    mem::forget(numbers);
}

/// Counts in one variable: its cache line moves from core to core. Compare with a run of one thread, as for
/// `memory-bound`.
fn shared_counter() {
    let counter = AtomicU64::new(0);
    (0..50_000_000u64).into_par_iter().for_each(|_| _ = counter.fetch_add(1, Ordering::Relaxed));
    assert_eq!(counter.into_inner(), 50_000_000);
}

/// More threads that compute outside of the pool than there are cores.
fn others() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|s| {
        (0..2 * cores).for_each(|_| _ = s.spawn(|| compute(1500 * MS)));
        nothing();
    });
}

fn main() -> ExitCode {
    let programs: BTreeMap<&str, fn()> = BTreeMap::from([
        ("nothing", nothing as fn()),
        ("sequential-half", sequential_half),
        ("sequential-outside", sequential_outside),
        ("long-piece", long_piece),
        ("few-pieces", few_pieces),
        ("held-lock", held_lock),
        ("sleeper", sleeper),
        ("one-message", one_message),
        ("computing-fiber", computing_fiber),
        ("memory-bound", memory_bound),
        ("shared-counter", shared_counter),
        ("others", others),
    ]);
    let usage =
        format!("usage: losses NAME\n\nNAME is one of {}.", Vec::from_iter(programs.keys().copied()).join(", "));
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(help), None) if help == "--help" || help == "-h" => println!("{usage}"),
        (Some(name), None) if programs.contains_key(&*name) => programs[&*name](),
        (None, _) => {
            eprintln!("error: no program is named\n\n{usage}");
            return ExitCode::from(2);
        }
        (Some(name), None) => {
            eprintln!("error: there is no program {name:?}\n\n{usage}");
            return ExitCode::from(2);
        }
        (Some(_), Some(_)) => {
            eprintln!("error: more than one program is named\n\n{usage}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
