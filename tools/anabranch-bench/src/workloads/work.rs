//! CPU work of a known length that no compiler can shorten and no processor can overlap.
//!
//! A single chain of dependent instructions leaves most of a core idle, and the core overlaps it with the next leaf:
//! leaves of "10 ns" would take 4 ns each. So there are eight chains, each with one multiplication per step. They use
//! the core's only multiplier in every cycle, and two leaves in a row take twice as long as one. A sleep would use no
//! CPU. A clock read costs more than the shortest leaves.

use std::hint::black_box;
use std::time::Instant;

/// CPU work measured in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Spinner {
    nanoseconds_a_step: f64,
}

impl Spinner {
    /// Measures the duration of a step on this machine: that of the fastest of many short runs, the least disturbed
    /// one.
    pub fn calibrate() -> Spinner {
        const STEPS: u64 = 100_000;
        let fastest = (0..200)
            .map(|run| {
                let start = Instant::now();
                black_box(spin(black_box(run), black_box(STEPS)));
                start.elapsed()
            })
            .min()
            .expect("there are runs");
        Spinner::with_speed(fastest.as_secs_f64() * 1e9 / STEPS as f64)
    }

    /// Creates a spinner with this duration of a step.
    pub fn with_speed(nanoseconds_a_step: f64) -> Spinner {
        Spinner { nanoseconds_a_step }
    }

    /// Returns the duration of a step, in nanoseconds.
    pub fn nanoseconds_a_step(&self) -> f64 {
        self.nanoseconds_a_step
    }

    /// Returns the number of steps that take `nanoseconds`; at least one.
    pub fn steps(&self, nanoseconds: f64) -> u64 {
        ((nanoseconds / self.nanoseconds_a_step).round() as u64).max(1)
    }
}

/// Runs `steps` steps from `seed`.
#[inline]
pub fn spin(seed: u64, steps: u64) -> u64 {
    let mut chains: [u64; 8] = std::array::from_fn(|chain| seed ^ chain as u64);
    for _ in 0..steps {
        for x in &mut chains {
            *x = (*x ^ (*x >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
    chains.iter().fold(0, |sum, x| sum ^ x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_time_is_twice_the_steps() {
        let spinner = Spinner::calibrate();
        assert!(spinner.nanoseconds_a_step() > 0.0);
        let (one, two) = (spinner.steps(1e6), spinner.steps(2e6));
        assert!(two.abs_diff(2 * one) <= 1);
        assert_eq!(spinner.steps(0.0), 1);
    }

    #[test]
    fn every_step_and_every_seed_counts() {
        assert_eq!(spin(7, 100), spin(7, 100));
        assert_ne!(spin(7, 100), spin(7, 101));
        assert_ne!(spin(7, 100), spin(16, 100));
    }
}
