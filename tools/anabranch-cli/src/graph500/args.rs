//! The options of `anabranch graph500`.

use std::path::PathBuf;

use graph500::{BfsKind, Technique};

use crate::exit::Failure;
use crate::values::{self, number, threads};

const MOST_ROOTS: u64 = 1_000_000;

/// The options of a run.
#[derive(clap::Args)]
pub struct Args {
    /// Size of the graph: 2^N vertices, N from 1 to 40
    #[arg(long, value_name = "N", value_parser = scale, allow_negative_numbers = true)]
    pub scale: u32,

    /// Edge tuples per vertex
    #[arg(long, value_name = "E", default_value = "16", value_parser = edge_factor, allow_negative_numbers = true)]
    pub edge_factor: u64,

    /// Threads of the pool [default: $ANABRANCH_NUM_THREADS, or one per processor]
    #[arg(long, value_name = "T", value_parser = threads, allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Searches, each from a different key; an official run has 64
    #[arg(long, value_name = "K", default_value = "64", value_parser = roots, allow_negative_numbers = true)]
    pub roots: usize,

    /// Search kernel: sequential, color or direction
    #[arg(long, value_name = "KIND", default_value_t = BfsKind::default(), value_parser = kind)]
    pub bfs: BfsKind,

    /// Leave out a technique of kernel 1 or of `--bfs direction`, to see what it gains: degree-order, bottom-up,
    /// return-top-down, first-neighbours, kept-tree
    #[arg(long, value_name = "TECHNIQUE", value_delimiter = ',', value_parser = technique, conflicts_with = "checkpoint")]
    pub without: Vec<Technique>,

    /// Seed of the graph and of the keys
    #[arg(long, value_name = "S", default_value = "1", value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,

    /// Also write all results to FILE, each search included; '-' is standard output, and the table goes to standard
    /// error
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Also run kernel 3, shortest paths from the same keys; a search takes about 30 to 60 times as long
    #[arg(long)]
    pub sssp: bool,

    /// Start at kernel 2 with the tuples and the graph in FILE; if FILE does not exist, write it after kernel 1
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// Run with all processes that `mpirun` has started, each with a part of the graph and a pool of its own
    #[arg(long, conflicts_with_all = ["bfs", "without", "sssp", "checkpoint"])]
    pub mpi: bool,

    /// With --mpi: also print what each process sends in each level
    #[arg(long, requires = "mpi")]
    pub verbose: bool,

    /// Do not validate the searches (an official run does)
    #[arg(long)]
    pub skip_validation: bool,
}

impl Args {
    /// Returns the number of threads.
    pub fn threads(&self) -> Result<usize, Failure> {
        self.threads.map_or_else(values::default_threads, Ok)
    }
}

fn scale(text: &str) -> Result<u32, String> {
    number(text, 1, 40, "").map(|scale| scale as u32)
}

fn edge_factor(text: &str) -> Result<u64, String> {
    number(text, 1, 1 << 20, "")
}

fn roots(text: &str) -> Result<usize, String> {
    number(text, 1, MOST_ROOTS, "").map(|roots| roots as usize)
}

fn seed(text: &str) -> Result<u64, String> {
    number(text, 0, u64::MAX, "")
}

fn kind(text: &str) -> Result<BfsKind, String> {
    text.parse().map_err(|_| {
        let all: Vec<String> = BfsKind::ALL.iter().map(ToString::to_string).collect();
        format!("give one of {}", all.join(", "))
    })
}

fn technique(text: &str) -> Result<Technique, String> {
    let names = || format!("give one of {}", Technique::ALL.map(Technique::name).join(", "));
    text.parse().map_err(|_| names())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_their_ranges() {
        assert_eq!(scale("40"), Ok(40));
        for bad in ["0", "41", "-1", "abc", "", "1.5", "99999999999999999999"] {
            assert_eq!(scale(bad), Err("give a whole number from 1 to 40".to_owned()), "{bad}");
        }
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert!(threads("4095").is_ok() && threads("4096").is_err() && threads("0").is_err());
    }

    #[test]
    fn every_kind_goes_by_its_name() {
        for known in BfsKind::ALL {
            assert!(kind(&known.to_string()).is_ok_and(|parsed| parsed.to_string() == known.to_string()));
        }
        assert_eq!(kind("fast").unwrap_err(), "give one of sequential, color, direction");
    }

    #[test]
    fn every_technique_goes_by_its_name() {
        for known in Technique::ALL {
            assert_eq!(technique(known.name()), Ok(known));
        }
        assert!(technique("speed").unwrap_err().starts_with("give one of degree-order, bottom-up, "));
    }
}
