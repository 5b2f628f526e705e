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
show medians, with as many threads as the machine has cores where a contender ran with several numbers. Less is better,
except for rates. `A / B` behind a median compares a contender with the bold one in the same rounds: A is the ratio of
the times, B that of the CPU times of the whole process. Other programs share the machines, so compare only figures of
one table, and ignore differences below a tenth.
";

/// A bench with more contenders has a list of them in each row in place of columns.
const MAX_COLUMNS: usize = 9;

/// How many contenders such a list has: the fastest ones, besides the one that they are compared with.
const MAX_LISTED: usize = 4;

/// Returns the page. `notes` are sections that are written by hand.
pub fn document(results: &Results, notes: &[String]) -> String {
    let records = newest_of_each_suite(results);
    let mut text = HEAD.to_owned();
    let missed: Vec<String> = records.iter().flat_map(|record| &record.workloads).flat_map(missed).collect();
    if !missed.is_empty() {
        text.push_str("\n## Targets that are missed\n| workload | target | found |\n|---|---|---|\n");
        text.extend(missed);
    }
    let mut machine = String::new();
    for record in records {
        let above = std::mem::replace(&mut machine, machine_of(record));
        section(&mut text, record, (above != machine).then_some(&machine));
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

fn machine_of(record: &Record) -> String {
    let machine = &record.machine;
    let compiler = record.versions.get("rustc").map_or("", |version| version.split(" (").next().unwrap_or(version));
    format!("{} CPUs, {}, {}, {compiler}", machine.cpus, machine.cpu, machine.kernel)
}

fn section(text: &mut String, record: &Record, machine: Option<&String>) {
    let suite = &record.workloads[0].suite;
    let commit = record.build.commit.as_deref().map_or("unknown", |commit| &commit[..commit.len().min(8)]);
    let changed = if record.build.modified { ", changed" } else { "" };
    let quick = if record.settings.quick { " --quick" } else { "" };
    let is_library = |name: &&String| !matches!(name.as_str(), "rustc" | "anabranch" | "anabranch-cli");
    let libraries = record.versions.keys().filter(is_library);
    let mut about = vec![format!("Commit {commit}{changed}, {}", record.date.get(..10).unwrap_or(&record.date))];
    about.extend(libraries.map(|name| format!("{name} {}", record.versions[name])));
    let machine = machine.map_or_else(String::new, |machine| format!("{machine}. "));
    let _ = write!(
        text,
        "\n## {suite}\n    cargo bench -p anabranch-bench --bench {suite} --{quick} --rounds {} --json docs/results/{suite}.json\n\n",
        record.settings.samples,
    );
    text.push_str(&wrap(&format!("{machine}{}.", about.join(", "))));
    if record.interrupted {
        text.push_str("**The run was interrupted.**\n");
    }
    if !record.build.optimised {
        text.push_str("**The build was not optimised.**\n");
    }
    let mut peers: Vec<&str> = Vec::new();
    for series in record.workloads.iter().flat_map(|workload| &workload.series) {
        if !peers.contains(&&*series.peer) {
            peers.push(&series.peer);
        }
    }
    let cores = record.machine.cpus;
    if peers.len() <= MAX_COLUMNS {
        with_columns(text, &record.workloads, &peers, cores);
    } else {
        with_lists(text, &record.workloads, cores);
    }
}

/// Breaks a paragraph into lines of at most 120 columns.
fn wrap(paragraph: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in paragraph.split(' ') {
        if column + 1 + word.len() > 120 {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.len();
    }
    text.push('\n');
    text
}

/// A table with a row for each workload, and a column for each contender.
fn with_columns(text: &mut String, workloads: &[Workload], peers: &[&str], cores: usize) {
    let is_baseline =
        |peer: &str| workloads.iter().flat_map(|workload| &workload.series).any(|s| s.baseline && s.peer == peer);
    let header: Vec<String> =
        peers.iter().map(|peer| if is_baseline(peer) { format!("**{peer}**") } else { (*peer).to_owned() }).collect();
    let _ = write!(text, "\n| workload | {} |\n|---|{}\n", header.join(" | "), "---|".repeat(peers.len()));
    for workload in workloads {
        let cells: Vec<String> =
            peers.iter().map(|peer| series_of(workload, peer, cores).map_or_else(String::new, cell)).collect();
        let _ = writeln!(text, "| {} | {} |", title(workload), cells.join(" | "));
    }
}

/// A table with a row for each workload: the contender that others are compared with, and the fastest of the others.
fn with_lists(text: &mut String, workloads: &[Workload], cores: usize) {
    let _ = write!(text, "\n| workload | compared with | fastest of the others |\n|---|---|---|\n");
    for workload in workloads {
        let mut peers: Vec<&str> = workload.series.iter().map(|series| &*series.peer).collect();
        peers.dedup();
        let mut series: Vec<&Series> = peers.iter().filter_map(|peer| series_of(workload, peer, cores)).collect();
        let median = |series: &Series| series.figures.as_ref().map_or(f64::INFINITY, |figures| figures.value.median);
        series.sort_by(|a, b| (!a.baseline).cmp(&!b.baseline).then(median(a).total_cmp(&median(b))));
        let named = |series: &&Series| format!("{} {}", series.peer, cell(series));
        let baselines = series.iter().take_while(|series| series.baseline).count();
        let first: Vec<String> = series[..baselines].iter().map(named).collect();
        let others: Vec<String> = series[baselines..].iter().take(MAX_LISTED).map(named).collect();
        let _ = writeln!(text, "| {} | {} | {} |", title(workload), first.join(", "), others.join(", "));
    }
}

/// Returns the title, the unit, and the names of further figures.
fn title(workload: &Workload) -> String {
    let all = workload.series.iter().map(extra).find(|all| !all.is_empty()).unwrap_or_default();
    let names: String = all.iter().map(|(name, _)| format!("; {name}")).collect();
    format!("{}, {}{names}", workload.title, workload.unit)
}

/// Returns the series of a contender with as many threads as cores, or else with the nearest number below, or above.
fn series_of<'a>(workload: &'a Workload, peer: &str, cores: usize) -> Option<&'a Series> {
    let distance = |series: &&Series| match series.threads {
        Some(threads) if threads > cores => cores + threads,
        Some(threads) => cores - threads,
        None => 0,
    };
    workload.series.iter().filter(|series| series.peer == peer).min_by_key(distance)
}

fn extra(series: &Series) -> Vec<(&String, f64)> {
    series.figures.iter().flat_map(|figures| &figures.extra).map(|(name, value)| (name, *value)).collect()
}

/// Returns the median of a series, with its ratios to the baseline and its further figures.
fn cell(series: &Series) -> String {
    let Some(figures) = &series.figures else {
        return series.failure.as_ref().map_or_else(|| "-".to_owned(), |_| "failed".to_owned());
    };
    let mut text = three(figures.value.median);
    if let (Some(wall), Some(cpu), false) = (&figures.to_baseline, &figures.cpu_to_baseline, series.baseline) {
        let _ = write!(text, " ({:.2} / {:.2})", wall.value, cpu.value);
    }
    text.extend(extra(series).iter().map(|(_, value)| format!("; {}", three(*value))));
    text
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
        let channels = page.find("| a tree, ns | 2.00 | 1.00 (0.50 / 0.50) |").unwrap();
        let fork = page.find("| a tree, ns | 3.00 | 4.00 (1.33 / 1.33) |").unwrap();
        assert!(missed < channels && channels < fork);
        assert!(!page.contains("9.00") && page.ends_with("## By hand\n"));
    }

    #[test]
    fn many_contenders_are_listed_with_the_fastest_first_and_further_figures() {
        let series = |peer: &str, value: f64| {
            let extra = serde_json::json!({ "p99": 10.0 * value });
            let sample =
                serde_json::json!({ "value": value, "wall": value, "cpu": value, "cpu_each": value, "extra": extra });
            serde_json::json!({
                "peer": peer, "threads": null, "ours": peer == "ours", "baseline": peer == "ours", "failure": null,
                "figures": null, "samples": [sample],
            })
        };
        let (_, mut record) = record("messages", "2026-01-01", [1.0, 1.0]);
        let others = (1..=MAX_COLUMNS).map(|n| series(&format!("peer-{n}"), n as f64));
        let all: Vec<Value> = others.chain([series("ours", 2.0)]).collect();
        record.workloads[0].series = serde_json::from_value(Value::Array(all)).unwrap();
        record.workloads = record.workloads.into_iter().map(Workload::with_figures).collect();
        let page = document(&Results { records: vec![("messages.json".to_owned(), record)], others: Vec::new() }, &[]);
        let row =
            "| a tree, ns; p99 | ours 2.00; 20.0 | peer-1 1.00 (0.50 / 0.50); 10.0, peer-2 2.00 (1.00 / 1.00); 20.0, ";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("peer-4") && !page.contains("peer-5"), "{page}");
        assert!(page.lines().all(|line| line.starts_with(['|', ' ']) || line.len() <= 120), "{page}");
    }
}
