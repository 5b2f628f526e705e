//! Dining philosophers: a deadlock, how to see it, how to survive it, and how to avoid it.
//!
//! ```text
//! cargo run --example philosophers -- --guests 5
//! ```
//!
//! Between any two philosophers is one fork, and a philosopher needs both adjacent forks to eat. At the first dinner
//! all take the left fork first. They do so at the same moment, and each then waits for a neighbour for ever. In a
//! program this happens once a month; the example arranges it. Two things help:
//! - [`anabranch::fiber::fibers`] shows during the deadlock which fiber waits for what, and where;
//! - a deadline ([`Cx::timeout`]) cancels the waits. The functions return and drop their guards, so all forks are free
//!   again.
//!
//! At the second dinner every philosopher takes the fork with the lower number first. Then one can always eat: of all
//! held forks, consider the one with the highest number. Its holder does not wait for a fork with a lower number.

use anabranch::{
    Cancelled, Cx, WaitError,
    pool::FiberInfo,
    sync::{Event, Mutex},
};
use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

const USAGE: &str = "\
usage: philosophers [--guests N] [--meals N] [--seconds N]
  Two dinners of N guests (5), each of whom eats N times (1000) if all goes well, within N seconds (1).";

struct Table {
    forks: Vec<Mutex<()>>,
    order: Order,
    meals: AtomicU64,
    /// The number of philosophers that have taken a fork, and whether all have.
    started: AtomicUsize,
    all_started: Event,
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    LeftFirst,
    LowerFirst,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("philosophers: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let naive = dine(&options, Order::LeftFirst);
    let ordered = dine(&options, Order::LowerFirst);
    // The first dinner always fails.
    if naive.is_err() && ordered.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn dine(options: &Options, order: Order) -> Result<(), WaitError> {
    let table = Table {
        forks: (0..options.guests).map(|_| Mutex::new(())).collect(),
        order,
        meals: AtomicU64::new(0),
        started: AtomicUsize::new(0),
        all_started: Event::new(),
    };
    println!("{}", if order == Order::LeftFirst { "the left fork first:" } else { "the lower number first:" });
    let start = Instant::now();
    let result = anabranch::run(|cx| {
        cx.timeout(options.limit, |cx| {
            cx.scope(|s| {
                let table = &table;
                let guests: Vec<_> = (0..options.guests)
                    .map(|seat| {
                        s.spawn_named(&format!("philosopher {seat}"), move |cx| table.eat(cx, seat, options.meals))
                    })
                    .collect();
                s.spawn_named("waiter", |cx| watch(cx, options.guests));
                for guest in guests {
                    guest.join(s)??;
                }
                // The watching fiber can end.
                s.cancel();
                Ok(())
            })
        })
    });
    let meals = table.meals.load(Ordering::Relaxed);
    match result {
        Ok(()) => println!("  {meals} meals in {:.0?}", start.elapsed()),
        Err(error) => println!("  {meals} meals, and then {error}"),
    }
    let free = table.forks.iter().filter(|fork| fork.try_lock().is_some()).count();
    println!("  {free} of {} forks are free", options.guests);
    result
}

impl Table {
    fn eat(&self, cx: &Cx<'_>, seat: usize, meals: u64) -> Result<(), Cancelled> {
        let (left, right) = (seat, (seat + 1) % self.forks.len());
        let (first, second) = match self.order {
            Order::LeftFirst => (left, right),
            Order::LowerFirst => (left.min(right), left.max(right)),
        };
        for _ in 0..meals {
            let _one = self.forks[first].lock(cx)?;
            if self.order == Order::LeftFirst {
                self.wait_for_the_others(cx)?;
                // A name may contain more than an identity: the list shows that a fiber waits for a lock, but not for
                // which one.
                cx.set_name(&format!("philosopher {seat}, who has fork {first} and wants fork {second}"));
            } else {
                cx.yield_now(); // Or each would eat all its meals in one go.
            }
            let _other = self.forks[second].lock(cx)?;
            self.meals.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Arranges the deadlock: no philosopher continues before all have one fork.
    fn wait_for_the_others(&self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        if self.started.fetch_add(1, Ordering::Relaxed) + 1 == self.forks.len() {
            self.all_started.set();
        }
        self.all_started.wait(cx)
    }
}

/// Looks at the fibers at intervals, and reports when all philosophers wait for a lock.
fn watch(cx: &Cx<'_>, guests: usize) -> Result<(), Cancelled> {
    let is_stuck = |fiber: &FiberInfo| fiber.waits_for() == Some("Mutex::lock");
    loop {
        cx.sleep(Duration::from_millis(10))?;
        let mut fibers = anabranch::fiber::fibers();
        if fibers.iter().filter(|fiber| is_stuck(fiber)).count() == guests {
            fibers.sort_by(|a, b| a.name().cmp(&b.name()));
            for fiber in &fibers {
                println!("  {fiber}");
            }
            return Ok(());
        }
    }
}

struct Options {
    guests: usize,
    meals: u64,
    limit: Duration,
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { guests: 5, meals: 1000, limit: Duration::from_secs(1) };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("guests") => options.guests = parser.value()?.parse()?,
            Long("meals") => options.meals = parser.value()?.parse()?,
            Long("seconds") => options.limit = Duration::from_secs(parser.value()?.parse()?),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if options.guests < 2 || options.meals == 0 {
        return Err("it takes two guests and a meal".into());
    }
    Ok(Some(options))
}
