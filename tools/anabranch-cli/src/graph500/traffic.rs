//! The table of `--verbose`: what each process sends in each level.

use graph500::distributed::{LevelKind, LevelProfile, LevelShape, Outcome, Traffic, predicted_bytes};

use crate::units::{bytes, seconds, three};

/// Returns the table, and the bytes of all processes beside those of the model. All figures are means of a search.
pub fn text(outcome: &Outcome) -> String {
    let searches = outcome.levels.len().max(1) as f64;
    let depth = outcome.levels.iter().map(Vec::len).max().unwrap_or_default();
    let mut table = crate::table::new(false);
    table.set_header([
        "level", "searches", "top-down", "list", "bitmap", "frontier", "time", "process", "messages", "bytes",
    ]);
    for level in 0..depth {
        let profiles: Vec<&LevelProfile> = outcome.levels.iter().filter_map(|levels| levels.get(level)).collect();
        let count = |kind| profiles.iter().filter(|profile| profile.kind == kind).count().to_string();
        let mean = |of: &dyn Fn(&LevelProfile) -> f64| profiles.iter().map(|&level| of(level)).sum::<f64>() / searches;
        for process in 0..outcome.report.processes {
            let mut row = vec![String::new(); 7];
            if process == 0 {
                row = vec![
                    level.to_string(),
                    profiles.len().to_string(),
                    count(LevelKind::TopDown),
                    count(LevelKind::BottomUpList),
                    count(LevelKind::BottomUpBitmap),
                    three(mean(&|level| level.frontier as f64)),
                    seconds(mean(&|level| level.seconds)),
                ];
            }
            row.push(process.to_string());
            row.push(three(mean(&|level| level.traffic[process].messages as f64)));
            row.push(bytes(mean(&|level| level.traffic[process].bytes as f64).round() as u64));
            table.add_row(row);
        }
    }
    let (sent, predicted) = (sent(outcome), predicted(outcome));
    format!(
        "\n{}\na search sends {:.0} messages and {:.0} bytes, by the model {:.0} bytes ({:+.1}%)\n",
        table.trim_fmt(),
        sent.messages as f64 / searches,
        sent.bytes as f64 / searches,
        predicted / searches,
        if predicted > 0.0 { 100.0 * (sent.bytes as f64 / predicted - 1.0) } else { 0.0 },
    )
}

/// Returns what all processes have sent in all searches.
fn sent(outcome: &Outcome) -> Traffic {
    let mut sum = Traffic::default();
    outcome.levels.iter().flatten().flat_map(|level| &level.traffic).for_each(|&traffic| sum += traffic);
    sum
}

/// Returns the bytes that the model predicts for all searches.
fn predicted(outcome: &Outcome) -> f64 {
    let shape = |level: &LevelProfile| LevelShape {
        kind: level.kind,
        frontier: level.frontier,
        edges: level.edges,
        found: level.found,
    };
    let of_search = |levels: &Vec<LevelProfile>| {
        let shapes: Vec<LevelShape> = levels.iter().map(shape).collect();
        predicted_bytes(&shapes, outcome.connected, outcome.report.processes as u64).iter().sum::<f64>()
    };
    outcome.levels.iter().map(of_search).sum()
}
