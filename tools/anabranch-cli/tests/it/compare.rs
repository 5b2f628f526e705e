//! Comparisons of two results.

use std::path::{Path, PathBuf};

use anabranch_bench::figures::Figures;
use anabranch_bench::machine::Versions;
use anabranch_bench::record::{Record, Series, Settings, Workload};
use anabranch_bench::sample::{Meter, Sample};

use crate::common::{Ended, refused, run};

/// The disturbance of each round.
const NOISE: [f64; 8] = [1.0, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015];

fn series(peer: &str, factor: f64) -> Series {
    let sample = |noise: &f64| {
        let time = 100.0 * factor * noise;
        Some(Sample::per_unit(Meter { wall: time, cpu: time }, 1.0, 1.0))
    };
    let samples: Vec<Option<Sample>> = NOISE.iter().map(sample).collect();
    Series {
        peer: peer.to_owned(),
        threads: Some(2),
        ours: peer == "anabranch",
        baseline: peer == "plain",
        figures: Figures::of(&samples, None),
        samples,
        failure: None,
    }
}

/// A result in which anabranch takes this many times as long as usual.
fn result(factor: f64) -> Record {
    let settings =
        Settings { threads: vec![2], samples: 8, warm_up: 1, quick: false, seed: 1, nanoseconds_a_step: None };
    let mut record = Record::begin(settings, &Versions::of_ours());
    record.workloads.push(Workload {
        suite: "fork_join".to_owned(),
        name: "fib".to_owned(),
        title: "fib(30)".to_owned(),
        unit: "ns/fork".to_owned(),
        rounds: NOISE.len(),
        series: vec![series("plain", 1.0), series("anabranch", factor), series("rayon", factor)],
        targets: Default::default(),
    });
    record
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn compare(&self, before: &Record, after: &Record, options: &[&str]) -> Ended {
        compare(&self.file("a.json", before.text()), &self.file("b.json", after.text()), options)
    }
}

fn compare(before: &Path, after: &Path, options: &[&str]) -> Ended {
    run(&[&["compare", before.to_str().unwrap(), after.to_str().unwrap()], options].concat())
}

/// The row of the table for a contender.
fn row<'a>(ended: &'a Ended, peer: &str) -> &'a str {
    let found = ended.stdout.lines().find(|line| line.split_whitespace().any(|word| word == peer));
    found.unwrap_or_else(|| panic!("no {peer} in {ended:?}"))
}

#[test]
fn regression_has_a_status_of_its_own() {
    let ended = Folder::new().compare(&result(1.0), &result(1.5), &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(3), "anabranch: 1 regression\n"), "{ended:?}");
    let line = row(&ended, "anabranch");
    assert!(line.ends_with("SLOWER") && line.contains(" 1.500 "), "{line}");
    assert!(row(&ended, "rayon").ends_with("SLOWER"), "other libraries are shown, and fail nothing: {ended:?}");
    assert!(row(&ended, "plain").ends_with("no change found"), "{ended:?}");
    assert!(ended.stdout.contains("2 slower, 0 faster, 1 without a change"), "{ended:?}");
}

