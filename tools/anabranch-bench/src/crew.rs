//! The hand-made upper bound: running threads receive equal shares of the work.
//!
//! The shares are cut before the clock starts. The calling thread takes the first share, as in the libraries. The
//! others sleep on a channel until theirs arrives.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::sample::Meter;
use crate::stopwatch::metered;

/// Passes each of the `shares` to a separate thread, sums up the results of `work`, and measures from the first
/// hand-over to the last result.
///
/// # Panics
/// Panics if there are no shares, or if `work` panics.
pub fn hand_out<T, F>(shares: Vec<T>, work: F) -> (u64, Meter)
where
    T: Send,
    F: Fn(T) -> u64 + Sync,
{
    let mut shares = shares.into_iter();
    let own = shares.next().expect("there is a share for the calling thread");
    let work = &work;
    thread::scope(|scope| {
        let (answers, answered) = mpsc::channel();
        let crew: Vec<_> = shares
            .map(|share| {
                let (order, orders) = mpsc::channel::<T>();
                let answers = answers.clone();
                scope.spawn(move || {
                    let share = orders.recv().expect("a share is handed out");
                    answers.send(work(share)).expect("somebody waits for the answer");
                });
                (order, share)
            })
            .collect();
        drop(answers);
        // This gives the threads time to start and to fall asleep. In a real program they would have been running for
        // long.
        thread::sleep(Duration::from_millis(5));
        metered(|| {
            for (order, share) in crew {
                order.send(share).expect("the thread waits for its share");
            }
            let own = work(own);
            answered.iter().fold(own, u64::wrapping_add)
        })
    })
}

/// Cuts `0..total` into `parts` ranges whose lengths differ by at most one, longer ones first.
pub fn cut(total: u64, parts: usize) -> impl Iterator<Item = std::ops::Range<u64>> {
    let parts = parts as u64;
    let (each, over) = (total / parts, total % parts);
    (0..parts).map(move |part| {
        let start = part * each + part.min(over);
        start..start + each + u64::from(part < over)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_share_is_worked_on_once() {
        for threads in [1, 2, 7] {
            let shares: Vec<u64> = (1..=threads).collect();
            let (sum, meter) = hand_out(shares, |share| share * share);
            assert_eq!(sum, (1..=threads).map(|n| n * n).sum::<u64>());
            assert!(meter.wall > 0.0);
        }
    }

    #[test]
    fn cuts_are_even_and_complete() {
        let ranges: Vec<_> = cut(11, 4).collect();
        assert_eq!(ranges, [0..3, 3..6, 6..9, 9..11]);
        assert_eq!(cut(2, 3).map(|r| r.end - r.start).collect::<Vec<_>>(), [1, 1, 0]);
    }
}
