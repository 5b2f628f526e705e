//! How a program is measured.

use std::thread;
use std::time::Duration;

use crate::bench::{AnyWorkload, Threads};
use crate::iterators::kind::Kind;
use crate::iterators::program::{Program, Translations};
use crate::sample::{Meter, Sample};
use crate::stopwatch::{Stopwatch, repeated};
use crate::target::Target;

/// How a sample is taken.
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// One call after the other for about this time, inside the pool. The value is that of a call.
    Calls(Duration),
    /// The same, from a thread outside of the default pool.
    CallsFromOutside(Duration),
    /// So many runs, each on restored input, after one that is not measured if there are several. The value is the
    /// mean.
    Runs(u32),
    /// One run, in a pool that has fallen asleep.
    Asleep,
}

/// A program that is measured with each library.
pub struct Workload {
    title: String,
    unit: &'static str,
    mode: Mode,
    threads: Threads,
    is_cut_by_hand: bool,
    targets: Vec<Target<Kind>>,
    translations: Translations,
    /// What a run returns, and the digest of its output.
    expected: (u64, u64),
}

impl Workload {
    /// Creates a workload, and runs its plain translation once for the expected result.
    pub fn new(title: impl Into<String>, unit: &'static str, mode: Mode, translations: Translations) -> Workload {
        let mut program = translations.make(Kind::Plain);
        program.reset();
        let expected = (program.run(), program.digest());
        Workload {
            title: title.into(),
            unit,
            mode,
            threads: Threads::Asked,
            is_cut_by_hand: false,
            targets: Vec::new(),
            translations,
            expected,
        }
    }

    /// Fixes the numbers of threads.
    pub fn with_threads(mut self, threads: Threads) -> Workload {
        self.threads = threads;
        self
    }

    /// Lets the program that is cut by hand take part.
    pub fn cut_by_hand(mut self) -> Workload {
        self.is_cut_by_hand = true;
        self
    }

    /// Adds a target.
    pub fn with_target(mut self, target: Target<Kind>) -> Workload {
        self.targets.push(target);
        self
    }

    fn unit_seconds(&self) -> f64 {
        match self.unit {
            "ns" => 1e-9,
            "us" => 1e-6,
            _ => 1e-3,
        }
    }

    fn measure(&self, program: &mut dyn Program, run: &(dyn Fn(&mut dyn Program) -> u64 + Sync)) -> Sample {
        match self.mode {
            Mode::Calls(budget) | Mode::CallsFromOutside(budget) => {
                program.reset();
                let (sum, calls, meter) = repeated(budget, || run(program));
                assert_eq!(sum, self.expected.0.wrapping_mul(calls), "the results of {calls} calls");
                Sample::per_unit(meter, calls as f64, self.unit_seconds())
            }
            Mode::Runs(runs) => {
                if runs > 1 {
                    self.measured_run(program, run);
                }
                let mut total = Meter { wall: 0.0, cpu: 0.0 };
                for _ in 0..runs {
                    let meter = self.measured_run(program, run);
                    total = Meter { wall: total.wall + meter.wall, cpu: total.cpu + meter.cpu };
                }
                Sample::per_unit(total, runs.into(), self.unit_seconds())
            }
            Mode::Asleep => Sample::per_unit(self.measured_run(program, run), 1.0, self.unit_seconds()),
        }
    }

    fn measured_run(&self, program: &mut dyn Program, run: &(dyn Fn(&mut dyn Program) -> u64 + Sync)) -> Meter {
        program.reset();
        let watch = Stopwatch::start();
        let result = run(program);
        let meter = watch.stop();
        assert_eq!((result, program.digest()), self.expected, "the result differs from that of plain iterators");
        meter
    }
}

impl AnyWorkload<Kind> for Workload {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn unit(&self) -> &'static str {
        self.unit
    }

    fn threads(&self) -> Threads {
        self.threads
    }

    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    fn suits(&self, kind: Kind) -> bool {
        kind != Kind::Hand || self.is_cut_by_hand
    }

    fn targets(&self) -> Vec<Target<Kind>> {
        self.targets.clone()
    }

    fn sample_with(&self, kind: Kind, threads: usize) -> Sample {
        let program = &mut *self.translations.make(kind);
        let plainly = |program: &mut dyn Program| program.run();
        let is_outside = matches!(self.mode, Mode::CallsFromOutside(_));
        match kind {
            Kind::Plain => self.measure(program, &plainly),
            Kind::Hand => self.measure(program, &|program| program.run_by_hand(threads)),
            Kind::Anabranch => {
                let pool = anabranch::Pool::builder().threads(threads);
                if is_outside {
                    pool.build_default().expect("the default pool can be built");
                    return self.measure(program, &plainly);
                }
                let pool = pool.build().expect("a pool can be built");
                self.measure_in(program, |f| pool.install(f))
            }
            #[cfg(not(feature = "peers"))]
            Kind::Rayon => panic!("{kind} was not compiled in"),
            #[cfg(feature = "peers")]
            Kind::Rayon => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                if is_outside {
                    pool.build_global().expect("the global pool can be built");
                    return self.measure(program, &plainly);
                }
                let pool = pool.build().expect("a pool can be built");
                self.measure_in(program, |f| pool.install(f))
            }
        }
    }
}

impl Workload {
    /// Measures in a pool, which `install` enters.
    fn measure_in(&self, program: &mut dyn Program, install: impl Fn(&mut (dyn FnMut() + Send))) -> Sample {
        if let Mode::Asleep = self.mode {
            // Something small first, so that all threads have been there.
            install(&mut || {});
            thread::sleep(Duration::from_millis(100));
            program.reset();
            let watch = Stopwatch::start();
            let mut result = 0;
            install(&mut || result = program.run());
            let meter = watch.stop();
            assert_eq!((result, program.digest()), self.expected, "the result differs from that of plain iterators");
            return Sample::per_unit(meter, 1.0, self.unit_seconds());
        }
        let mut sample = None;
        install(&mut || sample = Some(self.measure(program, &|program| program.run())));
        sample.expect("the pool has run the closure")
    }
}
