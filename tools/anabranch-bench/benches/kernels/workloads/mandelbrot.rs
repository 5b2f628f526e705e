//! The Mandelbrot set: no memory, and elements that cost very different amounts.

use std::thread;

use anabranch::prelude::*;
use anabranch_kernel::{Queue, Vector, indices, kernel};

use super::parts;
use super::workload::Program;

#[kernel]
fn escape(index: u32, side: u32, limit: u32) -> u32 {
    let re = (index % side) as f32 / side as f32 * 3.0 - 2.0;
    let im = (index / side) as f32 / side as f32 * 3.0 - 1.5;
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

const LIMIT: u32 = 256;

/// A square of points.
pub struct Mandelbrot {
    side: u32,
    expected: Vec<u32>,
}

impl Mandelbrot {
    /// Creates a square with `side` points on each side.
    pub fn new(side: usize) -> Mandelbrot {
        let side = side as u32;
        Mandelbrot { side, expected: (0..side * side).map(|index| escape(index, side, LIMIT)).collect() }
    }
}

impl Program for Mandelbrot {
    type Output = Vec<u32>;

    fn by_hand(&self, threads: usize) -> Vec<u32> {
        let run =
            |range: std::ops::Range<u32>| -> Vec<u32> { range.map(|index| escape(index, self.side, LIMIT)).collect() };
        let count = self.side * self.side;
        if threads == 1 {
            return run(0..count);
        }
        let points: Vec<u32> = (0..count).collect();
        thread::scope(|s| {
            let ranges = parts(&points, threads).map(|part| part[0]..part[0] + part.len() as u32);
            let parts: Vec<_> = ranges.map(|range| s.spawn(|| run(range))).collect();
            parts.into_iter().flat_map(|part| part.join().expect("a part panics")).collect()
        })
    }

    fn with_iterators(&self) -> Vec<u32> {
        (0..self.side * self.side).into_par_iter().map(|index| escape(index, self.side, LIMIT)).collect()
    }

    fn with_kernels(&self, queue: &Queue) -> Vec<u32> {
        let points = indices((self.side * self.side) as usize);
        let counts = escape::map(points, self.side, LIMIT).collect(queue).expect("no point traps");
        counts.into_vec().expect("it is on the host")
    }

    fn is_right(&self, output: &Vec<u32>) -> bool {
        *output == self.expected
    }
}
