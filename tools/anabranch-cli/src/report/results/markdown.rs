//! The page of a directory in Markdown: the missed targets, and the newest result of each bench.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anabranch_bench::record::{Record, Series, Workload};
use serde_json::Value;

use super::Results;
use crate::units::three;

const HEAD: &str = "# Benchmarks

<!-- `anabranch report docs/results --markdown -o docs/BENCHMARKS.md` writes this page. Do not edit it. -->

The samples are in [results](results): each in a process of its own, the contenders in turn in each round. The tables
show medians. Less is better, except for rates. `A / B` behind a median compares a contender with the bold one
in the same rounds: A is the ratio of the times, B that of the CPU times of the whole process. Other programs share the
machines, so compare only figures of one table, and ignore differences below a tenth.
";

/// Returns the page. `notes` are sections that are written by hand.
pub fn document(results: &Results, notes: &[String]) -> String {
    let records = newest_of_each_suite(results);
    let mut text = HEAD.to_owned();
    let missed: Vec<String> = records.iter().flat_map(|record| &record.workloads).flat_map(missed).collect();
    if !missed.is_empty() {
        text.push_str("\n## Targets that are missed\n| workload | target | found |\n|---|---|---|\n");
        text.extend(missed);
    }
    for record in records {
        section(&mut text, record);
    }
    for note in notes {
        let _ = write!(text, "\n{}\n", note.trim());
    }
    text
}

/// Returns the newest record of each bench, in the order of their names.
fn newest_of_each_suite(results: &Results) -> Vec<&Record> {
    // The records are in the order of time, so the last one of a bench stays.
    let records = results.records.iter().map(|(_, record)| record);
    let newest: BTreeMap<&str, &Record> =
        records.filter_map(|record| Some((&*record.workloads.first()?.suite, record))).collect();
    newest.into_values().collect()
}

/// Returns a row for each target that the workload missed.
fn missed(workload: &Workload) -> Vec<String> {
    let judgements = workload.targets.get("judgements").and_then(Value::as_array);
    let missed = judgements.into_iter().flatten().filter(|judgement| judgement["is_met"] == false);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    missed
        .map(|judgement| {
            let threads = &judgement["variant"]["threads"];
            let threads = threads.as_u64().map_or_else(String::new, |threads| format!(", {}", counted(threads)));
            format!(
                "| `{}`{threads} | {} | {} |\n",
                workload.full_name(),
                word(&judgement["target"]),
                word(&judgement["found"])
            )
        })
        .collect()
}

fn counted(threads: u64) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

fn section(text: &mut String, record: &Record) {
    let suite = &record.workloads[0].suite;
    let machine = &record.machine;
    let commit = record.build.commit.as_deref().map_or("unknown", |commit| &commit[..commit.len().min(8)]);
    let changed = if record.build.modified { ", changed" } else { "" };
    let quick = if record.settings.quick { " --quick" } else { "" };
    let versions: Vec<String> = record.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let _ = write!(
        text,
        "\n## {suite}\n    cargo bench -p anabranch-bench --bench {suite} --{quick} --rounds {} --json docs/results/{suite}.json\n\n\
         {} CPUs, {}, {}. Commit {commit}{changed}, {}. {}.\n",
        record.settings.samples,
        machine.cpus,
        machine.cpu,
        machine.kernel,
        record.date.get(..10).unwrap_or(&record.date),
        versions.join(", ").replace("rustc rustc", "rustc"),
    );
    if record.interrupted {
        text.push_str("**The run was interrupted.**\n");
    }
    if !record.build.optimised {
        text.push_str("**The build was not optimised.**\n");
    }
    let has_extra = |workload: &&Workload| workload.series.iter().any(|series| !extra(series).is_empty());
    let (long, wide): (Vec<_>, Vec<_>) = record.workloads.iter().partition(has_extra);
    let limit = machine.cpus.max(record.settings.threads.iter().copied().min().unwrap_or(1));
    // Workloads of the same contenders share a table.
    let mut rest = &wide[..];
    while let Some(first) = rest.first() {
        let peers = peers(first);
        let count = rest.iter().take_while(|workload| self::peers(workload) == peers).count();
        wide_table(text, &rest[..count], &peers, limit);
        rest = &rest[count..];
    }
    long_tables(text, &long, limit);
}

/// Returns the contenders of a workload, each once.
fn peers(workload: &Workload) -> Vec<&str> {
    let mut peers: Vec<&str> = Vec::new();
    for series in &workload.series {
        if !peers.contains(&&*series.peer) {
            peers.push(&series.peer);
        }
    }
    peers
}

/// A table with a column for each contender, and a row for each workload and number of threads.
fn wide_table(text: &mut String, workloads: &[&Workload], peers: &[&str], limit: usize) {
    let baseline = |peer: &&str| workloads[0].series.iter().any(|series| series.peer == **peer && series.baseline);
    let header: Vec<String> =
        peers.iter().map(|peer| if baseline(peer) { format!("**{peer}**") } else { (*peer).to_owned() }).collect();
    let _ =
        write!(text, "\n| workload | threads | {} |\n|---|---|{}\n", header.join(" | "), "---|".repeat(peers.len()));
    for workload in workloads {
        for threads in numbers_of_threads(workload, limit) {
            let at = |peer: &str| {
                let mut all = workload.series.iter().filter(|series| series.peer == peer);
                all.find(|series| series.threads.is_none() || series.threads == threads)
            };
            let cells: Vec<String> = peers.iter().map(|peer| at(peer).map_or_else(String::new, cell)).collect();
            let threads = threads.map_or_else(String::new, |threads| threads.to_string());
            let _ = writeln!(text, "| {}, {} | {threads} | {} |", workload.title, workload.unit, cells.join(" | "));
        }
    }
}

