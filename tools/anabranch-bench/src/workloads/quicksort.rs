//! Sorts numbers in place: partition, then join on the two parts.
//!
//! The forks are of every size, and the threads write to the memory that they share out. The first forks follow a long
//! sequential partition. Parts of at most 20 numbers are sorted by insertion, as is usual. There is no other cut-off.
//! All peers run the same code, so only the joins differ.

use super::Workload;
use crate::peers::Peer;
use crate::sample::Sample;
use crate::stopwatch::metered;

const INSERTION: usize = 20;

/// Sorts `numbers`.
#[inline(never)]
pub fn quicksort<P: Peer>(numbers: &mut [u32], cx: &P::Cx<'_>) {
    if numbers.len() <= INSERTION {
        insertion_sort(numbers);
        return;
    }
    let middle = partition(numbers);
    let (low, high) = numbers.split_at_mut(middle);
    P::join(cx, |cx| quicksort::<P>(low, cx), |cx| quicksort::<P>(high, cx));
}

fn insertion_sort(numbers: &mut [u32]) {
    for end in 1..numbers.len() {
        let number = numbers[end];
        let mut hole = end;
        while hole > 0 && numbers[hole - 1] > number {
            numbers[hole] = numbers[hole - 1];
            hole -= 1;
        }
        numbers[hole] = number;
    }
}

/// Partitions the numbers. No number before the returned position is greater than a number at or after it. Both sides
/// get at least one number. This is Hoare's scheme; the pivot is the median of the first, the middle and the last
/// number.
fn partition(numbers: &mut [u32]) -> usize {
    let last = numbers.len() - 1;
    let mut three = [numbers[0], numbers[last / 2], numbers[last]];
    three.sort_unstable();
    let pivot = three[1];
    // The pivot and its two neighbours in `three` stop both searches within the slice.
    let (mut low, mut high) = (0, last);
    loop {
        while numbers[low] < pivot {
            low += 1;
        }
        while numbers[high] > pivot {
            high -= 1;
        }
        if low >= high {
            // The position is at least 1, so that the lower side is not empty.
            return low.max(1);
        }
        numbers.swap(low, high);
        low += 1;
        high -= 1;
    }
}

/// The workload: random numbers with a fixed seed, and the same numbers sorted.
pub struct Quicksort {
    numbers: Vec<u32>,
    sorted: Vec<u32>,
}

impl Quicksort {
    /// Creates `count` numbers.
    pub fn new(count: usize) -> Quicksort {
        let mut random = fastrand::Rng::with_seed(0x5eed);
        let numbers: Vec<u32> = (0..count).map(|_| random.u32(..)).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        Quicksort { numbers, sorted }
    }
}

impl Workload for Quicksort {
    fn title(&self) -> String {
        format!("quicksort of {} u32 in place", self.numbers.len())
    }

    fn unit(&self) -> &'static str {
        "ms"
    }

    fn sample<P: Peer>(&self, pool: &P::Pool) -> Sample {
        let mut warm_up = self.numbers[..self.numbers.len().min(1000)].to_vec();
        P::enter(pool, |cx| quicksort::<P>(&mut warm_up, cx));
        // The copy maps all pages of the array before the clock starts.
        let mut numbers = self.numbers.clone();
        let ((), meter) = metered(|| P::enter(pool, |cx| quicksort::<P>(&mut numbers, cx)));
        assert!(numbers == self.sorted, "the numbers are not sorted");
        Sample::per_unit(meter, 1.0, 1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::plain::Plain;
    use crate::workloads::testing::all_peers_agree;

    #[test]
    fn quicksort_sorts_every_length() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in (0..200).chain([5000]) {
            for distinct in [1, 2, 5, u32::MAX] {
                let mut numbers: Vec<u32> = (0..length).map(|_| random.u32(..distinct)).collect();
                let mut expected = numbers.clone();
                expected.sort_unstable();
                quicksort::<Plain>(&mut numbers, &());
                assert_eq!(numbers, expected, "{length} numbers, {distinct} distinct");
            }
        }
    }

    #[test]
    fn sorted_and_reversed_input_is_partitioned_in_the_middle() {
        let mut ascending: Vec<u32> = (0..1000).collect();
        assert!((400..600).contains(&partition(&mut ascending)));
        let mut descending: Vec<u32> = (0..1000).rev().collect();
        assert!((400..600).contains(&partition(&mut descending)));
    }

    #[test]
    fn partition_leaves_numbers_on_both_sides() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..2000 {
            let mut numbers: Vec<u32> = (0..random.usize(3..30)).map(|_| random.u32(..4)).collect();
            let middle = partition(&mut numbers);
            assert!((1..numbers.len()).contains(&middle), "{numbers:?} cut at {middle}");
            let most = numbers[..middle].iter().max();
            assert!(most <= numbers[middle..].iter().min(), "{numbers:?} cut at {middle}");
        }
    }

    #[test]
    fn all_peers_sort() {
        all_peers_agree(&Quicksort::new(20_000), &[1, 3]);
    }
}
