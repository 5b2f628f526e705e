//! `anabranch trace info`: what is in a trace.

use std::fmt::Write;

use anabranch_trace::event::Event;
use anabranch_trace::read::Trace;

use crate::units;

/// Describes a trace in lines of a name and a value, and a line for each thread.
pub fn describe(trace: &Trace) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name}: {value}");
    };
    for (key, value) in trace.meta.iter().filter(|(_, value)| !value.is_empty()) {
        line(&printable(key), printable(value));
    }
    let (begin, end) = trace.extent();
    line("length", units::seconds((end - begin) as f64 / 1e9));
    for (pool, threads) in &trace.pools {
        line(&format!("pool {pool}"), units::counted(u64::from(*threads), "thread"));
    }
    let all = || trace.lanes.iter().flat_map(|lane| &lane.events);
    let count = |kind: fn(&Event) -> bool| units::count(all().filter(|(_, event)| kind(event)).count() as u64);
    line("events", count(|_| true));
    line("lost events", units::count(trace.lost));
    line("calls", count(|event| matches!(event, Event::Root(_))));
    line("steals", count(|event| matches!(event, Event::Steal { .. })));
    line("fibers", count(|event| matches!(event, Event::FiberStart { .. })));
    line("spans", count(|event| matches!(event, Event::SpanBegin(_))));
    for lane in &trace.lanes {
        let (events, lost) = (units::counted(lane.events.len() as u64, "event"), units::count(lane.lost));
        line(&format!("thread {}", lane.id), format!("{}, {events}, {lost} lost", printable(&lane.name)));
    }
    text
}

/// Replaces what a terminal would obey.
fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect()
}
