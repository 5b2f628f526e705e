//! Parallel iterators, compared with rayon's and with plain ones.
//!
//! The programs ([`with_plain::programs`]) are written once, and compiled for each library: only the crate behind the
//! name `library` differs. [`plain`] gives the iterators of std the names of the others.

pub mod compile;
pub mod input;
pub mod kind;
pub mod plain;
pub mod program;
pub mod workload;

/// The programs with the iterators of std.
#[path = "."]
pub mod with_plain {
    use super::plain as library;
    #[path = "programs/mod.rs"]
    pub mod programs;
}

/// The programs with anabranch.
#[path = "."]
#[allow(clippy::duplicate_mod, reason = "each library has a copy")]
pub mod with_anabranch {
    use ::anabranch as library;
    #[path = "programs/mod.rs"]
    pub mod programs;
}

/// The programs with rayon.
#[cfg(feature = "peers")]
#[path = "."]
#[allow(clippy::duplicate_mod, reason = "each library has a copy")]
pub mod with_rayon {
    use ::rayon as library;
    #[path = "programs/mod.rs"]
    pub mod programs;
}

use std::time::Duration;

use crate::bench::{AnyWorkload, Threads};
use crate::contest::Listed;
use crate::iterators::input::Shape;
use crate::iterators::kind::Kind;
use crate::iterators::program::Translations;
use crate::iterators::workload::{Mode, Workload};
use crate::target::{Limit, MeanTarget, Target};
use crate::workloads::Spinner;

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// By how much sizes and samples are smaller than usual.
    pub divisor: usize,
    /// Calibrated CPU work.
    pub spinner: Spinner,
}

impl Settings {
    /// Returns the usual sizes, or those for `--quick`.
    pub fn new(is_quick: bool, spinner: Spinner) -> Settings {
        Settings { divisor: if is_quick { 10 } else { 1 }, spinner }
    }

    /// Returns the time of a sample of repeated calls.
    fn budget(&self) -> Duration {
        Duration::from_millis(200) / self.divisor as u32
    }

    /// Returns `count` for the usual size.
    fn large(&self, count: usize) -> usize {
        (count / self.divisor).max(1)
    }
}

/// Builds the three translations of a program: `translations!(sums::MapSum::new(count))`.
macro_rules! translations {
    ($file:ident :: $program:ident :: $new:ident ($($argument:expr),*)) => {
        Translations {
            plain: Box::new(move || Box::new(with_plain::programs::$file::$program::$new($($argument),*))),
            anabranch: Box::new(move || Box::new(with_anabranch::programs::$file::$program::$new($($argument),*))),
            #[cfg(feature = "peers")]
            rayon: Box::new(move || Box::new(with_rayon::programs::$file::$program::$new($($argument),*))),
        }
    };
}

type Built = Box<dyn AnyWorkload<Kind>>;

