//! The number of primes below a limit, by the sieve of Eratosthenes, one segment of odd numbers an item.

use super::library::prelude::*;
use crate::iterators::program::Program;

/// The odd numbers of a segment.
const SEGMENT: usize = 100_000;

/// A sieve.
pub struct Sieve {
    limit: usize,
}

impl Sieve {
    /// Creates a sieve of the numbers below `limit`.
    pub fn new(limit: usize) -> Sieve {
        Sieve { limit }
    }
}

impl Program for Sieve {
    fn run(&mut self) -> u64 {
        let small = small_primes(self.limit.isqrt() + 1);
        // The entry `i` is for the number `2 i + 1`.
        let mut is_prime = vec![true; self.limit / 2];
        is_prime.par_chunks_mut(SEGMENT).enumerate().with_max_len(1).for_each(|(index, segment)| {
            let base = 2 * index * SEGMENT + 1;
            for prime in &small {
                let first = (prime * prime).max(base.next_multiple_of(*prime));
                // The first odd multiple.
                let first = if first % 2 == 0 { first + prime } else { first };
                segment.iter_mut().skip((first - base) / 2).step_by(*prime).for_each(|is_prime| *is_prime = false);
            }
        });
        // One is no prime, and two is one.
        is_prime.par_iter().filter(|is_prime| **is_prime).count() as u64
    }
}

/// Returns the odd primes below `limit`.
fn small_primes(limit: usize) -> Vec<usize> {
    let mut is_prime = vec![true; limit];
    let mut primes = Vec::new();
    for number in (3..limit).step_by(2) {
        if is_prime[number] {
            primes.push(number);
            is_prime.iter_mut().skip(number * number).step_by(number).for_each(|is_prime| *is_prime = false);
        }
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_counted() {
        for (limit, count) in [(100, 25), (1_000, 168), (1_000_000, 78_498)] {
            assert_eq!(Sieve::new(limit).run(), count);
        }
    }
}
