//! `anabranch predict` replays a record of forks on virtual cores, and `anabranch report` draws the curve.

use crate::common::{refused, run, succeed};
use anabranch_trace::{
    event::{Event, Site, Step},
    write::Writer,
};
use serde_json::Value;
use std::{fs, path::PathBuf};

const MS: u64 = 1_000_000;

/// A program that computes for 10 ms, and then calls a loop of 32 pieces of 5 ms, twice.
fn program(lost: u64) -> Vec<u8> {
    fn tree(leaves: u32, steps: &mut Vec<(Step, u64)>) {
        if leaves == 1 {
            return;
        }
        steps.push((Step::Fork, 0));
        tree(leaves / 2, steps);
        steps.push((Step::Half, if leaves == 2 { 5 * MS } else { 0 }));
        tree(leaves / 2, steps);
        steps.push((Step::Join, if leaves == 2 { 5 * MS } else { 0 }));
    }
    let mut steps = Vec::new();
    for _ in 0..2 {
        steps.push((Step::Begin, 10 * MS));
        tree(32, &mut steps);
        steps.push((Step::End, 0));
    }
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.meta("program", "loops").unwrap();
    writer.lane(0, 100, "main", lost).unwrap();
    let mut time = 0;
    let records = steps.into_iter().map(|(step, took)| {
        time += took;
        Event::Step { step, time: took }.encode(time)
    });
    writer.events(0, records.collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap()
}

fn file(name: &str, bytes: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

#[test]
fn curve_is_near_its_bounds_and_names_the_limit() {
    let trace = file("curve.trace", &program(0));
    let json: Value = serde_json::from_str(&succeed(&["predict", &trace, "--json"]).stdout).unwrap();
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} in {json}"));
    assert!((number(&json["work"]) - 0.32).abs() < 1e-9 && (number(&json["span"]) - 0.01).abs() < 1e-9, "{json}");
    let points = json["points"].as_array().unwrap();
    let cores: Vec<u64> = points.iter().map(|point| point["cores"].as_u64().unwrap()).collect();
    assert_eq!(cores, [1, 2, 4, 8, 16, 32, 64]);
    for point in points {
        let (time, bound) = (number(&point["time"]), number(&point["bound"]));
        // The program waits outside of the first call for nothing: the record begins with it.
        let least = 0.01 + (0.32 / number(&point["cores"])).max(0.01);
        assert!((bound - least).abs() < 1e-6, "{point}");
        assert!(time >= bound * 0.999 && time < bound * 1.6 + 0.002, "{point}");
    }
    let causes = |index: usize| points[index]["limits"].to_string();
    assert!(causes(0) == "[]" && causes(3).contains("sequential_outside"), "{json}");

    let text = succeed(&["predict", &trace, "--cores", "1,8", "--machine", "server"]).stdout;
    assert!(text.starts_with("2 calls with work 320 ms, span 10.0 ms, parallelism 32.0; 10.0 ms outside"), "{text}");
    assert!(text.contains("sequential, outside of the pool") && text.lines().count() == 7, "{text}");
}

#[test]
fn same_record_gives_the_same_prediction() {
    let trace = file("again.trace", &program(0));
    let [one, two] = [(); 2].map(|()| succeed(&["predict", &trace, "--cores", "4"]).stdout);
    assert_eq!(one, two);
}

#[test]
fn report_draws_the_curve() {
    let trace = file("drawn.trace", &program(0));
    let page = succeed(&["report", &trace, "-o", "-"]).stdout;
    assert!(page.contains("Predicted speed-up by cores") && page.contains("at most, by work and span"), "{page}");
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.events(0, [Event::Mark(Site::UNKNOWN).encode(5)]).unwrap();
    let plain = file("plain.trace", &writer.finish().unwrap());
    assert!(!succeed(&["report", &plain, "-o", "-"]).stdout.contains("Predicted"));
}

#[test]
fn traces_without_a_whole_record_are_refused() {
    let lost = file("lost.trace", &program(7));
    refused(&run(&["predict", &lost]), 1, &["lost.trace", "7 oldest events", "ANABRANCH_TRACE_MEMORY"]);
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.events(0, [Event::SpanEnd.encode(5)]).unwrap();
    let absent = file("absent.trace", &writer.finish().unwrap());
    refused(&run(&["predict", &absent]), 1, &["absent.trace", "ANABRANCH_TRACE_FORKS=1", "ANABRANCH_NUM_THREADS=1"]);
    refused(&run(&["predict", &absent, "--cores", "0"]), 2, &["--cores", "from 1 to 128"]);
    refused(&run(&["predict", "/no/such/file"]), 1, &["/no/such/file"]);
}
