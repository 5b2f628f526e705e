//! A computation that knows when to stop: the search for a number whose hash begins with many zero bits.
//!
//! ```text
//! cargo run --release --example proof_of_work -- --bits 22
//! cargo run --release --example proof_of_work -- --bits 60 --seconds 2
//! ```
//!
//! Nothing in the search waits, so nothing in it would notice that it is not wanted any more. It asks
//! ([`Cx::check`]), and so it needs a [`Cx`] in each branch: it forks by [`Cx::join`]. Three things can end it, and
//! all do so by cancelling a scope:
//! - whoever finds a number, by a [`CancelHandle`] that all share;
//! - a thread that knows nothing of fibers and was given a copy (with `--interactive`, when the standard input ends);
//! - the deadline.
//!
//! Another fiber reports how far the search has come. Fibers of one thread take turns only where they wait or say
//! that they would let others go first ([`Cx::yield_now`]), so the search does that too; it costs nanoseconds.

use anabranch::{CancelHandle, Cancelled, Cx, WaitError};
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

/// Hashes between two questions: a fraction of a millisecond.
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
    /// Until something is found or whoever watches has enough of it; fails when the scope around it is cancelled.
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
                // Its result says only that it was cancelled, which it is in any case: there are numbers enough.
                s.spawn(|cx| self.look_in(cx, 0..u64::MAX, &handle));
            });
        });
        Ok(cx.check()?)
    }

    /// Halves what there is to try, and forks: idle threads take the biggest halves, the rest is tried in order.
    fn look_in(&self, cx: &Cx<'_>, numbers: Range<u64>, handle: &CancelHandle) -> Result<(), Cancelled> {
        // In each node, not only in the leaves: this is what keeps the second halves from beginning.
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

/// `None`: help is wanted.
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
