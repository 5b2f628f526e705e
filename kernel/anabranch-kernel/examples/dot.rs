//! The dot product: a map and a reduction, which run as one loop.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example dot -- 10000000
//! ```

use anabranch_kernel::{Error, Vector, kernel};

mod common;

#[kernel]
fn multiply(x: f32, y: f32) -> f32 {
    x * y
}

fn main() -> Result<(), Error> {
    common::main(10_000_000, run)
}

/// Computes the dot product of vectors of `len` elements on each device.
pub fn run(len: usize) -> Result<String, Error> {
    // Small whole numbers, and their signs alternate: each sum is exact, in every order.
    let x: Vec<f32> = (0..len).map(|i| (i % 8) as f32).collect();
    let y: Vec<f32> = (0..len).map(|i| if i % 16 < 8 { 1.0 } else { -1.0 }).collect();
    common::table(&format!("the dot product of two vectors of {len} elements"), |cx, queue| {
        let (a, b) = (queue.upload(&x)?, queue.upload(&y)?);
        let product = multiply::map(&a, &b).sum(queue)?.wait(cx)?;
        Ok(format!("{product}"))
    })
}
