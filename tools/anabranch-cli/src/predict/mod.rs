//! `anabranch predict`: how fast a recorded program would be on other numbers of cores.

mod account;
mod replay;

use std::path::PathBuf;
use std::sync::Arc;

use anabranch_sim::Machine;
use anabranch_trace::event::Event;
use anabranch_trace::explain::Cause;
use anabranch_trace::read::Trace;
use anabranch_trace::recording::{Recording, RecordingError};
use serde::Serialize;

use crate::exit::Failure;
use crate::trace;
use crate::{output, units};

/// The version of the JSON form.
const SCHEMA: u32 = 1;
/// The numbers of cores by default.
pub const CORES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The most cores of a virtual machine.
const MAX_CORES: u64 = 128;
/// A recording with fewer pieces is replayed several times, and the mean counts.
const FEW_PIECES: usize = 5_000;
const RUNS: u64 = 3;
/// The most pieces of a replay. A recording with more is merged until it has so many.
const MAX_PIECES: usize = 400_000;
/// A fork with less work than this, in nanoseconds, is not replayed: no thread would take it in time.
const GRAIN: u64 = 1_000;
/// The least share of the cores that is named as a limit.
const NAMED: f64 = 0.01;

/// The arguments.
#[derive(clap::Args)]
pub struct Args {
    /// The trace of a run with ANABRANCH_TRACE_FORKS=1 and ANABRANCH_NUM_THREADS=1
    trace: PathBuf,
    /// The numbers of cores
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = cores, default_values_t = CORES)]
    cores: Vec<usize>,
    /// The costs of messages, wake-ups and system calls
    #[arg(long, value_enum, default_value_t = Costs::LargeVm)]
    machine: Costs,
    /// Print all figures as JSON; times are in seconds
    #[arg(long)]
    json: bool,
}

/// The machines whose costs are known.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Costs {
    /// A virtual machine with few cores, all near each other
    SmallVm,
    /// A virtual machine on one socket
    LargeVm,
    /// A machine of its own, with 32 cores a socket
    Server,
}

impl Costs {
    fn machine(self, cores: usize) -> Machine {
        match self {
            Self::SmallVm => Machine::small_vm(cores),
            Self::LargeVm => Machine::large_vm(cores),
            Self::Server => Machine::server(cores),
        }
    }
}

fn cores(text: &str) -> Result<usize, String> {
    crate::values::number(text, 1, MAX_CORES, "").map(|cores| cores as usize)
}

/// The prediction. Times are in seconds.
#[derive(Serialize)]
pub struct Prediction {
    schema: u32,
    /// The work and the span of the calls, as they were recorded.
    pub work: f64,
    pub span: f64,
    /// The time outside of calls.
    pub outside: f64,
    pub calls: usize,
    /// How many forks were replayed, and below how much work a fork counts as work.
    pub forks: usize,
    pub grain: f64,
    /// How many fibers began, none of which was replayed.
    pub fibers: u64,
    pub points: Vec<Point>,
}

/// The prediction for a number of cores.
#[derive(Serialize)]
pub struct Point {
    pub cores: usize,
    pub time: f64,
    /// How many times as fast as one core with no scheduler.
    pub speed_up: f64,
    /// The least time of any scheduler, and the speed-up that this would be.
    pub bound: f64,
    pub bound_speed_up: f64,
    /// The share of the cores that works.
    pub working: f64,
    /// The causes that take most of the cores' time, with their shares; the largest first.
    pub limits: Vec<Limit>,
}

#[derive(Serialize)]
pub struct Limit {
    pub cause: Cause,
    pub share: f64,
}

/// Predicts, and prints the curve.
pub fn run(args: &Args) -> Result<(), Failure> {
    let trace = trace::read(&args.trace)?;
    let refuse = |error: RecordingError| Failure::Run(format!("{}: {error}", args.trace.display()));
    let prediction = predict(&trace, &args.cores, |cores| args.machine.machine(cores)).map_err(refuse)?;
    if !args.json {
        return output::to_stdout(&prediction.text());
    }
    let json = serde_json::to_string_pretty(&prediction).expect("a map with text keys");
    output::to_stdout(&format!("{json}\n"))
}

/// Predicts for the numbers of cores of a report. Returns `None` if the trace has no record of its forks.
pub fn of_report(trace: &Trace) -> Option<Prediction> {
    predict(trace, &CORES, |cores| Costs::LargeVm.machine(cores)).ok()
}

