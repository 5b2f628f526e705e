//! Runs of workloads: the tables, the files, and what can be given wrong.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anabranch_bench::record::{Record, SCHEMA, Series};
use serde_json::Value;

use crate::common::{LIMIT, end, refused, run, succeed, wait};

/// A short run of two small workloads.
const SMALL: &[&str] =
    &["bench", "iterators/nested-8", "fibers/lock-alone", "--quick", "--threads", "1", "--samples", "3"];

fn record(path: &Path) -> Record {
    let text = std::fs::read(path).expect("the file is there");
    Record::parse(&text).unwrap_or_else(|refusal| panic!("{refusal}: {}", String::from_utf8_lossy(&text)))
}

fn series(record: &Record) -> impl Iterator<Item = &Series> {
    record.workloads.iter().flat_map(|workload| &workload.series)
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The cells of the table's row for a contender of a workload.
fn cells<'a>(text: &'a str, workload: &str, peer: &str) -> Vec<&'a str> {
    let table = text.split("\n\n").find(|part| part.starts_with(&format!("{workload}: "))).expect("a table");
    let row = table.lines().find(|line| line.split_whitespace().next() == Some(peer));
    row.unwrap_or_else(|| panic!("no {peer} in\n{table}")).split_whitespace().collect()
}

/// Three digits, as the tables have them.
fn shown(value: f64) -> String {
    let digits = if value >= 99.95 { 0 } else { if value >= 9.995 { 1 } else { 2 } };
    format!("{value:.digits$}")
}

#[test]
fn tables_show_the_figures_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    let ended = succeed(&[SMALL, &["--seed", "7", "--json", path.to_str().unwrap()]].concat());
    let record = record(&path);
    assert_eq!((record.schema, record.interrupted), (SCHEMA, false));
    assert_eq!((record.settings.samples, record.settings.warm_up, record.settings.seed), (3, 1, 7));
    assert_eq!((&record.settings.threads[..], record.settings.quick), (&[1][..], true));
    assert!(record.versions["rustc"].starts_with("rustc 1."));
    assert_eq!(record.versions["anabranch-cli"], env!("CARGO_PKG_VERSION"));
    assert_eq!(record.build.optimised, !cfg!(debug_assertions));
    assert_eq!(record.date.len(), 20);
    let names: Vec<String> = record.workloads.iter().map(|workload| workload.full_name()).collect();
    assert_eq!(names, ["iterators/nested-8", "fibers/lock-alone"]);
    let mut compared = 0;
    for workload in &record.workloads {
        assert_eq!(workload.rounds, 3);
        for series in &workload.series {
            assert_eq!(series.samples.iter().flatten().count(), 3, "{}", series.peer);
            assert!(series.samples.iter().flatten().all(|sample| sample.value > 0.0 && sample.wall > 0.0));
            let figures = series.figures.as_ref().unwrap();
            let cells = cells(&ended.stdout, &workload.full_name(), &series.peer);
            let threads = series.threads.map_or("-".to_owned(), |threads| threads.to_string());
            let ratio = |it: Option<anabranch_bench::confidence::Estimate>| shown(it.unwrap().value);
            let interval = format!("{}..{}", shown(figures.interval.low), shown(figures.interval.high));
            let (value, cpu) = (&figures.value, shown(figures.cpu));
            let expected = [
                series.peer.clone(),
                threads,
                "3".to_owned(),
                shown(value.median),
                interval,
                shown(value.p10),
                shown(value.p90),
                ratio(figures.to_baseline),
                cpu,
                ratio(figures.cpu_to_baseline),
            ];
            assert_eq!(cells[..10], expected);
            // And the figures are those of the samples.
            let mut values = series.values();
            values.sort_by(f64::total_cmp);
            assert_eq!((value.min, value.median), (values[0], values[1]));
            compared += 1;
        }
    }
    assert!(compared >= 4, "{compared}");
    let peers: Vec<&str> = series(&record).map(|series| series.peer.as_str()).collect();
    assert!(peers.contains(&"plain") && peers.contains(&"anabranch"), "{peers:?}");
    assert_eq!(peers.contains(&"rayon"), anabranch_bench::HAS_PEERS);
}

#[test]
fn docs_explain_every_field_of_a_result() {
    fn names(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                found.push(name.clone());
                if !["versions", "extra"].contains(&name.as_str()) {
                    names(value, found);
                }
            }),
            Value::Array(values) => values.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let page = include_str!("../../../../docs/bench-json.md");
    let ended = succeed(&["bench", "pipes/ping-pong", "--quick", "--samples", "1", "--warm-up", "0", "--json", "-"]);
    assert!(ended.stderr.contains("pipes/ping-pong: "), "the tables are on standard error: {ended:?}");
    let json: Value = serde_json::from_str(&ended.stdout).expect("nothing but JSON");
    let mut found = Vec::new();
    names(&json, &mut found);
    assert!(found.len() > 50);
    for name in found {
        assert!(page.contains(&format!("`{name}`")), "`{name}` is not explained");
    }
    assert!(page.contains(&format!("now {SCHEMA}.")), "the page names another schema");
}

