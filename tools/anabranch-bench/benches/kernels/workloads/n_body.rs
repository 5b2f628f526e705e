//! Bodies that attract each other: a loop over all bodies for each of them.

use std::thread;

use anabranch::prelude::*;
use anabranch_kernel::{DeviceVec, Queue, Vector, kernel, whole};

use super::parts;
use super::workload::Program;

/// Returns the acceleration of a body. A body is its place and its mass. The distance is softened, so that a body does
/// not attract itself.
#[kernel]
fn pull(body: [f32; 4], bodies: &[[f32; 4]]) -> [f32; 3] {
    let mut sum = [0.0f32; 3];
    for other in bodies {
        let x = other[0] - body[0];
        let y = other[1] - body[1];
        let z = other[2] - body[2];
        let squared = x * x + y * y + z * z + 0.01;
        let strength = other[3] / (squared * squared.sqrt());
        sum[0] += x * strength;
        sum[1] += y * strength;
        sum[2] += z * strength;
    }
    sum
}

/// Bodies, on the host and on the queue of the processor.
pub struct NBody {
    bodies: Vec<[f32; 4]>,
    stored: DeviceVec<[f32; 4]>,
}

impl NBody {
    /// Creates `count` bodies at random places.
    pub fn new(count: usize) -> NBody {
        let mut random = fastrand::Rng::with_seed(0xb0d1);
        let bodies: Vec<[f32; 4]> = (0..count).map(|_| [(); 4].map(|()| random.f32())).collect();
        NBody { stored: Queue::cpu().upload(&bodies).expect("the processor has memory"), bodies }
    }
}

impl Program for NBody {
    type Output = Vec<[f32; 3]>;

    fn by_hand(&self, threads: usize) -> Vec<[f32; 3]> {
        let run =
            |bodies: &[[f32; 4]]| -> Vec<[f32; 3]> { bodies.iter().map(|body| pull(*body, &self.bodies)).collect() };
        if threads == 1 {
            return run(&self.bodies);
        }
        thread::scope(|s| {
            let parts: Vec<_> = parts(&self.bodies, threads).map(|part| s.spawn(|| run(part))).collect();
            parts.into_iter().flat_map(|part| part.join().expect("a part panics")).collect()
        })
    }

    fn with_iterators(&self) -> Vec<[f32; 3]> {
        self.bodies.par_iter().map(|body| pull(*body, &self.bodies)).collect()
    }

    fn with_kernels(&self, queue: &Queue) -> Vec<[f32; 3]> {
        let pulls = pull::map(&self.stored, whole(&self.stored)).collect(queue).expect("the vectors fit");
        pulls.into_vec().expect("it is on the host")
    }

    fn is_right(&self, output: &Vec<[f32; 3]>) -> bool {
        *output == self.by_hand(1)
    }
}
