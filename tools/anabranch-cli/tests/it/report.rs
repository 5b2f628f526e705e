//! `anabranch report` shows the numbers of a trace and of results, and treats their texts as texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anabranch_bench::figures::Figures;
use anabranch_bench::machine::Versions;
use anabranch_bench::record::{Record, Series, Settings, Workload};
use anabranch_bench::sample::Sample;
use anabranch_trace::event::{Event, State};
use anabranch_trace::explain::{Options, explain};
use anabranch_trace::read::Trace;

use crate::common::sample::{HOSTILE, trace};
use crate::common::{anabranch, end, refused, run, succeed};

/// Writes the report of a file or directory, and returns its text.
fn report(from: &Path) -> String {
    succeed(&["report", from.to_str().unwrap(), "-o", "-"]).stdout
}

/// A directory with a trace, the bytes of the trace, and its report.
fn reported(events: usize) -> (tempfile::TempDir, Vec<u8>, String) {
    let directory = tempfile::tempdir().unwrap();
    let bytes = trace(events);
    let path = directory.path().join("sample.trace");
    fs::write(&path, &bytes).unwrap();
    let page = report(&path);
    (directory, bytes, page)
}

/// The rows of the body of a table: the text of each head, and the exact values of the cells.
fn rows(page: &str, id: &str) -> Vec<(String, Vec<String>)> {
    let table = between(page, &format!("<table id=\"{id}\">"), "</table>");
    let body = between(table, "<tbody>", "</tbody>");
    let rows = body.split("<tr").skip(1);
    rows.map(|row| {
        let values = row.split("data-value=\"").skip(1);
        (text(between(row, "<th", "</th>")), values.map(|cell| cell.split('"').next().unwrap().to_owned()).collect())
    })
    .collect()
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let from = text.find(begin).unwrap_or_else(|| panic!("no {begin} in {text}")) + begin.len();
    &text[from..from + text[from..].find(end).unwrap()]
}