/// All workloads: the name on the command line, and how to build it.
pub const ALL: [Listed<Kind, Settings>; 40] = [
    ("sum-100", |settings| sum(settings, 100, Target::new("at most plain + 30 ns", above(30.0)))),
    ("sum-100-outside", sum_from_outside),
    ("sum-1k", |settings| sum(settings, 1_000, Target::new("at most 1.1 x plain", to_plain(1.1)))),
    ("sum-10k", |settings| sum(settings, 10_000, Target::new("at most 1.05 x plain", to_plain(1.05)))),
    ("sum-10m", sum_of_many),
    ("body-1us", |settings| {
        let steps = settings.spinner.steps(1e3);
        let title = "1,000 items of 1 us of CPU work";
        let workload =
            Workload::new(title, "us", Mode::Calls(settings.budget()), translations!(loops::Spins::even(1_000, steps)));
        Box::new(
            workload.cut_by_hand().with_target(Target::new("at least 1.8 times as fast as plain", to_plain(1.0 / 1.8))),
        )
    }),
    ("sleeps", |_| {
        let translations = translations!(loops::Sleeps::new(16, Duration::from_millis(20)));
        let workload = Workload::new("16 items that sleep 20 ms, 16 threads asleep", "ms", Mode::Asleep, translations);
        let target = Target::new("at most 30 ms", Limit::Value { most: 30.0 });
        Box::new(workload.with_threads(Threads::Fixed(16)).with_target(target))
    }),
    ("skew-ramp", |settings| {
        let count = settings.large(10_000);
        skewed(format!("{count} items, item i costs i"), translations!(loops::Spins::ramp(count)))
    }),
    ("skew-end", |settings| {
        let (count, steps) = (settings.large(10_000), settings.spinner.steps(5e3));
        let title = format!("{count} items of 5 us, the last one costs as much as all others");
        skewed(title, translations!(loops::Spins::heavy_end(count, steps)))
    }),
    ("collect-map", |settings| {
        let count = settings.large(10_000_000);
        not_behind(format!("collect {count} products"), Mode::Runs(5), translations!(collect::Map::new(count)))
    }),
    ("collect-filter", |settings| {
        let count = settings.large(10_000_000);
        let title = format!("collect the even ones of {count} random numbers");
        not_behind(title, Mode::Runs(5), translations!(collect::Filter::new(count)))
    }),
    ("sort-u64-random", |settings| sort_numbers(settings, Shape::Random)),
    ("sort-u64-sorted", |settings| sort_numbers(settings, Shape::Sorted)),
    ("sort-u64-reversed", |settings| sort_numbers(settings, Shape::Reversed)),
    ("sort-u64-few", |settings| sort_numbers(settings, Shape::FewValued)),
    ("sort-strings-random", |settings| sort_strings(settings, Shape::Random)),
    ("sort-strings-sorted", |settings| sort_strings(settings, Shape::Sorted)),
    ("sort-strings-reversed", |settings| sort_strings(settings, Shape::Reversed)),
    ("sort-strings-few", |settings| sort_strings(settings, Shape::FewValued)),
    ("nested-8", |settings| nested(settings, 8)),
    ("nested-100", |settings| nested(settings, 100)),
    ("nested-1k", |settings| nested(settings, 1_000)),
    ("nested-10k", |settings| nested(settings, 10_000)),
    ("nested-100k", |settings| nested(settings, 100_000)),
    ("many-threads", |settings| {
        let steps = settings.spinner.steps(1e3);
        let title = "1,000 items of 1 us of CPU work, on more threads than cores";
        let workload =
            Workload::new(title, "us", Mode::Calls(settings.budget()), translations!(loops::Spins::even(1_000, steps)));
        Box::new(many_threads(workload))
    }),
    ("life", |settings| {
        let generations = settings.large(100);
        let translations = translations!(life::Life::new(200, generations));
        not_behind(format!("life: 200 x 200 cells, {generations} generations"), Mode::Runs(5), translations)
    }),
    ("matmul", |settings| {
        let side = [1024, 256, 64][settings.divisor.ilog10().min(2) as usize];
        let title = format!("Strassen's product of two matrices of {side} x {side}");
        not_behind(title, Mode::Runs(5), translations!(matmul::Matmul::new(side)))
    }),
    ("mergesort", |settings| {
        let count = settings.large(5_000_000);
        not_behind(format!("merge sort of {count} u32"), Mode::Runs(3), translations!(mergesort::Mergesort::new(count)))
    }),
    ("n-body", |settings| {
        let steps = settings.large(20);
        let title = format!("1,000 bodies that attract each other, {steps} steps");
        not_behind(title, Mode::Runs(5), translations!(n_body::NBody::new(1_000, steps)))
    }),
    ("quicksort", |settings| {
        let count = settings.large(5_000_000);
        not_behind(format!("quicksort of {count} u32"), Mode::Runs(3), translations!(quicksort::Quicksort::new(count)))
    }),
    ("sieve", |settings| {
        let limit = settings.large(100_000_000);
        not_behind(format!("the primes below {limit}"), Mode::Runs(5), translations!(sieve::Sieve::new(limit)))
    }),
    ("tsp", |settings| {
        let cities = [16, 13, 8][settings.divisor.ilog10().min(2) as usize];
        let title = format!("the shortest round trip through {cities} cities");
        not_behind(title, Mode::Runs(3), translations!(tsp::Tsp::new(cities)))
    }),
    ("text-lines", |settings| {
        let bytes = settings.large(100_000_000);
        text("the lengths of all lines", bytes, translations!(text::Text::line_lengths(bytes)))
    }),
    ("text-words", |settings| {
        let bytes = settings.large(100_000_000);
        text("how many words", bytes, translations!(text::Text::word_count(bytes)))
    }),
    ("text-word-lengths", |settings| {
        let bytes = settings.large(100_000_000);
        text("the lengths of all words", bytes, translations!(text::Text::word_lengths(bytes)))
    }),
    ("text-chars", |settings| {
        let bytes = settings.large(100_000_000);
        text("the sum of all characters", bytes, translations!(text::Text::char_sum(bytes)))
    }),
    ("text-letter", |settings| {
        let bytes = settings.large(100_000_000);
        text("how often a letter occurs", bytes, translations!(text::Text::letter_count(bytes)))
    }),
    ("pairs", |settings| {
        let count = settings.large(10_000_000);
        not_behind(format!("unzip {count} pairs"), Mode::Runs(5), translations!(collect::Unzip::new(count)))
    }),
    ("compile-check", |_| Box::new(compile::Compile { is_build: false })),
    ("compile-build", |_| Box::new(compile::Compile { is_build: true })),
];

/// The targets of several workloads together.
pub const MEANS: [MeanTarget<Kind>; 1] = [MeanTarget {
    text: "the seven programs: 1.1 times as fast as rayon, in the geometric mean",
    workloads: &["life", "matmul", "mergesort", "n-body", "quicksort", "sieve", "tsp"],
    to: Kind::Rayon,
    most: 1.0 / 1.1,
}];

