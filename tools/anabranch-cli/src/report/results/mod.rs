//! The page of a directory of results of `anabranch bench`: the newest result, and the course over all.

pub mod charts;
mod markdown;
mod page;
mod picture;

use std::fs;
use std::path::{Path, PathBuf};

use anabranch_bench::record::{Record, Refusal, Workload};

use super::failure;
use crate::exit::Failure;

/// The results of a directory.
pub struct Results {
    /// The results with their file names, the oldest first.
    records: Vec<(String, Record)>,
    /// The files that are no results of `anabranch bench`.
    others: Vec<String>,
}

/// Returns the paths in a directory that end with this extension, in the order of their names.
fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| failure(directory, &error))? {
        let path = entry.map_err(|error| failure(directory, &error))?.path();
        if path.extension().is_some_and(|ending| ending == extension) && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

impl Results {
    /// Reads all files of a directory whose names end with `.json`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, if one is a damaged result, or if there is no result.
    pub fn read(directory: &Path) -> Result<Self, Failure> {
        let mut results = Self { records: Vec::new(), others: Vec::new() };
        for path in files(directory, "json")? {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let bytes = fs::read(&path).map_err(|error| failure(&path, &error))?;
            match Record::parse(&bytes) {
                Ok(record) => results.records.push((name, record)),
                Err(Refusal::Foreign(_)) => results.others.push(name),
                Err(refusal) => return Err(failure(&path, &refusal)),
            }
        }
        if results.records.is_empty() {
            return Err(failure(directory, &"there is no result of `anabranch bench` in it"));
        }
        // The dates have one format, so their order is that of time.
        results.records.sort_by(|(a_name, a), (b_name, b)| (&a.date, a_name).cmp(&(&b.date, b_name)));
        Ok(results)
    }

    /// Returns the page. The name is that of the directory.
    pub fn page(&self, name: &str) -> String {
        page::document(name, self)
    }

    /// Returns the newest result of each bench as a page in Markdown, and appends the Markdown files of the directory.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn markdown(&self, directory: &Path) -> Result<String, Failure> {
        let read = |path: PathBuf| fs::read_to_string(&path).map_err(|error| failure(&path, &error));
        let notes: Result<Vec<String>, Failure> = files(directory, "md")?.into_iter().map(read).collect();
        Ok(markdown::document(self, &notes?))
    }

    /// Returns the speed-up curve of a workload of the newest result, as an SVG picture.
    ///
    /// # Errors
    /// Returns an error if the result has no such workload, or no contender with two numbers of threads.
    pub fn curve(&self, name: &str) -> Result<String, Failure> {
        let newest = self.newest();
        let Some(workload) = newest.workloads.iter().find(|workload| workload.full_name() == name) else {
            let known: Vec<String> = newest.workloads.iter().map(Workload::full_name).collect();
            return Err(Failure::Usage(format!(
                "the newest result has no workload '{name}'; it has {}",
                known.join(", ")
            )));
        };
        picture::speed_up(newest, workload).ok_or_else(|| {
            Failure::Run(format!("there is no curve of {name}: no contender ran with more than one number of threads"))
        })
    }

    fn newest(&self) -> &Record {
        &self.records.last().expect("there is at least one").1
    }

    /// Returns the results that may be compared with the newest one, the oldest first.
    fn comparable(&self) -> Vec<&(String, Record)> {
        let newest = self.newest();
        self.records.iter().filter(|(_, record)| differences(record, newest).is_empty()).collect()
    }
}

/// Returns why two results must not be compared.
fn differences(a: &Record, b: &Record) -> Vec<&'static str> {
    let mut differences = Vec::new();
    let machine = |record: &Record| (record.machine.cpu.clone(), record.machine.cpus, record.machine.arch.clone());
    if machine(a) != machine(b) {
        differences.push("another machine");
    }
    if a.settings.quick != b.settings.quick {
        differences.push("another size of the workloads");
    }
    if a.build.optimised != b.build.optimised {
        differences.push("another kind of build");
    }
    differences
}
