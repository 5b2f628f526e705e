//! Sorting.

use std::ptr;

use anabranch::Cx;
use anabranch::prelude::*;

use super::stop::Stop;
use super::watched::Watched;
use super::{catch, items};
use crate::source::Source;
use crate::{Element, Error, Key};

/// The bytes of a vector of which one pair is the place of a look.
const LOOK: usize = 4096;

/// Sorts values by keys, stable.
pub(crate) fn sort_by_key<K: Key, T: Element>(
    keys: &impl Source<K>,
    values: &impl Source<T>,
    cx: Option<&Cx<'_>>,
) -> Result<(Vec<K>, Vec<T>), Error> {
    let (keys, values) = (items(keys)?, items(values)?);
    catch("sort_by_key", cx, |stop| {
        let mut pairs: Vec<(K, T)> = Watched::new(keys.zip(values), stop).collect();
        sort_pairs(&mut pairs, |(key, _)| key.to_ordered(), stop);
        Watched::new(pairs.into_par_iter(), stop).unzip()
    })
}

/// Sorts by a key, stable.
///
/// A sort has no blocks, so a comparison looks whether to stop if its pair is at one place in [`LOOK`] bytes. It has no
/// counter, because the threads would share it. The look takes a part of the time of a comparison, so there is none if
/// no scope can cancel the operation.
fn sort_pairs<P: Send>(pairs: &mut [P], key: impl Fn(&P) -> u32 + Sync, stop: &Stop<'_>) {
    if !stop.is_scoped() {
        return pairs.par_sort_by_key(key);
    }
    pairs.par_sort_by(|a, b| {
        if ptr::from_ref(a).addr() % LOOK < size_of::<P>() {
            stop.check_in_sort();
        }
        key(a).cmp(&key(b))
    });
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use anabranch::{Cancelled, Pool};

    use super::*;

    #[test]
    fn a_cancelled_sort_compares_no_further_and_keeps_each_pair() {
        const LEN: u32 = 300_000;
        for threads in [1, 2, 4] {
            let mut pairs: Vec<(u32, u32)> = (0..LEN).map(|i| (i.wrapping_mul(0x9e37_79b1), i)).collect();
            let keys = AtomicUsize::new(0);
            Pool::builder().threads(threads).build().unwrap().run(|cx| {
                cx.cancellable(|cx, handle| {
                    let key = |pair: &(u32, u32)| {
                        if keys.fetch_add(1, Ordering::Relaxed) == 1000 {
                            handle.cancel();
                        }
                        pair.0
                    };
                    let stop = Stop::new(Some(cx));
                    let panic = catch_unwind(AssertUnwindSafe(|| sort_pairs(&mut pairs, key, &stop))).unwrap_err();
                    assert!(panic.is::<Cancelled>());
                });
            });
            let keys = keys.into_inner();
            assert!(keys < 3 * LEN as usize, "{threads} threads: {keys} keys, and a sort needs 10 times as many");
            pairs.sort_by_key(|pair| pair.1);
            assert!(pairs.into_iter().map(|pair| pair.1).eq(0..LEN));
        }
    }
}
