//! Random programs of fibers that use channels: trees of joins, scopes, spawns, timeouts, cancellations and panics.
//! The leaves send and receive, one value at a time, in batches, by selection and as sets. Channels are created and
//! closed anywhere in the tree.
//!
//! Each program ends. Each sent value is received once or is still in its channel. A receiver gets the values of one
//! sender in the order of sending. Every value is dropped once. A guardian closes each channel after a while, so no
//! wait is endless.
//!
//! As in `fiber::random_programs`, `ANABRANCH_SEED` runs one program repeatedly, and `ANABRANCH_SOAK` is the number of
//! seconds to run.

mod world;

use crate::common::{self, Counted, LONG, Random, Tally, fibers::until, watchdog};
use anabranch::{Cancelled, Cx, JoinError, Pool, WaitError, channel};
use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind},
    sync::Arc,
    thread,
    time::Duration,
};
use world::{Book, Line, Receives, Sends, World};

/// A channel is named by a number, modulo the number of channels.
enum Program {
    Send(usize, Sends, u64),
    Receive(usize, Receives, u64),
    /// Sends to the first or receives from the second.
    Select(usize, usize, u64),
    Set(Vec<usize>, u64),
    Close(usize),
    Yield,
    /// A stream, or a one-shot channel, whose ends are two halves of a join.
    Stream(Option<usize>, u64),
    Reply(bool),
    /// One sender and so many receivers.
    Watch(u64, u64),
    Broadcast(usize, u64, u64),
    Sequence(Vec<Program>),
    Join(Box<(Program, Program)>),
    Scope(Vec<Program>),
    /// A spawned fiber, which is joined, and sometimes cancelled.
    Spawn(Arc<Program>, bool),
    /// A channel of this capacity, closed after so many microseconds.
    Channel(Option<usize>, u64, Box<Program>),
    Timeout(u64, Box<Program>),
    /// The scope is cancelled from within when the first has ended, while the second runs.
    Cancel(Box<(Program, Program)>),
    Panic,
    Catch(Box<Program>),
}

impl Program {
    fn new(random: &mut Random, depth: u64) -> Self {
        let at = random.below(4) as usize;
        let count = random.below(8);
        let kind = random.below(if depth == 0 { 13 } else { 26 });
        let inner = |random: &mut Random| Box::new(Self::new(random, depth - 1));
        match kind {
            0..=2 => {
                let kinds = [Sends::Wait, Sends::Wait, Sends::AtOnce, Sends::Briefly, Sends::Async, Sends::Permit];
                Self::Send(at, kinds[random.below(6) as usize], count)
            }
            3..=5 => {
                use Receives::*;
                Self::Receive(at, [Wait, Wait, AtOnce, Briefly, Async, Many][random.below(6) as usize], count)
            }
            6 => Self::Select(at, random.below(4) as usize, count),
            7 => Self::Set((0..random.below(4)).map(|_| random.below(4) as usize).collect(), count),
            8 if random.below(3) == 0 => Self::Close(at),
            8 => Self::Yield,
            9 => Self::Stream([None, Some(1), Some(3)][random.below(3) as usize], count),
            10 => Self::Reply(random.below(2) == 0),
            11 => Self::Watch(random.below(4), count),
            12 => Self::Broadcast(1 + random.below(4) as usize, random.below(4), count),
            13 => Self::Sequence((0..random.below(4)).map(|_| *inner(random)).collect()),
            14..=16 => Self::Join(Box::new((*inner(random), *inner(random)))),
            17 | 18 => Self::Scope((0..random.below(5)).map(|_| *inner(random)).collect()),
            19 => Self::Spawn(inner(random).into(), random.below(3) == 0),
            20 | 21 => {
                let capacity = [None, Some(0), Some(1), Some(3)][random.below(4) as usize];
                Self::Channel(capacity, random.below(400), inner(random))
            }
            22 => Self::Timeout(random.below(300), inner(random)),
            23 => Self::Cancel(Box::new((*inner(random), *inner(random)))),
            24 if random.below(2) == 0 => Self::Panic,
            _ => Self::Catch(inner(random)),
        }
    }
}

