//! The graph that a subcommand reads.

use std::path::{Path, PathBuf};

use anabranch::Pool;
use anabranch_graph::{Format, Input, Observer, ReadOptions, Weight, WeightType};

use crate::exit::Failure;
use crate::values::{self, threads};

/// The options of reading a graph.
#[derive(clap::Args)]
pub struct Source {
    /// The graph file: .el, .wel, .txt (SNAP), .mtx, .gr, .sg, .wsg or .ag, plain or compressed with gzip or zstd
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The format, if the name of the file does not say it: el, wel, txt, mtx, gr, sg, wsg or ag
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    from: Option<Format>,

    /// Make a directed graph undirected
    #[arg(long)]
    undirected: bool,

    /// Renumber the vertices that have edges, and drop the others (always done for .txt)
    #[arg(long)]
    compact: bool,

    /// Memory-map a file of the format ag instead of reading it; no program may change the file meanwhile
    #[arg(long, conflicts_with_all = ["undirected", "compact"])]
    map: bool,

    /// Threads of the pool [default: $ANABRANCH_NUM_THREADS, or one per processor]
    #[arg(long, value_name = "T", value_parser = threads, allow_negative_numbers = true)]
    threads: Option<usize>,
}

/// The type of weights to read.
#[derive(clap::Args)]
pub struct Weights {
    /// The weights to read: none, whole (32 bits), real (64 bits), or single (32 bits, faster; distances have at most 7
    /// digits, fewer on long paths) [default: as the format or the file's header says]
    #[arg(long, value_name = "KIND", value_parser = weights)]
    weights: Option<WeightType>,
}

impl Source {
    /// Builds the pool.
    pub fn pool(&self) -> Result<Pool, Failure> {
        values::pool(self.threads.map_or_else(values::default_threads, Ok)?)
    }

    fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        options.format = self.from;
        options.symmetrize = self.undirected;
        options.compact = self.compact;
        options
    }

    /// Returns the type of weights that the file has. Checks the format and the header.
    pub fn weight_type(&self, weights: &Weights) -> Result<WeightType, Failure> {
        let found = anabranch_graph::weight_type(&self.file, &self.options()).map_err(failure)?;
        Ok(weights.weights.unwrap_or(found))
    }

    /// Reads a part of the edges.
    #[cfg(feature = "mpi")]
    pub fn read_part(
        &self,
        part: usize,
        parts: usize,
        observer: &dyn Observer,
    ) -> Result<anabranch_graph::Part, Failure> {
        anabranch_graph::read_part(&self.file, &self.options(), part, parts, observer).map_err(failure)
    }

    /// Returns the options that all processes of a run must share, with their names.
    #[cfg(feature = "mpi")]
    pub fn settings(&self) -> [(&'static str, String); 3] {
        let length = std::fs::metadata(&self.file).map_or(0, |file| file.len());
        let format = self.from.or_else(|| Format::from_path(&self.file));
        [
            ("the length of the file", length.to_string()),
            ("its format", format.map_or("unknown".to_owned(), |format| format.to_string())),
            ("--undirected", if self.undirected { "given" } else { "absent" }.to_owned()),
        ]
    }

    /// Reads the graph.
    pub fn read<W: Weight>(&self, observer: &dyn Observer) -> Result<Input<W>, Failure> {
        if self.map {
            // SAFETY: with `--map` the user says that no process changes the file during the run.
            return unsafe { anabranch_graph::map(&self.file) }.map_err(failure);
        }
        anabranch_graph::read_with(&self.file, &self.options(), observer).map_err(failure)
    }
}

pub fn failure(error: anabranch_graph::ReadError) -> Failure {
    Failure::Run(error.to_string())
}

/// Parses a format.
pub fn format(text: &str) -> Result<Format, String> {
    Format::from_path(Path::new(&format!("a.{text}"))).ok_or_else(|| format!("give one of {}", formats()))
}

/// Returns the names of all formats.
pub fn formats() -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.extensions()[0]).collect();
    names.join(", ")
}

fn weights(text: &str) -> Result<WeightType, String> {
    match text {
        "none" => Ok(WeightType::None),
        "whole" => Ok(WeightType::Whole),
        "real" => Ok(WeightType::Real),
        "single" => Ok(WeightType::Single),
        _ => Err("give one of none, whole, real, single".to_owned()),
    }
}
