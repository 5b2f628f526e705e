//! The sources: each yields what the plain iterator yields, wherever it is cut.

mod bridged;
mod collections;
mod drops;
mod ranges;
mod slices;
mod strings;
mod trees;

use crate::{common::Random, harness::check};
use anabranch::iter::plumbing::{Consumer, Drive, DriveIndexed, Producer};
use std::fmt::Debug;

/// Collects the items in order.
struct Collect;

impl<T: Send> Consumer<T> for Collect {
    type Folder = Vec<T>;
    type Result = Vec<T>;
    type Position = ();

    fn folder(&self, (): ()) -> Vec<T> {
        Vec::new()
    }
    fn consume_iter(&self, mut folder: Vec<T>, items: impl Iterator<Item = T>) -> Vec<T> {
        folder.extend(items);
        folder
    }
    fn complete(&self, folder: Vec<T>) -> Vec<T> {
        folder
    }
    fn combine(&self, mut left: Vec<T>, mut right: Vec<T>) -> Vec<T> {
        left.append(&mut right);
        left
    }
    fn is_full(&self, _: &Vec<T>, (): ()) -> bool {
        false
    }
}

/// Returns the items of a parallel iterator in order.
fn in_order<I: Drive>(iter: I) -> Vec<I::Item> {
    iter.drive(&Collect, Vec::new(), ()).finish(&Collect)
}

/// Checks that a parallel iterator of unknown length yields the items of the plain one in order.
#[track_caller]
fn check_order<T: PartialEq + Debug, I: Drive<Item = T>>(plain: impl IntoIterator<Item = T>, parallel: impl Fn() -> I) {
    check(plain.into_iter().collect::<Vec<T>>(), || in_order(parallel()));
}

/// Checks that a parallel iterator of known length yields the items of the plain one: in pools, and cut at random
/// places.
#[track_caller]
fn check_indexed<T, I>(plain: impl IntoIterator<Item = T>, parallel: impl Fn() -> I)
where
    T: PartialEq + Debug + Send,
    I: DriveIndexed<Item = T>,
{
    let plain: Vec<T> = plain.into_iter().collect();
    assert_eq!(parallel().len(), plain.len());
    assert_eq!(parallel().opt_len(), Some(plain.len()));
    for seed in 0..30 {
        let mut source = parallel();
        assert_eq!(cut(source.producer(), &mut Random(seed)), plain, "with the seed {seed}");
    }
    check(plain, || in_order(parallel()));
}

/// Returns the items of a producer that is cut at random places. Each piece is iterated from one of its ends or from
/// both.
fn cut<P>(producer: P, random: &mut Random) -> Vec<P::Item>
where
    P: Producer<IntoIter: DoubleEndedIterator + ExactSizeIterator>,
{
    let len = producer.len();
    if len > 0 && random.below(4) != 0 {
        let mid = random.below(len as u64 + 1) as usize;
        let (left, right) = producer.split_at(mid);
        assert_eq!((left.len(), right.len()), (mid, len - mid), "the lengths after a cut");
        let mut items = cut(left, random);
        items.extend(cut(right, random));
        return items;
    }
    let mut items = producer.into_iter();
    assert_eq!(items.len(), len);
    let (mut front, mut back) = (Vec::new(), Vec::new());
    match random.below(5) {
        0 => front.extend(items),
        1 => back.extend(items.rev()),
        2 => {
            front = items.fold(front, |mut front, item| {
                front.push(item);
                front
            })
        }
        3 => {
            back = items.rfold(back, |mut back, item| {
                back.push(item);
                back
            })
        }
        _ => loop {
            let item = if random.below(2) == 0 {
                items.next().map(|item| front.push(item))
            } else {
                items.next_back().map(|item| back.push(item))
            };
            assert_eq!(items.len(), len - front.len() - back.len());
            if item.is_none() {
                break;
            }
        },
    }
    front.extend(back.into_iter().rev());
    assert_eq!(front.len(), len);
    front
}

/// Returns numbers below `below`, which are few so that equal ones are neighbours now and then.
fn numbers(len: usize, below: u64, seed: u64) -> Vec<u64> {
    let mut random = Random(seed);
    (0..len).map(|_| random.below(below)).collect()
}
