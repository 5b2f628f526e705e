//! Helpers that the test programs share: a watchdog, random numbers, counted values, pools of several sizes, child
//! processes, and a wait that lets other threads steal.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod fibers;
pub mod waits;
mod watchdog;

pub use self::watchdog::{LONG, watchdog};
use anabranch::{Builder, Pool};
use std::{
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// A command that runs one test of this program again: the one that is called `function` in the module `module`, which
/// is the `module_path!()` of the caller.
pub fn rerun(module: &str, function: &str) -> Command {
    let test = match module.split_once("::") {
        Some((_program, module)) => format!("{module}::{function}"),
        None => function.to_owned(),
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &test, "--nocapture"]);
    command
}

pub fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

/// Returns a builder of a pool whose fibers all run on one thread. A spare thread, if allowed, would start fibers that
/// have waited for a while, even if only because the system has delayed the process.
pub fn one_thread() -> Builder {
    Pool::builder().threads(1).max_spare_threads(0)
}

/// Runs the check on pools of 1, 2 and 8 threads, under one watchdog.
pub fn in_pools(check: impl Fn(&Pool)) {
    watchdog(LONG, || [1, 2, 8].map(|threads| check(&pool(threads))));
}

/// Runs the check inside pools of 1, 2 and 8 threads, and on a thread outside of pools.
pub fn everywhere(check: impl Fn()) {
    in_pools(|pool| pool.install(&check));
    watchdog(LONG, check);
}

/// Waits and lets other threads steal the forks of this thread meanwhile.
pub fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        anabranch::join(|| (), || ());
        thread::yield_now();
    }
}

/// A join whose second closure another thread certainly runs: the first one does not return before the second has
/// begun.
pub fn join_stolen<RA: Send, RB: Send>(a: impl FnOnce() -> RA + Send, b: impl FnOnce() -> RB + Send) -> (RA, RB) {
    let begun = AtomicBool::new(false);
    let owner = thread::current().id();
    anabranch::join(
        || {
            wait_until(|| begun.load(Ordering::Acquire));
            a()
        },
        || {
            assert_ne!(thread::current().id(), owner, "the second closure ought to have been stolen");
            begun.store(true, Ordering::Release);
            b()
        },
    )
}

/// Reproducible random numbers: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Counts the values that were made and dropped.
#[derive(Clone, Default)]
pub struct Tally(Arc<Counts>);

#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

/// A value whose creation and drop are counted.
pub struct Counted(Arc<Counts>);

impl Tally {
    pub fn make(&self) -> Counted {
        self.0.made.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(&self.0))
    }

    pub fn made(&self) -> usize {
        self.0.made.load(Ordering::Relaxed)
    }

    pub fn dropped(&self) -> usize {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Asserts that there were values, and that each was dropped once.
    #[track_caller]
    pub fn assert_all_dropped(&self) {
        assert!(self.made() > 0, "no value was made");
        assert_eq!(self.made(), self.dropped(), "values made and values dropped");
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Tally(Arc::clone(&self.0)).make()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the text that `body` panics with.
#[track_caller]
pub fn panic_text(body: impl FnOnce()) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).expect_err("this ought to panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast_ref::<&str>().expect("a payload of another type")).to_owned(),
    }
}

/// Makes the panic hook ignore panics whose payload is a `P`, for the rest of the process.
pub fn silence_panics_with<P: 'static>() {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<P>() {
            hook(info);
        }
    }));
}

/// Sums `1..=n` by forking down to single numbers: a check that the pool at hand still works.
pub fn sum_to(n: u64) -> u64 {
    fn sum(low: u64, high: u64) -> u64 {
        if high - low <= 1 {
            return if low < high { low + 1 } else { 0 };
        }
        let middle = low.midpoint(high);
        let (a, b) = anabranch::join(|| sum(low, middle), || sum(middle, high));
        a + b
    }
    sum(0, n)
}

/// Runs the check repeatedly in pools of two threads and more, and checks that the pool remains usable.
pub fn where_work_is_stolen(check: impl Fn() + Sync) {
    watchdog(LONG, || {
        for threads in [2, 8] {
            let pool = pool(threads);
            for _ in 0..20 {
                pool.install(&check);
                assert_eq!(pool.install(|| sum_to(200)), 20_100);
            }
        }
    });
}

/// Waits until no thread of the pool searches, wakes or parks any more. A thread that the system delays for
/// long looks the same, so what a test asserts must not depend on this.
pub fn at_rest(pool: &Pool) {
    let steps = || {
        let stats = pool.stats();
        // New threads search.
        let have_parked = stats.workers.iter().all(|worker| worker.parks > 0);
        let total = stats.total();
        have_parked.then_some((total.searches, total.parks, total.wakes))
    };
    let mut before = steps();
    loop {
        thread::sleep(Duration::from_millis(25));
        let now = steps();
        if now.is_some() && now == before {
            return;
        }
        before = now;
    }
}

/// Runs random programs, one for each seed: `count` of them, and more for as many seconds as `ANABRANCH_SOAK` says.
/// `ANABRANCH_SEED` runs the program of that seed a thousand times instead. Returns how many programs ran.
pub fn each_seed(count: u64, run: impl Fn(u64) + Sync) -> u64 {
    let variable = |name| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    if let Some(seed) = variable("ANABRANCH_SEED") {
        (0..1000).for_each(|_| run(seed));
        return 1000;
    }
    let soak = Duration::from_secs(variable("ANABRANCH_SOAK").unwrap_or(0));
    let start = Instant::now();
    let next = AtomicU64::new(0);
    // Several at a time in the same pools.
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count && start.elapsed() >= soak {
                        return;
                    }
                    run(seed);
                }
            });
        }
    });
    next.into_inner()
}
