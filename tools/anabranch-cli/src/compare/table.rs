//! The table of a comparison.

use std::fmt::Write as _;

use anabranch_bench::confidence::Estimate;
use comfy_table::CellAlignment;

use super::changes::{Changes, Line, Verdict};
use crate::units::three;

/// Returns the table and what is not in it, without a line end.
pub fn text(changes: &Changes) -> String {
    let mut table = crate::table::new(false);
    let header = ["workload", "contender", "threads", "before", "after", "ratio", "interval", "to baseline", "result"];
    table.set_header(header);
    let mut above = "";
    for line in &changes.lines {
        let workload = if above == line.workload { String::new() } else { format!("{}, {}", line.workload, line.unit) };
        above = &line.workload;
        table.add_row(row(workload, line));
    }
    for column in 2..8 {
        let column = table.column_mut(column).expect("the header has nine columns");
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = table.trim_fmt();
    for reason in &changes.left_out {
        let _ = write!(text, "\nnot compared: {reason}");
    }
    let _ = write!(
        text,
        "\n\nLess is better. ratio: after / before, by ranks; each interval has {:.1}% confidence, so that all hold\n\
         together with 95%. to baseline: the same ratio of what each run found relative to its baseline.",
        100.0 * changes.confidence
    );
    text
}

fn row(workload: String, line: &Line) -> Vec<String> {
    let median = |index: usize| line.medians[index].map_or_else(|| "-".to_owned(), three);
    let result = match &line.verdict {
        Verdict::Slower => "SLOWER".to_owned(),
        Verdict::Faster => "faster".to_owned(),
        Verdict::Same => "no change found".to_owned(),
        Verdict::Failed(failure) => format!("FAILED: {failure}"),
        Verdict::Unknown(why) => (*why).to_owned(),
    };
    vec![
        workload,
        line.peer.clone(),
        line.threads.map_or_else(|| "-".to_owned(), |threads| threads.to_string()),
        median(0),
        median(1),
        line.ratio.map_or_else(|| "-".to_owned(), |ratio| ratio_text(ratio.value)),
        line.ratio.as_ref().map_or_else(|| "-".to_owned(), interval),
        line.relative.as_ref().map_or_else(|| "-".to_owned(), interval),
        result,
    ]
}

/// Formats a ratio with three digits behind the point: two would hide a change of a percent.
fn ratio_text(ratio: f64) -> String {
    if ratio.is_finite() { format!("{ratio:.3}") } else { "inf".to_owned() }
}

fn interval(estimate: &Estimate) -> String {
    format!("{}..{}", ratio_text(estimate.low), ratio_text(estimate.high))
}
