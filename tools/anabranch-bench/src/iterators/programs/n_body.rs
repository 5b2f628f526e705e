//! Bodies that attract each other, every one every other one.

use super::library::prelude::*;
use crate::iterators::program::{Program, digest};

#[derive(Clone, Copy)]
struct Body {
    at: [f64; 3],
    speed: [f64; 3],
    mass: f64,
}

/// Bodies, and the number of steps to compute.
pub struct NBody {
    first: Vec<Body>,
    bodies: Vec<Body>,
    steps: usize,
}

impl NBody {
    /// Creates `count` bodies at random places.
    pub fn new(count: usize, steps: usize) -> NBody {
        let mut random = fastrand::Rng::with_seed(0xb0d1);
        let mut three = |scale: f64| [(); 3].map(|()| (random.f64() - 0.5) * scale);
        let first =
            (0..count).map(|_| Body { at: three(100.0), speed: three(0.1), mass: three(1.0)[0].abs() }).collect();
        NBody { first, bodies: Vec::new(), steps }
    }
}

impl Program for NBody {
    fn reset(&mut self) {
        self.bodies.clone_from(&self.first);
    }

    fn run(&mut self) -> u64 {
        for _ in 0..self.steps {
            let pulls: Vec<[f64; 3]> = self.bodies.par_iter().map(|body| pull(body, &self.bodies)).collect();
            self.bodies.par_iter_mut().zip(pulls.par_iter()).for_each(|(body, pull)| advance(body, pull));
        }
        self.bodies.len() as u64
    }

    fn digest(&self) -> u64 {
        digest(self.bodies.iter().flat_map(|body| body.at).map(f64::to_bits))
    }
}

/// Returns the acceleration of a body. The distance is softened, so a body does not attract itself.
fn pull(body: &Body, bodies: &[Body]) -> [f64; 3] {
    bodies.iter().fold([0.0; 3], |pull, other| {
        let away: [f64; 3] = std::array::from_fn(|axis| other.at[axis] - body.at[axis]);
        let squared = away.iter().map(|d| d * d).sum::<f64>() + 0.01;
        let strength = other.mass / (squared * squared.sqrt());
        std::array::from_fn(|axis| pull[axis] + away[axis] * strength)
    })
}

fn advance(body: &mut Body, pull: &[f64; 3]) {
    for (axis, pull) in pull.iter().enumerate() {
        body.speed[axis] += pull * 0.01;
        body.at[axis] += body.speed[axis] * 0.01;
    }
}
