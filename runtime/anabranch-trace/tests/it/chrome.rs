//! The export is what Perfetto expects. Its documentation names the events that it shows, and the rules of the Trace
//! Event Format to which it adheres.

use crate::common::{MS, Program};
use anabranch_trace::{
    chrome,
    event::{Event, State},
    read::Trace,
};
use serde_json::Value;
use std::{collections::HashMap, io};

fn exported(program: &Program) -> Vec<Value> {
    let events = of_trace(&program.trace);
    for event in events.iter().filter(|event| event["ph"] == "s" || event["ph"] == "f") {
        let is_within = |slice: &Value| {
            let begin = nanoseconds(&slice["ts"]);
            let end = begin + nanoseconds(&slice["dur"]);
            slice["tid"] == event["tid"] && (begin..=end).contains(&nanoseconds(&event["ts"]))
        };
        let mut slices = events.iter().filter(|slice| slice["ph"] == "X");
        assert!(slices.any(is_within), "an arrow binds to the slice around it: {event}");
    }
    events
}

/// Returns the exported events of a trace, once they were found to keep the rules of the format.
pub fn of_trace(trace: &Trace) -> Vec<Value> {
    let mut out = Vec::new();
    chrome::export(trace, &mut out).unwrap();
    let Value::Object(mut whole) = serde_json::from_slice(&out).unwrap() else { panic!() };
    let Some(Value::Array(events)) = whole.remove("traceEvents") else { panic!("{whole:?}") };
    assert_eq!(whole.remove("displayTimeUnit"), Some("ns".into()));
    assert!(whole.is_empty(), "{whole:?}");
    events.iter().for_each(check_fields);
    check_nesting(&events);
    events
}

fn nanoseconds(value: &Value) -> i64 {
    (value.as_f64().unwrap() * 1e3).round() as i64
}

/// Each event has the fields that its phase needs.
fn check_fields(event: &Value) {
    assert!(event["name"].is_string() && event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
    assert!(event["ts"].as_f64().is_some_and(|time| time >= 0.0), "{event}");
    let args = event.get("args").map(|args| args.as_object().unwrap());
    match event["ph"].as_str().unwrap() {
        "X" => assert!(event["dur"].as_f64().is_some_and(|duration| duration >= 0.0), "{event}"),
        "i" => assert_eq!(event["s"], "t", "{event}"),
        "s" => assert!(event["cat"].is_string() && event["id"].is_u64(), "{event}"),
        // It ends in the slice that encloses it, and not in the next one.
        "f" => assert!(event["cat"].is_string() && event["id"].is_u64() && event["bp"] == "e", "{event}"),
        "b" | "e" => assert!(event["cat"].is_string() && event["id"].is_u64(), "{event}"),
        "C" => assert!(args.is_some_and(|series| series.values().all(Value::is_number)), "{event}"),
        "M" => {
            let field = match event["name"].as_str().unwrap() {
                "process_name" | "thread_name" => "name",
                "thread_sort_index" => "sort_index",
                other => panic!("no metadata is called {other}"),
            };
            assert!(args.is_some_and(|args| args.len() == 1 && args.contains_key(field)), "{event}");
        }
        other => panic!("Perfetto does not show the phase {other}"),
    }
}

/// The slices of a track nest, as do those of an asynchronous track, and each arrow has two ends.
fn check_nesting(events: &[Value]) {
    let mut tracks: HashMap<&Value, Vec<(i64, i64)>> = HashMap::new();
    let mut asynchronous: HashMap<(&Value, &Value), Vec<(i64, &Value)>> = HashMap::new();
    let mut arrows: HashMap<&Value, Vec<&Value>> = HashMap::new();
    for event in events {
        let begin = nanoseconds(&event["ts"]);
        match event["ph"].as_str().unwrap() {
            "X" => tracks.entry(&event["tid"]).or_default().push((begin, begin + nanoseconds(&event["dur"]))),
            "b" | "e" => asynchronous.entry((&event["cat"], &event["id"])).or_default().push((begin, event)),
            "s" | "f" => arrows.entry(&event["id"]).or_default().push(&event["ph"]),
            _ => {}
        }
    }
    for (track, mut slices) in tracks {
        slices.sort_by_key(|(begin, end)| (*begin, -end));
        let mut open: Vec<i64> = Vec::new();
        for (begin, end) in slices {
            open.retain(|outer| *outer > begin);
            assert!(open.iter().all(|outer| end <= *outer), "{begin}..{end} overlaps another slice of track {track}");
            open.push(end);
        }
    }
    for (track, mut events) in asynchronous {
        // Events of one time keep their order.
        events.sort_by_key(|(time, _)| *time);
        let mut open: Vec<&Value> = Vec::new();
        for (_, event) in events {
            match event["ph"] == "b" {
                true => open.push(&event["name"]),
                false => assert_eq!(open.pop(), Some(&event["name"]), "the slices of {track:?} do not nest"),
            }
        }
        assert!(open.is_empty(), "{open:?} of {track:?} have no end");
    }
    assert!(arrows.values().all(|phases| phases == &["s", "f"]), "{arrows:?}");
}

/// The events of a phase, with their names and times in microseconds.
fn of_phase<'a>(events: &'a [Value], phase: &'a str) -> impl Iterator<Item = (&'a str, f64, &'a Value)> {
    let events = events.iter().filter(move |event| event["ph"] == phase);
    events.map(|event| (event["name"].as_str().unwrap(), event["ts"].as_f64().unwrap(), event))
}