/// The payload of the panics of a program.
struct Payload(#[expect(dead_code, reason = "to be dropped")] Counted);

impl World {
    /// Runs what is inside with one more channel.
    fn with_channel(
        &self,
        cx: &Cx<'_>,
        capacity: Option<usize>,
        micros: u64,
        inner: &Program,
    ) -> Result<(), Cancelled> {
        let (sender, receiver) = match capacity {
            None => channel::unbounded(),
            Some(0) => channel::rendezvous(),
            Some(capacity) => channel::bounded(capacity),
        };
        let line = Line { sender, receiver, book: Arc::default() };
        let mut world = self.clone();
        world.lines.push(line.clone());
        let (result, ()) = cx.join(
            |cx| world.run(cx, inner),
            |cx| {
                let _ = cx.shield(|cx| cx.sleep(Duration::from_micros(micros)));
                line.receiver.close();
            },
        );
        let Book { sent, perhaps, mut received } = std::mem::take(&mut *line.book.lock().unwrap());
        for parcel in line.receiver.drain() {
            assert!(received.insert((parcel.leaf, parcel.number)), "received twice");
        }
        assert!(sent.is_subset(&received), "lost");
        assert!(received.iter().all(|name| sent.contains(name) || perhaps.contains(name)), "received and not sent");
        result
    }

    fn run(&self, cx: &Cx<'_>, program: &Program) -> Result<(), Cancelled> {
        let result = self.step(cx, program);
        assert!(result.is_ok() || cx.is_cancelled() || thread::panicking(), "only the cancelled are cancelled");
        result
    }

    fn step(&self, cx: &Cx<'_>, program: &Program) -> Result<(), Cancelled> {
        match program {
            Program::Send(at, how, count) => self.send(cx, *at, *how, *count),
            Program::Receive(at, how, count) => self.receive(cx, *at, *how, *count),
            Program::Select(to, from, count) => self.select(cx, *to, *from, *count),
            Program::Set(members, count) => self.set(cx, members, *count),
            Program::Close(at) => {
                self.line(*at).1.sender.close();
                Ok(())
            }
            Program::Yield => {
                cx.yield_now();
                Ok(())
            }
            Program::Stream(capacity, count) => self.stream(cx, *capacity, *count),
            Program::Reply(is_sent) => self.reply(cx, *is_sent),
            Program::Watch(watchers, count) => self.watch(cx, *watchers, *count),
            Program::Broadcast(capacity, listeners, count) => self.broadcast(cx, *capacity, *listeners, *count),
            Program::Sequence(all) => all.iter().try_for_each(|program| self.run(cx, program)),
            Program::Join(both) => {
                let (a, b) = cx.join(|cx| self.run(cx, &both.0), |cx| self.run(cx, &both.1));
                a.and(b)
            }
            Program::Scope(children) => {
                cx.scope(|s| {
                    for child in children {
                        s.spawn(move |cx| self.run(cx, child).map(|()| self.tally.make()));
                    }
                });
                cx.check()
            }
            Program::Spawn(inner, is_cancelled) => {
                let (world, inner) = (self.clone(), Arc::clone(inner));
                let handle = anabranch::spawn(move |cx| (world.run(cx, &inner), world.tally.make()));
                if *is_cancelled || cx.is_cancelled() {
                    handle.cancel();
                }
                // Whatever is cancelled here: the channels are there for as long as it uses them.
                match cx.shield(|cx| handle.join(cx)) {
                    Ok(_) => {}
                    Err(JoinError::Panicked(panic)) => resume_unwind(panic),
                    Err(_) => return cx.check(),
                }
                cx.check()
            }
            Program::Channel(capacity, micros, inner) => self.with_channel(cx, *capacity, *micros, inner),
            Program::Timeout(micros, inner) => {
                match cx.timeout(Duration::from_micros(*micros), |cx| Ok(self.run(cx, inner)?)) {
                    Ok(()) | Err(WaitError::TimedOut) => Ok(()),
                    Err(WaitError::Cancelled) => Err(Cancelled),
                }
            }
            Program::Cancel(both) => {
                let _ = cx.cancellable(|cx, canceller| {
                    cx.join(
                        |cx| {
                            let _ = self.run(cx, &both.0);
                            canceller.cancel();
                        },
                        |cx| self.run(cx, &both.1),
                    )
                });
                Ok(())
            }
            Program::Panic => panic_any(Payload(self.tally.make())),
            Program::Catch(inner) => match catch_unwind(AssertUnwindSafe(|| self.run(cx, inner))) {
                Ok(result) => result,
                Err(panic) => {
                    drop(panic.downcast::<Payload>().unwrap_or_else(|panic| resume_unwind(panic)));
                    Ok(())
                }
            },
        }
    }
}

/// Runs one program.
fn run_seed(pools: &[Pool], seed: u64) {
    let run = || {
        watchdog(LONG, || {
            let random = &mut Random(seed);
            let depth = 2 + random.below(5);
            let program = Program::new(random, depth);
            let pool = &pools[random.below(pools.len() as u64) as usize];
            let capacity = [None, Some(0), Some(1), Some(2)][random.below(4) as usize];
            let micros = random.below(600);
            let world = World { tally: Tally::default(), lines: Vec::new(), leaves: Arc::default() };
            let body = || pool.run(|cx| world.with_channel(cx, capacity, micros, &program));
            match catch_unwind(AssertUnwindSafe(body)) {
                Ok(result) => assert_eq!(result, Ok(()), "nobody cancels the whole"),
                Err(panic) => drop(panic.downcast::<Payload>().unwrap_or_else(|panic| resume_unwind(panic))),
            }
            // The fiber that was woken last may still hold a value.
            until(|| world.tally.made() == world.tally.dropped());
        });
    };
    let name = format!("seed {seed}");
    thread::scope(|s| thread::Builder::new().name(name).spawn_scoped(s, run).unwrap().join().unwrap());
}

#[test]
fn random_programs_lose_and_repeat_nothing() {
    common::silence_panics_with::<Payload>();
    let pools = [1, 2, 8].map(common::pool);
    let programs = common::each_seed(1500, |seed| run_seed(&pools, seed));
    println!("{programs} programs");
}
