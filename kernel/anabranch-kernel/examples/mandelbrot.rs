//! The Mandelbrot set as a picture in the portable pixmap format. Two kernels, one for the steps of a point and one for
//! its colour, run as one loop.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example mandelbrot -- 1024 mandelbrot.ppm
//! ```

use std::fs;

use anabranch_kernel::{Error, Queue, Vector, indices, kernel};

mod common;

const LIMIT: u32 = 255;

/// Returns after how many steps a point leaves the circle around the set, or `limit`.
#[kernel]
fn steps(index: u32, side: u32, limit: u32) -> u32 {
    let re = (index % side) as f32 / side as f32 * 2.6 - 2.0;
    let im = (index / side) as f32 / side as f32 * 2.6 - 1.3;
    let mut x = 0.0f32;
    let mut y = 0.0f32;
    let mut steps = limit;
    for step in 0..limit {
        let xx = x * x;
        let yy = y * y;
        if xx + yy > 4.0 {
            steps = step;
            break;
        }
        y = 2.0 * x * y + im;
        x = xx - yy + re;
    }
    steps
}

/// Returns red, green and blue in the lower bytes of a number: black inside of the set.
#[kernel]
fn colour(steps: u32, limit: u32) -> u32 {
    if steps == limit {
        0
    } else {
        let t = (steps as f32 / limit as f32).sqrt();
        let red = (255.0 * t) as u32;
        let green = (255.0 * t * t) as u32;
        let blue = (255.0 * (1.0 - t) * 0.6) as u32 + 40;
        (red << 16) | (green << 8) | blue
    }
}

fn main() -> Result<(), Error> {
    common::main(1024, run)?;
    let Some(file) = std::env::args().nth(2) else { return Ok(()) };
    let side = std::env::args().nth(1).and_then(|side| side.parse().ok()).unwrap_or(1024);
    match fs::write(&file, picture(side)?) {
        Ok(()) => println!("{file} is written"),
        Err(error) => eprintln!("cannot write {file}: {error}"),
    }
    Ok(())
}

/// Computes a square of `side` x `side` points on each device.
pub fn run(side: usize) -> Result<String, Error> {
    common::table(&format!("the Mandelbrot set, {side} x {side} points"), |cx, queue| {
        let inside = colours(side, queue)?.download(cx)?.iter().filter(|colour| **colour == 0).count();
        Ok(format!("{inside} points of the set"))
    })
}

/// Returns the picture, computed on the processor.
pub fn picture(side: usize) -> Result<Vec<u8>, Error> {
    let colours = anabranch::run(|cx| colours(side, &Queue::cpu())?.download(cx))?;
    let mut bytes = format!("P6\n{side} {side}\n255\n").into_bytes();
    bytes.extend(colours.iter().flat_map(|colour| [colour >> 16, colour >> 8, *colour].map(|part| part as u8)));
    Ok(bytes)
}

fn colours(side: usize, queue: &Queue) -> Result<anabranch_kernel::DeviceVec<u32>, Error> {
    let steps = steps::map(indices(side * side), side as u32, LIMIT);
    colour::map(steps, LIMIT).collect(queue)
}
