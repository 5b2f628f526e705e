//! Bodies that attract each other. Kernels that share a struct are in one module, and each of them gets all bodies.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example n_body -- 4096
//! ```

#![allow(clippy::needless_range_loop, reason = "kernels have no `enumerate`")]

use anabranch_kernel::{DeviceVec, Error, Queue, Vector, kernel, whole};

mod common;

/// The laws of motion.
#[kernel]
mod physics {
    /// A body.
    pub struct Body {
        /// Its place.
        pub at: [f32; 3],
        /// Its velocity.
        pub speed: [f32; 3],
        /// Its mass.
        pub mass: f32,
    }

    /// Keeps bodies that meet from infinite forces.
    const SOFTENING: f32 = 0.01;

    /// Returns the body a moment later.
    pub fn step(body: Body, bodies: &[Body], seconds: f32) -> Body {
        let mut pull = [0.0f32; 3];
        for other in bodies {
            let x = other.at[0] - body.at[0];
            let y = other.at[1] - body.at[1];
            let z = other.at[2] - body.at[2];
            let squared = x * x + y * y + z * z + SOFTENING;
            let strength = other.mass / (squared * squared.sqrt());
            pull[0] += x * strength;
            pull[1] += y * strength;
            pull[2] += z * strength;
        }
        let mut next = body;
        for axis in 0..3 {
            next.speed[axis] += pull[axis] * seconds;
            next.at[axis] += next.speed[axis] * seconds;
        }
        next
    }

    /// Returns the energy of a body: that of its motion, and half of what it shares with each other one.
    pub fn energy(body: Body, bodies: &[Body]) -> f32 {
        let v = body.speed;
        let mut potential = 0.0f32;
        for other in bodies {
            let x = other.at[0] - body.at[0];
            let y = other.at[1] - body.at[1];
            let z = other.at[2] - body.at[2];
            potential -= other.mass / (x * x + y * y + z * z + SOFTENING).sqrt();
        }
        // A body is at no distance from itself.
        potential += body.mass / SOFTENING.sqrt();
        0.5 * body.mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + potential)
    }
}
use physics::Body;

const STEPS: usize = 10;
const SECONDS: f32 = 0.001;

fn main() -> Result<(), Error> {
    common::main(4096, run)
}

/// Moves `count` bodies on each device, and compares their energy before and after.
pub fn run(count: usize) -> Result<String, Error> {
    let bodies: Vec<Body> = (0..count).map(|i| body(i, count)).collect();
    common::table(&format!("{count} bodies, {STEPS} steps"), |cx, queue| {
        let mut now = queue.upload(&bodies)?;
        let before = energy(&now, queue)?;
        for _ in 0..STEPS {
            now = physics::step::map(&now, whole(&now), SECONDS).collect(queue)?;
        }
        let after = energy(&now, queue)?;
        Ok(format!("energy {:.4} before, {:.4} after", before.wait(cx)?, after.wait(cx)?))
    })
}

fn energy(bodies: &DeviceVec<Body>, queue: &Queue) -> Result<anabranch_kernel::Pending<f32>, Error> {
    physics::energy::map(bodies, whole(bodies)).sum(queue)
}

/// Returns a body on a disc that turns.
fn body(index: usize, count: usize) -> Body {
    let angle = index as f32 * 2.399_963;
    let radius = ((index as f32 + 0.5) / count as f32).sqrt();
    let (sin, cos) = angle.sin_cos();
    let speed = 0.8 * radius;
    Body { at: [radius * cos, radius * sin, 0.0], speed: [-speed * sin, speed * cos, 0.0], mass: 1.0 / count as f32 }
}
