//! How a workload is measured.

use std::hint::black_box;
use std::time::Duration;

use anabranch_kernel::Queue;

use super::{Kind, Settings};
use anabranch_bench::bench::{AnyWorkload, Threads};
use anabranch_bench::sample::Sample;
use anabranch_bench::stopwatch::repeated;
use anabranch_bench::target::{Limit, Target};

/// A program in its three forms.
pub trait Program: Send + Sync {
    /// What a run returns.
    type Output: Send;

    /// Runs plain loops on `threads` threads of std.
    fn by_hand(&self, threads: usize) -> Self::Output;

    /// Runs the loops of the parallel iterators, in the current pool.
    fn with_iterators(&self) -> Self::Output;

    /// Runs the kernels, in the current pool.
    fn with_kernels(&self, queue: &Queue) -> Self::Output;

    /// Returns whether an output is right.
    fn is_right(&self, output: &Self::Output) -> bool;
}

/// A program and its titles.
pub struct Workload<M> {
    title: String,
    budget: Duration,
    make: M,
}

impl<M> Workload<M> {
    /// Creates a workload.
    pub fn new(title: impl Into<String>, settings: &Settings, make: M) -> Workload<M> {
        Workload { title: title.into(), budget: settings.budget(), make }
    }

    fn measure<P: Program>(&self, program: &P, run: impl Fn() -> P::Output) -> Sample {
        assert!(program.is_right(&run()), "{}: the result is wrong", self.title);
        let call = || {
            black_box(run());
            1
        };
        let (_, calls, meter) = repeated(self.budget, call);
        Sample::per_unit(meter, calls as f64, 1e-6)
    }
}

impl<P: Program, M: Fn() -> P + Sync> AnyWorkload<Kind> for Workload<M> {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn unit(&self) -> &'static str {
        "us"
    }

    fn threads(&self) -> Threads {
        Threads::Asked
    }

    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    fn suits(&self, _: Kind) -> bool {
        true
    }

    fn targets(&self) -> Vec<Target<Kind>> {
        let to = |to, text| Target::new(text, Limit::Ratio { to, threads: None, most: 1.0 / 0.97 });
        vec![to(Kind::Hand, "at least 0.97 x by hand"), to(Kind::Iterators, "at least 0.97 x by iterators")]
    }

    fn sample_with(&self, kind: Kind, threads: usize) -> Sample {
        let program = (self.make)();
        let program = black_box(&program);
        let pool = || anabranch::Pool::builder().threads(threads).build().expect("a pool can be built");
        match kind {
            Kind::Hand => self.measure(program, || program.by_hand(threads)),
            Kind::Iterators => pool().install(|| self.measure(program, || program.with_iterators())),
            Kind::Kernels => {
                let queue = Queue::cpu();
                pool().install(|| self.measure(program, || program.with_kernels(&queue)))
            }
        }
    }
}
