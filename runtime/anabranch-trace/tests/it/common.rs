//! Programs whose losses are known, as traces.

use anabranch_trace::{
    event::{Event, Loot, Role, Site, State},
    explain::{Cause, Explanation, Options, explain},
    read::{Lane, Place, Trace},
};

/// A millisecond.
pub const MS: u64 = 1_000_000;

/// A trace that is being written, with one pool of number 0.
pub struct Program {
    pub trace: Trace,
    /// The CPU time and the time without a core of each lane until now.
    clocks: Vec<(u64, u64)>,
}

impl Program {
    /// A pool with threads of its own, which are parked, and a lane for a thread outside, the last one.
    pub fn new(threads: u32) -> Self {
        let mut program = Self { trace: Trace::default(), clocks: Vec::new() };
        program.trace.pools.insert(0, threads);
        for worker in 0..threads {
            let lane = program.lane(&format!("worker {worker}"));
            program.on(lane, 0, Event::Enter { role: Role::Worker, pool: 0, worker });
            program.state(lane, 0, State::Parked);
        }
        program.lane("main");
        program
    }

    /// Adds a thread.
    pub fn lane(&mut self, name: &str) -> usize {
        let id = self.trace.lanes.len() as u32;
        self.trace.lanes.push(Lane { id, thread: id + 1, name: name.to_owned(), lost: 0, events: Vec::new() });
        self.clocks.push((0, 0));
        id as usize
    }

    /// The lane of the thread outside.
    pub fn main(&self) -> usize {
        self.trace.pools[&0] as usize
    }

    /// A place in `main.rs`.
    pub fn site(&mut self, label: &str, line: u32) -> Site {
        let place = Place { label: label.to_owned(), file: "src/main.rs".to_owned(), line, column: 5 };
        self.trace.places.push(place);
        Site(self.trace.places.len() as u32)
    }

    /// Adds an event, at a time in nanoseconds.
    pub fn on(&mut self, lane: usize, time: u64, event: Event) {
        self.trace.lanes[lane].events.push((time, event));
    }

    pub fn state(&mut self, lane: usize, time: u64, state: State) {
        self.wait(lane, time, state, Site::UNKNOWN);
    }

    pub fn wait(&mut self, lane: usize, time: u64, state: State, site: Site) {
        self.read(lane, time);
        self.on(lane, time, Event::State { state, site });
    }

    /// Adds the readings of the clocks, as far as a lane has some.
    pub fn read(&mut self, lane: usize, time: u64) {
        let (cpu, delay) = self.clocks[lane];
        self.on(lane, time, Event::CpuTime(cpu));
        self.on(lane, time, Event::RunDelay(delay));
    }

    /// A thread works from a time to another one, and is on a core all the time.
    pub fn work(&mut self, lane: usize, from: u64, to: u64) {
        self.work_on(lane, from, to, 1.0, 0.0);
    }

    /// A thread works, for parts of the time on a core and without one. Otherwise it is blocked.
    pub fn work_on(&mut self, lane: usize, from: u64, to: u64, cpu: f64, delay: f64) {
        self.state(lane, from, State::Working);
        self.pass(lane, to - from, cpu, delay);
    }

    /// The clocks of a thread go on.
    pub fn pass(&mut self, lane: usize, time: u64, cpu: f64, delay: f64) {
        self.clocks[lane].0 += (time as f64 * cpu) as u64;
        self.clocks[lane].1 += (time as f64 * delay) as u64;
    }

    /// The thread outside begins a call.
    pub fn call(&mut self, time: u64, site: Site) {
        let (main, worker) = (self.main(), self.trace.pools[&0]);
        self.read(main, time);
        self.on(main, time, Event::Enter { role: Role::Guest, pool: 0, worker });
        self.on(main, time, Event::Root(site));
    }

    /// The thread outside ends its call.
    pub fn leave(&mut self, time: u64) {
        let main = self.main();
        self.read(main, time);
        self.on(main, time, Event::Leave);
    }

    /// A thread publishes a fork at a site. Another one takes it a microsecond later, works until a time, and parks.
    pub fn piece(&mut self, from: usize, site: Site, to: usize, begin: u64, end: u64) {
        self.on(from, begin - 1_000, Event::Publish { count: 1, site, took: 100 });
        self.steal(from, to, begin);
        self.work(to, begin, end);
        self.state(to, end, State::Parked);
    }

    /// A thread takes a fork of another one.
    pub fn steal(&mut self, from: usize, to: usize, time: u64) {
        let victim = if from == self.main() { self.trace.pools[&0] } else { from as u32 };
        self.on(to, time, Event::Steal { loot: Loot::Fork, victim, count: 1 });
    }

    /// All threads of the pool end.
    pub fn end(&mut self, time: u64) {
        for worker in 0..self.main() {
            self.on(worker, time, Event::Leave);
        }
        for lane in &mut self.trace.lanes {
            lane.events.sort_by_key(|&(time, _)| time);
        }
    }

    pub fn explain(&self) -> Explanation {
        explained(&self.trace, &Options::default())
    }
}

/// Explains a trace, and checks the sums.
pub fn explained(trace: &Trace, options: &Options<'_>) -> Explanation {
    let explanation = explain(trace, options);
    check_sums(&explanation);
    explanation
}

/// Work and losses are the threads times the wall time, and the findings are the losses.
pub fn check_sums(explanation: &Explanation) {
    let within = |sum: f64, whole: f64, what: &str| {
        assert!((sum - whole).abs() <= 0.001 * whole + 1e-9, "{what}: {sum} instead of {whole}\n{explanation:?}");
    };
    let lost: f64 = explanation.losses.iter().map(|loss| loss.time).sum();
    within(explanation.work.time + lost, explanation.capacity, "work and losses");
    within(lost, explanation.lost, "losses");
    assert!(explanation.losses.iter().all(|loss| loss.time >= -1e-9), "{explanation:?}");
    assert!(
        explanation.work.time >= 0.0 && explanation.work.cpu <= explanation.work.measured * 1.001,
        "{explanation:?}"
    );
    for pool in &explanation.pools {
        let lost: f64 = pool.losses.iter().map(|loss| loss.time).sum();
        within(pool.work.time + lost, pool.capacity, "work and losses of a pool");
    }
    if explanation.findings.len() < Options::default().findings {
        for loss in &explanation.losses {
            let found = explanation.findings.iter().filter(|finding| finding.cause == loss.cause);
            within(found.map(|finding| finding.time).sum(), loss.time, loss.cause.name());
        }
    }
    assert!(explanation.critical_path <= explanation.wall * 1.001, "{explanation:?}");
}

/// Returns the time in milliseconds that is lost by a cause.
pub fn lost(explanation: &Explanation, cause: Cause) -> f64 {
    explanation.losses.iter().find(|loss| loss.cause == cause).unwrap().time * 1e3
}

/// Checks that a cause is the first one, with a time in milliseconds, within 2% of threads x wall time.
pub fn first(explanation: &Explanation, cause: Cause, expected: f64) {
    assert_eq!(explanation.losses[0].cause, cause, "{explanation}");
    assert_eq!(explanation.findings[0].cause, cause, "{explanation}");
    let off = (explanation.losses[0].time * 1e3 - expected).abs();
    assert!(off <= 0.02 * explanation.capacity * 1e3, "{off} off {expected} ms\n{explanation}");
}
