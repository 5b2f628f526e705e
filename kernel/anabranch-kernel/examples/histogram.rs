//! How evenly a hash function spreads numbers: a histogram of values that are never stored.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example histogram -- 1000000
//! ```

use std::fmt::Write as _;

use anabranch_kernel::{DeviceVec, Error, Queue, Vector, indices, kernel};

mod common;

const BINS: usize = 16;

/// Returns the bin of a number: the upper bits of a product, after a shift of the number onto itself.
#[kernel]
fn bin(number: u32, bins: u32) -> u32 {
    let mixed = (number ^ (number >> 15)).wrapping_mul(0x9e37_79b9);
    (mixed >> 16) % bins
}

fn main() -> Result<(), Error> {
    common::main(1_000_000, run)
}

/// Counts the bins of `len` numbers on each device, and draws the counts of the processor.
pub fn run(len: usize) -> Result<String, Error> {
    let mut text = common::table(&format!("{len} numbers in {BINS} bins"), |cx, queue| {
        let counts = counts(len, queue)?.download(cx)?;
        Ok(format!("{} to {}", counts.iter().min().unwrap_or(&0), counts.iter().max().unwrap_or(&0)))
    })?;
    let counts = anabranch::run(|cx| counts(len, &Queue::cpu())?.download(cx))?;
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    for (bin, count) in counts.iter().enumerate() {
        let bar = "#".repeat((60 * u64::from(*count) / u64::from(most)) as usize);
        let _ = writeln!(text, "{bin:>3} {count:>10} {bar}");
    }
    Ok(text)
}

fn counts(len: usize, queue: &Queue) -> Result<DeviceVec<u32>, Error> {
    bin::map(indices(len), BINS as u32).histogram(queue, BINS)
}