/// The greatest ratio that counts as equal: the medians of two runs of the same program differ by that much.
const EQUAL: f64 = 1.02;

fn above(nanoseconds: f64) -> Limit<Kind> {
    Limit::Above { to: Kind::Plain, most: nanoseconds }
}

fn to_plain(most: f64) -> Limit<Kind> {
    Limit::Ratio { to: Kind::Plain, threads: None, most }
}

fn to_hand(most: f64) -> Limit<Kind> {
    Limit::Ratio { to: Kind::Hand, threads: None, most }
}

fn to_rayon(most: f64) -> Limit<Kind> {
    Limit::Ratio { to: Kind::Rayon, threads: None, most }
}

fn sum(settings: &Settings, count: usize, target: Target<Kind>) -> Built {
    let mode = Mode::Calls(settings.budget());
    let title = format!("the sum of {count} squares of u64");
    Box::new(Workload::new(title, "ns", mode, translations!(sums::MapSum::new(count))).with_target(target))
}

fn sum_from_outside(settings: &Settings) -> Built {
    let mode = Mode::CallsFromOutside(settings.budget());
    let title = "the sum of 100 squares of u64, called from outside of the pool";
    let workload = Workload::new(title, "ns", mode, translations!(sums::MapSum::new(100)));
    Box::new(workload.with_target(Target::new("at most plain + 60 ns", above(60.0))))
}

fn sum_of_many(settings: &Settings) -> Built {
    let count = settings.large(10_000_000);
    let title = format!("the sum of {count} squares of u64, from memory");
    let workload = Workload::new(title, "us", Mode::Calls(settings.budget()), translations!(sums::MapSum::new(count)));
    let fast = Target::new("at least 1.7 times as fast as plain, or 95% of what is cut by hand", to_plain(1.0 / 1.7));
    let workload = workload.cut_by_hand().with_target(fast.or(to_hand(1.0 / 0.95)));
    Box::new(workload.with_target(Target::new("not behind rayon", to_rayon(EQUAL))))
}

fn skewed(title: String, translations: Translations) -> Built {
    let workload = Workload::new(title, "ms", Mode::Runs(3), translations).cut_by_hand();
    Box::new(workload.with_target(Target::new("within 5% of the ideal split", to_hand(1.05))))
}

fn not_behind(title: String, mode: Mode, translations: Translations) -> Built {
    let workload = Workload::new(title, "ms", mode, translations);
    Box::new(workload.with_target(Target::new("not behind rayon", to_rayon(EQUAL))))
}

fn sort_numbers(settings: &Settings, shape: Shape) -> Built {
    let count = settings.large(10_000_000);
    let title = format!("par_sort_unstable of {count} u64, {shape}");
    let workload = Workload::new(title, "ms", Mode::Runs(1), translations!(sorts::Numbers::new(count, shape)));
    Box::new(workload.with_target(Target::new("ahead of rayon", to_rayon(1.0))))
}

fn sort_strings(settings: &Settings, shape: Shape) -> Built {
    let count = settings.large(1_000_000);
    let title = format!("par_sort of {count} Strings, {shape}");
    not_behind(title, Mode::Runs(1), translations!(sorts::Strings::new(count, shape)))
}

fn text(what: &str, bytes: usize, translations: Translations) -> Built {
    not_behind(format!("{what} of {bytes} bytes of text"), Mode::Runs(3), translations)
}

fn nested(settings: &Settings, count: usize) -> Built {
    let mode = Mode::Calls(settings.budget());
    let title = format!("8 sums of {count} u64, in parallel within parallel");
    let workload = Workload::new(title, "ns", mode, translations!(nested::Nested::new(count)));
    Box::new(workload.with_target(Target::new("at most 1.1 x plain", to_plain(1.1))))
}

fn many_threads(workload: Workload) -> Workload {
    let limit = Limit::Ratio { to: Kind::Anabranch, threads: Some(2), most: 1.1 };
    let target = Target::new("at most 1.1 x that with 2 threads", limit).with_threads(32);
    workload.with_threads(Threads::Several(&[2, 32])).with_target(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Peers;

    /// Each variant returns the result of plain iterators.
    #[test]
    fn everyone_agrees() {
        let settings = Settings { divisor: 1000, spinner: Spinner::with_speed(100.0) };
        for (name, build) in &ALL {
            // The default pool is that of the whole process, and a build takes seconds.
            if ["sum-100-outside", "compile-build"].contains(name) {
                continue;
            }
            let workload = build(&settings);
            for kind in Kind::ALL.iter().copied().filter(|kind| workload.suits(*kind)) {
                let sample = workload.sample_with(kind, 3);
                assert!(sample.value.is_finite() && sample.value > 0.0, "{name}, {kind}: {}", sample.value);
            }
        }
    }

    #[test]
    fn names_of_the_programs_exist() {
        for name in MEANS[0].workloads {
            assert!(ALL.iter().any(|(other, _)| other == name), "{name}");
        }
    }
}
