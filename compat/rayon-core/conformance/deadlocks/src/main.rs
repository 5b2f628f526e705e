//! Small programs after public reports of hangs in programs that use rayon. The argument names the program, and
//! `RAYON_NUM_THREADS` sets the number of threads. A program that ends has checked its result.
//!
//! Sleeps fix the order of events: a thread sleeps where a real program computes. So a steal that is possible does
//! happen, and the outcome is mostly the same in each run.

mod blocked;
mod held;
mod limits;
mod pools;

use std::{
    env, process,
    sync::{Condvar, Mutex},
    thread,
    time::Duration,
};

type Program = (&'static str, fn());

fn main() {
    let programs = || [held::PROGRAMS, blocked::PROGRAMS, pools::PROGRAMS, limits::PROGRAMS].into_iter().flatten();
    let name = env::args().nth(1).unwrap_or_default();
    match programs().find(|(program, _)| *program == name) {
        Some((_, run)) => run(),
        None => {
            programs().for_each(|(program, _)| println!("{program}"));
            eprintln!("no program is called `{name}`; their names are above");
            process::exit(2);
        }
    }
}

fn pause(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

/// Runs two halves in parallel, and returns 2. The first half ends long before the second one, so the caller waits if
/// another thread has taken the second half.
fn parallel_work() -> usize {
    let half = |milliseconds| {
        pause(milliseconds);
        1
    };
    let (a, b) = rayon::join(|| half(100), || half(600));
    a + b
}

/// Returns two jobs for each thread of the global pool.
fn many() -> usize {
    2 * rayon::current_num_threads()
}

/// Runs jobs on the global pool, as a server does for requests: `first`, and while that waits in `parallel_work`, so
/// many times `later` that each idle thread gets one.
fn requests(first: impl FnOnce() + Send, later: impl Fn() + Sync) {
    rayon::in_place_scope(|s| {
        s.spawn(|_| first());
        pause(300);
        for _ in 0..many() {
            s.spawn(|_| later());
        }
    });
}

/// A counter that threads wait for.
struct Counter {
    value: Mutex<usize>,
    changed: Condvar,
}

impl Counter {
    const fn new() -> Self {
        Self { value: Mutex::new(0), changed: Condvar::new() }
    }

    fn add(&self, more: usize) {
        *self.value.lock().unwrap() += more;
        self.changed.notify_all();
    }

    fn get(&self) -> usize {
        *self.value.lock().unwrap()
    }

    fn wait_until(&self, value: usize) {
        drop(self.changed.wait_while(self.value.lock().unwrap(), |now| *now < value).unwrap());
    }

    /// Waits until the counter is above 0, and decrements it.
    fn take(&self) {
        *self.changed.wait_while(self.value.lock().unwrap(), |now| *now == 0).unwrap() -= 1;
    }
}
