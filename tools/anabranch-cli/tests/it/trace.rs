//! `anabranch explain` and `anabranch trace` show what is in a trace, and refuse what is none.

use crate::common::{Ended, refused, run, succeed};
use anabranch_trace::{
    event::{Event, Role, State},
    write::Writer,
};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// A program whose two calls take 10 ms each, with 40 ms between them, on a pool of some threads.
fn program(threads: u32) -> Vec<u8> {
    named("sample", threads)
}

fn named(name: &str, threads: u32) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.meta("program", name).unwrap();
    writer.pool(0, threads).unwrap();
    let (one, two) = (writer.site("", "src/main.rs", 80, 5).unwrap(), writer.site("", "src/main.rs", 88, 5).unwrap());
    const MS: u64 = 1_000_000;
    for worker in 0..threads - 1 {
        writer.lane(worker, 100 + worker, &format!("worker {worker}"), 0).unwrap();
        let state = |state, time: u64| Event::State { state, site: one }.encode(time * MS);
        let enter = Event::Enter { role: Role::Worker, pool: 0, worker };
        let events = [
            enter.encode(0),
            state(State::Working, 0),
            state(State::Parked, 10),
            state(State::Working, 50),
            state(State::Parked, 60),
        ];
        writer.events(worker, events).unwrap();
    }
    writer.lane(threads, 99, "main", 0).unwrap();
    let call = |site, time: u64| {
        [
            Event::Enter { role: Role::Guest, pool: 0, worker: threads }.encode(time * MS),
            Event::Root(site).encode(time * MS),
            Event::State { state: State::Working, site }.encode(time * MS),
            Event::Leave.encode((time + 10) * MS),
        ]
    };
    writer.events(threads, [call(one, 0), call(two, 50)].concat()).unwrap();
    writer.finish().unwrap()
}

fn file(name: &str, bytes: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

#[test]
fn explanation_names_the_loss() {
    let ended = succeed(&["explain", &file("explain.trace", &program(4))]);
    let sentence = "100% of the lost time is one sequential phase of 40 ms outside of any call into the pool, after the \
                    call at main.rs:80 and before the call at main.rs:88.";
    assert!(ended.stdout.contains(sentence), "{}", ended.stdout);
    assert!(ended.stdout.starts_with("60 ms of wall time, 4 threads in one pool\n"), "{}", ended.stdout);
}

#[test]
fn explanation_as_json_has_the_same_figures() {
    let (trace, alone) = (file("json.trace", &program(4)), file("json_alone.trace", &program(2)));
    let ended = succeed(&["explain", &trace, "--alone", &alone, "--json"]);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["schema"], 1);
    let explanation = &json["explanation"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} in {explanation}"));
    assert!((number(&explanation["capacity"]) - 0.24).abs() < 1e-9);
    let lost: f64 = explanation["losses"].as_array().unwrap().iter().map(|loss| number(&loss["time"])).sum();
    assert!((number(&explanation["work"]["time"]) + lost - 0.24).abs() < 1e-6);
    assert!((number(&explanation["work"]["alone"]) - 0.08).abs() < 1e-6, "{explanation}");
    let finding = &explanation["findings"][0];
    assert_eq!((&finding["cause"], &finding["subject"]), (&"sequential_outside".into(), &"outside".into()));
    assert_eq!(json["places"][finding["until"].as_u64().unwrap() as usize - 1]["line"], 88);
    assert!(explanation["notes"].to_string().contains("one of 2 threads"), "{explanation}");
}

#[test]
fn trace_of_another_program_is_no_comparison() {
    let (trace, alone) = (file("one.trace", &program(4)), file("other.trace", &named("other", 1)));
    let words = ["other.trace", "\"other\"", "\"sample\"", "ANABRANCH_NUM_THREADS=1"];
    refused(&run(&["explain", &trace, "--alone", &alone]), 1, &words);
    refused(&run(&["report", &trace, "--alone", &alone]), 1, &words);
}

#[test]
fn export_is_whole_json_on_standard_output_and_in_a_file() {
    let trace = file("export.trace", &program(2));
    let printed = succeed(&["trace", "export", &trace]).stdout;
    let json: Value = serde_json::from_str(&printed).unwrap();
    assert!(json["traceEvents"].as_array().unwrap().iter().any(|event| event["name"] == "working"));
    let out = file("export.json", b"before");
    assert_eq!(succeed(&["trace", "export", &trace, "-o", &out]).stdout, "");
    assert_eq!(fs::read_to_string(out).unwrap(), printed);
}

#[test]
fn info_says_what_is_in_a_trace() {
    let text = succeed(&["trace", "info", &file("info.trace", &program(2))]).stdout;
    for line in [
        "program: sample",
        "length: 60.0 ms",
        "pool 0: 2 threads",
        "events: 13",
        "lost events: 0",
        "calls: 2",
        "thread 0: worker 0, 5 events, 0 lost",
        "thread 2: main, 8 events, 0 lost",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} is missing in\n{text}");
    }
}

#[test]
fn wrong_files_are_refused() {
    let whole = program(2);
    let mut version = whole.clone();
    version[7] = b'9';
    let mut corrupt = whole.clone();
    let end = corrupt.len();
    corrupt[end - 16] += 1;
    let mut flipped = whole.clone();
    // In the last two events, just before the last section of 36 bytes.
    flipped[end - 40] ^= 0x10;
    flipped[end - 56] ^= 0x10;
    let cases: [(&str, &[u8], &[&str]); 6] = [
        ("foreign.trace", b"\x7fELF", &["is not a trace of anabranch", "ANABRANCH_TRACE=FILE"]),
        ("empty.trace", b"", &["is not a trace of anabranch"]),
        ("version.trace", &version, &["version 09", "use the anabranch command of the version"]),
        ("truncated.trace", &whole[..whole.len() / 2], &["truncated", "wait until the program has ended"]),
        ("corrupt.trace", &corrupt, &["corrupt", "record a new trace"]),
        ("flipped.trace", &flipped, &["corrupt", "record a new trace"]),
    ];
    for (name, bytes, words) in cases {
        let path = file(name, bytes);
        for command in [&["explain", &path][..], &["trace", "info", &path], &["trace", "export", &path]] {
            refused(&run(command), 1, &[words, &[name]].concat());
        }
    }
    let good = file("good.trace", &whole);
    refused(&run(&["explain", &good, "--alone", "/no/such/file"]), 1, &["/no/such/file"]);
    refused(&run(&["trace", "export", &good, "-o", "/no/such/directory/file"]), 1, &["/no/such/directory"]);
    let empty = file("no_pool.trace", &Writer::new(Vec::new()).unwrap().finish().unwrap());
    refused(&run(&["explain", &empty]), 1, &["no_pool.trace", "no thread enters a pool"]);
}

#[test]
fn refused_export_leaves_the_old_file() {
    let out = file("kept.json", b"before");
    let Ended { code, .. } = run(&["trace", "export", &file("cut.trace", &program(2)[..50]), "-o", &out]);
    assert_eq!((code, &fs::read(&out).unwrap()[..]), (Some(1), &b"before"[..]));
}

#[test]
fn usage_errors_say_where_help_is() {
    refused(&run(&["explain"]), 2, &["TRACE", "anabranch explain --help"]);
    refused(&run(&["trace", "show", "x"]), 2, &["'show'", "anabranch trace --help"]);
}
