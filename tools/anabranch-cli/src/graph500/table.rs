//! The table for people.

use super::Outcome;
use crate::units::{bytes, counted, seconds, teps};

/// Returns the table, without a line end.
pub fn text(outcome: &Outcome<'_>, threads: usize, on_stderr: bool) -> String {
    let mut table = crate::table::new(on_stderr);
    let spec = &outcome.config.spec;
    table.set_header(["Graph500".to_owned(), format!("scale {}, edge factor {}", spec.scale(), spec.edge_factor())]);
    for (name, value) in rows(outcome, threads) {
        table.add_row([name.to_owned(), value]);
    }
    table.trim_fmt()
}

/// Returns the name of the search, and the techniques that it leaves out.
fn kernel(config: &graph500::Config) -> String {
    let left_out: Vec<&str> = config.techniques.left_out().map(graph500::Technique::name).collect();
    let without = if left_out.is_empty() { String::new() } else { format!(" without {}", left_out.join(", ")) };
    format!("breadth-first search, {}{without}", config.bfs)
}

fn rows(outcome: &Outcome<'_>, threads: usize) -> Vec<(&'static str, String)> {
    let Outcome { report, config, .. } = outcome;
    let (rate, time) = (report.teps(), report.time());
    let (vertices, tuples) =
        (counted(config.spec.num_vertices(), "vertex"), counted(config.spec.num_edges(), "edge tuple"));
    let searches = match report.searches.len() {
        all if all == config.roots => all.to_string(),
        fewer => format!("{fewer} of {} (no more vertices have neighbours)", config.roots),
    };
    let mut rows = vec![
        ("graph", format!("{vertices}, {tuples}")),
        (
            "threads",
            match report.processes {
                1 => threads.to_string(),
                processes => format!("{threads} in each of {processes} processes"),
            },
        ),
        ("kernel", kernel(config)),
        ("generation", seconds(report.generation_seconds)),
        ("construction", seconds(report.construction_seconds)),
        ("searches", searches),
        ("official", format!("harmonic mean {}, each search after a pass over the tuples", teps(rate.harmonic_mean))),
        ("a search", spread(time.median, time.min, time.max, seconds)),
        ("rates", spread(rate.median, rate.min, rate.max, teps)),
        ("warm", format!("harmonic mean {}, the same searches back to back", teps(report.warm_teps().harmonic_mean))),
        (
            "validation",
            match report.validation() {
                Some(time) => format!("all {} valid, mean {} each", report.searches.len(), seconds(time.mean)),
                None => "NOT VALIDATED (--skip-validation)".to_owned(),
            },
        ),
    ];
    if outcome.is_resumed {
        rows.push(("checkpoint", "read; generation and construction are of the run that wrote it".to_owned()));
    }
    if let Some(paths) = &report.paths {
        let (rate, time) = (paths.teps(), paths.time());
        rows.push(("weighted graph", seconds(paths.construction_seconds)));
        rows.push(("shortest paths", format!("{}, harmonic mean {}", paths.searches.len(), teps(rate.harmonic_mean))));
        rows.push(("paths from a key", spread(time.median, time.min, time.max, seconds)));
        rows.push(("path rates", spread(rate.median, rate.min, rate.max, teps)));
        if let Some(time) = paths.validation() {
            rows.push((
                "path validation",
                format!("all {} valid, mean {} each", paths.searches.len(), seconds(time.mean)),
            ));
        }
    }
    if let Some(peak) = outcome.peak_bytes {
        rows.push(("peak memory", format!("{}, {} planned", bytes(peak), bytes(outcome.plan_bytes))));
    }
    if cfg!(debug_assertions) {
        rows.push(("build", "not optimised: its times mean nothing".to_owned()));
    }
    rows
}

fn spread(median: f64, min: f64, max: f64, unit: fn(f64) -> String) -> String {
    format!("median {}, min {}, max {}", unit(median), unit(min), unit(max))
}
