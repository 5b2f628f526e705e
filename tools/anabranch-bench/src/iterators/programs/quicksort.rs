//! Sorts numbers in place: partition, then join on the two parts.

use super::library::join;
use crate::iterators::program::{Program, digest};

/// The longest part that is sorted without forks.
const SORTED_AT_ONCE: usize = 5 * 1024;

/// Numbers.
pub struct Quicksort {
    source: Vec<u32>,
    numbers: Vec<u32>,
}

impl Quicksort {
    /// Creates `count` numbers in random order.
    pub fn new(count: usize) -> Quicksort {
        let mut random = fastrand::Rng::with_seed(0x9a1c);
        Quicksort { source: (0..count).map(|_| random.u32(..)).collect(), numbers: Vec::new() }
    }
}

impl Program for Quicksort {
    fn reset(&mut self) {
        self.numbers.clone_from(&self.source);
    }

    fn run(&mut self) -> u64 {
        sort(&mut self.numbers);
        0
    }

    fn digest(&self) -> u64 {
        digest(self.numbers.iter().map(|number| (*number).into()))
    }
}

fn sort(numbers: &mut [u32]) {
    if numbers.len() <= SORTED_AT_ONCE {
        sort_at_once(numbers);
        return;
    }
    let (low, high) = partition(numbers);
    join(|| sort(low), || sort(high));
}

fn sort_at_once(numbers: &mut [u32]) {
    if numbers.len() > 1 {
        let (low, high) = partition(numbers);
        sort_at_once(low);
        sort_at_once(high);
    }
}

/// Returns the numbers below the middle one, and those that are not, without that one itself, which is between them.
fn partition(numbers: &mut [u32]) -> (&mut [u32], &mut [u32]) {
    let last = numbers.len() - 1;
    numbers.swap(numbers.len() / 2, last);
    let pivot = numbers[last];
    let mut low = 0;
    for at in 0..last {
        numbers.swap(at, low);
        low += usize::from(numbers[low] < pivot);
    }
    numbers.swap(low, last);
    let (below, above) = numbers.split_at_mut(low);
    (below, &mut above[1..])
}
