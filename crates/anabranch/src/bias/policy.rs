//! Counts of the biases of this process: how many were claimed, and how many of those were revoked.
//!
//! A bias pays if it lasts. To claim one costs nothing, but to revoke it costs as much as some hundreds of updates. So
//! a thread that claims it after as many uses in a row pays at most twice the optimal cost, whatever comes. That bound
//! needs no knowledge. But in a program whose biases have lasted so far, later ones most often last, too: the ends of a
//! channel are on one worker, or on two from the beginning. So the fewer were revoked, the smaller is the number of
//! uses. It begins with an eighth: a program in which all are revoked has learned that after some dozens, which is less
//! than a millisecond.
//!
//! Source: ski rental with a distribution that is learned, as in Karlin, Manasse, McGeoch, Owicki: Competitive
//! Randomized Algorithms for Nonuniform Problems (1994).
//!
//! Orderings: none. Nothing but speed depends on the counts, which may lose some.
//!
//! To revoke a bias is a barrier in all threads: up to 16 us where the other core is busy, as much as 500 exchanges. So
//! where biases are revoked the number of uses becomes 500, and where they last it is 31: a stream that is used some
//! fifty times only is biased for half of its life. Tried and dropped: biases granted at once, by the thread that wakes
//! a fiber of its own worker, which makes channels that change hands pay.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The initial counts: as if so many had been claimed, and so many of these revoked.
const BEFORE: (u32, u32) = (16, 2);

/// The least number of uses is one part in `LEAST` of those that a bias is worth.
const LEAST: u32 = 16;

/// At this count both counts are halved.
const MEMORY: u32 = 4096;

/// See the [module](self).
struct Record {
    claimed: AtomicU32,
    taken: AtomicU32,
}

static RECORD: Record = Record::new();

impl Record {
    const fn new() -> Self {
        Self { claimed: AtomicU32::new(BEFORE.0), taken: AtomicU32::new(BEFORE.1) }
    }

    fn note_claim(&self) {
        let claimed = self.claimed.fetch_add(1, Relaxed);
        if claimed >= MEMORY {
            self.claimed.store(claimed / 2, Relaxed);
            self.taken.store(self.taken.load(Relaxed) / 2, Relaxed);
        }
    }

    fn note_theft(&self) {
        self.taken.fetch_add(1, Relaxed);
    }

    #[inline]
    fn should_bias(&self, uses: u32, worth: u32) -> bool {
        if uses >= worth || uses < worth / LEAST {
            return uses >= worth;
        }
        let (claimed, taken) = (self.claimed.load(Relaxed), self.taken.load(Relaxed));
        u64::from(uses) * u64::from(claimed) >= u64::from(worth) * u64::from(taken)
    }
}

/// Counts a bias that was claimed.
pub(crate) fn note_claim() {
    RECORD.note_claim();
}

/// Counts a bias that was revoked.
pub(crate) fn note_theft() {
    RECORD.note_theft();
}

/// Returns whether `uses` in a row are enough to claim a bias that costs as much as `worth` uses if it is revoked.
#[inline]
pub(crate) fn should_bias(uses: u32, worth: u32) -> bool {
    if cfg!(any(loom, shuttle, miri)) { uses >= worth } else { RECORD.should_bias(uses, worth) }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{LEAST, MEMORY, Record};

    fn uses(record: &Record) -> u32 {
        (0..).find(|&uses| record.should_bias(uses, 800)).unwrap()
    }

    #[test]
    fn biases_that_last_are_claimed_sooner_and_those_that_do_not_later() {
        let record = Record::new();
        assert_eq!(uses(&record), 100);
        (0..1000).for_each(|_| record.note_claim());
        assert_eq!(uses(&record), 800 / LEAST);
        let record = Record::new();
        for _ in 0..100 {
            record.note_claim();
            record.note_theft();
        }
        assert!((600..=800).contains(&uses(&record)), "{}", uses(&record));
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let record = Record::new();
        for _ in 0..2 * MEMORY {
            record.note_claim();
            record.note_theft();
        }
        assert!(uses(&record) > 700);
        (0..10 * MEMORY).for_each(|_| record.note_claim());
        assert!(uses(&record) < 60, "{}", uses(&record));
    }
}
