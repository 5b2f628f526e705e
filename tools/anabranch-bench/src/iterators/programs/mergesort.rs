//! A merge sort: it sorts the halves in parallel, and merges in parallel too.

use super::library::join;
use crate::iterators::program::{Program, digest};

/// The longest part that std sorts.
const SORTED_AT_ONCE: usize = 32 * 1024;

/// The most numbers that are merged in one go.
const MERGED_AT_ONCE: usize = 64 * 1024;

/// Numbers, and room for as many.
pub struct Mergesort {
    source: Vec<u32>,
    numbers: Vec<u32>,
    room: Vec<u32>,
}

impl Mergesort {
    /// Creates `count` numbers in random order.
    pub fn new(count: usize) -> Mergesort {
        let mut random = fastrand::Rng::with_seed(0x3e6e);
        Mergesort { source: (0..count).map(|_| random.u32(..)).collect(), numbers: Vec::new(), room: vec![0; count] }
    }
}

impl Program for Mergesort {
    fn reset(&mut self) {
        self.numbers.clone_from(&self.source);
    }

    fn run(&mut self) -> u64 {
        sort(&mut self.numbers, &mut self.room, false);
        0
    }

    fn digest(&self) -> u64 {
        digest(self.numbers.iter().map(|number| (*number).into()))
    }
}

/// Sorts `numbers`. Moves them to `room`, which is as long, if `is_moved`.
fn sort(numbers: &mut [u32], room: &mut [u32], is_moved: bool) {
    if numbers.len() <= SORTED_AT_ONCE {
        numbers.sort();
        if is_moved {
            room.copy_from_slice(numbers);
        }
        return;
    }
    let middle = numbers.len() / 2;
    let (low, high) = numbers.split_at_mut(middle);
    let (room_low, room_high) = room.split_at_mut(middle);
    join(|| sort(low, room_low, !is_moved), || sort(high, room_high, !is_moved));
    if is_moved {
        merge(low, high, room);
    } else {
        merge(room_low, room_high, numbers);
    }
}

/// Merges two sorted slices into `to`.
fn merge(a: &[u32], b: &[u32], to: &mut [u32]) {
    if to.len() <= MERGED_AT_ONCE {
        merge_at_once(a, b, to);
        return;
    }
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let middle = long.len() / 2;
    let place = short.partition_point(|x| *x < long[middle]);
    let (long_low, long_high) = long.split_at(middle);
    let (short_low, short_high) = short.split_at(place);
    let (low, high) = to.split_at_mut(middle + place);
    join(|| merge(long_low, short_low, low), || merge(long_high, short_high, high));
}

fn merge_at_once(a: &[u32], b: &[u32], to: &mut [u32]) {
    let (mut from_a, mut from_b) = (0, 0);
    for to in to {
        let is_from_a = from_b == b.len() || (from_a < a.len() && a[from_a] <= b[from_b]);
        *to = if is_from_a { a[from_a] } else { b[from_b] };
        from_a += usize::from(is_from_a);
        from_b += usize::from(!is_from_a);
    }
}
