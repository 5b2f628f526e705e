//! Where the time went: the sentences and the figures of `anabranch explain`.

use anabranch_trace::explain::{Cause, Explanation, ReadyWaits};
use maud::{Markup, html};

use super::tables::table;
use super::units;

/// The most sentences that are shown. `anabranch explain --json` has all.
const MOST_FINDINGS: usize = 12;

/// Returns the section.
pub fn section(explanation: &Explanation) -> Markup {
    html! {
        section aria-labelledby="explanation" {
            h2 #explanation { "Where the time went" }
            @if explanation.findings.is_empty() { p { "No lost time was found." } }
            ol.sentences {
                @for finding in explanation.main_findings().take(MOST_FINDINGS) {
                    li { (finding.sentence) @if let Some(advice) = &finding.advice { " " em { (advice) } } }
                }
            }
            @if explanation.findings.len() > explanation.main_findings().take(MOST_FINDINGS).count() {
                p.facts {
                    "The command " code { "anabranch explain --json" } " has all " (explanation.findings.len()) " places."
                }
            }
            (ready_waits(&explanation.ready_waits))
            (bar(explanation))
            (figures(explanation))
            @if !explanation.notes.is_empty() { ul.notes { @for note in &explanation.notes { li { (note) } } } }
        }
    }
}

/// How long fibers waited for their thread, and which fibers kept it.
fn ready_waits(waits: &ReadyWaits) -> Markup {
    html! {
        @if waits.count > 0 {
            p { (waits.sentence()) }
            ol.sentences {
                @for kept in waits.kept.iter().take(MOST_FINDINGS) { li { (kept.sentence) " " em { (kept.advice) } } }
            }
        }
    }
}

/// Returns the number of the colour of a cause.
fn colour(cause: Cause) -> usize {
    Cause::ALL.iter().position(|&other| other == cause).unwrap_or(0)
}

/// The work, and then the lost time by cause, as one bar.
fn bar(explanation: &Explanation) -> Markup {
    const WIDTH: f64 = 720.0;
    let capacity = explanation.capacity.max(f64::MIN_POSITIVE);
    let losses = explanation.losses.iter().filter(|loss| loss.time > 0.0);
    let parts = std::iter::once(("work".to_owned(), "work", explanation.work.time))
        .chain(losses.map(|loss| (format!("k{}", colour(loss.cause)), loss.cause.name(), loss.time)));
    let mut x = 0.0;
    let placed: Vec<(String, &str, f64, f64, f64)> = parts
        .map(|(class, name, time)| {
            let begin = x;
            x += (time / capacity).clamp(0.0, 1.0) * WIDTH;
            (class, name, time, begin, x)
        })
        .collect();
    let share = |time: f64| format!("{:.1} %", time / capacity * 100.0);
    let description: Vec<String> =
        placed.iter().map(|(_, name, time, ..)| format!("{name} {}", share(*time))).collect();
    html! {
        figure {
            figcaption { "Threads × wall time: work, and lost time by cause" }
            svg.plot viewBox={"0 0 " (WIDTH) " 34"} role="img"
                aria-label={"Work and lost time by cause: " (description.join(", "))}
            {
                @for (class, name, time, begin, end) in &placed {
                    rect.(class) x=(format!("{begin:.2}")) y="2" width=(format!("{:.2}", end - begin)) height="30" {
                        title { (name) ": " (units::seconds(*time)) }
                    }
                    @if end - begin > 60.0 {
                        text.on-bar x=(format!("{:.2}", f64::midpoint(*begin, *end))) y="21" text-anchor="middle" {
                            (share(*time))
                        }
                    }
                }
            }
            ul.legend { @for (class, name, ..) in &placed { li { span.swatch.(class) {} (name) } } }
        }
    }
}

fn figures(explanation: &Explanation) -> Markup {
    let seconds = |time: f64| html! { td.number data-value=(time) { (units::seconds(time)) } };
    let share = |part: f64| html! { td.number data-value=(part) { (format!("{:.1} %", part * 100.0)) } };
    let head = html! {
        th scope="col" { "figure" } th.number scope="col" { "value" } th.number scope="col" { "of the lost time" }
    };
    let whole = [
        ("wall time", explanation.wall),
        ("threads × wall time", explanation.capacity),
        ("work", explanation.work.time),
        ("critical path, at most", explanation.critical_path),
        ("lost", explanation.lost),
    ];
    let waits = &explanation.ready_waits;
    let late = [("median", waits.p50), ("99th percentile", waits.p99), ("longest", waits.max)];
    let late = late.into_iter().filter(|_| waits.count > 0);
    let body = html! {
        @for (name, time) in whole { tr { th scope="row" { (name) } (seconds(time)) td {} } }
        tr {
            th scope="row" { "parallelism, at least" }
            td.number data-value=(explanation.parallelism) { (units::three(explanation.parallelism)) } td {}
        }
        @for (name, time) in late {
            tr { th scope="row" { "fibers waited for their thread, " (name) } (seconds(time)) td {} }
        }
        @for loss in &explanation.losses {
            tr { th scope="row" { "lost: " (loss.cause.name()) } (seconds(loss.time)) (share(loss.share)) }
        }
    };
    table("Work and lost time", "losses", &head, &body)
}