/// Returns the numbers of threads up to the limit, or one that is unknown if there are none.
fn numbers_of_threads(workload: &Workload, limit: usize) -> Vec<Option<usize>> {
    let mut numbers: Vec<Option<usize>> = workload
        .series
        .iter()
        .map(|series| series.threads)
        .filter(|threads| threads.is_some_and(|n| n <= limit))
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() { vec![None] } else { numbers }
}

/// Tables with a row for each contender, for workloads that have further figures.
fn long_tables(text: &mut String, workloads: &[&Workload], limit: usize) {
    let mut above: Vec<&String> = Vec::new();
    for workload in workloads {
        let names: Vec<&String> = workload
            .series
            .iter()
            .find_map(|series| Some(extra(series)).filter(|all| !all.is_empty()))
            .map_or_else(Vec::new, |all| all.iter().map(|(name, _)| *name).collect());
        if names != above {
            let more: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            let _ = write!(
                text,
                "\n| workload | contender | median | {} |\n|---|---|---|{}\n",
                more.join(" | "),
                "---|".repeat(more.len())
            );
            above = names;
        }
        let mut title = format!("{}, {}", workload.title, workload.unit);
        for series in workload.series.iter().filter(|series| series.threads.is_none_or(|threads| threads <= limit)) {
            let threads = series.threads.map_or_else(String::new, |threads| format!(", {threads}"));
            let more: Vec<String> = extra(series).iter().map(|(_, value)| three(*value)).collect();
            let name = if series.baseline { format!("**{}**", series.peer) } else { series.peer.clone() };
            let _ = writeln!(text, "| {title} | {name}{threads} | {} | {} |", cell(series), more.join(" | "));
            title.clear();
        }
    }
}

fn extra(series: &Series) -> Vec<(&String, f64)> {
    series.figures.iter().flat_map(|figures| &figures.extra).map(|(name, value)| (name, *value)).collect()
}

/// Returns the median of a series, with its ratios to the baseline.
fn cell(series: &Series) -> String {
    let Some(figures) = &series.figures else {
        return series.failure.as_ref().map_or_else(|| "-".to_owned(), |_| "failed".to_owned());
    };
    let median = three(figures.value.median);
    match (&figures.to_baseline, &figures.cpu_to_baseline) {
        (Some(wall), Some(cpu)) if !series.baseline => {
            format!("{median} ({:.2} / {:.2})", wall.value, cpu.value)
        }
        _ => median,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(suite: &str, date: &str, samples: [f64; 2]) -> (String, Record) {
        let series = |peer: &str, ours: bool, value: f64| {
            serde_json::json!({
                "peer": peer, "threads": 2, "ours": ours, "baseline": ours, "failure": null, "figures": null,
                "samples": [{ "value": value, "wall": value, "cpu": value, "cpu_each": 2.0 * value }],
            })
        };
        let record = serde_json::json!({
            "schema": 1, "benchmark": "bench", "date": date, "interrupted": false,
            "machine": { "cpu": "a processor", "cpus": 2, "kernel": "Linux", "os": "linux", "arch": "x86_64", "memory": 0, "load": 0.0 },
            "build": { "commit": "0123456789", "modified": false, "optimised": true },
            "versions": { "rayon": "1.12.0" },
            "settings": { "threads": [2], "samples": 1, "warm_up": 0, "quick": false, "seed": 1, "nanoseconds_a_step": null },
            "workloads": [{
                "suite": suite, "name": "tree", "title": "a tree", "unit": "ns", "rounds": 1,
                "series": [series("anabranch", true, samples[0]), series("rayon", false, samples[1])],
                "judgements": [{ "variant": { "peer": "anabranch", "threads": 2 }, "target": "half of rayon", "found": "0.75 x rayon", "is_met": false }],
            }],
        });
        let mut record: Record = serde_json::from_value(record).unwrap();
        record.workloads = record.workloads.into_iter().map(Workload::with_figures).collect();
        (format!("{suite}-{date}.json"), record)
    }

    #[test]
    fn newest_result_of_each_bench_is_shown_after_the_missed_targets() {
        let records = vec![
            record("fork", "2026-01-01", [1.0, 9.0]),
            record("fork", "2026-01-02", [3.0, 4.0]),
            record("channels", "2026-01-03", [2.0, 1.0]),
        ];
        let results = Results { records, others: Vec::new() };
        let page = document(&results, &["## By hand\n".to_owned()]);
        let missed = page.find("| `fork/tree`, 2 threads | half of rayon | 0.75 x rayon |").unwrap();
        let channels = page.find("| a tree, ns | 2 | 2.00 | 1.00 (0.50 / 0.50) |").unwrap();
        let fork = page.find("| a tree, ns | 2 | 3.00 | 4.00 (1.33 / 1.33) |").unwrap();
        assert!(missed < channels && channels < fork);
        assert!(!page.contains("9.00") && page.ends_with("## By hand\n"));
    }
}
