//! The rows of the bench.

use std::thread::available_parallelism;
use std::time::Duration;

use super::http::{self, Load, Work};
use super::work::Task;
use super::{Kind, Way, callers, picture, ticks};
use crate::bench::{AnyWorkload, Threads};
use crate::contest::Listed;
use crate::sample::Sample;

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The time of a sample of a server, and about twice that of a computation beside timers.
    pub budget: Duration,
}

impl Settings {
    /// Returns the usual sizes, or smaller ones.
    pub fn new(quick: bool) -> Settings {
        Settings { budget: Duration::from_millis(if quick { 300 } else { 1_000 }) }
    }
}

/// All workloads: the name on the command line, and how to build it.
pub const ALL: [Listed<Kind, Settings>; 13] = [
    ("ticks-idle", |settings| ticks(*settings, Way::Nothing(settings.budget / 2), Computation::Loop)),
    ("ticks-outside", |settings| ticks(*settings, Way::Outside, Computation::Loop)),
    ("ticks-blocking", |settings| ticks(*settings, Way::HandedOver, Computation::Loop)),
    ("ticks-join", |settings| ticks(*settings, Way::HandedOver, Computation::Tree)),
    ("ticks-sort", |settings| ticks(*settings, Way::HandedOver, Computation::Sort)),
    ("ticks-inline", |settings| ticks(*settings, Way::Inline, Computation::Loop)),
    ("http-16-idle", |settings| http(*settings, Load::Nothing, 16)),
    ("http-16-loops", |settings| http(*settings, Load::Loops, 16)),
    ("http-16-heavy", |settings| http(*settings, Load::Heavy, 16)),
    ("http-64-idle", |settings| http(*settings, Load::Nothing, 64)),
    ("http-64-loops", |settings| http(*settings, Load::Loops, 64)),
    ("http-64-heavy", |settings| http(*settings, Load::Heavy, 64)),
    ("callers-16", |settings| row(*settings, Job::Callers)),
];

fn ticks(settings: Settings, way: Way, computation: Computation) -> Box<dyn AnyWorkload<Kind>> {
    row(settings, Job::Ticks(way, computation.task(settings.budget / 2)))
}

fn http(settings: Settings, load: Load, connections: usize) -> Box<dyn AnyWorkload<Kind>> {
    row(settings, Job::Http(load, connections))
}

fn row(settings: Settings, job: Job) -> Box<dyn AnyWorkload<Kind>> {
    Box::new(Row { settings, job })
}

/// What is computed beside the timers.
#[derive(Clone, Copy, Debug)]
enum Computation {
    Loop,
    Tree,
    Sort,
}

impl Computation {
    /// Returns a computation that takes about `time`.
    fn task(self, time: Duration) -> Task {
        let micros = time.as_micros() as u64;
        match self {
            Computation::Loop => Task::looping(micros, cores()),
            Computation::Tree => Task::tree(micros, cores()),
            Computation::Sort => Task::sort(micros as usize * 20),
        }
    }
}

/// Returns the number of processors that this process may use.
fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

impl Work {
    /// Returns the computations of a server: loops of 130 ms on all cores with pauses of 20 ms, and requests of 4.5 ms
    /// of CPU time. They are shorter if a sample is.
    pub(super) fn new(budget: Duration) -> Work {
        let micros = budget.as_micros() as u64;
        Work {
            long: Task::looping(130_000.min(micros / 4), cores()),
            pause: Duration::from_millis(20).min(budget / 10),
            short: Task::looping(4_500.min(micros / 20), 1),
        }
    }
}

/// What a row measures.
enum Job {
    /// Timers beside a computation.
    Ticks(Way, Task),
    /// A server with so many connections.
    Http(Load, usize),
    /// Many callers of a loop at once.
    Callers,
}

struct Row {
    settings: Settings,
    job: Job,
}

impl AnyWorkload<Kind> for Row {
    fn title(&self) -> String {
        match &self.job {
            Job::Ticks(way, task) => {
                let what = match task {
                    Task::Loop(range) => format!("a loop over {} numbers", range.len()),
                    Task::Tree(depth) => format!("a tree of joins of depth {depth}"),
                    Task::Sort(numbers) => format!("a sort of {} numbers", numbers.len()),
                };
                let beside = match way {
                    Way::Nothing(_) => "nothing".to_owned(),
                    Way::Outside => format!("{what}, called by a thread outside of the pool"),
                    Way::HandedOver => format!("{what}, handed over by a fiber or task"),
                    Way::Inline => format!("{what}, called by a fiber or task"),
                };
                format!("worst lateness of four timers of 1 ms beside {beside}")
            }
            Job::Http(load, connections) => {
                let beside = match load {
                    Load::Nothing => "beside nothing",
                    Load::Loops => "beside loops that a thread outside of the pool calls",
                    Load::Heavy => "one request of twenty computes a loop",
                };
                format!("99th percentile of light HTTP requests, {connections} connections, {beside}")
            }
            Job::Callers => "threads that run at once while 16 fibers or tasks hand loops over".to_owned(),
        }
    }

    fn unit(&self) -> &'static str {
        match self.job {
            Job::Ticks(..) | Job::Http(..) => "ms",
            Job::Callers => "threads",
        }
    }

    fn threads(&self) -> Threads {
        Threads::Asked
    }

    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    fn suits(&self, kind: Kind) -> bool {
        let is_handed_over = match self.job {
            Job::Ticks(way, _) => way == Way::HandedOver,
            Job::Http(load, _) => load == Load::Heavy,
            Job::Callers => true,
        };
        is_handed_over || !kind.differs_when_handed_over()
    }

    fn sample_with(&self, kind: Kind, threads: usize) -> Sample {
        let budget = self.settings.budget;
        match &self.job {
            Job::Ticks(way, task) => ticks::sample(kind, threads, *way, task, budget / 2),
            Job::Http(load, connections) => {
                http::sample((kind, threads), *load, &Work::new(budget), *connections, budget)
            }
            Job::Callers => callers::sample(kind, threads, &Work::new(budget).short, budget),
        }
    }
}

/// Draws the latency of requests over time, first beside nothing and then beside loops.
///
/// # Errors
/// Returns why a server could not be measured.
pub fn draw(peers: &[Kind], threads: usize, settings: Settings) -> Result<String, crate::isolate::Failure> {
    let half = |kind: Kind, load: Load| {
        crate::isolate::in_child(crate::isolate::LIMIT, || {
            let served = http::run((kind, threads), load, &Work::new(settings.budget), 16, settings.budget);
            picture::worst(&served.answers, settings.budget)
        })
    };
    let mut curves = Vec::new();
    for kind in peers {
        curves.push((kind.to_string(), [half(*kind, Load::Nothing)?, half(*kind, Load::Loops)?]));
    }
    Ok(picture::draw(&curves, settings.budget))
}
