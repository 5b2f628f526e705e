//! Driving two parallel iterators, one after the other in the order of the items.

use crate::{
    fork::join::{Job, fork},
    iter::plumbing::{
        bridge::Never,
        consumer::{Consumer, Progress},
        drive::Drive,
    },
    pool::{handle::Pool, worker::Worker},
};

/// Folds the items of `left` and then those of `right`, which another thread may take meanwhile. `at` has their
/// positions.
///
/// `right` is one open fork for as long as `left` runs. If no thread takes it, this thread goes on with the same
/// folder, unless the consumer is deterministic.
///
/// # Panics
/// Panics with one of the panics when the iterators or the consumer panic, once both have ended. Outside of any pool,
/// also panics when the default pool cannot be created.
#[inline]
pub(in crate::iter) fn drive_pair<L, R, C>(
    left: L,
    right: R,
    consumer: &C,
    folder: C::Folder,
    at: (C::Position, C::Position),
) -> Progress<C::Folder, C::Result>
where
    L: Drive,
    R: Drive<Item = L::Item>,
    C: Consumer<L::Item>,
{
    let right = Right { iter: right, at: at.1, consumer };
    if Worker::current().registry().is_none() {
        return drive_outside(left, right, folder, at.0);
    }
    fork(
        move || left.drive(consumer, folder, at.0),
        right,
        |left, right| match left {
            Progress::Folding(folder) if consumer.is_full(&folder, right.at) => Progress::Folding(folder),
            Progress::Folding(folder) if !C::IS_DETERMINISTIC => right.iter.drive(consumer, folder, right.at),
            // `right` gets a folder of its own, as if a thread had taken it.
            left => Progress::Complete(consumer.combine(left.finish(consumer), right.run(false))),
        },
        |left, right| Progress::Complete(consumer.combine(left.finish(consumer), right)),
        Never,
    )
}

/// Out of line, so that a pair inside a pool does not save registers for it.
#[cold]
#[inline(never)]
fn drive_outside<L, R, C>(
    left: L,
    right: Right<'_, R, C>,
    folder: C::Folder,
    at: C::Position,
) -> Progress<C::Folder, C::Result>
where
    L: Drive,
    R: Drive<Item = L::Item>,
    C: Consumer<L::Item>,
{
    Pool::of_outside().enter(|| drive_pair(left, right.iter, right.consumer, folder, (at, right.at)))
}

/// The right one of a pair.
struct Right<'a, I: Drive, C: Consumer<I::Item>> {
    iter: I,
    at: C::Position,
    consumer: &'a C,
}

impl<I: Drive, C: Consumer<I::Item>> Job for Right<'_, I, C> {
    type Output = C::Result;

    fn run(self, _: bool) -> C::Result {
        self.iter.drive(self.consumer, self.consumer.folder(self.at), self.at).finish(self.consumer)
    }
}
