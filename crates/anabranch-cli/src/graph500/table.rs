//! The table for people.

use super::Outcome;
use crate::units::{bytes, count, seconds, teps};

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

fn rows(outcome: &Outcome<'_>, threads: usize) -> Vec<(&'static str, String)> {
    let Outcome { report, config, .. } = outcome;
    let (rate, time) = (report.teps(), report.time());
    let (vertices, tuples) = (count(config.spec.num_vertices()), count(config.spec.num_edges()));
    let searches = match report.searches.len() {
        all if all == config.roots => all.to_string(),
        fewer => format!("{fewer} of {} (no more vertices have neighbours)", config.roots),
    };
    let mut rows = vec![
        ("graph", format!("{vertices} vertices, {tuples} edge tuples")),
        ("threads", threads.to_string()),
        ("kernel", format!("breadth-first search, {}", config.bfs)),
        ("generation", seconds(report.generation_seconds)),
        ("construction", seconds(report.construction_seconds)),
        ("searches", format!("{searches}, harmonic mean {}", teps(rate.harmonic_mean))),
        ("a search", spread(time.median, time.min, time.max, seconds)),
        ("rates", spread(rate.median, rate.min, rate.max, teps)),
        (
            "validation",
            match report.validation() {
                Some(time) => format!("all {} valid, mean {} each", report.searches.len(), seconds(time.mean)),
                None => "NOT VALIDATED (--skip-validation)".to_owned(),
            },
        ),
    ];
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