/// Returns the text of an element whose tag has been opened, without elements inside.
fn text(element: &str) -> String {
    let mut text = String::new();
    for part in element.split('<') {
        text.push_str(part.split_once('>').map_or("", |(_, text)| text));
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The time in each state and the number of events of a thread, straight from its events.
fn times(events: &[(u64, Event)], end: u64) -> (BTreeMap<State, u64>, usize) {
    let mut times = BTreeMap::new();
    let mut since: Option<(u64, State)> = None;
    for &(time, event) in events.iter().chain([&(end, Event::Leave)]) {
        let next = match event {
            Event::State { state, .. } => Some((time, state)),
            Event::Leave => None,
            _ => continue,
        };
        if let Some((begin, state)) = since {
            *times.entry(state).or_default() += time - begin;
        }
        since = next;
    }
    (times, events.len())
}

#[test]
fn tables_have_the_times_of_the_trace() {
    let (_directory, bytes, page) = reported(4000);
    let trace = Trace::read(&bytes).unwrap();
    let rows = rows(&page, "threads");
    assert_eq!(rows.len(), trace.lanes.len() + 1);
    let mut all = BTreeMap::<State, u64>::new();
    let states = [State::Working, State::Searching, State::Parked, State::JoinParked, State::Waiting];
    for (lane, (head, values)) in trace.lanes.iter().zip(&rows) {
        let (times, events) = times(&lane.events, trace.extent().1);
        assert_eq!(*head, format!("{} {}", lane.name, lane.thread));
        let mut expected: Vec<u64> = states.iter().map(|state| times.get(state).copied().unwrap_or(0)).collect();
        expected.extend([times.values().sum(), events as u64, 0]);
        assert_eq!(*values, expected.iter().map(u64::to_string).collect::<Vec<_>>());
        times.into_iter().for_each(|(state, time)| *all.entry(state).or_default() += time);
    }
    let (head, values) = rows.last().unwrap();
    assert_eq!(head, "all");
    assert_eq!(values[..5], states.map(|state| all[&state].to_string()));
}

#[test]
fn tables_count_what_happened() {
    let (_directory, bytes, page) = reported(4000);
    let trace = Trace::read(&bytes).unwrap();
    let events = || trace.lanes.iter().flat_map(|lane| &lane.events).map(|&(_, event)| event);
    let count = |is: fn(&Event) -> bool| events().filter(is).count();
    let rows = rows(&page, "happenings");
    let sum = |head: &str| -> usize {
        rows.iter()
            .filter(|(row, _)| row.starts_with(head))
            .map(|(_, values)| values[0].parse::<usize>().unwrap())
            .sum()
    };
    assert_eq!(sum("steals: "), count(|event| matches!(event, Event::Steal { .. })));
    assert_eq!(sum("wakes of fibers"), count(|event| matches!(event, Event::Wake { .. })));
    assert_eq!(sum("marks"), count(|event| matches!(event, Event::Mark(_))));
    assert!(sum("marks") > 0);
    let spans = self::rows(&page, "spans");
    let spans: usize = spans
        .iter()
        .filter(|(row, _)| !row.starts_with("call: "))
        .map(|(_, values)| values[0].parse::<usize>().unwrap())
        .sum();
    assert_eq!(spans, count(|event| matches!(event, Event::SpanBegin(_))));
    let description: serde_json::Value =
        serde_json::from_str(between(&page, "<script id=\"description\" type=\"application/json\">", "</script>"))
            .unwrap();
    let fibers: u64 =
        description["lanes"].as_array().unwrap().iter().map(|lane| lane["fibers"].as_u64().unwrap()).sum();
    let runs = count(|event| matches!(event, Event::FiberStart { .. } | Event::FiberResume { .. }));
    assert_eq!(fibers, runs as u64);
}

#[test]
fn explanation_has_the_figures_and_sentences_of_explain() {
    let (_directory, bytes, page) = reported(4000);
    let explanation = explain(&Trace::read(&bytes).unwrap(), &Options::default());
    let rows: BTreeMap<String, Vec<String>> = rows(&page, "losses").into_iter().collect();
    let value = |head: &str| rows[head][0].parse::<f64>().unwrap();
    assert_eq!(value("wall time"), explanation.wall);
    assert_eq!(value("work"), explanation.work.time);
    assert_eq!(value("lost"), explanation.lost);
    assert_eq!(value("parallelism, at least"), explanation.parallelism);
    assert!(explanation.losses.len() > 5);
    for loss in &explanation.losses {
        let row = &rows[&format!("lost: {}", loss.cause.name())];
        assert_eq!(row.iter().map(|value| value.parse::<f64>().unwrap()).collect::<Vec<_>>(), [loss.time, loss.share]);
    }
    let waits = &explanation.ready_waits;
    let trace = Trace::read(&bytes).unwrap();
    let woken =
        trace.lanes.iter().flat_map(|lane| &lane.events).filter(|(_, event)| matches!(event, Event::Wake { .. }));
    assert!(waits.count > 100 && waits.count <= woken.count() as u64, "{waits:?}");
    assert_eq!(value("fibers waited for their thread, median"), waits.p50);
    assert_eq!(value("fibers waited for their thread, longest"), waits.max);
    assert!(text(&page).contains(&waits.sentence()), "{}", waits.sentence());
    let shown = text(&format!("<ol{}", between(&page, "<ol", "</ol>")));
    for finding in explanation.main_findings().take(12) {
        assert!(shown.contains(&finding.sentence), "{} is missing in {shown}", finding.sentence);
    }
    let small = explanation.findings.iter().filter(|finding| finding.sentence.starts_with("0% "));
    assert!(small.clone().count() > 0 && small.clone().all(|finding| !shown.contains(&finding.sentence)), "{shown}");
}

#[test]
fn trace_of_one_worker_counts_in_the_explanation() {
    let (directory, bytes, _) = reported(4000);
    let alone = directory.path().join("alone.trace");
    fs::write(&alone, trace(800)).unwrap();
    let path = directory.path().join("sample.trace");
    let page = succeed(&["report", path.to_str().unwrap(), "-o", "-", "--alone", alone.to_str().unwrap()]).stdout;
    let (trace, alone) = (Trace::read(&bytes).unwrap(), Trace::read(&fs::read(alone).unwrap()).unwrap());
    let mut options = Options::default();
    options.alone = Some(&alone);
    let (with, without) = (explain(&trace, &options), explain(&trace, &Options::default()));
    assert_ne!(with.notes, without.notes);
    for note in &with.notes {
        assert!(text(&format!("<ul{}", between(&page, "<ul class=\"notes\"", "</ul>"))).contains(note), "{note}");
    }
}

#[test]
fn labels_stay_text() {
    let (_directory, _, page) = reported(4000);
    assert!(text(&page).contains(HOSTILE), "the label is shown");
    assert_eq!(page.matches("<script").count(), 3);
    assert_eq!(page.matches("</script").count(), 3);
    assert!(!page.contains("<img") && !page.contains("<b>"), "no element is from the trace");
}

#[test]
fn page_loads_nothing() {
    let (_directory, _, page) = reported(1000);
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\""));
    for part in ["http:", "https:", "url(", "<link", "<iframe", "@import", "fetch(", "import("] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn report_is_beside_the_trace_by_default() {
    let (directory, _, page) = reported(1000);
    let ended = succeed(&["report", directory.path().join("sample.trace").to_str().unwrap()]);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("sample.trace.html ("), "{ended:?}");
    assert_eq!(fs::read_to_string(directory.path().join("sample.trace.html")).unwrap(), page);
}

