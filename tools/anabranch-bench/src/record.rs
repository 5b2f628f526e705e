//! The result file of a run: everything that was measured, and under which conditions.
//!
//! `docs/bench-json.md` explains each field. The types are the same for the program that writes a file and for those
//! that read it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::figures::Figures;
use crate::machine::{Machine, Versions};
use crate::sample::Sample;

/// The version of the layout. It increases when a field is removed or changes its meaning, not when one is added.
pub const SCHEMA: u32 = 1;

/// The name by which a file is recognised.
pub const BENCHMARK: &str = "bench";

/// A result file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// [`BENCHMARK`].
    pub benchmark: String,
    /// The start of the run: UTC, RFC 3339.
    pub date: String,
    /// Whether a signal ended the run before its last sample.
    pub interrupted: bool,
    /// The machine of the run.
    pub machine: Machine,
    /// The build of the measured program.
    pub build: Build,
    /// The versions of the compiler and of the libraries, by name.
    pub versions: BTreeMap<String, String>,
    /// The choices of the user, defaults included.
    pub settings: Settings,
    /// The workloads, in the order in which they ran. One without samples is absent.
    pub workloads: Vec<Workload>,
}

/// The build of the measured program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The commit of the sources, if they were in a git repository.
    pub commit: Option<String>,
    /// Whether the sources differed from that commit.
    pub modified: bool,
    /// Whether the build was optimised. The times of others are not comparable.
    pub optimised: bool,
}

/// The choices of the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The numbers of threads.
    pub threads: Vec<usize>,
    /// The number of measured rounds. A workload with long samples may run fewer.
    pub samples: usize,
    /// The number of rounds before these, whose samples are dropped.
    pub warm_up: usize,
    /// Whether the workloads were smaller and shorter than usual.
    pub quick: bool,
    /// The seed of the order of the contenders within the rounds.
    pub seed: u64,
    /// The calibration of CPU work in nanoseconds per step, if a workload needs it.
    pub nanoseconds_a_step: Option<f64>,
}

/// The results of a workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Workload {
    /// The bench of which it is part.
    pub suite: String,
    /// Its name, unique in the suite.
    pub name: String,
    /// A short description, with its size.
    pub title: String,
    /// The unit of the values. Less is better in every unit.
    pub unit: String,
    /// The number of rounds of this workload.
    pub rounds: usize,
    /// The series, in the order of the table.
    pub series: Vec<Series>,
    /// The targets of the workload, and how they were met, in the files of the benches.
    #[serde(flatten)]
    pub targets: Map<String, Value>,
}

impl Workload {
    /// Returns the name with the suite, as on the command line.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.suite, self.name)
    }

    /// Returns the baseline of a series: that with the same number of threads if it ran with several, otherwise the
    /// first one.
    pub fn baseline(&self, series: &Series) -> Option<&Series> {
        let all = || self.series.iter().filter(|other| other.baseline);
        all().find(|other| other.threads == series.threads).or(all().next())
    }

    /// Computes the figures of all series from their samples.
    pub fn with_figures(mut self) -> Workload {
        let figures = |series: &Series| {
            let baseline = self.baseline(series).map(|baseline| &baseline.samples[..]);
            Figures::of(&series.samples, baseline)
        };
        let all: Vec<Option<Figures>> = self.series.iter().map(figures).collect();
        self.series.iter_mut().zip(all).for_each(|(series, figures)| series.figures = figures);
        self
    }
}

/// All samples of one contender with one number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// The contender: a library, or a way to use it.
    pub peer: String,
    /// Its threads, or `None` if the contender decides.
    pub threads: Option<usize>,
    /// Whether the contender is a variant of anabranch.
    pub ours: bool,
    /// Whether others are compared with the contender.
    pub baseline: bool,
    /// One entry per round; `None` if there is no sample.
    pub samples: Vec<Option<Sample>>,
    /// Why samples are missing. A contender that failed does not run again.
    pub failure: Option<String>,
    /// What the table shows; `None` without samples.
    pub figures: Option<Figures>,
}

