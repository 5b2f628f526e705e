//! The changes from one run to another.
//!
//! A series of the one run is compared with that of the same contender in the other run. Two intervals decide
//! ([`anabranch_bench::confidence::ratio`]): that of the ratio of the values, and that of the ratio of what each run
//! found relative to its baseline in the same rounds. The second one tells a change of the contender from one of the
//! machine, which changes the baseline too. All intervals of a comparison hold together with 95% confidence
//! (Bonferroni).

use anabranch_bench::confidence::{self, Estimate};
use anabranch_bench::figures::column;
use anabranch_bench::record::{Record, Series, Workload};
use anabranch_bench::stats;

/// The comparison of two runs.
#[derive(Debug)]
pub struct Changes {
    /// The contenders that are in both runs, in the order of the second one.
    pub lines: Vec<Line>,
    /// The results that are not compared, with the reason.
    pub left_out: Vec<String>,
    /// The confidence of each interval.
    pub confidence: f64,
}

/// The comparison of one contender.
#[derive(Debug)]
pub struct Line {
    /// The workload, with its suite.
    pub workload: String,
    /// The unit of the medians.
    pub unit: String,
    /// The contender.
    pub peer: String,
    /// Its threads.
    pub threads: Option<usize>,
    /// Whether the contender is a variant of anabranch.
    pub ours: bool,
    /// The medians of both runs, as in their tables.
    pub medians: [Option<f64>; 2],
    /// How many times as large the values became.
    pub ratio: Option<Estimate>,
    /// How many times as large the values became relative to the baseline.
    pub relative: Option<Estimate>,
    /// The result.
    pub verdict: Verdict,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The contender takes longer, by more than the tolerance.
    Slower,
    /// The contender takes less time, by more than the tolerance.
    Faster,
    /// The samples show no change.
    Same,
    /// The contender failed in the second run.
    Failed(String),
    /// The samples cannot show a change.
    Unknown(&'static str),
}

impl Line {
    /// Returns whether the line has to be reported as a failure. Other libraries may become slower.
    pub fn is_regression(&self) -> bool {
        self.ours && matches!(self.verdict, Verdict::Slower | Verdict::Failed(_))
    }
}

struct Pair<'a> {
    workload: &'a Workload,
    before: &'a Series,
    after: &'a Series,
    baselines: Option<[&'a Series; 2]>,
}

/// Compares two runs. A change within `tolerance` is none: 0.02 stands for 2%.
pub fn compare(before: &Record, after: &Record, tolerance: f64) -> Changes {
    let mut left_out = Vec::new();
    let pairs = pairs(before, after, &mut left_out);
    let confidence = 1.0 - (1.0 - confidence::USUAL) / pairs.len().max(1) as f64;
    let lines = pairs.iter().map(|pair| line(pair, tolerance, confidence)).collect();
    Changes { lines, left_out, confidence }
}

fn pairs<'a>(before: &'a Record, after: &'a Record, left_out: &mut Vec<String>) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    for workload in &after.workloads {
        let name = workload.full_name();
        let Some(old) = before.workloads.iter().find(|old| old.full_name() == name) else {
            left_out.push(format!("{name} is only in the second run"));
            continue;
        };
        if (&old.title, &old.unit) != (&workload.title, &workload.unit) {
            left_out.push(format!("{name} is another workload in each run: {}, and {}", old.title, workload.title));
            continue;
        }
        for series in &workload.series {
            match old.series.iter().find(|old| is_same(old, series)) {
                Some(before) => {
                    let baselines = baseline(old, series).zip(baseline(workload, series)).map(Into::into);
                    pairs.push(Pair { workload, before, after: series, baselines });
                }
                None => left_out.push(format!("{} of {name} is only in the second run", named(series))),
            }
        }
        for series in old.series.iter().filter(|old| !workload.series.iter().any(|series| is_same(old, series))) {
            left_out.push(format!("{} of {name} is only in the first run", named(series)));
        }
    }
    for old in &before.workloads {
        if !after.workloads.iter().any(|workload| workload.full_name() == old.full_name()) {
            left_out.push(format!("{} is only in the first run", old.full_name()));
        }
    }
    pairs
}

fn is_same(one: &Series, other: &Series) -> bool {
    one.peer == other.peer && one.threads == other.threads
}

