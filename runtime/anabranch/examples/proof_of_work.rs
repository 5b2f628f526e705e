//! A computation that can be stopped: the search for a number whose hash begins with many zero bits.
//!
//! ```text
//! cargo run --release --example proof_of_work -- --bits 22
//! cargo run --release --example proof_of_work -- --bits 60 --seconds 2
//! ```
//!
//! The search never waits, so it would not notice a cancellation by itself. It checks for one ([`Cx::check`]), and so
//! needs a [`Cx`] in each branch: it forks by [`Cx::join`]. Three events can end it, all by cancelling a scope:
//! - a branch finds a number, and uses a [`CancelHandle`] that all branches share;
//! - a thread outside of the pool uses a copy of it (with `--interactive`, when the standard input ends);
//! - the deadline passes.
//!
//! Another fiber reports the progress of the search. Fibers of one thread take turns only when they wait or yield
//! ([`Cx::yield_now`]). So the search yields too, which costs nanoseconds.

use anabranch::{Cancelled, Cx, WaitError, fiber::CancelHandle};
use std::{
    fmt::Write,
    io::{self, Read},
    ops::Range,
    process::ExitCode,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const USAGE: &str = "\
usage: proof_of_work [--bits N] [--seconds N] [--interactive] [TEXT]
  Looks for a number such that the BLAKE3 hash of TEXT (\"anabranch\") with the number after it begins with N zero
  bits (20), for at most so many seconds (60); with --interactive, until the standard input ends (Ctrl-D) at most.";

/// Hashes between two checks: a fraction of a millisecond.
const STEP: u64 = 1024;

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("proof_of_work: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let search = Search { text: options.text, bits: options.bits, found: OnceLock::new(), tried: AtomicU64::new(0) };
    let in_time = anabranch::run(|cx| cx.timeout(options.limit, |cx| search.run(cx, options.is_interactive)));

    let tried = search.tried.into_inner();
    let speed = tried as f64 / 1e6 / start.elapsed().as_secs_f64();
    println!("{tried} numbers tried, {speed:.1} million a second");
    match (search.found.into_inner(), in_time) {
        (Some(number), _) => {
            let text = format!("{}{number}", search.text);
            println!("{}  {text}", blake3::hash(text.as_bytes()));
            ExitCode::SUCCESS
        }
        (None, Ok(())) => {
            eprintln!("proof_of_work: interrupted");
            ExitCode::FAILURE
        }
        (None, Err(error)) => {
            eprintln!("proof_of_work: nothing found, and {error}");
            ExitCode::FAILURE
        }
    }
}

struct Search {
    text: String,
    bits: u32,
    found: OnceLock<u64>,
    tried: AtomicU64,
}

impl Search {
    /// Searches until a number is found or the user stops the search. Fails when the scope around it is cancelled.
    fn run(&self, cx: &Cx<'_>, is_interactive: bool) -> Result<(), WaitError> {
        cx.cancellable(|cx, handle| {
            if is_interactive {
                let handle = handle.clone();
                thread::spawn(move || {
                    let _ = io::stdin().read_to_end(&mut Vec::new());
                    handle.cancel();
                });
            }
            cx.scope(|s| {
                s.spawn(|cx| self.report(cx));
                // The result only says that the search was cancelled, which always happens, because the numbers never
                // run out.
                s.spawn(|cx| self.look_in(cx, 0..u64::MAX, &handle));
            });
        });
        Ok(cx.check()?)
    }

    /// Halves the range and forks: idle threads take the largest halves, and this thread tries the rest in order.
    fn look_in(&self, cx: &Cx<'_>, numbers: Range<u64>, handle: &CancelHandle) -> Result<(), Cancelled> {
        // In each node, not only in the leaves: this prevents the second halves from starting.
        cx.check()?;
        if numbers.end - numbers.start <= STEP {
            cx.yield_now();
            self.tried.fetch_add(numbers.end - numbers.start, Ordering::Relaxed);
            if let Some(number) = self.try_all(numbers) {
                let _ = self.found.set(number);
                handle.cancel();
            }
            return Ok(());
        }
        let middle = numbers.start.midpoint(numbers.end);
        let (low, high) = cx.join(
            |cx| self.look_in(cx, numbers.start..middle, handle),
            |cx| self.look_in(cx, middle..numbers.end, handle),
        );
        low.and(high)
    }

    fn try_all(&self, mut numbers: Range<u64>) -> Option<u64> {
        let mut text = self.text.clone();
        numbers.find(|number| {
            text.truncate(self.text.len());
            write!(text, "{number}").expect("a string takes everything");
            let hash = blake3::hash(text.as_bytes());
            let beginning = hash.as_bytes().first_chunk().copied().map_or(0, u64::from_be_bytes);
            beginning.leading_zeros() >= self.bits
        })
    }

    fn report(&self, cx: &Cx<'_>) -> Result<(), Cancelled> {
        let mut seconds = cx.interval(Duration::from_secs(1));
        loop {
            seconds.tick(cx)?;
            eprintln!("{} numbers tried", self.tried.load(Ordering::Relaxed));
        }
    }
}

struct Options {
    text: String,
    bits: u32,
    limit: Duration,
    is_interactive: bool,
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let limit = Duration::from_secs(60);
    let mut options = Options { text: "anabranch".into(), bits: 20, limit, is_interactive: false };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(text) => options.text = text.string()?,
            Long("bits") => options.bits = parser.value()?.parse()?,
            Long("seconds") => options.limit = Duration::from_secs(parser.value()?.parse()?),
            Long("interactive") => options.is_interactive = true,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if options.bits > 64 {
        return Err("--bits can be 64 at most".into());
    }
    Ok(Some(options))
}
