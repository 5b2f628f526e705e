//! The tables of a trace. A cell with a time or a count has the exact number in its attribute `data-value`.

use maud::{Markup, html};

use super::model::{Lane, MOMENTS, Model, STATES};
use super::plots::time;
use super::totals::{FiberSum, Sum, Totals, loot_name};
use super::units;

/// The rows of tables of sites and fibers. The rest is in the last row.
const MOST_ROWS: usize = 50;

/// Returns all tables.
pub fn all(model: &Model, totals: &Totals) -> Markup {
    html! {
        (threads(model, totals))
        (happenings(totals))
        (sites("Spans and calls", "spans", "span", model, totals.spans.iter().map(|(&(is_call, site), &sum)| {
            (format!("{}{}", if is_call { "call: " } else { "" }, model.site(site)), sum)
        }).collect()))
        (sites("Waits of fibers", "fiber-waits", "for what, and where", model, by_site(model, &totals.fiber_waits)))
        (sites("Waits of threads", "thread-waits", "for what, and where", model, by_site(model, &totals.thread_waits)))
        (fibers(model, totals))
        (origin(model))
    }
}

fn by_site(model: &Model, sums: &std::collections::BTreeMap<u32, Sum>) -> Vec<(String, Sum)> {
    sums.iter().map(|(&site, &sum)| (model.site(site), sum)).collect()
}

/// A cell with a time in nanoseconds.
fn duration(nanoseconds: u64) -> Markup {
    html! { td.number data-value=(nanoseconds) { (time(nanoseconds)) } }
}

fn count(number: u64) -> Markup {
    html! { td.number data-value=(number) { (units::count(number)) } }
}

/// A table that scrolls sideways if it is too wide.
pub fn table(title: &str, id: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        div.table tabindex="0" role="region" aria-label=(title) {
            table id=(id) { caption { (title) } thead { tr { (head) } } tbody { (body) } }
        }
    }
}

fn threads(model: &Model, totals: &Totals) -> Markup {
    let used: Vec<usize> = (0..STATES.len()).filter(|&state| totals.state(state) > 0).collect();
    let head = html! {
        th scope="col" { "thread" } th scope="col" { "as" }
        @for &state in &used { th.number scope="col" { (STATES[state]) } }
        th.number scope="col" { "in sum" } th.number scope="col" { "events" } th.number scope="col" { "lost" }
    };
    let role = |lane: &Lane| {
        lane.entry.map_or_else(|| "—".to_owned(), |(role, pool, worker)| format!("{role} {worker} of pool {pool}"))
    };
    let body = html! {
        @for (lane, states) in model.lanes.iter().zip(&totals.states) {
            tr {
                th scope="row" { (lane.name) @if lane.thread != 0 { span.id { " " (lane.thread) } } }
                td { (role(lane)) }
                @for &state in &used { (duration(states[state])) }
                (duration(states.iter().sum())) (count(lane.events)) (count(lane.lost))
            }
        }
        tr.sum {
            th scope="row" { "all" } td {}
            @for &state in &used { (duration(totals.state(state))) }
            (duration(totals.all_states())) (count(model.events)) (count(model.lost))
        }
    };
    table("Time of each thread by state", "threads", &head, &body)
}

fn happenings(totals: &Totals) -> Markup {
    let head = html! { th scope="col" { "what" } th.number scope="col" { "how often" } };
    let steals = totals.steals.iter().enumerate().map(|(loot, &times)| (format!("steals: {}", loot_name(loot)), times));
    let others = totals.moments.iter().enumerate().skip(1).map(|(kind, &times)| (MOMENTS[kind].to_owned(), times));
    let body = html! {
        @for (what, times) in steals.chain(others).filter(|(_, times)| *times > 0) {
            tr { th scope="row" { (what) } (count(times)) }
        }
    };
    table("What happened", "happenings", &head, &body)
}

/// A table of sites with their sums, the largest first.
fn sites(title: &str, id: &str, what: &str, model: &Model, mut sums: Vec<(String, Sum)>) -> Markup {
    if sums.is_empty() {
        return html! {};
    }
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.total));
    let deep: u64 = model.lanes.iter().map(|lane| lane.deep_spans).sum();
    let (shown, rest) = sums.split_at(sums.len().min(MOST_ROWS));
    let head = html! {
        th scope="col" { (what) } th.number scope="col" { "how often" } th.number scope="col" { "in sum" }
        th.number scope="col" { "on average" } th.number scope="col" { "longest" }
    };
    let row = |name: &str, sum: &Sum| {
        html! {
            tr {
                th scope="row" { (name) }
                (count(sum.count)) (duration(sum.total)) (duration(sum.mean())) (duration(sum.longest))
            }
        }
    };
    let others = rest.iter().fold(Sum::default(), |all, (_, sum)| Sum {
        count: all.count + sum.count,
        total: all.total + sum.total,
        longest: all.longest.max(sum.longest),
    });
    let body = html! {
        @for (name, sum) in shown { (row(name, sum)) }
        @if !rest.is_empty() { (row(&match rest.len() { 1 => "1 other".to_owned(), len => format!("{len} others") }, &others)) }
        @if id == "spans" && deep > 0 {
            tr { th scope="row" { "nested too deep to be shown" } (count(deep)) }
        }
    };
    table(title, id, &head, &body)
}

fn fibers(model: &Model, totals: &Totals) -> Markup {
    if totals.fibers.is_empty() {
        return html! {};
    }
    let mut fibers: Vec<(&u32, &FiberSum)> = totals.fibers.iter().collect();
    fibers.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.runs.total));
    let title = match fibers.len() {
        all if all > MOST_ROWS => format!("The {MOST_ROWS} of {} fibers that ran longest", units::count(all as u64)),
        _ => "Fibers".to_owned(),
    };
    let head = html! {
        th scope="col" { "fiber" } th.number scope="col" { "runs" } th.number scope="col" { "running" }
        th.number scope="col" { "longest run" } th.number scope="col" { "waiting" } th.number scope="col" { "threads" }
        th scope="col" { "ended" }
    };
    let body = html! {
        @for (&fiber, sum) in fibers.into_iter().take(MOST_ROWS) {
            tr {
                th scope="row" { (model.fiber(fiber)) }
                (count(sum.runs.count)) (duration(sum.runs.total)) (duration(sum.runs.longest))
                (duration(sum.waits.total)) (count(sum.threads.len() as u64))
                td { (if sum.ended { "yes" } else { "no" }) }
            }
        }
    };
    table(&title, "fibers", &head, &body)
}

/// The known facts about the process and the machine.
fn origin(model: &Model) -> Markup {
    let head = html! { th scope="col" { "of the process" } th scope="col" { "value" } };
    let body = html! {
        @for (key, value) in &model.meta { tr { th scope="row" { (key) } td { (value) } } }
        @for (pool, &threads) in &model.pools {
            tr { th scope="row" { "threads of pool " (pool) } (count(threads.into())) }
        }
    };
    if model.meta.is_empty() && model.pools.is_empty() {
        html! {}
    } else {
        table("Origin", "origin", &head, &body)
    }
}
