//! Several devices share some work, in a scope with a deadline. A fiber for each device takes the next part until none
//! is left. If the time is up, all of them stop, and the parts that are done count.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example devices -- 64
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anabranch::Cx;
use anabranch_kernel::{Error, Queue, Vector, indices, kernel};

mod common;

/// The numbers of a part.
const PART: usize = 1 << 14;
const DEADLINE: Duration = Duration::from_secs(5);

/// Returns 1 if a number is prime.
#[kernel]
fn is_prime(index: u32, first: u32) -> u32 {
    let number = first + index;
    let mut prime = 1;
    if number < 2 {
        prime = 0;
    }
    for divisor in 2..number {
        if divisor * divisor > number {
            break;
        }
        let rest = number % divisor;
        if rest == 0 {
            prime = 0;
            break;
        }
    }
    prime
}

fn main() -> Result<(), Error> {
    common::main(64, run)
}

/// Counts the primes in `parts` parts.
pub fn run(parts: usize) -> Result<String, Error> {
    count_within(DEADLINE, parts)
}

/// Counts the primes in `parts` parts, as far as the time allows.
pub fn count_within(deadline: Duration, parts: usize) -> Result<String, Error> {
    let queues: Vec<Queue> = common::devices().iter().map(Queue::open).collect::<Result<_, _>>()?;
    let next = AtomicUsize::new(0);
    let counts: Vec<Mutex<(usize, u32)>> = queues.iter().map(|_| Mutex::default()).collect();
    let (next, shared) = (&next, &counts);
    let outcome = anabranch::run(|cx| {
        cx.timeout(deadline, |cx| {
            let results: Vec<Result<(), Error>> = cx.scope(|s| {
                let spawn = |(queue, count)| s.spawn(move |cx| count_parts(cx, queue, next, parts, count));
                let fibers: Vec<_> = queues.iter().zip(shared).map(spawn).collect();
                fibers.into_iter().map(|fiber| fiber.join(cx).unwrap_or(Err(Error::Cancelled))).collect()
            });
            results.into_iter().collect::<Result<(), Error>>()
        })
    });
    let mut text = format!("primes in {parts} parts of {PART} numbers\n");
    let mut sum = (0, 0);
    for (queue, count) in queues.iter().zip(counts) {
        let (done, primes) = count.into_inner().expect("no fiber panics");
        text += &format!("{:<32} {done:>6} parts {primes:>10} primes\n", queue.device().name());
        sum = (sum.0 + done, sum.1 + primes);
    }
    match outcome {
        Ok(()) => Ok(text + &format!("{} primes below {}\n", sum.1, parts * PART)),
        Err(Error::TimedOut) => Ok(text + &format!("time is up: {} parts of {parts} are done\n", sum.0)),
        Err(error) => Err(error),
    }
}

/// Takes parts until none is left.
fn count_parts(
    cx: &Cx<'_>,
    queue: &Queue,
    next: &AtomicUsize,
    parts: usize,
    count: &Mutex<(usize, u32)>,
) -> Result<(), Error> {
    loop {
        let part = next.fetch_add(1, Ordering::Relaxed);
        if part >= parts {
            return Ok(());
        }
        let primes = is_prime::map(indices(PART), (part * PART) as u32).sum(queue.cancelled_by(cx))?.wait(cx)?;
        let mut count = count.lock().expect("no fiber panics");
        *count = (count.0 + 1, count.1 + primes);
    }
}
