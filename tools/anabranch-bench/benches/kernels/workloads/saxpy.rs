//! `a * x + y`: two reads, one write, no time to compute.

use std::thread;

use anabranch::prelude::*;
use anabranch_kernel::{DeviceVec, Queue, Vector, kernel};

use super::parts;
use super::workload::Program;

#[kernel]
fn saxpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}

const A: f32 = 1.5;

/// Two vectors, on the host and on the queue of the processor.
pub struct Saxpy {
    x: Vec<f32>,
    y: Vec<f32>,
    stored: [DeviceVec<f32>; 2],
}

impl Saxpy {
    /// Creates vectors of `count` elements.
    pub fn new(count: usize) -> Saxpy {
        let x: Vec<f32> = (0..count).map(|i| (i % 1000) as f32).collect();
        let y: Vec<f32> = (0..count).map(|i| (i % 77) as f32).collect();
        let stored = [&x, &y].map(|v| Queue::cpu().upload(v).expect("the processor has memory"));
        Saxpy { x, y, stored }
    }
}

impl Program for Saxpy {
    type Output = Vec<f32>;

    fn by_hand(&self, threads: usize) -> Vec<f32> {
        let run = |x: &[f32], y: &[f32]| -> Vec<f32> { x.iter().zip(y).map(|(x, y)| saxpy(A, *x, *y)).collect() };
        if threads == 1 {
            return run(&self.x, &self.y);
        }
        thread::scope(|s| {
            let pairs = parts(&self.x, threads).zip(parts(&self.y, threads));
            let parts: Vec<_> = pairs.map(|(x, y)| s.spawn(move || run(x, y))).collect();
            parts.into_iter().flat_map(|part| part.join().expect("a part panics")).collect()
        })
    }

    fn with_iterators(&self) -> Vec<f32> {
        self.x.par_iter().zip(&self.y).map(|(x, y)| saxpy(A, *x, *y)).collect()
    }

    fn with_kernels(&self, queue: &Queue) -> Vec<f32> {
        let [x, y] = &self.stored;
        saxpy::map(A, x, y).collect(queue).expect("the vectors fit").into_vec().expect("it is on the host")
    }

    fn is_right(&self, output: &Vec<f32>) -> bool {
        output.len() == self.x.len() && self.x.iter().zip(&self.y).zip(output).all(|((x, y), to)| A * x + y == *to)
    }
}
