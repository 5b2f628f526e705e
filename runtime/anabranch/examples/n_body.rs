//! Bodies that attract each other, such as stars.
//!
//! ```text
//! cargo run --release --example n_body -- --bodies 2000 --steps 20
//! ```
//!
//! Each step computes the pull on each body, in parallel, and then moves all bodies, in parallel too. The energy is a
//! floating-point sum: [`deterministic`](anabranch::iter::ParallelIterator::deterministic) makes its last digits those
//! of each run. They may differ from the plain ones, which adds up from left to right.

use anabranch::prelude::*;
use std::{process::ExitCode, time::Instant};

const USAGE: &str = "\
usage: n_body [--bodies N] [--steps N] [--plain]
  Computes the motion of N bodies (1000) for so many steps (10), and prints their energy before and after, and where
  the first one is; with --plain on one thread, by plain iterators.";

/// The length of a step.
const STEP: f64 = 0.001;

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("n_body: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut bodies = bodies(options.bodies);
    let energy = |bodies: &[Body]| if options.is_plain { plain::energy(bodies) } else { energy(bodies) };
    println!("energy {:.9}", energy(&bodies));
    let start = Instant::now();
    for _ in 0..options.steps {
        if options.is_plain {
            plain::step(&mut bodies);
        } else {
            step(&mut bodies);
        }
    }
    let pairs = (options.bodies * options.bodies * options.steps) as f64;
    let took = start.elapsed();
    println!("energy {:.9}", energy(&bodies));
    let [x, y, z] = bodies[0].position;
    println!("the first body is at {x:.12} {y:.12} {z:.12}");
    eprintln!("{:.0} ms, {:.2} ns a pair", took.as_secs_f64() * 1e3, took.as_secs_f64() * 1e9 / pairs);
    ExitCode::SUCCESS
}

#[derive(Clone)]
struct Body {
    position: [f64; 3],
    velocity: [f64; 3],
    mass: f64,
}

fn step(bodies: &mut [Body]) {
    let pulls: Vec<[f64; 3]> = bodies.par_iter().map(|body| pull(body, bodies)).collect();
    bodies.par_iter_mut().zip(&pulls).for_each(|(body, pull)| advance(body, pull));
}

fn energy(bodies: &[Body]) -> f64 {
    bodies.par_iter().enumerate().map(|(index, body)| body_energy(body, &bodies[..index])).deterministic().sum()
}

mod plain {
    use super::*;

    pub fn step(bodies: &mut [Body]) {
        let pulls: Vec<[f64; 3]> = bodies.iter().map(|body| pull(body, bodies)).collect();
        bodies.iter_mut().zip(&pulls).for_each(|(body, pull)| advance(body, pull));
    }

    pub fn energy(bodies: &[Body]) -> f64 {
        bodies.iter().enumerate().map(|(index, body)| body_energy(body, &bodies[..index])).sum()
    }
}

/// Returns the acceleration of a body. Distances are softened, so a body does not attract itself.
fn pull(body: &Body, bodies: &[Body]) -> [f64; 3] {
    bodies.iter().fold([0.0; 3], |pull, other| {
        let away = difference(other, body);
        let squared = squared_length(away) + SOFTENING;
        let strength = other.mass / (squared * squared.sqrt());
        std::array::from_fn(|axis| pull[axis] + away[axis] * strength)
    })
}

/// Added to the square of a distance.
const SOFTENING: f64 = 1e-4;

fn advance(body: &mut Body, pull: &[f64; 3]) {
    for (axis, pull) in pull.iter().enumerate() {
        body.velocity[axis] += pull * STEP;
        body.position[axis] += body.velocity[axis] * STEP;
    }
}

/// Returns the kinetic energy of a body, and the potential energy of it and the bodies before it.
fn body_energy(body: &Body, before: &[Body]) -> f64 {
    let distance = |other| (squared_length(difference(other, body)) + SOFTENING).sqrt();
    let potential: f64 = before.iter().map(|other| body.mass * other.mass / distance(other)).sum();
    body.mass * squared_length(body.velocity) / 2.0 - potential
}

fn difference(a: &Body, b: &Body) -> [f64; 3] {
    std::array::from_fn(|axis| a.position[axis] - b.position[axis])
}

fn squared_length(vector: [f64; 3]) -> f64 {
    vector.iter().map(|x| x * x).sum()
}

/// Returns bodies in a cube, at places and with speeds that look random and are always the same.
fn bodies(count: usize) -> Vec<Body> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut vector = |scale: f64| [(); 3].map(|()| random() * scale);
    (0..count).map(|_| Body { position: vector(2.0), velocity: vector(0.2), mass: 1.0 / count as f64 }).collect()
}

struct Options {
    bodies: usize,
    steps: usize,
    is_plain: bool,
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { bodies: 1000, steps: 10, is_plain: false };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("bodies") => options.bodies = parser.value()?.parse()?,
            Long("steps") => options.steps = parser.value()?.parse()?,
            Long("plain") => options.is_plain = true,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if options.bodies == 0 {
        return Err("--bodies has to be at least 1".into());
    }
    Ok(Some(options))
}
