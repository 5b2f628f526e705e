//! The report of a bench: tables for people. [`record`](crate::record) is the file for programs.

use std::fmt::Write as _;

use crate::bench::{Outcome, Peers};
use crate::judgement;
use crate::machine::{Machine, Versions};
use crate::target::MeanTarget;
use crate::verdict;

/// Returns the lines above all tables. The `legend` explains the columns.
pub fn head(machine: &Machine, versions: &Versions, legend: &str) -> String {
    format!(
        "{} CPUs: {}, {:.0} GiB, {}, load {}\n{versions}\n\
         Each sample in a process of its own; rounds interleaved. CPU: user and system time of the\n\
         process, a unit (in seconds where the unit is not a time). {legend}\n",
        machine.cpus,
        machine.cpu,
        machine.memory as f64 / (1u64 << 30) as f64,
        machine.kernel,
        machine.load,
    )
}

/// Returns the table of one workload, at most 100 columns wide if it has at most two further figures.
pub fn table<K: Peers>(outcome: &Outcome<K>) -> String {
    let lines = outcome.lines();
    let mut text = format!("\n{}: {}\n", outcome.name, outcome.title);
    let rounds = match outcome.rounds {
        1 => "1 round".to_owned(),
        rounds => format!("{rounds} rounds"),
    };
    let width = lines.iter().map(|line| line.variant.peer.to_string().len()).max().unwrap_or(0).max(17);
    let extras = lines.first().map(|line| &line.figures.extra);
    let _ = write!(
        text,
        "{:<width$} {:>7} {:>8} {:>8} {:>8} {:>8} {:>6} {:>8} {:>6}",
        format!("{}, {rounds}", outcome.unit),
        "threads",
        "median",
        "min",
        "p10",
        "p90",
        "/base",
        "CPU",
        "CPU/b",
    );
    for name in extras.into_iter().flat_map(|extra| extra.keys()) {
        let _ = write!(text, " {name:>7}");
    }
    text.push('\n');
    let mut above = None;
    for line in &lines {
        let (peer, figures) = (line.variant.peer, &line.figures);
        let name = if above == Some(peer) { String::new() } else { peer.to_string() };
        above = Some(peer);
        let _ = write!(
            text,
            "{name:<width$} {:>7} {:>8} {:>8} {:>8} {:>8} {:>6} {:>8} {:>6}",
            peer.threads_shown(line.variant.threads),
            figure(figures.value.median),
            figure(figures.value.min),
            figure(figures.value.p10),
            figure(figures.value.p90),
            figures.to_baseline.map_or_else(|| "-".into(), |to| ratio(to.value)),
            figure(figures.cpu),
            figures.cpu_to_baseline.map_or_else(|| "-".into(), |to| ratio(to.value)),
        );
        for (name, value) in &figures.extra {
            let _ = write!(text, " {:>width$}", figure(*value), width = name.len().max(7));
        }
        text.push('\n');
    }
    for (variant, failure) in outcome.failures() {
        let threads = variant.peer.threads_shown(variant.threads);
        let _ = writeln!(text, "{:<width$} {threads:>7} {failure}", variant.peer);
    }
    if let Some(verdict) = outcome.verdict() {
        let _ = writeln!(text, "{verdict}");
    }
    for judgement in outcome.judgements() {
        let _ = writeln!(text, "{judgement}");
    }
    text
}

/// Returns all judgements, one in a line; empty if there are none.
pub fn judgements<K: Peers>(outcomes: &[Outcome<K>], means: &[MeanTarget<K>]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        for judgement in outcome.judgements() {
            let _ = writeln!(text, "{:<24} {judgement}", outcome.name);
        }
    }
    for judgement in means.iter().filter_map(|target| judgement::mean(target, outcomes)) {
        let _ = writeln!(text, "{:<24} {judgement}", "together");
    }
    if text.is_empty() { text } else { format!("\nTargets\n{text}") }
}

/// Returns the verdicts of all workloads, and the comparisons of related workloads; empty if there are none.
pub fn summary<K: Peers>(outcomes: &[Outcome<K>], across: &[(&str, &str, f64)]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        if let Some(verdict) = outcome.verdict() {
            let _ = writeln!(text, "{:<16} {verdict}", outcome.name);
        }
    }
    for (one, other, most) in across {
        let find = |name: &str| outcomes.iter().find(|outcome| outcome.name == name);
        let (Some(one), Some(other)) = (find(one), find(other)) else { continue };
        let _ = write!(text, "{:<16} / {}, bar {most:.2}:", one.name, other.name);
        for (variant, value) in verdict::across(one, other) {
            let met = if value <= *most { "*" } else { "" };
            let threads = variant.peer.threads_shown(variant.threads);
            let _ = write!(text, " {} ({threads}) {value:.2}{met}", variant.peer);
        }
        text.push('\n');
    }
    if text.is_empty() { text } else { format!("\nIn short; * is within the bar.\n{text}") }
}

