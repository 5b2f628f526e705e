//! [`prefix_scan`](crate::iter::ParallelIterator::prefix_scan).
//!
//! The first pass scans each piece on its own, on the thread that produces its items. The second pass combines each
//! value with the last value before its piece. The first piece needs no second pass, so a loop that no other thread
//! joins calls `op` once for each item.

use crate::iter::{
    convert::IntoParallelIterator,
    plumbing::{Consumer, bridge::run},
    terminal::for_each::ForEach,
};

/// Scans pieces. The result has a vector for each.
pub(in crate::iter) struct Scan<F> {
    pub(in crate::iter) op: F,
}

impl<T: Send, F: Fn(&T, &T) -> T + Sync> Consumer<T> for Scan<F> {
    type Folder = Vec<T>;
    type Result = Vec<Vec<T>>;
    type Position = ();

    #[inline]
    fn folder(&self, (): ()) -> Vec<T> {
        Vec::new()
    }
    #[inline]
    fn consume_iter(&self, mut values: Vec<T>, items: impl Iterator<Item = T>) -> Vec<T> {
        values.reserve(items.size_hint().0);
        items.for_each(|item| {
            let value = match values.last() {
                Some(last) => (self.op)(last, &item),
                None => item,
            };
            values.push(value);
        });
        values
    }
    #[inline]
    fn complete(&self, values: Vec<T>) -> Vec<Vec<T>> {
        vec![values]
    }
    fn combine(&self, mut left: Vec<Vec<T>>, right: Vec<Vec<T>>) -> Vec<Vec<T>> {
        left.extend(right);
        left
    }
    #[inline]
    fn is_full(&self, _: &Vec<T>, (): ()) -> bool {
        false
    }
}

/// Concatenates scanned pieces: the second pass.
#[track_caller]
pub(in crate::iter) fn concatenate<T, F>(pieces: Vec<Vec<T>>, op: &F) -> Vec<T>
where
    T: Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    let len: usize = pieces.iter().map(Vec::len).sum();
    let mut pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    let mut values = pieces.next().unwrap_or_default();
    values.reserve_exact(len - values.len());
    for mut piece in pieces {
        if let Some(before) = values.last() {
            run(piece.as_mut_slice().into_par_iter(), &ForEach(|value: &mut T| *value = op(before, value)), ());
        }
        values.append(&mut piece);
    }
    values
}