impl Series {
    /// Returns the values of the samples.
    pub fn values(&self) -> Vec<f64> {
        self.samples.iter().flatten().map(|sample| sample.value).collect()
    }
}

/// Why a text is not the record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The text ends in the middle.
    Truncated,
    /// The text is not JSON.
    Malformed(String),
    /// The text is JSON of another kind.
    Foreign(String),
    /// The record has another version of the layout.
    Schema(u64),
    /// A field is missing or has a wrong type.
    Incomplete(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Truncated => write!(f, "the file is truncated"),
            Refusal::Malformed(why) => write!(f, "the file is not JSON: {why}"),
            Refusal::Foreign(why) => write!(f, "the file is not a result of `anabranch bench`: {why}"),
            Refusal::Schema(schema) => {
                write!(f, "the file has schema {schema}, and this version of anabranch reads schema {SCHEMA}")
            }
            Refusal::Incomplete(why) => write!(f, "the file is damaged: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl Build {
    /// Returns the build of this program.
    pub fn of_this_program() -> Build {
        let commit = env!("BENCH_COMMIT");
        Build {
            commit: (!commit.is_empty()).then(|| commit.to_owned()),
            modified: env!("BENCH_MODIFIED") == "true",
            optimised: !cfg!(debug_assertions),
        }
    }
}

impl Record {
    /// Creates the record of a run that begins now on this machine, without workloads.
    pub fn begin(settings: Settings, versions: &Versions) -> Record {
        Record {
            schema: SCHEMA,
            benchmark: BENCHMARK.to_owned(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            interrupted: false,
            machine: Machine::look(),
            build: Build::of_this_program(),
            versions: versions.to_map(),
            settings,
            workloads: Vec::new(),
        }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Returns the reason if `text` is not a complete record of this [`SCHEMA`].
    pub fn parse(text: &[u8]) -> Result<Record, Refusal> {
        let value: Value = serde_json::from_slice(text).map_err(|error| match error.is_eof() {
            true => Refusal::Truncated,
            false => Refusal::Malformed(error.to_string()),
        })?;
        if let Some(other) = value.get("benchmark").filter(|name| *name != BENCHMARK) {
            return Err(Refusal::Foreign(format!("`benchmark` is {other}")));
        }
        let schema = value.get("schema").and_then(Value::as_u64);
        match (value.get("benchmark"), schema) {
            (Some(_), Some(schema)) if schema == u64::from(SCHEMA) => {}
            (Some(_), Some(schema)) => return Err(Refusal::Schema(schema)),
            (None, _) => return Err(Refusal::Foreign("it has no field `benchmark`".to_owned())),
            (_, None) => return Err(Refusal::Foreign("it has no field `schema`".to_owned())),
        }
        // From the text, because its errors have a position.
        let record: Record = serde_json::from_slice(text).map_err(|error| Refusal::Incomplete(error.to_string()))?;
        record.check().map_err(Refusal::Incomplete)?;
        Ok(record)
    }

    /// Returns the text of the file, with a line end.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a record is plain data");
        text.push('\n');
        text
    }

    fn check(&self) -> Result<(), String> {
        for workload in &self.workloads {
            for (index, series) in workload.series.iter().enumerate() {
                let name = || format!("{} of {}", series.peer, workload.full_name());
                if series.samples.len() != workload.rounds {
                    let (found, rounds) = (series.samples.len(), workload.rounds);
                    return Err(format!("{} has {found} samples, and the workload {rounds} rounds", name()));
                }
                if series.figures.is_some() != series.samples.iter().any(Option::is_some) {
                    return Err(format!("the figures of {} do not fit its samples", name()));
                }
                let is_same = |other: &Series| other.peer == series.peer && other.threads == series.threads;
                if workload.series[..index].iter().any(is_same) {
                    return Err(format!("{} occurs twice with as many threads", name()));
                }
            }
        }
        Ok(())
    }
}