fn named(series: &Series) -> String {
    format!("{} ({})", series.peer, series.threads.map_or_else(|| "-".to_owned(), |threads| threads.to_string()))
}

/// Returns the baseline for a series, unless the baseline is itself a variant of anabranch.
fn baseline<'a>(workload: &'a Workload, series: &Series) -> Option<&'a Series> {
    workload.baseline(series).filter(|baseline| !baseline.ours && !series.baseline)
}

fn line(pair: &Pair<'_>, tolerance: f64, confidence: f64) -> Line {
    let Pair { workload, before, after, baselines } = pair;
    let ratio = confidence::ratio(&before.values(), &after.values(), confidence);
    let relative = baselines
        .and_then(|[old, new]| confidence::ratio(&to_baseline(before, old), &to_baseline(after, new), confidence));
    Line {
        workload: workload.full_name(),
        unit: workload.unit.clone(),
        peer: after.peer.clone(),
        threads: after.threads,
        ours: after.ours,
        medians: [before, after].map(|series| stats::median(&series.values())),
        ratio,
        relative,
        verdict: verdict(before, after, ratio, relative, tolerance),
    }
}

/// Returns the ratios to the baseline in the same rounds.
fn to_baseline(series: &Series, baseline: &Series) -> Vec<f64> {
    let values = |series: &Series| column(&series.samples, |sample| sample.value);
    stats::ratios(&values(series), &values(baseline))
}

fn verdict(
    before: &Series,
    after: &Series,
    ratio: Option<Estimate>,
    relative: Option<Estimate>,
    tolerance: f64,
) -> Verdict {
    if let Some(failure) = &after.failure {
        return match before.failure {
            None => Verdict::Failed(failure.clone()),
            Some(_) => Verdict::Unknown("failed in both runs"),
        };
    }
    if before.failure.is_some() {
        return Verdict::Unknown("failed in the first run");
    }
    let Some(ratio) = ratio else { return Verdict::Unknown("too few samples") };
    // Without a baseline, or with too few rounds that have both, the values decide alone.
    let (is_above, is_below) = (relative.is_none_or(|it| it.low > 1.0), relative.is_none_or(|it| it.high < 1.0));
    match ratio {
        ratio if ratio.low > 1.0 + tolerance && is_above => Verdict::Slower,
        ratio if ratio.high < 1.0 / (1.0 + tolerance) && is_below => Verdict::Faster,
        _ => Verdict::Same,
    }
}

#[cfg(test)]
mod tests {
    use anabranch_bench::figures::Figures;
    use anabranch_bench::machine::Versions;
    use anabranch_bench::record::Settings;
    use anabranch_bench::sample::{Meter, Sample};

    use super::*;

    /// The noise of nine rounds.
    const NOISE: [f64; 9] = [1.0, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015, 0.985];

    fn series(peer: &str, values: &[f64]) -> Series {
        let sample = |value: &f64| Some(Sample::per_unit(Meter { wall: *value, cpu: *value }, 1.0, 1.0));
        let samples: Vec<Option<Sample>> = values.iter().map(sample).collect();
        Series {
            peer: peer.to_owned(),
            threads: Some(1),
            ours: peer == "anabranch",
            baseline: peer == "plain",
            figures: Figures::of(&samples, None),
            samples,
            failure: None,
        }
    }

    fn record(series: Vec<Series>) -> Record {
        let settings =
            Settings { threads: vec![1], samples: 9, warm_up: 0, quick: true, seed: 1, nanoseconds_a_step: None };
        let mut record = Record::begin(settings, &Versions::of_ours());
        record.workloads.push(Workload {
            suite: "fork_join".to_owned(),
            name: "fib".to_owned(),
            title: "fib(20)".to_owned(),
            unit: "ns".to_owned(),
            rounds: series[0].samples.len(),
            series,
            targets: Default::default(),
        });
        record
    }

    /// A run in which plain code and anabranch take these many times as long as usual.
    fn run(plain: f64, ours: f64) -> Record {
        // The rounds are disturbed independently.
        let mut shuffled = NOISE;
        shuffled.rotate_left(4);
        record(vec![series("plain", &NOISE.map(|it| it * plain)), series("anabranch", &shuffled.map(|it| it * ours))])
    }

    fn verdicts(before: &Record, after: &Record) -> Vec<Verdict> {
        compare(before, after, 0.02).lines.into_iter().map(|line| line.verdict).collect()
    }

