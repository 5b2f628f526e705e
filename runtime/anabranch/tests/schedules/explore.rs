//! Runs a program under many schedules, and sees that each execution leaves behind what it found.
//!
//! A leak is found by counting the blocks that are allocated: those of the thread that runs an execution, with all
//! threads in it, between two executions. shuttle has some of its own, which are as many after each: one for the
//! schedule, however long it is, and those of its stacks, which it keeps. So the first execution starts more threads
//! than any other has, and nothing else, and from then on the number must stay the same.

use anabranch::{Odds, Pool, pool::WorkerStats, set_odds};
use shuttle::{
    Config, FailurePersistence, MaxSteps, Runner,
    rand::{Rng, thread_rng},
    scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Schedule, Scheduler, Task, TaskId},
    thread,
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    hash::{BuildHasher, RandomState},
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// More than any program has at a time.
const MANY_THREADS: usize = 24;

/// Some ten times as many as the longest execution takes. A pool that hangs has a heartbeat worker that goes on for
/// ever.
const MAX_STEPS: usize = 300_000;

struct Counting;

thread_local! {
    static BLOCKS: Cell<i64> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BLOCKS.set(BLOCKS.get() + 1);
        // SAFETY: the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's word.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BLOCKS.set(BLOCKS.get() - 1);
        // SAFETY: the caller's word.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What was seen in all executions of a program together: a test of schedules in which nothing happens tests nothing.
#[derive(Default)]
pub struct Seen {
    executions: AtomicU64,
    steps: AtomicU64,
    most_steps: AtomicU64,
    counts: [AtomicU64; EVENTS.len()],
    /// How often a program panicked at its first step, its second and so on.
    places: [[AtomicU64; 32]; 4],
}

/// Something that the schedules of a program should lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Published,
    Raided,
    Reclaimed,
    Stolen,
    Helped,
    Woken,
    Spare,
    Refused,
    Lent,
    Panic,
    Dropped,
    Fiber,
    Switch,
    CutShort,
    Late,
    Sent,
    Received,
    Shut,
    Missed,
}

use Event::*;

const EVENTS: [Event; 19] = [
    Published, Raided, Reclaimed, Stolen, Helped, Woken, Spare, Refused, Lent, Panic, Dropped, Fiber, Switch, CutShort,
    Late, Sent, Received, Shut, Missed,
];

