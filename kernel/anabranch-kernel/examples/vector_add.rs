//! Adds two vectors. Nobody chooses a number of blocks or threads: the plan of the device does.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example vector_add -- 10000
//! ```

use anabranch_kernel::{Error, Vector, kernel};

mod common;

#[kernel]
fn add(x: f32, y: f32) -> f32 {
    x + y
}

fn main() -> Result<(), Error> {
    common::main(10_000, run)
}

/// Adds vectors of `len` elements on each device.
pub fn run(len: usize) -> Result<String, Error> {
    let x: Vec<f32> = (0..len).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..len).map(|i| 2.0 * i as f32).collect();
    common::table(&format!("the sum of two vectors of {len} elements"), |cx, queue| {
        let (a, b) = (queue.upload(&x)?, queue.upload(&y)?);
        let sums = add::map(&a, &b).collect(queue)?.download(cx)?;
        let wrong = sums.iter().enumerate().filter(|(i, sum)| **sum != 3.0 * *i as f32).count();
        Ok(format!("{wrong} wrong sums, {}", queue.device().plan(len as u64)))
    })
}
