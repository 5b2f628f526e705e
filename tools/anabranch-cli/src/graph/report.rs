//! The summary of a run: a table for people, or JSON for scripts.

use serde_json::{Value, json};

use super::columns::Columns;
use crate::exit::Failure;
use crate::output::to_stdout;
use crate::units::{counted, seconds};

/// Increases by one when a field is removed or changes its meaning, not when one is added.
const SCHEMA: u32 = 1;

/// The results of a kernel.
pub struct Found {
    /// The lines for people.
    pub rows: Vec<(&'static str, String)>,
    /// The same for scripts.
    pub json: Value,
    /// The values of all vertices.
    pub columns: Columns,
    /// Why the results are not final: the status of the run is 1 after they are written.
    pub unfinished: Option<String>,
}

impl Found {
    /// Summarises a search from the vertex with this label.
    pub fn tree(label: u64, reached: u64, depth: u32, columns: Columns) -> Found {
        Found {
            rows: vec![
                ("source", label.to_string()),
                ("reached", format!("{} in {}", counted(reached, "vertex"), counted(depth.into(), "level"))),
            ],
            json: json!({ "source": label, "reached": reached, "depth": depth }),
            columns,
            unfinished: None,
        }
    }
}

/// The part of the report that all kernels share.
pub struct Report {
    pub command: &'static str,
    pub file: String,
    pub vertices: u64,
    pub edges: u64,
    pub directed: bool,
    pub processes: usize,
    /// Of each process.
    pub threads: usize,
    pub read_seconds: f64,
    /// Of each trial.
    pub seconds: Vec<f64>,
    pub verified: bool,
}

impl Report {
    /// Returns the least, the median and the greatest time of a trial. The median of an even number is the mean of the
    /// two in the middle.
    fn spread(&self) -> (f64, f64, f64) {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let (last, middle) = (sorted.len() - 1, sorted.len() / 2);
        (sorted[0], (sorted[last / 2] + sorted[middle]) / 2.0, sorted[last])
    }

    /// Returns the text of the JSON file.
    pub fn json(&self, found: &Found) -> String {
        let (min, median, max) = self.spread();
        let document = json!({
            "schema": SCHEMA,
            "command": self.command,
            "version": env!("CARGO_PKG_VERSION"),
            "file": self.file,
            "graph": { "vertices": self.vertices, "edges": self.edges, "directed": self.directed },
            "processes": self.processes,
            "threads": self.threads,
            "read_seconds": self.read_seconds,
            "trials": { "seconds": self.seconds, "min": min, "median": median, "max": max },
            "verified": self.verified,
            "result": found.json,
        });
        format!("{document:#}\n")
    }

    /// Prints the table, on standard error if results are on standard output.
    pub fn print(&self, found: &Found, on_stderr: bool) -> Result<(), Failure> {
        let mut table = crate::table::new(on_stderr);
        table.set_header([self.command, &self.file]);
        let kind = if self.directed { "directed" } else { "undirected" };
        let graph = format!("{}, {}", counted(self.vertices, "vertex"), counted(self.edges, &format!("{kind} edge")));
        let (min, median, max) = self.spread();
        let time = match self.seconds.len() {
            1 => seconds(median),
            trials => format!("median {}, min {}, max {} of {trials}", seconds(median), seconds(min), seconds(max)),
        };
        let verified = if self.verified { "valid" } else { "not verified (--verify)" };
        let threads = match self.processes {
            1 => self.threads.to_string(),
            processes => format!("{} in each of {processes} processes", self.threads),
        };
        let rows = [("graph", graph), ("threads", threads), ("read", seconds(self.read_seconds))];
        let found = found.rows.iter().cloned();
        for (name, value) in rows.into_iter().chain([("time", time)]).chain(found) {
            table.add_row([name.to_owned(), value]);
        }
        table.add_row(["result", verified]);
        if cfg!(debug_assertions) {
            table.add_row(["build", "not optimised: its times mean nothing"]);
        }
        let text = format!("{}\n", table.trim_fmt());
        if on_stderr {
            text.lines().for_each(crate::exit::print_line);
            Ok(())
        } else {
            to_stdout(&text)
        }
    }
}
