//! Random programs of fibers: trees of joins, scopes, spawns, sleeps, timeouts, cancellations and panics, on pools of
//! several sizes. Each ends, returns the right result, and leaks nothing.
//!
//! A program is generated from a seed, which the name of the thread shows. `ANABRANCH_SEED` runs that program
//! repeatedly. `ANABRANCH_SOAK` is the number of seconds to run.

use crate::common::{
    self, Counted, LONG, Random, Tally,
    fibers::{Meeting, until},
    watchdog,
};
use anabranch::{Cancelled, Cx, JoinError, Pool, WaitError, fiber::FiberLocal};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

enum Program {
    /// Its number counts for the result.
    Leaf(u64),
    Yield,
    Sleep(u64),
    Compute(u64),
    Local,
    Meet(usize),
    Sequence(Vec<Program>),
    Join(Box<(Program, Program)>),
    /// The body, the children, and whether they are joined one by one.
    Scope(Box<Program>, Vec<Program>, bool),
    /// A fiber of its own, which is joined.
    Spawn(Arc<Program>),
    Map(u64, Box<Program>),
    Shield(Box<Program>),
    InRun(Box<Program>),
    InAnotherPool(Box<Program>),
    Future(Box<Program>),
    /// From here on the result depends on luck.
    Race(Vec<Program>),
    Timeout(u64, Box<Program>),
    /// The scope is cancelled from within by the first, while it runs the second.
    Cancel(Box<Program>, Box<Program>),
    Detach(Arc<Program>),
    Panic,
    Catch(Box<Program>),
    /// A guard that tries to wait when it is dropped.
    Guard(Box<Program>),
}

impl Program {
    fn new(random: &mut Random, depth: u64, is_tame: bool) -> Self {
        let kinds = match (depth, is_tame) {
            (0, _) => 7,
            (_, true) => 16,
            (_, false) => 25,
        };
        let kind = random.below(kinds);
        let inner = |random: &mut Random| Self::new(random, depth - 1, is_tame);
        match kind {
            0 | 1 => Self::Leaf(random.below(100)),
            2 => Self::Yield,
            3 => Self::Sleep(random.below(100)),
            4 => Self::Compute(random.below(200)),
            5 => Self::Local,
            6 => Self::Meet(random.below(4) as usize),
            7 | 8 => Self::Join(Box::new((inner(random), inner(random)))),
            9 | 10 => {
                let body = inner(random);
                let children = (0..random.below(4)).map(|_| inner(random)).collect();
                Self::Scope(Box::new(body), children, random.below(2) == 0)
            }
            11 => Self::Spawn(Arc::new(inner(random))),
            12 => Self::Map(random.below(5), Box::new(inner(random))),
            13 => Self::Sequence((0..random.below(4)).map(|_| inner(random)).collect()),
            14 => match random.below(4) {
                0 => Self::InRun(Box::new(inner(random))),
                1 => Self::InAnotherPool(Box::new(inner(random))),
                _ => Self::Future(Box::new(inner(random))),
            },
            15 => Self::Shield(Box::new(inner(random))),
            16 => Self::Race((0..=random.below(3)).map(|_| inner(random)).collect()),
            17 | 18 => Self::Timeout(random.below(300), Box::new(inner(random))),
            19 => Self::Cancel(Box::new(inner(random)), Box::new(inner(random))),
            20 => Self::Detach(Arc::new(inner(random))),
            21 => Self::Panic,
            22 | 23 => Self::Catch(Box::new(inner(random))),
            _ => Self::Guard(Box::new(inner(random))),
        }
    }

    /// What a tame program comes to.
    fn value(&self) -> u64 {
        match self {
            Self::Leaf(n) => *n,
            Self::Compute(n) => n * (n + 1) / 2,
            Self::Meet(rounds) => *rounds as u64,
            Self::Sequence(all) => all.iter().map(Self::value).sum(),
            Self::Join(both) => both.0.value() + both.1.value(),
            Self::Scope(body, children, _) => body.value() + children.iter().map(Self::value).sum::<u64>(),
            Self::Spawn(inner) => inner.value(),
            Self::Map(count, inner) => count * inner.value(),
            Self::Shield(inner) | Self::InRun(inner) | Self::InAnotherPool(inner) | Self::Future(inner) => {
                inner.value()
            }
            _ => 0,
        }
    }
}

