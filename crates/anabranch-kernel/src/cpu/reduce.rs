//! Reduction.
//!
//! A thread reduces its elements in lanes: result `j` combines the elements at distances of the number of lanes from
//! `j` on. The results do not wait for each other, and the compiler makes vectors of them. The lanes are combined once
//! for each piece of the loop, and not for each block.

use anabranch::prelude::*;

use super::items::Part;
use super::parts::Parts;
use super::{catch, items};
use crate::source::{Source, View};
use crate::{Error, Item, Kernel};

/// Four vectors of SSE and NEON, or two of AVX, so that an addition need not wait for the one before.
const LANES: usize = 16;

/// The bytes of the largest element that is reduced in several lanes. All lanes are on the stack.
const LARGEST: usize = 64;

/// Combines all elements.
pub(crate) fn reduce<K, T, S>(source: &S, identity: T) -> Result<T, Error>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    if size_of::<T>() <= LARGEST {
        reduce_lanes::<LANES, K, T, S>(source, identity)
    } else {
        reduce_lanes::<1, K, T, S>(source, identity)
    }
}

#[inline]
fn reduce_lanes<const N: usize, K, T, S>(source: &S, identity: T) -> Result<T, Error>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    let parts = Parts(items(source)?);
    let combine = |left, right| K::call((left, right));
    catch(K::NAME, || {
        parts
            .fold(|| [identity; N], |lanes, part| reduce_part::<N, K, T, _>(lanes, &part))
            .map(|lanes| lanes[1..].iter().fold(lanes[0], |left, right| combine(left, *right)))
            .reduce(|| identity, combine)
    })
}

/// Combines the elements of a part with the results of the parts before it.
#[inline]
fn reduce_part<'a, const N: usize, K, T, V>(mut lanes: [T; N], part: &Part<V>) -> [T; N]
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    V: View<'a, T>,
{
    let whole = part.len - part.len % N;
    for start in (0..whole).step_by(N) {
        // Of a part of constant length the compiler knows that no lane is out of range.
        let chunk = part.view.part(start..start + N);
        for (lane, result) in lanes.iter_mut().enumerate() {
            *result = K::call((*result, chunk.get(lane)));
        }
    }
    for (result, index) in lanes.iter_mut().zip(whole..part.len) {
        *result = K::call((*result, part.view.get(index)));
    }
    lanes
}
