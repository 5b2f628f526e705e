//! The dot product: two reads, and a sum that has to be kept in several registers to keep up.

use std::thread;

use anabranch::prelude::*;
use anabranch_kernel::{DeviceVec, Queue, Vector, kernel};

use super::parts;
use super::workload::Program;

#[kernel]
fn multiply(x: f32, y: f32) -> f32 {
    x * y
}

/// Two vectors, on the host and on the queue of the processor.
pub struct Dot {
    x: Vec<f32>,
    y: Vec<f32>,
    stored: [DeviceVec<f32>; 2],
}

impl Dot {
    /// Creates vectors of `count` elements.
    pub fn new(count: usize) -> Dot {
        let x: Vec<f32> = (0..count).map(|i| (i % 100) as f32 / 100.0).collect();
        let y: Vec<f32> = (0..count).map(|i| (i % 77) as f32 / 77.0).collect();
        let stored = [&x, &y].map(|v| Queue::cpu().upload(v).expect("the processor has memory"));
        Dot { x, y, stored }
    }
}

/// Adds up in 16 sums, so that the compiler makes vectors of them.
fn by_lanes(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0; 16];
    let (x, y) = (x.chunks_exact(16), y.chunks_exact(16));
    let rest: f32 = x.remainder().iter().zip(y.remainder()).map(|(x, y)| multiply(*x, *y)).sum();
    for (x, y) in x.zip(y) {
        for lane in 0..16 {
            sums[lane] += multiply(x[lane], y[lane]);
        }
    }
    sums.iter().sum::<f32>() + rest
}

impl Program for Dot {
    type Output = f32;

    fn by_hand(&self, threads: usize) -> f32 {
        if threads == 1 {
            return by_lanes(&self.x, &self.y);
        }
        thread::scope(|s| {
            let pairs = parts(&self.x, threads).zip(parts(&self.y, threads));
            let parts: Vec<_> = pairs.map(|(x, y)| s.spawn(move || by_lanes(x, y))).collect();
            parts.into_iter().map(|part| part.join().expect("a part panics")).sum()
        })
    }

    fn with_iterators(&self) -> f32 {
        self.x.par_iter().zip(&self.y).map(|(x, y)| multiply(*x, *y)).sum()
    }

    fn with_kernels(&self, queue: &Queue) -> f32 {
        let [x, y] = &self.stored;
        multiply::map(x, y).sum(queue).expect("the vectors fit").into_value().expect("it is on the host")
    }

    /// One sum of ten million floats loses many bits.
    fn is_right(&self, output: &f32) -> bool {
        let exact: f64 = self.x.iter().zip(&self.y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        (f64::from(*output) - exact).abs() <= 0.05 * exact
    }
}