static LOCAL: FiberLocal<Cell<Option<Counted>>> = FiberLocal::new(|| Cell::new(None));

/// What all of a program share.
#[derive(Clone)]
struct World {
    tally: Tally,
    other: Arc<Pool>,
    /// Whether anything may happen.
    is_tame: bool,
}

/// Our panics.
struct Payload(#[expect(dead_code, reason = "to be dropped")] Counted);

struct Guard<'a, 'b>(&'a Cx<'b>, &'a World);

impl Drop for Guard<'_, '_> {
    fn drop(&mut self) {
        let Self(cx, world) = self;
        cx.yield_now();
        let _ = cx.sleep(Duration::from_micros(10));
        let value = world.tally.make();
        cx.scope(|s| {
            s.spawn(|cx| {
                assert!(!thread::panicking());
                let _ = cx.sleep(Duration::from_micros(10));
                drop(value);
            });
        });
        cx.join(|cx| cx.yield_now(), |cx| cx.yield_now());
    }
}

impl World {
    fn run(&self, cx: &Cx<'_>, program: &Program) -> Result<u64, Cancelled> {
        let _value = self.tally.make();
        let result = self.step(cx, program);
        assert!(result.is_ok() || !self.is_tame, "nobody cancels in a tame program");
        assert!(result.is_ok() || cx.is_cancelled() || thread::panicking(), "only the cancelled are cancelled");
        result
    }

    fn step(&self, cx: &Cx<'_>, program: &Program) -> Result<u64, Cancelled> {
        Ok(match program {
            Program::Leaf(n) => *n,
            Program::Yield => {
                cx.yield_now();
                0
            }
            Program::Sleep(micros) => cx.sleep(Duration::from_micros(*micros)).map(|()| 0)?,
            Program::Compute(n) => common::sum_to(*n),
            Program::Local => {
                LOCAL.get(cx).set(Some(self.tally.make()));
                0
            }
            Program::Meet(rounds) => {
                let (one, two) = Meeting::pair(*rounds);
                let (a, b) = cx.join(|cx| one.attend(cx), |cx| two.attend(cx));
                a.and(b)? as u64
            }
            Program::Sequence(all) => {
                let mut sum = 0;
                for program in all {
                    sum += self.run(cx, program)?;
                }
                sum
            }
            Program::Join(both) => {
                let (a, b) = cx.join(|cx| self.run(cx, &both.0), |cx| self.run(cx, &both.1));
                a? + b?
            }
            Program::Scope(body, children, are_joined) => {
                let sum = AtomicU64::new(0);
                let result = cx.scope(|s| {
                    let mut handles = Vec::new();
                    for program in children {
                        let sum = &sum;
                        handles.push(s.spawn(move |cx| {
                            let result = self.run(cx, program);
                            sum.fetch_add(result.unwrap_or(0), Ordering::Relaxed);
                            result.map(|_| self.tally.make())
                        }));
                    }
                    let own = self.run(s, body);
                    if *are_joined {
                        for handle in handles {
                            drop(handle.join(s)??);
                        }
                    }
                    own
                });
                result? + sum.into_inner()
            }
            Program::Spawn(inner) => {
                let (world, inner) = (self.clone(), Arc::clone(inner));
                let handle = anabranch::spawn(move |cx| (world.run(cx, &inner), world.tally.make()));
                match handle.join(cx) {
                    Ok((result, _value)) => result.expect("nobody cancels a fiber of its own while its pool goes on"),
                    Err(JoinError::Panicked(panic)) => resume_unwind(panic),
                    Err(_) => return Err(Cancelled),
                }
            }
            Program::Map(count, inner) => {
                let all = cx.map_concurrent(2, 0..*count, |cx, _| {
                    self.run(cx, inner).map(|value| (value, self.tally.make()))
                })?;
                all.iter().map(|(value, _)| value).sum()
            }
            Program::Shield(inner) => cx.shield(|cx| self.run(cx, inner))?,
            Program::InRun(inner) => anabranch::run(|cx| self.run(cx, inner))?,
            Program::InAnotherPool(inner) => self.other.run(|cx| self.run(cx, inner))?,
            Program::Future(inner) => {
                let mut is_first = true;
                let value = self.tally.make();
                cx.block_on(std::future::poll_fn(move |context| {
                    let _value = &value;
                    if !std::mem::replace(&mut is_first, false) {
                        return std::task::Poll::Ready(());
                    }
                    context.waker().wake_by_ref();
                    std::task::Poll::Pending
                }))?;
                self.run(cx, inner)?
            }
            Program::Race(racers) => {
                let racer = |cx: &Cx<'_>, program| self.run(cx, program).map(|value| (value, self.tally.make()));
                cx.race_iter(racers.iter(), racer).expect("there is one")?.0
            }
            Program::Timeout(micros, inner) => {
                let body = |cx: &Cx<'_>| Ok((self.run(cx, inner)?, self.tally.make()));
                match cx.timeout(Duration::from_micros(*micros), body) {
                    Ok((_, _value)) => {}
                    Err(WaitError::TimedOut) => {}
                    Err(WaitError::Cancelled) => return Err(Cancelled),
                }
                0
            }
            Program::Cancel(first, second) => {
                let _ = cx.cancellable(|cx, canceller| {
                    cx.join(
                        |cx| {
                            let _ = self.run(cx, first);
                            canceller.cancel();
                            assert!(cx.is_cancelled());
                        },
                        |cx| self.run(cx, second),
                    )
                });
                0
            }
            Program::Detach(inner) => {
                let (world, inner) = (self.clone(), Arc::clone(inner));
                let handle = anabranch::spawn(move |cx| (world.run(cx, &inner).ok(), world.tally.make()));
                if Arc::strong_count(&self.other).is_multiple_of(2) {
                    handle.cancel();
                }
                0
            }
            Program::Panic => panic_any(Payload(self.tally.make())),
            Program::Catch(inner) => {
                let outcome = catch_unwind(AssertUnwindSafe(|| self.run(cx, inner)));
                match outcome {
                    Ok(result) => drop(result?),
                    Err(panic) => drop(panic.downcast::<Payload>().unwrap_or_else(|panic| resume_unwind(panic))),
                }
                0
            }
            Program::Guard(inner) => {
                let _guard = Guard(cx, self);
                self.run(cx, inner)?;
                0
            }
        })
    }
}

/// Runs one program.
fn run_seed(pools: &[Pool], other: &Arc<Pool>, seed: u64) {
    let name = format!("seed {seed}");
    let run = || {
        watchdog(LONG, || {
            let random = &mut Random(seed);
            let (is_tame, depth) = (random.below(3) == 0, 2 + random.below(5));
            let program = Arc::new(Program::new(random, depth, is_tame));
            let pool = &pools[random.below(pools.len() as u64) as usize];
            let world = World { tally: Tally::default(), other: Arc::clone(other), is_tame };
            let outcome = if random.below(2) == 0 {
                let (world, program) = (world.clone(), Arc::clone(&program));
                let handle = pool.spawn(move |cx| world.run(cx, &program));
                match pool.run(|cx| handle.join(cx)) {
                    Ok(result) => Ok(result),
                    Err(JoinError::Panicked(panic)) => Err(panic),
                    Err(error) => panic!("{error}"),
                }
            } else {
                catch_unwind(AssertUnwindSafe(|| pool.run(|cx| world.run(cx, &program))))
            };
            match outcome {
                Ok(result) if is_tame => assert_eq!(result, Ok(program.value())),
                Ok(_) => {}
                Err(panic) => {
                    let is_ours = panic.is::<Payload>();
                    if !is_ours {
                        resume_unwind(panic);
                    }
                    assert!(!is_tame);
                }
            }
            // What was detached may still be under way.
            until(|| world.tally.made() == world.tally.dropped());
        });
    };
    thread::scope(|s| thread::Builder::new().name(name).spawn_scoped(s, run).unwrap().join().unwrap());
}

#[test]
fn random_programs_end_and_leak_nothing() {
    common::silence_panics_with::<Payload>();
    let build = |threads, without_membarrier| {
        let builder = Pool::builder().threads(threads);
        if without_membarrier { builder.without_membarrier() } else { builder }.build().unwrap()
    };
    let pools = [build(1, false), build(2, false), build(8, false), build(1, true), build(2, true), build(8, true)];
    let other = Arc::new(build(2, false));
    let programs = common::each_seed(2000, |seed| run_seed(&pools, &other, seed));
    for pool in &pools {
        assert_eq!(pool.install(|| common::sum_to(1000)), 500_500);
    }
    println!("{programs} programs");
}
