//! Sorting by keys that are computed once for each item.

use crate::iter::{adapters::Map, collect::in_place, convert::IntoParallelIterator, sort::unstable::unstable};

/// Sorts `items` by `key`, which is called once for each item, and keeps the order of items with equal keys.
#[track_caller]
pub(in crate::iter) fn by_cached_key<T, K, F>(items: &mut [T], key: F)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Sync,
{
    if items.len() < 2 {
        return;
    }
    let mut keys = Vec::new();
    in_place::extend(&mut keys, Map::new(items.into_par_iter(), |item: &mut T| key(item)));
    // The indices make the keys different, so the order of equal ones is kept.
    if u32::try_from(items.len()).is_ok() {
        let mut keys: Vec<(K, u32)> = keys.into_iter().zip(0..).collect();
        unstable(&mut keys, Ord::cmp);
        permute(items, keys.into_iter().map(|(_, index)| index as usize).collect());
    } else {
        let mut keys: Vec<(K, usize)> = keys.into_iter().zip(0..).collect();
        unstable(&mut keys, Ord::cmp);
        permute(items, keys.into_iter().map(|(_, index)| index).collect());
    }
}

/// Moves the item at `sources[i]` to `i`, for each `i`. `sources` has each index once.
fn permute<T>(items: &mut [T], mut sources: Vec<usize>) {
    for start in 0..items.len() {
        // Follows a cycle. The item that was at its start goes from place to place until its own one is found.
        let mut place = start;
        loop {
            let source = std::mem::replace(&mut sources[place], place);
            if source == start {
                break;
            }
            items.swap(place, source);
            place = source;
        }
    }
}
