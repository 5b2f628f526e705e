//! The page of results.

use anabranch_bench::confidence::Estimate;
use anabranch_bench::record::{Record, Workload};
use maud::{Markup, html};

use super::super::page::document as page;
use super::super::tables::table;
use super::{Results, charts, differences};
use crate::units::{bytes, three};

/// Returns the whole document. The name is that of the directory.
pub fn document(name: &str, results: &Results) -> String {
    let newest = results.newest();
    let comparable = results.comparable();
    let content = html! {
        a.skip href="#workloads" { "To the workloads" }
        header {
            h1 { "Benchmarks: " (name) }
            p.facts {
                "The newest of " (results.records.len()) " results is of " (newest.date) ", build " (charts::build(newest)) ". "
                "Less is better in all tables and charts, except in speed-ups."
            }
            @if newest.interrupted { p { strong { "This run was interrupted; these are the samples before." } } }
            @if !newest.build.optimised { p { strong { "The build is not optimised: its times mean nothing." } } }
        }
        main {
            nav aria-label="Workloads" {
                ul.contents { @for (index, workload) in newest.workloads.iter().enumerate() {
                    li { a href={"#w" (index)} { (workload.full_name()) } }
                } }
            }
            h2 #workloads tabindex="-1" { "Workloads" }
            @for (index, workload) in newest.workloads.iter().enumerate() {
                section.workload aria-labelledby={"w" (index)} {
                    h3 id={"w" (index)} { (workload.full_name()) }
                    p.facts { (workload.title) }
                    (series(index, workload))
                    @for one in &workload.series {
                        @if let Some(failure) = &one.failure { p { strong { (one.peer) " failed: " } (failure) } }
                    }
                    div.charts {
                        @if let Some(chart) = charts::speed_up(workload) { (chart.figure()) }
                        (charts::samples(workload))
                        @if let Some(chart) = charts::course(workload, &comparable) { (chart.figure()) }
                    }
                }
            }
            section aria-labelledby="results" {
                h2 #results { "Results" }
                (history(results))
                @if !results.others.is_empty() {
                    p.facts { "These files are no results of " code { "anabranch bench" } ": " (results.others.join(", ")) "." }
                }
                (conditions(newest))
            }
        }
    };
    page(&format!("{name}: benchmarks"), &content)
}

fn exact(value: f64) -> Markup {
    html! { td.number data-value=(value) { (three(value)) } }
}

fn optional(estimate: Option<&Estimate>) -> Markup {
    estimate.map_or_else(|| html! { td.number { "–" } }, |estimate| exact(estimate.value))
}

/// The table of a workload.
fn series(index: usize, workload: &Workload) -> Markup {
    let measured = || workload.series.iter().filter_map(|series| Some((series, series.figures.as_ref()?)));
    let extra: Vec<&String> = measured().next().map_or_else(Vec::new, |(_, figures)| figures.extra.keys().collect());
    let head = html! {
        th scope="col" { "contender" }
        @for name in ["threads", "samples", "median", "from", "to", "p10", "p90", "to baseline", "CPU", "CPU to baseline"] {
            th.number scope="col" { (name) }
        }
        @for name in &extra { th.number scope="col" { (name) } }
    };
    let body = html! {
        @for (series, figures) in measured() {
            tr {
                th scope="row" { (series.peer) @if series.baseline { " (baseline)" } }
                td.number { @if let Some(threads) = series.threads { (threads) } @else { "–" } }
                td.number data-value=(figures.value.samples) { (figures.value.samples) }
                (exact(figures.value.median)) (exact(figures.interval.low)) (exact(figures.interval.high))
                (exact(figures.value.p10)) (exact(figures.value.p90)) (optional(figures.to_baseline.as_ref()))
                (exact(figures.cpu)) (optional(figures.cpu_to_baseline.as_ref()))
                @for name in &extra {
                    @if let Some(&value) = figures.extra.get(*name) { (exact(value)) } @else { td.number { "–" } }
                }
            }
        }
    };
    table(&format!("{} in {}", workload.full_name(), workload.unit), &format!("table-{index}"), &head, &body)
}

/// The table of all results, the newest first.
fn history(results: &Results) -> Markup {
    let newest = results.newest();
    let head = html! {
        th scope="col" { "date" } th scope="col" { "build" } th scope="col" { "machine" } th.number scope="col" { "load" }
        th.number scope="col" { "workloads" } th scope="col" { "in the courses" } th scope="col" { "file" }
    };
    let body = html! {
        @for (name, record) in results.records.iter().rev() {
            @let why = differences(record, newest).join(", ");
            tr {
                th scope="row" { (record.date) }
                td { (charts::build(record)) }
                td { (record.machine.cpu) ", " (record.machine.cpus) " CPUs" }
                (exact(record.machine.load))
                td.number data-value=(record.workloads.len()) { (record.workloads.len()) }
                td { @if why.is_empty() { "yes" } @else { "no: " (why) } }
                td { (name) }
            }
        }
    };
    table("All results, the newest first", "history", &head, &body)
}

/// The machine and the build of the newest result.
fn conditions(record: &Record) -> Markup {
    let machine = &record.machine;
    let head = html! { th scope="col" { "of the newest result" } th scope="col" { "value" } };
    let rows = [
        ("processor", machine.cpu.clone()),
        ("processors", machine.cpus.to_string()),
        ("memory", bytes(machine.memory)),
        ("kernel", machine.kernel.clone()),
        ("commit", record.build.commit.clone().unwrap_or_else(|| "unknown".to_owned())),
        ("seed", record.settings.seed.to_string()),
        ("size", if record.settings.quick { "quick" } else { "usual" }.to_owned()),
    ];
    let body = html! {
        @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } }
        @for (name, version) in &record.versions { tr { th scope="row" { "version of " (name) } td { (version) } } }
    };
    table("Conditions", "conditions", &head, &body)
}
