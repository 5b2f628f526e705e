//! The product of two matrices: a reduction inside a map. Each element of the product gets both matrices.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example matrix_product -- 512
//! ```

use anabranch_kernel::{Error, Vector, indices, kernel, whole};

mod common;

/// Returns an element of the product of two square matrices, which are stored by rows.
#[kernel]
fn element(index: u32, a: &[f32], b: &[f32], side: u32) -> f32 {
    let row = index / side;
    let column = index % side;
    let mut sum = 0.0f32;
    for k in 0..side {
        sum += a[(row * side + k) as usize] * b[(k * side + column) as usize];
    }
    sum
}

fn main() -> Result<(), Error> {
    common::main(512, run)
}

/// Multiplies matrices of `side` x `side` elements on each device.
pub fn run(side: usize) -> Result<String, Error> {
    let elements = side * side;
    let a: Vec<f32> = (0..elements).map(|i| (i % 5) as f32).collect();
    // It moves each column by one.
    let b: Vec<f32> = (0..elements).map(|i| if (i / side + 1) % side == i % side { 1.0 } else { 0.0 }).collect();
    common::table(&format!("the product of two matrices of {side} x {side}"), |cx, queue| {
        let (x, y) = (queue.upload(&a)?, queue.upload(&b)?);
        let product = element::map(indices(elements), whole(&x), whole(&y), side as u32).collect(queue)?;
        let product = product.download(cx)?;
        let moved = |i: usize| a[i / side * side + (i + side - 1) % side];
        Ok(format!("{} wrong elements", (0..elements).filter(|i| product[*i] != moved(*i)).count()))
    })
}