#[test]
fn equal_runs_succeed() {
    let ended = Folder::new().compare(&result(1.0), &result(1.0), &[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    assert!(row(&ended, "anabranch").ends_with("no change found"), "{ended:?}");
    let mut shuffled = result(1.0);
    shuffled.workloads[0].series.iter_mut().for_each(|series| series.samples.rotate_left(3));
    assert_eq!(Folder::new().compare(&result(1.0), &shuffled, &[]).code, Some(0));
}

#[test]
fn change_within_tolerance_succeeds() {
    let ended = Folder::new().compare(&result(1.0), &result(1.3), &["--tolerance", "40"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let ended = Folder::new().compare(&result(1.0), &result(0.7), &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(row(&ended, "anabranch").ends_with("faster"), "{ended:?}");
    refused(&run(&["compare", "a", "b", "--tolerance", "-1"]), 2, &["--tolerance", "percentage from 0"]);
}

#[test]
fn different_machines_are_refused() {
    let folder = Folder::new();
    let changed = |change: fn(&mut Record)| {
        let mut record = result(1.0);
        change(&mut record);
        record
    };
    for (other, words) in [
        (changed(|record| record.machine.cpu = "Another".to_owned()), &["machines differ", "Another", "--force"][..]),
        (changed(|record| record.machine.cpus += 1), &["machines differ"]),
        (changed(|record| record.settings.threads = vec![1, 4]), &["numbers of threads differ: 2 and 1,4", "--force"]),
        (changed(|record| record.settings.quick = true), &["sizes differ: usual and quick"]),
        (changed(|record| record.build.optimised ^= true), &["builds differ", "not optimised"]),
    ] {
        refused(&folder.compare(&result(1.0), &other, &[]), 1, words);
        let forced = folder.compare(&result(1.0), &other, &["--force"]);
        assert_eq!(forced.code, Some(0), "{forced:?}");
        assert!(forced.stderr.starts_with("anabranch: warning: the "), "{forced:?}");
    }
}

#[test]
fn other_schema_is_refused_even_with_force() {
    let folder = Folder::new();
    let good = folder.file("a.json", result(1.0).text());
    let other = folder.file("b.json", result(1.0).text().replacen("\"schema\": 1", "\"schema\": 2", 1));
    for options in [&[][..], &["--force"]] {
        refused(&compare(&good, &other, options), 1, &["b.json", "schema 2", "reads schema 1"]);
        refused(&compare(&other, &good, options), 1, &["b.json", "schema 2"]);
    }
}

#[test]
fn broken_files_are_refused_with_a_reason() {
    let folder = Folder::new();
    let text = result(1.0).text();
    let good = folder.file("a.json", &text);
    let check = |content: &[u8], words: &[&str]| {
        let bad = folder.file("bad.json", content);
        refused(&compare(&good, &bad, &["--force"]), 1, &[&["bad.json"], words].concat());
    };
    check(b"", &["truncated"]);
    for part in [1, 100, text.len() / 2, text.len() - 3] {
        check(&text.as_bytes()[..part], &["truncated"]);
    }
    check(b"\x7fELF\x00\xff", &["not JSON", "line 1"]);
    check(b"[]", &["not a result", "`benchmark`"]);
    check(br#"{"schema": 1, "benchmark": "graph500"}"#, &["not a result", "graph500"]);
    check(br#"{"machine": {}, "versions": {}, "workloads": []}"#, &["not a result", "`benchmark`"]);
    check(br#"{"schema": 1, "benchmark": "bench"}"#, &["damaged", "missing field"]);
    check(text.replace("\"rounds\": 8", "\"rounds\": 9").as_bytes(), &["damaged", "8 samples", "9 rounds"]);
    check(text.replace("\"rayon\"", "\"plain\"").as_bytes(), &["damaged", "occurs twice"]);
    check(text.replacen("\"value\": ", "\"value\": \"x\", \"was\": ", 1).as_bytes(), &["damaged", "line "]);
    check(&[b'['; 100_000], &["not JSON", "recursion"]);
    refused(&compare(&good, &folder.0.path().join("none.json"), &[]), 1, &["none.json"]);
    refused(&run(&["compare", "a.json"]), 2, &["B.json"]);
}

#[test]
fn runs_without_common_workloads_are_refused() {
    let mut other = result(1.0);
    other.workloads[0].name = "uts".to_owned();
    let ended = Folder::new().compare(&result(1.0), &other, &[]);
    refused(&ended, 1, &["nothing in common", "fork_join/uts is only in the second run"]);
}

#[test]
fn interrupted_run_is_compared_with_a_warning() {
    let mut half = result(1.0);
    half.interrupted = true;
    half.workloads[0].series.iter_mut().for_each(|series| series.samples[2..].fill(None));
    let ended = Folder::new().compare(&result(1.0), &half, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("warning: ") && ended.stderr.contains("b.json is the result of an interrupted run"));
    assert!(row(&ended, "anabranch").ends_with("too few samples"), "{ended:?}");
}