#[test]
fn bad_traces_are_refused_and_old_reports_kept() {
    let directory = tempfile::tempdir().unwrap();
    let inside = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let old = inside("old.html");
    fs::write(&old, "before").unwrap();
    let bytes = trace(1000);
    let half = &bytes[..bytes.len() / 2];
    fs::write(inside("half"), half).unwrap();
    fs::write(inside("other"), "GIF89a and more").unwrap();
    fs::create_dir(inside("empty")).unwrap();
    let at = format!("the trace is truncated: it ends at byte {}", half.len());
    refused(&run(&["report", &inside("half"), "-o", &old]), 1, &["half", &at]);
    refused(&run(&["report", &inside("other"), "-o", &old]), 1, &["other", "this is not a trace of anabranch"]);
    refused(&run(&["report", &inside("none"), "-o", &old]), 1, &["none: No such file"]);
    refused(&run(&["report", &inside("empty"), "-o", &old]), 1, &["empty", "no result of `anabranch bench`"]);
    refused(&run(&["report"]), 2, &["TRACE|DIR"]);
    refused(&run(&["report", &inside("empty"), "--alone", &inside("half")]), 2, &["--alone is for a trace"]);
    assert_eq!(fs::read_to_string(&old).unwrap(), "before");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 4, "no temporary file is left");
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_reported_and_leaves_the_old_report() {
    let (directory, ..) = reported(1000);
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    refused(&run(&["report", &path("sample.trace"), "-o", "/dev/full"]), 1, &["/dev/full", "No space left"]);
    // A limit on the size of files ends a write in the middle, as a full disk does.
    fs::write(path("old.html"), "before").unwrap();
    let binary = anabranch(&[]).get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" report \"$1\" -o \"$2\""]).arg(binary);
    shell
        .args([path("sample.trace"), path("old.html")])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    refused(&end(shell.spawn().unwrap()), 1, &["cannot write", "old.html", "File too large"]);
    assert_eq!(fs::read_to_string(path("old.html")).unwrap(), "before");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "no temporary file is left");
}

/// A result whose samples are these, with one thread and two.
fn record(date: &str, values: &[f64]) -> Record {
    let settings =
        Settings { threads: vec![1, 2], samples: 3, warm_up: 0, quick: false, seed: 7, nanoseconds_a_step: None };
    let mut record = Record::begin(settings, &Versions::of_ours());
    record.date = date.to_owned();
    record.build.commit = Some(format!("{:0>12}", values.len()));
    let samples = |factor: f64| -> Vec<Option<Sample>> {
        let sample = |value: &f64| Sample {
            value: value * factor,
            wall: 1.0,
            cpu: 1.0,
            cpu_each: value * 2.0,
            extra: BTreeMap::new(),
        };
        values.iter().map(|value| Some(sample(value))).collect()
    };
    let plain = samples(1.0);
    let series = [("plain", 1, 1.0), ("anabranch", 1, 1.25), ("anabranch", 2, 0.625)].map(|(peer, threads, factor)| {
        let samples = samples(factor);
        Series {
            peer: peer.to_owned(),
            threads: Some(threads),
            ours: peer == "anabranch",
            baseline: peer == "plain",
            figures: Figures::of(&samples, Some(&plain)),
            samples,
            failure: None,
        }
    });
    record.workloads.push(Workload {
        suite: "made-up".to_owned(),
        name: "<i>sum".to_owned(),
        title: "a sum".to_owned(),
        unit: "ns".to_owned(),
        rounds: values.len(),
        series: series.into(),
        targets: serde_json::Map::new(),
    });
    record
}

