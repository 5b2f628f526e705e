//! Who used the cores, from the samples of a trace.
//!
//! A sample tells how long each thread ran and waited for a core since the sample before. It does not tell when: the
//! wait is drawn at the begin of the interval.

use std::collections::{BTreeMap, BTreeSet};

use anabranch_trace::read::Sample;

use super::{Lane, Piece, READY, WORKING};

/// The system counts the time of all processes in units of 10 ms, so their use of the cores is a mean of this time.
const SMOOTHED: u64 = 100_000_000;

/// How many cores were in use from one time to another, and how many threads waited for one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CoreUse {
    pub begin: u64,
    pub end: u64,
    /// Of the threads that work in a pool at some time.
    pub pool: f64,
    /// Of the other threads of the process.
    pub process: f64,
    /// Of the other processes of the machine.
    pub others: f64,
    /// The threads of the process that could run and had no core.
    pub ready: f64,
}

/// From one time to another a thread waited for a core for a time.
type Wait = (u64, u64, u64);

/// Returns the use of the cores, and divides the working pieces of the lanes by whether the thread had a core. Times
/// are relative to `first`.
pub fn divide(lanes: &mut [Lane], samples: &[Sample], first: u64, wall: u64) -> Vec<CoreUse> {
    let in_pool: BTreeSet<u32> = lanes.iter().filter(|lane| lane.entry.is_some()).map(|lane| lane.thread).collect();
    let mut waits: BTreeMap<u32, Vec<Wait>> = BTreeMap::new();
    let mut uses = Vec::new();
    let smoothed = others(samples);
    for pair in samples.windows(2) {
        let (begin, end) = (pair[0].time.max(first) - first, pair[1].time.saturating_sub(first));
        if begin >= end {
            continue;
        }
        let mut sums = [0; 2];
        for &(thread, ran, waited) in &pair[1].threads {
            sums[usize::from(!in_pool.contains(&thread))] += ran;
            // The system counts a wait when it ends, so the wait may have begun before this interval.
            let waits = waits.entry(thread).or_default();
            let earliest = waits.last().map_or(0, |&(_, end, _)| end);
            let begin = begin.min(end.saturating_sub(ran + waited)).max(earliest);
            waits.push((begin, end, waited.min(end - begin)));
        }
        let length = (pair[1].time - pair[0].time) as f64;
        let [pool, process] = sums.map(|sum| sum as f64 / length);
        let (begin, end) = (begin.min(wall), end.min(wall));
        uses.push(CoreUse { begin, end, pool, process, others: smoothed(pair), ready: 0.0 });
    }
    uses.retain(|part| part.begin < part.end);
    for &(begin, end, waited) in waits.values().flatten() {
        let from = uses.partition_point(|part| part.end <= begin);
        for part in uses[from..].iter_mut().take_while(|part| part.begin < end) {
            let shared = (part.end.min(end) - part.begin.max(begin)) as f64;
            part.ready += waited as f64 / (end - begin) as f64 * shared / (part.end - part.begin) as f64;
        }
    }
    for lane in lanes {
        if let Some(waits) = waits.get(&lane.thread) {
            lane.states = with_waits(&lane.states, waits.clone());
        }
    }
    uses
}

/// Returns a function that tells how many cores other processes used between two samples and shortly before and after.
fn others(samples: &[Sample]) -> impl Fn(&[Sample]) -> f64 {
    // The sums of the samples up to each one. So a window takes two searches, however many samples it has.
    let mut sums = vec![(0u128, 0u128)];
    for (index, sample) in samples.iter().enumerate() {
        let own: u128 = sample.threads.iter().map(|&(_, ran, _)| u128::from(ran)).sum();
        sums.push((sums[index].0 + u128::from(sample.busy), sums[index].1 + own));
    }
    move |pair| {
        // The first sample has no interval.
        let from = samples.partition_point(|sample| sample.time + SMOOTHED / 2 <= pair[0].time).max(1);
        let to = samples.partition_point(|sample| sample.time <= pair[1].time + SMOOTHED / 2);
        let earlier = samples.partition_point(|sample| sample.time < samples[from].time);
        let before = samples[earlier.saturating_sub(1)].time;
        let (busy, own) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        busy.saturating_sub(own) as f64 / (samples[to - 1].time - before).max(1) as f64
    }
}

/// Returns the states of a thread, in which it works only while it had a core. `waits` has intervals, and how long the
/// thread waited in each.
fn with_waits(states: &[Piece], mut waits: Vec<Wait>) -> Vec<Piece> {
    let mut divided = Vec::with_capacity(states.len());
    let mut next = 0;
    for &piece in states {
        let mut at = piece.begin;
        while piece.class == WORKING && at < piece.end {
            next += waits[next..].iter().take_while(|&&(_, end, _)| end <= at).count();
            let Some((begin, end, wait)) = waits.get_mut(next).filter(|(begin, ..)| *begin < piece.end) else { break };
            let (from, stop) = (at.max(*begin), piece.end.min(*end));
            let works_from = from + (*wait).min(stop - from);
            *wait -= works_from - from;
            let parts = [(at, from, piece.class), (from, works_from, READY), (works_from, stop, piece.class)];
            for (begin, end, class) in parts.into_iter().filter(|(begin, end, _)| begin < end) {
                divided.push(Piece { begin, end, class, ..piece });
            }
            at = stop;
        }
        if at < piece.end || piece.begin == piece.end {
            divided.push(Piece { begin: at, ..piece });
        }
    }
    joined(divided)
}

/// Joins pieces that were divided without a wait between them.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match joined.last_mut() {
            Some(last)
                if last.end == piece.begin
                    && Piece { begin: last.begin, ..piece } == Piece { end: piece.end, ..*last } =>
            {
                last.end = piece.end;
            }
            _ => joined.push(piece),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(begin: u64, end: u64, class: u8) -> Piece {
        Piece { begin, end, class, subject: 0, detail: 0 }
    }

    #[test]
    fn threads_work_only_while_they_have_a_core() {
        let states = [piece(5, 40, WORKING), piece(40, 50, 2), piece(50, 60, WORKING)];
        let waits = [(0, 10, 0), (10, 20, 4), (20, 30, 0), (30, 55, 3), (55, 70, 9)];
        let expected = [
            piece(5, 10, WORKING),
            piece(10, 14, READY),
            piece(14, 30, WORKING),
            piece(30, 33, READY),
            piece(33, 40, WORKING),
            piece(40, 50, 2),
            piece(50, 55, WORKING),
            piece(55, 60, READY),
        ];
        assert_eq!(with_waits(&states, waits.to_vec()), expected);
        assert_eq!(with_waits(&states, Vec::new()), states);
    }

    #[test]
    fn cores_are_those_of_the_pool_of_the_process_and_of_others() {
        let lane = |thread, entry| Lane { thread, entry, ..Lane::default() };
        let mut lanes = [lane(1, Some(("worker", 1, 0))), lane(2, None)];
        let sample = |time, busy, threads: &[(u32, u64, u64)]| Sample { time, busy, threads: threads.to_vec() };
        let samples = [sample(100, 0, &[]), sample(200, 300, &[(1, 100, 0), (2, 25, 0), (3, 25, 50)])];
        let all = CoreUse { begin: 50, end: 150, pool: 1.0, process: 0.5, others: 1.5, ready: 0.5 };
        assert_eq!(divide(&mut lanes, &samples, 50, 1000), [all]);
    }
}
