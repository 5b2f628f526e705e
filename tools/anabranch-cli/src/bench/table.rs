//! The tables for people: one per workload.

use std::fmt::Write as _;

use anabranch_bench::confidence::Estimate;
use anabranch_bench::figures::Figures;
use anabranch_bench::record::{Record, Series, Workload};
use comfy_table::CellAlignment;

use crate::units::{bytes, three};

/// Returns the head and all tables, without a line end.
pub fn text(record: &Record, on_stderr: bool) -> String {
    let mut text = head(record);
    for workload in &record.workloads {
        let _ = write!(text, "\n\n{}: {}\n{}", workload.full_name(), workload.title, one(workload, on_stderr));
        for series in &workload.series {
            if let Some(failure) = &series.failure {
                let _ = write!(text, "\n{} ({}): {failure}", series.peer, threads(series));
            }
        }
    }
    let _ = write!(text, "\n\n{}", legend(record));
    text
}

fn head(record: &Record) -> String {
    let machine = &record.machine;
    let commit = match (&record.build.commit, record.build.modified) {
        (Some(commit), false) => format!(", commit {}", short(commit)),
        (Some(commit), true) => format!(", commit {} with changes", short(commit)),
        (None, _) => String::new(),
    };
    let version = record.versions.get("anabranch").map_or_else(String::new, |version| format!(" {version}"));
    let mut text = format!(
        "{} CPUs: {}, {}, {}, load {}\nanabranch{version}{commit}, {}",
        machine.cpus,
        machine.cpu,
        bytes(machine.memory),
        machine.kernel,
        machine.load,
        record.versions.get("rustc").map_or("unknown compiler", String::as_str),
    );
    if !record.build.optimised {
        text.push_str("\nnot optimised: its times mean nothing");
    }
    if record.interrupted {
        text.push_str("\nINTERRUPTED: these are the samples that were taken before");
    }
    text
}

/// Returns the first digits of a commit.
pub fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn one(workload: &Workload, on_stderr: bool) -> String {
    let mut table = crate::table::new(on_stderr);
    let figures = || workload.series.iter().filter_map(|series| Some((series, series.figures.as_ref()?)));
    let extra: Vec<&String> = figures().next().map_or(Vec::new(), |(_, figures)| figures.extra.keys().collect());
    let mut header = vec![workload.unit.clone()];
    header
        .extend(["threads", "samples", "median", "interval", "p10", "p90", "/base", "CPU", "CPU/base"].map(Into::into));
    header.extend(extra.iter().map(|name| (*name).clone()));
    table.set_header(header);
    for (series, figures) in figures() {
        let mut row = cells(series, figures);
        row.extend(extra.iter().map(|name| figures.extra.get(*name).map_or_else(none, |figure| three(*figure))));
        table.add_row(row);
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table.trim_fmt()
}

fn cells(series: &Series, figures: &Figures) -> Vec<String> {
    let ratio = |ratio: &Option<Estimate>| ratio.map_or_else(none, |ratio| three(ratio.value));
    vec![
        series.peer.clone(),
        threads(series),
        figures.value.samples.to_string(),
        three(figures.value.median),
        interval(&figures.interval),
        three(figures.value.p10),
        three(figures.value.p90),
        ratio(&figures.to_baseline),
        three(figures.cpu),
        ratio(&figures.cpu_to_baseline),
    ]
}

/// Formats the ends of an interval.
pub fn interval(estimate: &Estimate) -> String {
    format!("{}..{}", three(estimate.low), three(estimate.high))
}

/// Formats the number of threads; the contender decides if there is none.
pub fn threads(series: &Series) -> String {
    series.threads.map_or_else(none, |threads| threads.to_string())
}

fn none() -> String {
    "-".to_owned()
}

fn legend(record: &Record) -> String {
    let series = record.workloads.iter().flat_map(|workload| &workload.series);
    let confidence = series.filter_map(|series| Some(series.figures.as_ref()?.interval.confidence));
    let least = confidence.fold(1.0, f64::min);
    format!(
        "Less is better. interval: of the median, with at least {:.0}% confidence. /base: the median ratio to the\n\
         baseline (plain code, or anabranch's first line) in the same round. CPU: user and system time of each unit.",
        (100.0 * least).floor()
    )
}
