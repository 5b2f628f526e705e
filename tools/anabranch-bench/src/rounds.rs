//! The order of samples: every contender once per round, in a shuffled order.
//!
//! Rounds are interleaved because the speed of a machine drifts. A disturbance that comes and goes affects all
//! contenders alike, and hardly changes a ratio within a round. The order within a round is shuffled with a fixed seed,
//! so that no contender always follows the same other one.

use crate::sample::Sample;

/// The seed where the user does not choose one.
pub const SEED: u64 = 0xf0_c1;

/// The number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The rounds whose samples are kept.
    pub rounds: usize,
    /// The rounds before these.
    pub warm_up: usize,
    /// The seed of the order.
    pub seed: u64,
}

/// The samples of one contender.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// One entry per round; `None` if there is no sample.
    pub samples: Vec<Option<Sample>>,
    /// Why samples are missing.
    pub failure: Option<String>,
}

/// Takes the samples of `contenders` by calls of `sample` with the round, which is `None` during the warm-up, and the
/// number of the contender.
///
/// A contender whose sample fails does not run again. If `sample` returns `None`, the run ends with the samples that
/// were taken.
pub fn take(
    contenders: usize,
    plan: Plan,
    mut sample: impl FnMut(Option<usize>, usize) -> Option<Result<Sample, String>>,
) -> Vec<Tally> {
    let mut tallies = vec![Tally { samples: vec![None; plan.rounds], failure: None }; contenders];
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let mut order: Vec<usize> = (0..contenders).collect();
    for round in 0..plan.warm_up + plan.rounds {
        let round = round.checked_sub(plan.warm_up);
        random.shuffle(&mut order);
        for &contender in &order {
            let tally = &mut tallies[contender];
            if tally.failure.is_some() {
                continue;
            }
            match (sample(round, contender), round) {
                (None, _) => return tallies,
                (Some(Ok(sample)), Some(round)) => tally.samples[round] = Some(sample),
                (Some(Ok(_)), None) => {}
                (Some(Err(failure)), _) => tally.failure = Some(failure),
            }
        }
    }
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Meter;

    fn sample(value: f64) -> Sample {
        Sample::per_unit(Meter { wall: value, cpu: value }, 1.0, 1.0)
    }

    #[test]
    fn samples_of_the_warm_up_are_dropped() {
        let mut taken = 0.0;
        let tallies = take(1, Plan { rounds: 2, warm_up: 3, seed: 1 }, |_, _| {
            taken += 1.0;
            Some(Ok(sample(taken)))
        });
        let values: Vec<f64> = tallies[0].samples.iter().flatten().map(|sample| sample.value).collect();
        assert_eq!(values, [4.0, 5.0]);
    }

    #[test]
    fn run_that_is_stopped_keeps_its_samples() {
        let mut left = 5;
        let tallies = take(2, Plan { rounds: 10, warm_up: 0, seed: 1 }, |_, _| {
            left -= 1;
            (left >= 0).then(|| Ok(sample(1.0)))
        });
        let counts = tallies.iter().map(|tally| tally.samples.iter().flatten().count());
        assert_eq!(counts.sum::<usize>(), 5);
        assert!(tallies.iter().all(|tally| tally.samples.len() == 10 && tally.failure.is_none()));
    }

    #[test]
    fn order_depends_on_the_seed_alone() {
        let order = |seed| {
            let mut order = Vec::new();
            take(6, Plan { rounds: 3, warm_up: 1, seed }, |round, contender| {
                order.push((round, contender));
                Some(Ok(sample(1.0)))
            });
            order
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }
}
