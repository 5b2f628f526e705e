//! The machine without the runtime: what costs how much, and who runs when.

use anabranch_sim::{
    LineAllocator, Machine,
    atomic::{AtomicU64, Ordering},
    lock::{Condvar, Mutex},
    simulate,
    thread::{self, sleep, spawn, work},
    time::Instant,
};
use std::{sync::Arc, time::Duration};

#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Two counters, `apart` bytes apart, and a thread that increments each.
fn increments(apart: usize) -> Duration {
    let program = move || {
        let counters: Arc<[AtomicU64]> = (0..32).map(|_| AtomicU64::new(0)).collect();
        let increment = |index: usize| {
            let counters = Arc::clone(&counters);
            move || (0..10_000).for_each(|_| _ = counters[index].fetch_add(1, Ordering::Relaxed))
        };
        // From 64 bytes on after the counts of the `Arc`.
        let threads = [increment(8), increment(8 + apart / 8)].map(spawn);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(counters.iter().map(|counter| counter.load(Ordering::Relaxed)).sum::<u64>(), 20_000);
    };
    simulate(Machine::server(4), 0, program).elapsed
}

#[test]
fn two_threads_on_one_line_take_longer_than_on_two() {
    let (same, falsely, apart) = (increments(0), increments(8), increments(128));
    assert!(same > apart * 4, "one line: {same:?}, two lines: {apart:?}");
    let difference = same.abs_diff(falsely);
    assert!(difference < same / 20, "one counter: {same:?}, two counters in one line: {falsely:?}");
}

#[test]
fn parked_thread_wakes_after_latency() {
    let program = || {
        let pair = Arc::new((Mutex::new(None), Condvar::new()));
        let theirs = Arc::clone(&pair);
        let waiter = spawn(move || {
            let mut sent = theirs.0.lock().unwrap();
            while sent.is_none() {
                sent = theirs.1.wait(sent).unwrap();
            }
            sent.map(|sent: Instant| sent.elapsed())
        });
        sleep(Duration::from_millis(2));
        *pair.0.lock().unwrap() = Some(Instant::now());
        pair.1.notify_one();
        waiter.join().unwrap().unwrap()
    };
    let mut latencies: Vec<_> = (0..50).map(|seed| simulate(Machine::small_vm(2), seed, program).value).collect();
    latencies.sort_unstable();
    // After 2 ms the core has halted: 15 us in the middle, and three times as long for a slow wake-up.
    assert!((micros(14)..micros(17)).contains(&latencies[25]), "{latencies:?}");
    assert!(latencies[0] >= micros(11) && latencies[49] > micros(30), "{latencies:?}");
}

#[test]
fn timed_wait_ends_after_time_and_slack() {
    let program = || {
        let (mutex, condition) = (Mutex::new(()), Condvar::new());
        let start = Instant::now();
        let (_, result) = condition.wait_timeout(mutex.lock().unwrap(), micros(500)).unwrap();
        (result.timed_out(), start.elapsed())
    };
    let (has_timed_out, waited) = simulate(Machine::small_vm(1), 0, program).value;
    assert!(has_timed_out && (micros(550)..micros(900)).contains(&waited), "{waited:?}");
}

/// Four threads that take a lock, compute, increment a counter, and sleep a little.
fn contend() -> u64 {
    let lock = Arc::new(Mutex::new(0));
    let body = |lock: Arc<Mutex<u64>>| {
        move || {
            for round in 0..50 {
                let mut value = lock.lock().unwrap();
                let old = *value;
                work(micros(2));
                *value = old + 1;
                drop(value);
                work(micros(round % 7));
            }
        }
    };
    let threads: Vec<_> = (0..4).map(|_| spawn(body(Arc::clone(&lock)))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    *lock.lock().unwrap()
}

#[test]
fn equal_seeds_give_equal_runs_and_other_seeds_other_runs() {
    for cores in [1, 2, 4] {
        let runs = [7, 8, 7].map(|seed| simulate(Machine::large_vm(cores), seed, contend));
        assert_eq!(runs[0].value, 200, "the lock excludes");
        assert_eq!(runs[0], runs[2]);
        assert_ne!(runs[0].elapsed, runs[1].elapsed);
    }
}

#[test]
fn more_threads_than_cores_take_turns() {
    let program = || {
        let computing = |_| {
            spawn(|| {
                let start = Instant::now();
                work(Duration::from_millis(9));
                (start, Instant::now(), thread::cpu_time(thread::number()).unwrap())
            })
        };
        let threads = [1, 2, 3].map(computing);
        threads.map(|thread| thread.join().unwrap())
    };
    let run = simulate(Machine::small_vm(1), 0, program);
    let [first, .., last] = run.value;
    assert!(last.0 < first.1, "the last one begins before the first one ends");
    assert!((27..29).contains(&run.elapsed.as_millis()), "{:?}", run.elapsed);
    assert!(run.value.iter().all(|&(_, _, cpu)| (8_900_000..9_200_000).contains(&cpu)), "{:?}", run.value);
    let run = simulate(Machine::small_vm(3), 0, program);
    assert_eq!(run.elapsed.as_millis(), 9, "three cores");
}

#[test]
fn barrier_delays_running_threads() {
    let elapsed = |barriers: u32| {
        let program = move || {
            let other = spawn(|| work(micros(1_000)));
            work(micros(200));
            (0..barriers).for_each(|_| thread::barrier());
            other.join().unwrap();
        };
        simulate(Machine::small_vm(2), 0, program).elapsed
    };
    let longer = elapsed(10) - elapsed(0);
    assert!((micros(5)..micros(6)).contains(&longer), "{longer:?}");
}

#[test]
#[should_panic = "the first thread waits forever"]
fn wait_without_waker_is_found() {
    simulate(Machine::small_vm(2), 0, || {
        let mutex = Mutex::new(());
        let _never = Condvar::new().wait(mutex.lock().unwrap());
    });
}

#[test]
#[should_panic = "of the program"]
fn panic_of_program_is_passed_on() {
    simulate(Machine::small_vm(2), 0, || spawn(|| panic!("of the program")).join().map_err(std::panic::resume_unwind));
}

#[test]
fn thread_locals_belong_to_simulated_threads() {
    use std::cell::Cell;
    anabranch_sim::thread_local! {
        static LOCAL: Cell<u32> = const { Cell::new(1) };
    }
    let program = || {
        LOCAL.set(2);
        (spawn(|| LOCAL.replace(3)).join().unwrap(), LOCAL.get())
    };
    assert_eq!(simulate(Machine::small_vm(2), 0, program).value, (1, 2));
}