fn history(records: &[(&str, Record)]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history");
    fs::create_dir(&path).unwrap();
    for (name, record) in records {
        fs::write(path.join(name), record.text()).unwrap();
    }
    (directory, path)
}

#[test]
fn results_have_the_figures_of_the_file() {
    let newest = record("2026-11-02T00:00:00Z", &[40.0, 42.0, 47.5, 41.0]);
    let (_directory, path) =
        history(&[("a.json", record("2026-11-01T00:00:00Z", &[50.0, 51.0, 52.0])), ("b.json", newest.clone())]);
    let page = report(&path);
    let rows = rows(&page, "table-0");
    assert_eq!(rows.len(), 3);
    for (series, (head, values)) in newest.workloads[0].series.iter().zip(&rows) {
        let figures = series.figures.as_ref().unwrap();
        assert!(head.starts_with(&series.peer), "{head}");
        let [interval, to_baseline, cpu] =
            [figures.interval, figures.to_baseline.unwrap(), figures.cpu_to_baseline.unwrap()];
        let expected = [
            figures.value.samples as f64,
            figures.value.median,
            interval.low,
            interval.high,
            figures.value.p10,
            figures.value.p90,
            to_baseline.value,
            figures.cpu,
            cpu.value,
        ];
        assert_eq!(values.iter().map(|value| value.parse::<f64>().unwrap()).collect::<Vec<_>>(), expected);
    }
    assert!(page.contains("made-up/&lt;i&gt;sum") && !page.contains("<i>"), "names are escaped");
    assert_eq!(page.matches("class=\"sample\"").count(), 12, "every sample is drawn");
    assert!(page.contains("anabranch: 1.60 times as fast with 2 threads"), "the speed-up is that of the medians");
}

#[test]
fn course_has_the_results_of_the_same_machine_only() {
    let mut elsewhere = record("2026-11-02T00:00:00Z", &[1.0, 2.0, 3.0]);
    elsewhere.machine.cpus += 1;
    let (_directory, path) = history(&[
        ("a.json", record("2026-11-01T00:00:00Z", &[50.0, 51.0, 52.0])),
        ("b.json", elsewhere),
        ("c.json", record("2026-11-03T00:00:00Z", &[40.0, 41.0, 42.0, 43.0])),
    ]);
    fs::write(path.join("package.json"), "{\"name\": \"other\"}").unwrap();
    let page = report(&path);
    assert!(page.contains("Course over builds in ns. 2 results, the oldest first."), "two of three are comparable");
    assert!(page.contains("anabranch, 2 threads: 31.9 ns on 2026-11-01T00:00:00Z, 00000000"));
    assert!(page.contains("no: another machine") && page.contains("package.json"));
    let rows = rows(&page, "history");
    let dates: Vec<&str> = rows.iter().map(|(date, _)| &date[..10]).collect();
    assert_eq!(dates, ["2026-11-03", "2026-11-02", "2026-11-01"]);

    fs::write(path.join("d.json"), &record("2026-11-04T00:00:00Z", &[1.0]).text()[..200]).unwrap();
    refused(&run(&["report", path.to_str().unwrap()]), 1, &["d.json", "the file is truncated"]);
    assert!(!path.join("index.html").exists());
}

#[test]
fn curves_of_the_readme_are_those_of_its_results() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    for tree in ["tree-1k", "tree-10m"] {
        let (results, workload) = (format!("{docs}/results/readme"), format!("fork_join/{tree}"));
        let ended = succeed(&["report", &results, "--curve", &workload, "-o", "-"]);
        let kept = std::fs::read_to_string(format!("{docs}/{tree}.svg")).unwrap();
        assert!(ended.stdout == kept, "{tree}.svg is out of date: see CONTRIBUTING");
        let picture = roxmltree::Document::parse(&kept).unwrap();
        let texts: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
        for text in ["anabranch", "rayon", "chili", "forte", "Speed-up by threads, against plain"] {
            assert!(texts.contains(&text), "{text} in {texts:?}");
        }
        assert!(kept.contains("prefers-color-scheme: dark"));
    }
}

#[test]
fn curves_that_cannot_be_drawn_are_refused() {
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/readme");
    let refusal = run(&["report", results, "--curve", "fork_join/fib", "-o", "-"]);
    refused(&refusal, 2, &["'fork_join/fib'", "fork_join/tree-1k, fork_join/tree-10m"]);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    refused(&run(&["report", file, "--curve", "fork_join/fib", "-o", "-"]), 2, &["--curve", "directory"]);
}
