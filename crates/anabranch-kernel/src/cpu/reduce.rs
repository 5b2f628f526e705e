//! Reduction.
//!
//! A part of the elements is reduced in lanes: result `j` combines the elements at distances of [`LANES`] from `j` on.
//! The results do not wait for each other, and the compiler makes vectors of them.

use anabranch::prelude::*;

use crate::cpu::catch;
use crate::cpu::parts::{Part, Parts};
use crate::source::{Source, View};
use crate::{Error, Item, Kernel, vector};

/// Four vectors of SSE and NEON, or two of AVX, so that an addition need not wait for the one before.
const LANES: usize = 16;

/// Combines all elements.
pub(crate) fn reduce<K, T, S>(source: &S, identity: T) -> Result<T, Error>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    let parts = Parts::new(source.view()?, 0..vector::len(source)?);
    let combine = |left, right| K::call((left, right));
    catch(K::NAME, || parts.map(|part| reduce_part::<K, T, _>(&part, identity)).reduce(|| identity, combine))
}

#[inline]
fn reduce_part<'a, K, T, V>(part: &Part<V>, identity: T) -> T
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    V: View<'a, T>,
{
    let mut lanes = [identity; LANES];
    let whole = part.len - part.len % LANES;
    for start in (0..whole).step_by(LANES) {
        // Of a part of constant length the compiler knows that no lane is out of range.
        let chunk = part.view.part(start..start + LANES);
        for (lane, result) in lanes.iter_mut().enumerate() {
            *result = K::call((*result, chunk.get(lane)));
        }
    }
    for index in whole..part.len {
        lanes[0] = K::call((lanes[0], part.view.get(index)));
    }
    lanes[1..].iter().fold(lanes[0], |left, right| K::call((left, *right)))
}
