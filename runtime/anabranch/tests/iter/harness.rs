//! What the tests of the iterators share: a source that is cut at random places, and pools of several sizes.

use crate::common::{Random, pool};
use anabranch::{
    Pool,
    iter::plumbing::{Consumer, Drive, DriveIndexed, Position, Producer, Progress, drive_indexed},
};
use std::sync::OnceLock;

/// The numbers of threads of the pools that tests use.
const THREADS: [usize; 6] = [1, 2, 3, 4, 8, 32];

/// Returns pools of 1 to 32 threads, which all tests share.
pub fn pools() -> &'static [Pool] {
    static POOLS: OnceLock<Vec<Pool>> = OnceLock::new();
    POOLS.get_or_init(|| THREADS.iter().map(|&threads| pool(threads)).collect())
}

/// Checks that `parallel` returns what `plain` returns, in pools of several sizes and outside of any pool.
#[track_caller]
pub fn check<R: PartialEq + std::fmt::Debug>(plain: R, parallel: impl Fn() -> R) {
    assert_eq!(parallel(), plain, "in the default pool");
    for pool in pools() {
        assert_eq!(pool.install(&parallel), plain, "with {} threads", pool.num_threads());
    }
}

/// A source of unknown length that folds pieces of random lengths one after the other, some with a folder of their own.
///
/// So a test sees what an adapter does when other threads take pieces, in an order that the seed determines.
#[derive(Clone)]
pub struct Pieces<T> {
    items: Vec<T>,
    seed: u64,
}

/// Makes a source of `items` that is cut at places that `seed` determines.
pub fn pieces<T>(items: impl IntoIterator<Item = T>, seed: u64) -> Pieces<T> {
    Pieces { items: items.into_iter().collect(), seed }
}

impl<T: Send> Drive for Pieces<T> {
    type Item = T;

    fn drive<C: Consumer<T>>(self, consumer: &C, folder: C::Folder, at: C::Position) -> Progress<C::Folder, C::Result> {
        let (mut random, mut items, mut rest) = (Random(self.seed), self.items.into_iter(), at);
        let mut progress = Progress::Folding(folder);
        while items.len() > 0 {
            let len = 1 + random.below(items.len().min(9) as u64) as usize;
            let (here, next) = rest.split_at(len, items.len());
            let block: Vec<T> = items.by_ref().take(len).collect();
            let is_stolen = random.below(3) == 0;
            progress = match progress {
                Progress::Folding(folder) if consumer.is_full(&folder, rest) => return Progress::Folding(folder),
                Progress::Folding(folder) if !is_stolen => {
                    Progress::Folding(consumer.consume_iter(folder, block.into_iter()))
                }
                progress => {
                    let left = progress.finish(consumer);
                    let right = consumer.complete(consumer.consume_iter(consumer.folder(here), block.into_iter()));
                    Progress::Complete(consumer.combine(left, right))
                }
            };
            rest = next;
        }
        progress
    }
}

/// A source of known length, from a producer that may be wrong about itself.
#[derive(Clone)]
pub struct Indexed<P>(pub P);

impl<P> Drive for Indexed<P>
where
    P: Producer<Item: Send, IntoIter: DoubleEndedIterator + ExactSizeIterator> + Clone,
{
    drive_indexed!(P::Item);
}

impl<P> DriveIndexed for Indexed<P>
where
    P: Producer<Item: Send, IntoIter: DoubleEndedIterator + ExactSizeIterator> + Clone,
{
    type Producer<'a>
        = P
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn producer(&mut self) -> P {
        self.0.clone()
    }
}