/// Formats a ratio. Relative to almost nothing, such as the CPU time of a sleeping process, it may have many digits.
fn ratio(value: f64) -> String {
    if value < 999_999.5 { figure(value) } else { format!("{value:.1e}") }
}

/// Formats three significant digits; all are before the decimal point if the figure is large.
fn figure(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Series, Variant};
    use crate::peers::Kind;
    use crate::record::{Record, Settings};
    use crate::sample::{Meter, Sample};

    fn outcome() -> Outcome<Kind> {
        let series = |peer, threads, walls: &[f64]| Series {
            variant: Variant { peer, threads },
            samples: walls
                .iter()
                .map(|wall| {
                    let sample = Sample::per_unit(Meter { wall: *wall, cpu: 2.0 * wall }, 1.0, 1.0);
                    Some(sample.with("switches/1000", 12345.6))
                })
                .collect(),
            failure: None,
            is_rival: false,
        };
        let mut hung = series(Kind::Forte, Some(32), &[]);
        hung.failure = Some("hung: no result after 60 s".into());
        Outcome {
            name: "test",
            title: "a test".into(),
            unit: "switches",
            rounds: 10,
            bar: None,
            most_above: None,
            targets: Vec::new(),
            series: vec![
                series(Kind::Plain, Some(1), &[100_000.0, 200_000.0]),
                series(Kind::AnabranchOutside, None, &[50_000.0, 100_000.0]),
                series(Kind::Rayon, Some(1), &[1.0, 2.0]),
                series(Kind::Rayon, Some(32), &[3.0, 4.0]),
                hung,
            ],
        }
    }

    #[test]
    fn tables_fit_a_hundred_columns() {
        let text = table(&outcome());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let machine = Machine {
            cpu: "A Processor With Quite A Long Name 9999X @ 2.00GHz".into(),
            cpus: 256,
            kernel: "Linux 6.18.0".into(),
            os: "linux".into(),
            arch: "x86_64".into(),
            memory: 1 << 40,
            load: 12.34,
        };
        let head = head(&machine, &Versions::of_fork_join(), "/base: as a ratio.");
        assert!(head.lines().all(|line| line.chars().count() <= 100), "{head}");
    }

    #[test]
    fn tables_name_a_peer_once_and_tell_of_failures() {
        let text = table(&outcome());
        assert_eq!(text.matches("rayon").count(), 1, "{text}");
        let outside = text.lines().find(|line| line.starts_with("anabranch-outside")).unwrap();
        let cells: Vec<&str> = outside.split_whitespace().skip(1).collect();
        assert_eq!(cells, ["dflt", "75000", "50000", "55000", "95000", "0.50", "150000", "0.50", "12346"]);
        assert!(text.contains("hung: no result"), "{text}");
    }

    #[test]
    fn figures_keep_three_digits() {
        let shown = [0.0123, 1.0, 9.996, 99.94, 99.96, 1234.5].map(figure);
        assert_eq!(shown, ["0.01", "1.00", "10.0", "99.9", "100", "1234"]);
        assert_eq!([2.0, 123_456.0, 3_769_219.0].map(ratio), ["2.00", "123456", "3.8e6"]);
    }

    #[test]
    fn json_keeps_every_sample() {
        let outcome = outcome();
        let settings =
            Settings { threads: vec![1], samples: 2, warm_up: 0, quick: true, seed: 1, nanoseconds_a_step: Some(2.0) };
        let mut record = Record::begin(settings, &Versions::of_fork_join());
        record.workloads.push(outcome.record("fork_join"));
        let json: serde_json::Value = serde_json::from_str(&record.text()).unwrap();
        let series = &json["workloads"][0]["series"];
        assert_eq!(series[0]["samples"][1]["wall"], 200_000.0);
        assert_eq!(series[1]["peer"], "anabranch-outside");
        assert_eq!((&series[1]["ours"], &series[0]["ours"]), (&true.into(), &false.into()));
        assert_eq!((&series[1]["baseline"], &series[0]["baseline"]), (&false.into(), &true.into()));
        assert_eq!(series[4]["failure"], "hung: no result after 60 s");
        assert_eq!(series[1]["figures"]["to_baseline"]["value"], 0.5);
        assert_eq!(json["versions"]["chili"], env!("VERSION_CHILI"));
    }
}