fn predict(trace: &Trace, cores: &[usize], machine: impl Fn(usize) -> Machine) -> Result<Prediction, RecordingError> {
    let mut grain = GRAIN;
    let mut recording = Recording::of(trace, grain)?;
    while recording.pieces.len() > MAX_PIECES {
        grain *= 2;
        recording = Recording::of(trace, grain)?;
    }
    let recording = Arc::new(recording);
    let alone = recording.bound(1) as f64 / 1e9;
    let runs = if recording.pieces.len() < FEW_PIECES { RUNS } else { 1 };
    let point = |&cores: &usize| {
        let all: Vec<replay::Run> = (0..runs).map(|seed| replay::replay(&recording, machine(cores), seed)).collect();
        let mean = |of: &dyn Fn(&replay::Run) -> f64| all.iter().map(of).sum::<f64>() / runs as f64;
        let time = mean(&|run| run.time.as_secs_f64());
        let capacity = (time * cores as f64).max(f64::MIN_POSITIVE);
        let lost = |cause: Cause| mean(&|run| run.account.lost[cause as usize]) / capacity;
        let limits = Cause::ALL.into_iter().map(|cause| Limit { cause, share: lost(cause) });
        let mut limits: Vec<Limit> = limits.filter(|limit| limit.share >= NAMED).collect();
        limits.sort_by(|one, two| two.share.total_cmp(&one.share));
        let bound = recording.bound(cores as u64) as f64 / 1e9;
        let speed_up = |time: f64| if time > 0.0 { alone / time } else { 1.0 };
        Point {
            cores,
            time,
            speed_up: speed_up(time),
            bound,
            bound_speed_up: speed_up(bound),
            working: mean(&|run| run.account.work) / capacity,
            limits,
        }
    };
    let points = cores.iter().map(point).collect();
    let seconds = |time: u64| time as f64 / 1e9;
    let is_fiber = |(_, event): &&(u64, Event)| matches!(event, Event::FiberStart { .. });
    Ok(Prediction {
        schema: SCHEMA,
        work: seconds(recording.work()),
        span: seconds(recording.calls.iter().fold(0, |sum, call| sum.saturating_add(call.span))),
        outside: seconds(recording.outside()),
        calls: recording.calls.len(),
        forks: recording.forks(),
        grain: seconds(grain),
        fibers: trace.lanes.iter().flat_map(|lane| &lane.events).filter(is_fiber).count() as u64,
        points,
    })
}

impl Prediction {
    /// Returns what was recorded, in a sentence.
    pub fn summary(&self) -> String {
        let [work, span, outside, grain] = [self.work, self.span, self.outside, self.grain].map(units::seconds);
        let parallelism = units::three(if self.span > 0.0 { self.work / self.span } else { 1.0 });
        let outside = if self.outside > 0.0 { format!("; {outside} outside of them") } else { String::new() };
        let fibers = match self.fibers {
            0 => String::new(),
            fibers => format!(" {} left out.", units::counted(fibers, "fiber")),
        };
        format!(
            "{} with work {work}, span {span}, parallelism {parallelism}{outside}. {} of more than {grain} of work were \
             replayed by the scheduler on virtual cores.{fibers}",
            units::counted(self.calls as u64, "call"),
            units::counted(self.forks as u64, "fork"),
        )
    }

    /// Sentences about the parts of the program that the replay leaves out.
    pub const LIMITS: &'static str = "Memory bandwidth and caches are not modelled, so a program that is bound by memory \
                                      is slower. Fibers, and waits for files or locks inside of a call, are left out.";

    fn text(&self) -> String {
        let mut text = format!("{}\n\n", self.summary());
        text.push_str("cores       time  speed-up  at most   limited by\n");
        for point in &self.points {
            let Point { cores, time, speed_up, bound_speed_up, .. } = point;
            let (time, speed_up) = (units::seconds(*time), units::three(*speed_up));
            let (most, limits) = (units::three(*bound_speed_up), point.limits());
            text.push_str(&format!("{cores:>5} {time:>10} {speed_up:>9} {most:>8}   {limits}\n"));
        }
        text.push_str(&format!("\n{}\n", Self::LIMITS));
        text
    }
}

impl Point {
    /// Returns the two largest limits, in the words of `explain`.
    pub fn limits(&self) -> String {
        let named = |limit: &Limit| format!("{} {:.0}%", limit.cause.name(), limit.share * 100.0);
        match &self.limits[..] {
            [] => "nothing: the cores work".to_owned(),
            limits => limits.iter().take(2).map(named).collect::<Vec<_>>().join("; "),
        }
    }
}
