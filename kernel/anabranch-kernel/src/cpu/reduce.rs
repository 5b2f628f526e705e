//! Reduction.
//!
//! A long block is reduced in lanes: with `n` lanes, lane `j` combines the elements `j`, `j + n`, `j + 2n` and so on.
//! The lanes do not wait for each other, and the compiler makes vectors of them. They are combined at the end of the
//! block, so that a piece of the loop hands a single element from block to block, in a register. Handing all lanes on
//! cost 25 ns a block, and a short loop consists of short blocks.

use std::array;

use anabranch::Cx;
use anabranch::prelude::*;

use super::items::Part;
use super::parts::Parts;
use super::{catch, items};
use crate::source::{Source, View};
use crate::{Error, Item, Kernel};

/// Four vectors of SSE and NEON, or two of AVX, so that an addition need not wait for the one before. A power of two.
const LANES: usize = 16;

/// The elements of a lane that are combined between two checks of the bounds.
const ROWS: usize = 8;

/// The bytes of the largest element that is reduced in several lanes. All lanes are on the stack.
const LARGEST: usize = 64;

/// Combines all elements.
pub(crate) fn reduce<K, T, S>(source: &S, identity: T, cx: Option<&Cx<'_>>) -> Result<T, Error>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    let items = items(source)?;
    let reduce_part = match size_of::<T>() <= LARGEST {
        true => reduce_part::<LANES, K, T, _>,
        false => reduce_part::<1, K, T, _>,
    };
    catch(K::NAME, cx, |stop| {
        let reduce_part = |before, part| {
            if stop.is_stopped() { before } else { stop.guard(|| reduce_part(before, &part)) }
        };
        let combine = |left, right| stop.guard(|| K::call((left, right)));
        Parts(items).fold(|| identity, reduce_part).reduce(|| identity, combine)
    })
}

/// Combines the elements of a part with the result of the parts before it.
#[inline]
fn reduce_part<'a, const N: usize, K, T, V>(mut before: T, part: &Part<V>) -> T
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    V: View<'a, T>,
{
    let mut done = 0;
    if part.len >= N {
        let first = part.view.part(0..N);
        let lanes = array::from_fn(|lane| first.get(lane));
        let rows = part.len - (part.len - N) % (ROWS * N);
        let lanes = add_rows::<ROWS, N, K, T, V>(lanes, part, N, rows);
        done = part.len - part.len % N;
        let lanes = add_rows::<1, N, K, T, V>(lanes, part, rows, done);
        before = K::call((before, combine::<N, K, T>(lanes)));
    }
    (done..part.len).fold(before, |before, index| K::call((before, part.view.get(index))))
}

/// Combines the elements from `start` to `end`, a multiple of `ROWS * N`, with the lanes.
#[inline(always)]
fn add_rows<'a, const ROWS: usize, const N: usize, K, T, V>(
    mut lanes: [T; N],
    part: &Part<V>,
    start: usize,
    end: usize,
) -> [T; N]
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    V: View<'a, T>,
{
    for start in (start..end).step_by(ROWS * N) {
        // Of a part of constant length the compiler knows that no lane is out of range.
        let chunk = part.view.part(start..start + ROWS * N);
        for row in 0..ROWS {
            for (lane, result) in lanes.iter_mut().enumerate() {
                *result = K::call((*result, chunk.get(row * N + lane)));
            }
        }
    }
    lanes
}

/// Combines the lanes, half by half. Out of line: an index that the compiler does not know would keep the lanes of the
/// loop before it in memory.
#[inline(never)]
fn combine<const N: usize, K, T>(mut lanes: [T; N]) -> T
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
{
    let mut half = N / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = K::call((lanes[lane], lanes[lane + half]));
        }
        half /= 2;
    }
    lanes[0]
}