#[test]
fn history_keeps_every_run() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join("results/of/runs");
    let args = ["bench", "iterators/nested-8", "--quick", "--samples", "1", "--warm-up", "0", "--threads", "1"];
    let args = [&args[..], &["--history", history.to_str().unwrap()]].concat();
    for runs in 1..=3 {
        let ended = succeed(&args);
        assert!(ended.stderr.contains("anabranch: added "), "{ended:?}");
        assert_eq!(files(&history).len(), runs, "a run never replaces a file");
    }
    for name in files(&history) {
        let record = record(&history.join(&name));
        let commit = record.build.commit.as_deref().map_or("unknown", |commit| &commit[..12]);
        assert!(name.starts_with(&format!("{}-{commit}", record.date.replace(':', ""))), "{name}");
    }
}

#[test]
fn interrupted_run_keeps_its_samples() {
    // How long it takes to the first sample is for the machine to say: so try again with more time.
    let mut patience = Duration::from_secs(1);
    loop {
        let directory = tempfile::tempdir().unwrap();
        let (path, history) = (directory.path().join("run.json"), directory.path().join("history"));
        let args =
            ["bench", "iterators/nested-8", "--quick", "--threads", "1", "--samples", "100000", "--warm-up", "0"];
        let files_for = ["--json", path.to_str().unwrap(), "--history", history.to_str().unwrap()];
        let mut child = crate::common::anabranch(&[&args[..], &files_for].concat()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("iterators: begun") {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "it ended before its first sample: {said}");
        }
        thread::sleep(patience);
        assert!(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
        // The output ends when no process has it any more: the measuring process is gone too.
        let ended = end(child);
        std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
        assert_eq!(ended.code, Some(130), "{ended:?} {said}");
        assert!(said.ends_with("anabranch: interrupted\n") && !said.contains("panic"), "{said}");
        if path.exists() {
            let record = record(&path);
            assert!(record.interrupted);
            assert!(series(&record).any(|series| series.samples.iter().flatten().count() > 0));
            assert!(series(&record).all(|series| series.samples.iter().flatten().count() < 100_000));
            assert!(ended.stdout.contains("INTERRUPTED") && ended.stdout.contains("nested-8"), "{ended:?}");
            let kept = files(&history);
            assert_eq!(kept.len(), 1);
            assert_eq!(std::fs::read(history.join(&kept[0])).unwrap(), std::fs::read(&path).unwrap());
            assert_eq!(files(directory.path()), ["history", "run.json"], "no temporary file is left");
            return;
        }
        assert_eq!((files(&history), ended.stdout.as_str()), (Vec::new(), ""), "nothing of a run without samples");
        patience *= 2;
        assert!(patience < LIMIT, "no sample within {patience:?}");
    }
}

#[test]
fn killed_run_leaves_no_process() {
    let args = ["bench", "iterators/nested-8", "--quick", "--threads", "1", "--samples", "100000"];
    let mut child = crate::common::anabranch(&args).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("iterators: begun") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
    }
    child.kill().unwrap();
    wait(&mut child);
    // This returns when the last process that has the pipe ends.
    std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
}

#[test]
fn servers_and_compiler_are_measured() {
    if thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: a server and its load need two cores");
        return;
    }
    let args = ["bench", "net/ping-pong", "pipes/compile", "--quick", "--samples", "1", "--warm-up", "0"];
    let ended = succeed(&args);
    for (workload, peer) in [("net/ping-pong", "anabranch"), ("net/ping-pong", "std"), ("pipes/compile", "protocol")] {
        let cells = cells(&ended.stdout, workload, peer);
        assert!(cells[3].parse::<f64>().is_ok_and(|median| median > 0.0), "{cells:?}");
    }
}

#[test]
fn list_names_workloads_and_contenders() {
    let list = succeed(&["bench", "--list"]).stdout;
    for name in [
        "fork_join/fib  (usual)",
        "iterators/sum-10m",
        "iterators/compile-check",
        "fibers/spawn",
        "messages/ring-4",
        "pipes/stream",
        "pipes/compile",
        "net/http-64",
    ] {
        assert!(list.lines().any(|line| line == name), "{name} is missing in\n{list}");
    }
    assert!(list.contains("  contenders: plain, hand, anabranch"), "{list}");
    assert_eq!(list.contains("rayon"), anabranch_bench::HAS_PEERS, "{list}");
}

#[test]
fn bad_options_of_a_run() {
    refused(&run(&["bench", "fob"]), 2, &["'fob'", "--list"]);
    refused(&run(&["bench", "fib", "--peers", "rayn"]), 2, &["'rayn'", "anabranch-outside"]);
    for bad in ["0", "-1", "x", "9999999"] {
        refused(&run(&["bench", "fib", "--samples", bad]), 2, &["--samples", bad, "whole number from 1"]);
        refused(&run(&["bench", "fib", "--threads", bad]), 2, &["--threads", bad, "from 1 to 4095"]);
    }
    refused(&run(&["bench", "fib", "--threads", "1,,2"]), 2, &["--threads"]);
    refused(&run(&["bench", "fib", "--json", "/no/such/directory/x.json"]), 1, &["/no/such/directory"]);
    refused(&run(&["bench", "fib", "--history", "/dev/null/x"]), 1, &["/dev/null/x"]);
}
