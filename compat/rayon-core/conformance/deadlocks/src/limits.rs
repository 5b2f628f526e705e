//! Many blocked jobs, and a system that refuses threads.

use crate::{Counter, Program, many, pause};
use rayon::prelude::*;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs;

pub const PROGRAMS: &[Program] = &[
    ("hundreds_of_blocked_jobs", hundreds_of_blocked_jobs),
    ("more_blocked_jobs_than_spares", more_blocked_jobs_than_spares),
    ("refused_threads", refused_threads),
    ("refused_spares", refused_spares),
];

/// 250 jobs wait for the last one.
fn hundreds_of_blocked_jobs() {
    let released = Counter::new();
    rayon::in_place_scope(|s| {
        for _ in 0..250 {
            s.spawn(|_| released.wait_until(1));
        }
        pause(200);
        s.spawn(|_| released.add(1));
    });
}

static STARTED: Counter = Counter::new();
static PERMITS: Counter = Counter::new();
static ENDED: Counter = Counter::new();

/// Spawns jobs that block until they get a permit, and waits until no more of them start.
fn spawn_blocked(jobs: usize) {
    for _ in 0..jobs {
        rayon::spawn(|| {
            STARTED.add(1);
            PERMITS.take();
            ENDED.add(1);
        });
    }
    STARTED.wait_until(1);
    let mut before = 0;
    while STARTED.get() > before {
        before = STARTED.get();
        pause(1000);
    }
    assert!(before < jobs, "all jobs have started");
}

/// More jobs block than the drop-in has spare threads (256), until a thread outside of the pool releases one of them,
/// and then the others.
fn more_blocked_jobs_than_spares() {
    let jobs = rayon::current_num_threads() + 256 + 40;
    spawn_blocked(jobs);
    let before = STARTED.get();
    PERMITS.add(1);
    STARTED.wait_until(before + 1);
    PERMITS.add(jobs - 1);
    ENDED.wait_until(jobs);
}

/// Limits the address space to what the process has, and a little more. So the system refuses new threads for lack of
/// memory, even those of root.
fn refuse_threads() {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let kib: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    setrlimit(Resource::As, Rlimit { current: Some((kib + 1024) << 10), maximum: None }).unwrap();
}

/// rayon does not hang but panics.
fn refused_threads() {
    refuse_threads();
    assert_eq!((0..1000u64).into_par_iter().sum::<u64>(), 499_500);
}

/// All threads of the pool block, and no spare thread can be started. A thread outside of the pool releases them.
fn refused_spares() {
    rayon::broadcast(|_| ());
    refuse_threads();
    spawn_blocked(many());
    PERMITS.add(many());
    ENDED.wait_until(many());
}
