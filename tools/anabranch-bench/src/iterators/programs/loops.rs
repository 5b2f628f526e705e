//! Loops whose bodies compute for a known time, or sleep.

use std::thread;
use std::time::Duration;

use super::library::prelude::*;
use crate::iterators::program::{Program, on_threads};
use crate::workloads::spin;

/// A loop whose bodies compute, each for a number of steps.
pub struct Spins {
    steps: Vec<u64>,
}

impl Spins {
    /// Creates a loop of `count` items of `steps` each.
    pub fn even(count: usize, steps: u64) -> Spins {
        Spins { steps: vec![steps; count] }
    }

    /// Creates a loop of `count` items whose number is their number of steps.
    pub fn ramp(count: usize) -> Spins {
        Spins { steps: (0..count as u64).collect() }
    }

    /// Creates a loop of `count` items, the last of which takes as long as all others, which take `steps` each.
    pub fn heavy_end(count: usize, steps: u64) -> Spins {
        let mut spins = Spins::even(count, steps);
        spins.steps[count - 1] = steps * (count as u64 - 1);
        spins
    }

    /// Cuts the loop into `parts` with the same number of steps, as far as the items allow it.
    fn parts(&self, parts: usize) -> Vec<&[u64]> {
        let total: u64 = self.steps.iter().sum();
        let (mut rest, mut done) = (&self.steps[..], 0);
        let mut cut = Vec::new();
        for part in 1..parts as u64 {
            let end = total * part / parts as u64;
            let mut length = 0;
            while length < rest.len() && done + rest[length] / 2 < end {
                done += rest[length];
                length += 1;
            }
            let (front, back) = rest.split_at(length);
            cut.push(front);
            rest = back;
        }
        cut.push(rest);
        cut
    }
}

/// What a body returns: few enough bits to be summed.
fn body(steps: u64) -> u64 {
    spin(steps, steps) >> 32
}

impl Program for Spins {
    fn run(&mut self) -> u64 {
        self.steps.par_iter().map(|steps| body(*steps)).sum()
    }

    fn run_by_hand(&mut self, threads: usize) -> u64 {
        on_threads(self.parts(threads).into_iter().map(|steps| move || steps.iter().map(|steps| body(*steps)).sum()))
    }
}

/// A loop whose bodies sleep.
pub struct Sleeps {
    count: u64,
    each: Duration,
}

impl Sleeps {
    /// Creates a loop of `count` items that sleep for `each`.
    pub fn new(count: u64, each: Duration) -> Sleeps {
        Sleeps { count, each }
    }
}

impl Program for Sleeps {
    fn run(&mut self) -> u64 {
        let each = self.each;
        (0..self.count).into_par_iter().inspect(|_| thread::sleep(each)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_by_hand_are_even() {
        let steps = |spins: &Spins| spins.parts(2).iter().map(|part| part.iter().sum()).collect::<Vec<u64>>();
        assert_eq!(steps(&Spins::even(10, 3)), [15, 15]);
        assert_eq!(steps(&Spins::heavy_end(101, 7)), [700, 700]);
        let ramp = steps(&Spins::ramp(1000));
        assert!(ramp[0].abs_diff(ramp[1]) < 1000, "{ramp:?}");
    }
}