#[test]
fn threads_steals_spans_and_counters_are_exported() {
    let mut program = Program::new(2);
    let (call, fork, span) = (program.site("", 70), program.site("", 80), program.site("a \"span\"", 81));
    let main = program.main();
    program.call(0, call);
    program.work(main, 0, 4 * MS);
    program.piece(main, fork, 1, MS, 3 * MS);
    program.on(main, MS, Event::SpanBegin(span));
    program.on(main, 2 * MS, Event::SpanEnd);
    program.on(main, 2 * MS, Event::Mark(span));
    program.leave(4 * MS);
    program.end(4 * MS);
    let events = exported(&program);

    let names: Vec<_> = of_phase(&events, "M").filter(|(name, ..)| *name == "thread_name").collect();
    let names: Vec<_> = names.iter().map(|(.., event)| event["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["worker 0", "worker 1", "main", "main: spans"]);
    let work: Vec<_> = of_phase(&events, "X").filter(|(name, ..)| *name == "working").collect();
    let whole: f64 = work.iter().map(|(.., event)| event["dur"].as_f64().unwrap()).sum();
    assert!((whole - 6_000.0).abs() < 1.0, "{work:?}");
    let [(_, begin, event)] = of_phase(&events, "X").filter(|(name, ..)| *name == "a \"span\"").collect::<Vec<_>>()[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((begin, event["dur"].as_f64()), (1_000.0, Some(1_000.0)));
    assert_eq!(event["tid"], 6, "a track of its own");
    let [(_, from, out)] = of_phase(&events, "s").collect::<Vec<_>>()[..] else { panic!() };
    let [(_, to, into)] = of_phase(&events, "f").collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((from, to, &out["id"]), (1_000.0, 1_000.0, &into["id"]));
    assert_eq!((&out["tid"], &into["tid"]), (&5.into(), &3.into()));
    let counts: Vec<_> = of_phase(&events, "C").map(|(_, at, event)| (at, event["args"]["threads"].as_u64())).collect();
    assert!(counts.contains(&(1_000.0, Some(2))) && counts.contains(&(3_000.0, Some(1))), "{counts:?}");
    assert_eq!(of_phase(&events, "i").count(), 1);
}

#[test]
fn fibers_are_asynchronous_slices_that_nest() {
    let mut program = Program::new(1);
    let (spawn, recv, name) = (program.site("", 10), program.site("recv", 30), program.site("parser", 0));
    program.work(0, 0, 5 * MS);
    program.on(0, 0, Event::FiberStart { fiber: 7, site: spawn });
    program.on(0, 0, Event::FiberName { fiber: 7, site: name });
    program.on(0, MS, Event::FiberSuspend { fiber: 7, site: recv });
    program.on(0, 2 * MS, Event::Wake { fiber: 7 });
    program.on(0, 3 * MS, Event::FiberResume { fiber: 7 });
    program.on(0, 5 * MS, Event::FiberEnd { fiber: 7 });
    program.state(0, 5 * MS, State::Parked);
    program.end(5 * MS);
    let events = exported(&program);
    let begins: Vec<_> = of_phase(&events, "b").map(|(name, at, _)| (name.to_owned(), at)).collect();
    let slices = [("parser", 0.0), ("recv", 1_000.0), ("ready", 2_000.0), ("parser", 3_000.0)];
    assert_eq!(begins, slices.map(|(name, at)| (name.to_owned(), at)));
    let ends: Vec<_> = of_phase(&events, "e").map(|(_, at, event)| (at, event["id"].as_u64().unwrap())).collect();
    assert_eq!(ends, [(1_000.0, 1), (2_000.0, 1), (3_000.0, 1), (5_000.0, 1)]);
}

#[test]
fn spans_of_fibers_that_begin_or_end_together_nest() {
    let mut program = Program::new(1);
    let sites = ["outer", "inner", "instant", "next"].map(|name| program.site(name, 1));
    let [outer, inner, instant, next] = sites;
    program.work(0, 0, 5 * MS);
    program.on(0, 0, Event::FiberStart { fiber: 7, site: outer });
    program.on(0, MS, Event::SpanBegin(outer));
    program.on(0, MS, Event::SpanBegin(inner));
    program.on(0, 2 * MS, Event::SpanEnd);
    program.on(0, 2 * MS, Event::SpanEnd);
    program.on(0, 2 * MS, Event::SpanBegin(instant));
    program.on(0, 2 * MS, Event::SpanEnd);
    program.on(0, 2 * MS, Event::SpanBegin(next));
    program.on(0, 5 * MS, Event::FiberEnd { fiber: 7 });
    program.end(5 * MS);
    let events = exported(&program);
    let spans = events.iter().filter(|event| event["cat"] == "span");
    let spans: Vec<_> = spans.map(|event| format!("{} {}", event["ph"], event["name"]).replace('"', "")).collect();
    assert_eq!(spans, ["b outer", "b inner", "e inner", "e outer", "b instant", "e instant", "b next", "e next"]);
}

#[test]
fn error_of_the_output_is_returned() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = chrome::export(&Program::new(3).trace, Full).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
