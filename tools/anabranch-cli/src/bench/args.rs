//! The options of `anabranch bench`.

use std::path::PathBuf;

use anabranch_bench::rounds::SEED;

use crate::values::{number, threads};

const MOST_SAMPLES: u64 = 100_000;

/// The options of a run.
#[derive(clap::Args)]
pub struct Args {
    /// Workloads to run: NAME, SUITE/NAME, SUITE or `all`; a name may end in * [default: one or two of each suite]
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,

    /// Numbers of threads, separated by commas [default: 1 and $ANABRANCH_NUM_THREADS, or one per processor]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = threads, allow_negative_numbers = true)]
    threads: Vec<usize>,

    /// Other libraries to measure, separated by commas; a name may end in *; `none` for anabranch and plain code alone
    /// [default: all that were compiled in]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub peers: Vec<String>,

    /// Rounds; each takes one sample of every contender. Workloads with long samples run fewer
    #[arg(long, value_name = "N", default_value = "9", value_parser = samples, allow_negative_numbers = true)]
    pub samples: usize,

    /// Warm-up rounds, whose samples are dropped
    #[arg(long, value_name = "N", default_value = "1", value_parser = warm_up, allow_negative_numbers = true)]
    pub warm_up: usize,

    /// Smaller and shorter workloads, for a rough result
    #[arg(long)]
    pub quick: bool,

    /// Seed of the order of the contenders within a round
    #[arg(long, value_name = "S", default_value_t = SEED, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,

    /// Also write all results to FILE, each sample included; '-' is standard output, and the tables go to standard
    /// error
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Also add all results to DIR, in a new file whose name has the date and the commit
    #[arg(long, value_name = "DIR")]
    pub history: Option<PathBuf>,

    /// Print the workloads and the contenders, and run nothing
    #[arg(long)]
    pub list: bool,
}

#[cfg(target_os = "linux")]
impl Args {
    /// Returns the numbers of threads, in order and each once.
    pub fn threads(&self) -> Result<Vec<usize>, crate::exit::Failure> {
        let mut threads =
            if self.threads.is_empty() { vec![1, crate::values::default_threads()?] } else { self.threads.clone() };
        threads.sort_unstable();
        threads.dedup();
        Ok(threads)
    }
}

fn samples(text: &str) -> Result<usize, String> {
    number(text, 1, MOST_SAMPLES, "").map(|samples| samples as usize)
}

fn warm_up(text: &str) -> Result<usize, String> {
    number(text, 0, MOST_SAMPLES, "").map(|rounds| rounds as usize)
}

fn seed(text: &str) -> Result<u64, String> {
    number(text, 0, u64::MAX, "")
}
