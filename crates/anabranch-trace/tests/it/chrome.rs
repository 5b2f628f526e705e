//! The export is what Perfetto expects.

use crate::common::{MS, Program};
use anabranch_trace::{
    chrome,
    event::{Event, State},
};
use serde_json::Value;
use std::io;

fn exported(program: &Program) -> Vec<Value> {
    let mut out = Vec::new();
    chrome::export(&program.trace, &mut out).unwrap();
    let Value::Object(mut whole) = serde_json::from_slice(&out).unwrap() else { panic!() };
    let Some(Value::Array(events)) = whole.remove("traceEvents") else { panic!("{whole:?}") };
    events
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