impl Seen {
    pub fn add(&self, event: Event, count: u64) {
        self.counts[event as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// A panic was thrown at the `n`th step.
    pub fn add_panic(&self, n: u64) {
        self.add(Event::Panic, 1);
        if let Some(place) = self.places.as_flattened().get(n as usize) {
            place.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All of this has happened.
    #[track_caller]
    pub fn assert(&self, events: &[Event]) {
        for &event in events.iter().filter(|_| !is_replay()) {
            assert_ne!(self.counts[event as usize].load(Ordering::Relaxed), 0, "never seen: {event:?}");
        }
    }

    /// There was a panic at each of the first `n` steps.
    #[track_caller]
    pub fn assert_panics_at(&self, n: usize) {
        for (step, count) in self.places.as_flattened().iter().enumerate().take(n + 1).skip(1).filter(|_| !is_replay())
        {
            assert_ne!(count.load(Ordering::Relaxed), 0, "never a panic at step {step}");
        }
    }

    fn print(&self) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (executions, steps) = (read(&self.executions), read(&self.steps));
        let name = std::thread::current().name().unwrap_or("unnamed").to_owned();
        let mut text = format!(
            "schedules of {name}: {executions}, of {} steps, at most {}",
            steps / executions,
            read(&self.most_steps)
        );
        for (event, count) in EVENTS.iter().zip(&self.counts).filter(|(_, count)| read(count) > 0) {
            text += &format!("; {} {}", format!("{event:?}").to_lowercase(), read(count));
        }
        // Not `println`: the harness would keep it.
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// Adds what the threads of a pool have done.
    pub fn note(&self, pool: &Pool) {
        let stats = pool.stats();
        let WorkerStats { published, raided, reclaimed, stolen, helped, wakes, fibers, switches, .. } = stats.total();
        let counts = [(Published, published), (Raided, raided), (Reclaimed, reclaimed), (Stolen, stolen)];
        let others = [(Helped, helped), (Woken, wakes), (Refused, stats.spares_refused), (Lent, stats.slots_lent)];
        let of_fibers = [(Fiber, fibers), (Switch, switches)];
        counts.into_iter().chain(others).chain(of_fibers).for_each(|(event, count)| self.add(event, count));
        self.add(Spare, stats.spare_threads as u64);
    }
}

/// At each point any thread is as likely to go on as another, but in most executions the one that is at it is likelier:
/// then a thread comes a long way while another stands between two steps.
struct Bursts {
    scheduler: RandomScheduler,
    /// Once in so many times another thread goes on.
    length: u64,
    /// The state of a generator of its own: shuttle's are for what a schedule records.
    noise: u64,
}

impl Bursts {
    fn new(runs: usize) -> Self {
        Self { scheduler: RandomScheduler::new(runs), length: 1, noise: RandomState::new().hash_one(runs) }
    }

    /// The next number (SplitMix64).
    fn next(&mut self) -> u64 {
        self.noise = self.noise.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.noise ^ (self.noise >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Scheduler for Bursts {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.length = 1 << (2 * (self.next() % 4));
        self.scheduler.new_execution()
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        let stays = !is_yielding && self.next() % self.length != 0;
        match current.filter(|&current| stays && tasks.iter().any(|task| task.id() == current)) {
            Some(current) => Some(current),
            None => self.scheduler.next_task(tasks, current, is_yielding),
        }
    }

    fn next_u64(&mut self) -> u64 {
        self.scheduler.next_u64()
    }
}

/// Counts what lives between two executions.
struct Balanced<S> {
    scheduler: S,
    begun: u64,
    live: i64,
}

impl<S: Scheduler> Scheduler for Balanced<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        match (self.begun, BLOCKS.get()) {
            // The first two, since PCT plans its changes from the second on.
            (0 | 1, _) => {}
            (2, live) => self.live = live,
            (_, live) => {
                assert_eq!(live, self.live, "blocks allocated after execution {}, and after the second", self.begun)
            }
        }
        self.begun += 1;
        self.scheduler.new_execution()
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        self.scheduler.next_task(tasks, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.scheduler.next_u64()
    }
}

/// The environment variable that names a schedule to be repeated.
const REPLAY: &str = "ANABRANCH_REPLAY";

fn is_replay() -> bool {
    std::env::var_os(REPLAY).is_some()
}

/// Runs `program` under `runs` random schedules, and a quarter as many of few changes of priority (PCT, Burckhardt et
/// al. 2010), or as many times more as `ANABRANCH_SCHEDULES` says. Where `ANABRANCH_REPLAY` names the file of a
/// schedule that failed, it runs that one alone.
pub fn explore(runs: usize, program: impl Fn(&Seen) + Send + Sync + 'static) -> Arc<Seen> {
    let seen = Arc::new(Seen::default());
    let mut config = Config::new();
    config.silence_warnings = true;
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(MAX_STEPS);
    config.failure_persistence = FailurePersistence::File(Some(env!("CARGO_TARGET_TMPDIR").into()));
    let body = {
        let seen = Arc::clone(&seen);
        Arc::new(move |is_first: bool| {
            set_odds(Odds { long_waits_end: true, refusals: 0 });
            if is_first {
                let threads: Vec<_> = (0..MANY_THREADS).map(|_| thread::spawn(|| ())).collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                // What a thread has for fibers it keeps.
                let pool = Pool::builder().threads(1).build().unwrap();
                let fiber = pool.spawn(|cx| cx.yield_now());
                return pool.run(|cx| fiber.join(cx)).unwrap();
            }
            program(&seen);
            let steps = shuttle::current::context_switches() as u64;
            seen.executions.fetch_add(1, Ordering::Relaxed);
            seen.steps.fetch_add(steps, Ordering::Relaxed);
            seen.most_steps.fetch_max(steps, Ordering::Relaxed);
        })
    };
    if let Some(path) = std::env::var_os(REPLAY) {
        let scheduler = ReplayScheduler::new_from_file(path).expect("no schedule in this file");
        Runner::new(scheduler, config).run(move || body(false));
        return seen;
    }
    let times = std::env::var("ANABRANCH_SCHEDULES").map_or(1, |times| times.parse().expect("a whole number"));
    let run = |scheduler: Box<dyn Scheduler + Send>| {
        let is_first = AtomicBool::new(true);
        let body = Arc::clone(&body);
        let balanced = Balanced { scheduler, begun: 0, live: 0 };
        Runner::new(balanced, config.clone()).run(move || body(is_first.swap(false, Ordering::Relaxed)));
    };
    run(Box::new(Bursts::new(runs * times)));
    run(Box::new(PctScheduler::new(4, runs * times / 4)));
    seen.print();
    seen
}

/// A number from `low` to `high`, by chance.
pub fn any(low: usize, high: usize) -> usize {
    thread_rng().gen_range(low..=high)
}

/// A pause, in which others may run: mostly a short one, and sometimes so long that an owner does not answer.
pub fn pause_randomly() {
    let turns = if any(1, 16) == 1 { any(0, 100) } else { any(0, 2) };
    (0..turns).for_each(|_| thread::sleep(std::time::Duration::ZERO));
}
