//! The speed-up curve of a workload as a picture of its own, for a README.

use std::collections::BTreeSet;

use anabranch_bench::record::{Record, Workload};
use maud::{Markup, PreEscaped, html};

use super::super::page::PLOT_STYLE;
use super::charts::{self, Chart};

const HEAD: f64 = 58.0;
const FOOT: f64 = 44.0;
/// The style of a picture, whose texts cannot inherit the font of a page.
const STYLE: &str = r#"
svg { font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif }
.ground { fill: var(--ground) }
.plot .title { font-size: 17px; font-weight: 600; fill: var(--ink) } .plot .subtitle { font-size: 13px }
"#;

/// Returns the picture, or `None` if no contender of the workload ran with two numbers of threads.
pub fn speed_up(record: &Record, workload: &Workload) -> Option<String> {
    let chart = charts::speed_up(workload)?;
    let (width, height) = (Chart::WIDTH, HEAD + chart.height + FOOT);
    let title = uppercase_first(&workload.title);
    let svg = html! {
        svg.plot xmlns="http://www.w3.org/2000/svg" viewBox={"0 0 " (width) " " (height)} width=(width) height=(height)
            role="img" aria-labelledby="title description"
        {
            title #title { (title) }
            desc #description { (chart.description) }
            style { (PreEscaped(PLOT_STYLE.trim_end())) (PreEscaped(STYLE)) }
            rect.ground fill="#ffffff" width=(width) height=(height) rx="6" {}
            text.title x="14" y="27" { (title) }
            text.subtitle x="14" y="46" { (chart.title) }
            g transform={"translate(0 " (HEAD) ")"} { (chart.content) }
            (foot(record, workload, height))
        }
    };
    Some(svg.into_string() + "\n")
}

/// Draws the conditions of the measurement.
fn foot(record: &Record, workload: &Workload, height: f64) -> Markup {
    let machine = &record.machine;
    let cpu = machine.cpu.replace("(R)", "").replace("(TM)", "");
    let kernel = machine.kernel.split('-').next().unwrap_or(&machine.kernel);
    let peers: BTreeSet<&str> = workload.series.iter().map(|series| series.peer.as_str()).collect();
    let versions = record.versions.iter().filter(|(name, _)| peers.contains(name.as_str()));
    let versions: Vec<String> = versions.map(|(name, version)| format!("{name} {version}")).collect();
    let rustc = record.versions.get("rustc").map(|version| version.split(" (").next().unwrap_or(version));
    html! {
        text x="14" y=(height - 28.0) {
            (cpu) ", " (machine.cpus) " cores, " (kernel) @if let Some(rustc) = rustc { ", " (rustc) } ". "
            "Medians of " (workload.rounds) " rounds, with confidence intervals."
        }
        text x="14" y=(height - 12.0) { (versions.join(", ")) }
    }
}

fn uppercase_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
