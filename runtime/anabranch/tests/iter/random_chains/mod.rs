//! Random chains of adapters, with a random source and a random end, against the same chain of plain iterators.
//!
//! The random numbers are the same in each run. `ANABRANCH_SOAK=60` goes on with further ones for 60 seconds.

mod ends;
mod erased;
mod sources;
mod steps;
mod value;

use self::{
    ends::{ENDS, End},
    sources::{Data, SOURCES, Source},
    steps::{Arg, STEPS, Step},
    value::{Burnt, World},
};
use crate::{
    common::{LONG, Random, silence_panics_with, watchdog},
    harness::pools,
};
use proptest::{
    prelude::*,
    sample::select,
    test_runner::{Config, RngSeed, TestCaseResult, TestRunner},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

/// A chain with more items ends early.
const MAX_LEN: usize = 12_000;

/// A random program.
#[derive(Debug, Clone)]
struct Program {
    len: usize,
    /// Numbers are less than this.
    bound: u64,
    seed: u64,
    source: (&'static Source, usize),
    steps: Vec<(&'static Step, usize)>,
    end: (&'static End, usize),
    /// The index of a pool, or the number of pools: then it runs on a thread outside of pools.
    pool: usize,
}

fn programs() -> impl Strategy<Value = Program> {
    let len = || prop_oneof![4 => 0..4usize, 6 => 0..70usize, 4 => 0..700usize, 1 => 0..5000usize];
    // Often a cut, as only there parts run in all orders.
    let cut = STEPS.iter().find(|step| step.name == "cut").expect("a step");
    let step = (prop_oneof![5 => select(STEPS.iter().collect::<Vec<_>>()), 1 => Just(cut)], len());
    let source = (select(SOURCES.iter().collect::<Vec<_>>()), len());
    let end = (select(ENDS.iter().collect::<Vec<_>>()), len());
    let bound = select(vec![1, 5, 50, 100_000]);
    let pool = 0..=pools().len();
    (len(), bound, any::<u64>(), source, prop::collection::vec(step, 0..=5), end, pool)
        .prop_map(|(len, bound, seed, source, steps, end, pool)| Program { len, bound, seed, source, steps, end, pool })
}

impl Program {
    fn args(&self, world: &Arc<World>) -> Vec<Arg> {
        let mut random = Random(self.seed);
        let numbers = self.steps.iter().map(|(_, n)| *n).chain([self.end.1]);
        numbers.map(|n| Arg { n, seed: random.next(), world: Arc::clone(world) }).collect()
    }

    fn data(&self, world: &Arc<World>) -> Data {
        let mut random = Random(self.seed);
        let numbers: Vec<u64> = (0..self.len).map(|_| random.below(self.bound)).collect();
        Data::new(&numbers, self.source.1, self.seed, world)
    }

    /// Returns the result of plain iterators, and the number of steps before there are too many items.
    fn run_plain(&self) -> (String, usize) {
        let world = World::new(None);
        let args = self.args(&world);
        let mut items = (self.source.0.plain)(&self.data(&world));
        let mut count = 0;
        for ((step, _), arg) in self.steps.iter().zip(&args) {
            if items.len() > MAX_LEN {
                break;
            }
            items = (step.plain)(items.into_iter(), arg);
            count += 1;
        }
        ((self.end.0.plain)(items.into_iter(), &args[self.steps.len()]), count)
    }

    fn run_parallel(&self, count: usize, world: &Arc<World>) -> String {
        let (data, args) = (self.data(world), self.args(world));
        let run = || {
            let source = (self.source.0.parallel)(&data);
            let steps = self.steps[..count].iter().zip(&args);
            let chain = steps.fold(source, |chain, ((step, _), arg)| (step.parallel)(chain, arg));
            (self.end.0.parallel)(chain, &args[self.steps.len()])
        };
        match pools().get(self.pool) {
            Some(pool) => pool.install(run),
            None => run(),
        }
    }
}

/// Checks random programs: `cases` of them, and more for as many seconds as `ANABRANCH_SOAK` says.
fn check<S: Strategy>(cases: u32, strategy: S, check: impl Fn(S::Value) -> TestCaseResult) {
    let soak = std::env::var("ANABRANCH_SOAK").map_or(0, |seconds| seconds.parse().expect("seconds"));
    let start = Instant::now();
    watchdog(LONG + Duration::from_secs(soak), || {
        for seed in 0.. {
            let config = Config {
                cases,
                failure_persistence: None,
                max_shrink_iters: 2000,
                rng_seed: RngSeed::Fixed(seed),
                ..Config::default()
            };
            if let Err(error) = TestRunner::new(config).run(&strategy, &check) {
                panic!("{error}");
            }
            if start.elapsed() >= Duration::from_secs(soak) {
                break;
            }
        }
    });
}

#[test]
fn random_chains_return_what_plain_iterators_return() {
    check(5000, programs(), |program| {
        let (plain, count) = program.run_plain();
        let world = World::new(None);
        let parallel = program.run_parallel(count, &world);
        prop_assert_eq!(parallel, plain);
        world.assert_empty();
        Ok(())
    });
}

#[test]
fn panic_anywhere_in_a_random_chain_drops_each_item_once() {
    silence_panics_with::<Burnt>();
    let fuse = prop_oneof![0..20usize, 0..300usize, 0..10_000usize];
    check(4000, (programs(), fuse), |(program, fuse)| {
        let (plain, count) = program.run_plain();
        let world = World::new(Some(fuse));
        match catch_unwind(AssertUnwindSafe(|| program.run_parallel(count, &world))) {
            Ok(parallel) => {
                prop_assert!(!world.has_burnt(), "a panic got lost");
                prop_assert_eq!(parallel, plain);
            }
            Err(payload) if payload.is::<Burnt>() => {}
            Err(payload) => resume_unwind(payload),
        }
        world.assert_empty();
        Ok(())
    });
}
