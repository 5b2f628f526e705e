//! Scattering and counting.

use std::sync::atomic::{AtomicU32, Ordering};

use anabranch::Cx;
use anabranch::prelude::*;

use super::watched::Watched;
use super::{catch, items};
use crate::source::{Source, trap};
use crate::{Element, Error, element};

/// Writes each element to the place in `target` that its number says.
///
/// Two numbers may be equal, so the words are written as atomics.
pub(crate) fn scatter<T: Element>(
    values: &impl Source<T>,
    numbers: &impl Source<u32>,
    target: &mut [T],
    cx: Option<&Cx<'_>>,
) -> Result<(), Error> {
    let (values, numbers) = (items(values)?, items(numbers)?);
    let (len, words) = (target.len(), element::words::<T>());
    let target = element::as_atomic_words(target);
    catch("scatter", cx, |stop| {
        Watched::new(values.zip(numbers), stop).for_each(|(value, number)| {
            if number as usize >= len {
                trap("scatter", format!("index {number} is out of range for {len} elements"));
            }
            let place = &target[number as usize * words..][..words];
            let write = |(to, word): (&AtomicU32, &u32)| to.store(*word, Ordering::Relaxed);
            place.iter().zip(element::as_words(&[value])).for_each(write);
        });
    })
}

/// Counts how often each number occurs. Each piece of the loop has its own counts.
pub(crate) fn histogram(numbers: &impl Source<u32>, bins: usize, cx: Option<&Cx<'_>>) -> Result<Vec<u32>, Error> {
    let numbers = items(numbers)?;
    let count = |mut counts: Vec<u32>, number: u32| {
        match counts.get_mut(number as usize) {
            Some(count) => *count = count.wrapping_add(1),
            None => trap("histogram", format!("number {number} has no bin: there are {bins}")),
        }
        counts
    };
    let add = |mut left: Vec<u32>, right: Vec<u32>| {
        left.iter_mut().zip(right).for_each(|(left, right)| *left = left.wrapping_add(right));
        left
    };
    catch("histogram", cx, |stop| {
        Watched::new(numbers, stop).fold(|| vec![0; bins], count).reduce(|| vec![0; bins], add)
    })
}