    #[test]
    fn regression_outside_of_the_noise_is_found() {
        assert_eq!(verdicts(&run(1.0, 1.0), &run(1.0, 1.1)), [Verdict::Same, Verdict::Slower]);
        assert_eq!(verdicts(&run(1.0, 1.0), &run(1.0, 0.9)), [Verdict::Same, Verdict::Faster]);
        let changes = compare(&run(1.0, 1.0), &run(1.0, 1.1), 0.02);
        assert!(changes.lines[1].is_regression() && !changes.lines[0].is_regression());
        let ratio = changes.lines[1].ratio.unwrap();
        assert!(ratio.low < 1.1 && 1.1 < ratio.high && (ratio.value - 1.1).abs() < 0.01, "{ratio:?}");
    }

    #[test]
    fn change_within_noise_or_tolerance_is_none() {
        assert_eq!(verdicts(&run(1.0, 1.0), &run(1.0, 1.0)), [Verdict::Same, Verdict::Same]);
        assert_eq!(verdicts(&run(1.0, 1.0), &run(1.0, 1.01)), [Verdict::Same, Verdict::Same]);
        let line = &compare(&run(1.0, 1.0), &run(1.0, 1.1), 0.2).lines[1];
        assert_eq!(line.verdict, Verdict::Same, "10% is within 20%");
    }

    #[test]
    fn slower_machine_is_no_regression() {
        let changes = compare(&run(1.0, 1.0), &run(1.3, 1.3), 0.02);
        assert_eq!(changes.lines[1].verdict, Verdict::Same);
        assert_eq!(changes.lines[0].verdict, Verdict::Slower, "plain code has no other baseline");
        assert!(!changes.lines.iter().any(Line::is_regression));
    }

    #[test]
    fn intervals_hold_together() {
        let (mut before, mut after) = (run(1.0, 1.0), run(1.0, 1.05));
        let width = |before: &Record, after: &Record| {
            let changes = compare(before, after, 0.02);
            let ratio = changes.lines[1].ratio.unwrap();
            (changes.confidence, ratio.high - ratio.low)
        };
        let (confidence, few) = width(&before, &after);
        assert_eq!(confidence, 0.975, "two contenders");
        for run in [&mut before, &mut after] {
            let again = |number| Workload { name: format!("fib-{number}"), ..run.workloads[0].clone() };
            let more: Vec<Workload> = (0..9).map(again).collect();
            run.workloads.extend(more);
        }
        let (confidence, many) = width(&before, &after);
        assert!((confidence - 0.9975).abs() < 1e-12 && many > few, "{confidence}, {few}, {many}");
    }

    #[test]
    fn few_samples_are_no_verdict() {
        let few = |factor: f64| record(vec![series("anabranch", &[1.0, 1.1, 0.9].map(|it| it * factor))]);
        assert_eq!(verdicts(&few(1.0), &few(2.0)), [Verdict::Unknown("too few samples")]);
    }

    #[test]
    fn failure_of_anabranch_is_a_regression() {
        let mut after = run(1.0, 1.0);
        after.workloads[0].series[1] = Series {
            samples: vec![None; 9],
            failure: Some("hung".to_owned()),
            figures: None,
            ..series("anabranch", &NOISE)
        };
        let changes = compare(&run(1.0, 1.0), &after, 0.02);
        assert!(changes.lines[1].is_regression());
        assert_eq!(verdicts(&after, &after)[1], Verdict::Unknown("failed in both runs"));
        assert_eq!(verdicts(&after, &run(1.0, 1.0))[1], Verdict::Unknown("failed in the first run"));
    }

    #[test]
    fn what_is_in_one_run_alone_is_named() {
        let (mut before, mut after) = (run(1.0, 1.0), run(1.0, 1.0));
        after.workloads[0].series[0].peer = "hand".to_owned();
        before.workloads.push(Workload { name: "uts".to_owned(), ..before.workloads[0].clone() });
        let changes = compare(&before, &after, 0.02);
        assert_eq!(changes.lines.len(), 1);
        let expected = [
            "hand (1) of fork_join/fib is only in the second run",
            "plain (1) of fork_join/fib is only in the first run",
            "fork_join/uts is only in the first run",
        ];
        assert_eq!(changes.left_out, expected);
        after.workloads[0].title = "fib(30)".to_owned();
        assert!(compare(&before, &after, 0.02).lines.is_empty());
    }
}
