//! Scans.
//!
//! The first pass scans each piece on its own. The second one combines each value with the last one before its piece.
//! The first piece needs no second pass, so a loop that no other thread joins calls the kernel once for each element.
//! The parallel iterators have the same scan, but its second pass cannot be stopped.

use anabranch::Cx;
use anabranch::prelude::*;

use super::items::{Items, Part};
use super::parts::Parts;
use super::stop::Stop;
use super::watched::Watched;
use super::{catch, items};
use crate::source::{Source, View, len};
use crate::{Error, Item, Kernel};

/// Combines each element with those before it.
pub(crate) fn scan<K, T, S>(source: &S, cx: Option<&Cx<'_>>) -> Result<Vec<T>, Error>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    let items = items(source)?;
    catch(K::NAME, cx, |stop| scan_items::<K, T, _>(items, None, stop))
}

/// Combines those before each element.
pub(crate) fn exclusive_scan<K, T, S>(source: &S, identity: T, cx: Option<&Cx<'_>>) -> Result<Vec<T>, Error>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    S: Source<T>,
{
    let Some(last) = len(source)?.checked_sub(1) else { return Ok(Vec::new()) };
    let before = Items::new(source.view()?, 0..last);
    catch(K::NAME, cx, |stop| scan_items::<K, T, _>(before, Some(identity), stop))
}

/// Scans `first` and the items.
fn scan_items<'a, K, T, V>(items: Items<'a, T, V>, first: Option<T>, stop: &Stop<'_>) -> Vec<T>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    V: View<'a, T>,
{
    let pieces: Vec<Vec<T>> = Parts(items)
        .fold(Vec::new, |values, part| {
            if stop.is_stopped() {
                return values;
            }
            let first = first.filter(|_| part.start == 0);
            stop.guard(|| scan_part::<K, T, V>(values, first, &part))
        })
        .collect();
    concatenate::<K, T>(pieces, stop)
}

/// Appends `first` and the elements of a part, each combined with those before it.
#[inline]
fn scan_part<'a, K, T, V>(mut values: Vec<T>, first: Option<T>, part: &Part<V>) -> Vec<T>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
    V: View<'a, T>,
{
    // Before a part at 0 there may have been an empty one.
    values.extend(first.filter(|_| values.is_empty()));
    let mut indices = 0..part.len;
    if values.is_empty() {
        values.reserve(part.len);
        values.extend(indices.next().map(|index| part.view.get(index)));
    }
    if let Some(mut last) = values.last().copied() {
        values.extend(indices.map(|index| {
            last = K::call((last, part.view.get(index)));
            last
        }));
    }
    values
}

/// Concatenates scanned pieces: the second pass.
fn concatenate<K, T>(pieces: Vec<Vec<T>>, stop: &Stop<'_>) -> Vec<T>
where
    T: Item,
    K: Kernel<Params = (T, T), Output = T>,
{
    let len: usize = pieces.iter().map(Vec::len).sum();
    let mut pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    let mut values = pieces.next().unwrap_or_default();
    values.reserve_exact(len - values.len());
    for mut piece in pieces {
        if let Some(before) = values.last().copied() {
            Watched::new(piece.par_iter_mut(), stop).for_each(|value| *value = K::call((before, *value)));
        }
        values.append(&mut piece);
    }
    values
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use anabranch::{Cancelled, Pool, fiber::CancelHandle};

    use super::*;

    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static HANDLE: OnceLock<CancelHandle> = OnceLock::new();

    /// Adds, and cancels at a call.
    enum Add {}

    impl Kernel for Add {
        type Params = (u32, u32);
        type Output = u32;
        const NAME: &'static str = "add";
        const PROGRAM: &'static [u8] = &[];

        fn call((left, right): (u32, u32)) -> u32 {
            if CALLS.fetch_add(1, Ordering::Relaxed) == 1000 {
                HANDLE.get().unwrap().cancel();
            }
            left.wrapping_add(right)
        }
    }

    #[test]
    fn a_cancelled_scan_ends_its_second_pass() {
        const LEN: usize = 4_000_000;
        Pool::builder().threads(2).build().unwrap().run(|cx| {
            cx.cancellable(|cx, handle| {
                assert!(HANDLE.set(handle).is_ok());
                let stop = Stop::new(Some(cx));
                let pieces = vec![vec![1], vec![1; LEN], vec![1; LEN]];
                let panic = catch_unwind(AssertUnwindSafe(|| concatenate::<Add, u32>(pieces, &stop))).unwrap_err();
                assert!(panic.is::<Cancelled>());
            });
        });
        assert!(CALLS.load(Ordering::Relaxed) < LEN / 2);
    }
}
