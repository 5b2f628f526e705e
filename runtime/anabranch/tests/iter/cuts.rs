//! Sources of known length, and checks that cut what adapters make of them at random places.

use crate::{
    common::{Random, one_thread},
    harness::check,
};
use anabranch::iter::plumbing::{Consumer, Drive, DriveIndexed, Producer, drive_indexed};
use std::{fmt::Debug, ops::Range, vec};

/// The numbers of a range.
#[derive(Debug, Clone)]
pub struct Numbers(pub Range<usize>);

impl Drive for Numbers {
    drive_indexed!(usize);
}

impl DriveIndexed for Numbers {
    type Producer<'a> = Self;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn producer(&mut self) -> Self {
        self.clone()
    }
}

impl Producer for Numbers {
    type Item = usize;
    type IntoIter = Range<usize>;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn split_at(self, mid: usize) -> (Self, Self) {
        assert!(mid <= self.0.len(), "{mid} is not in {:?}", self.0);
        let mid = self.0.start + mid;
        (Self(self.0.start..mid), Self(mid..self.0.end))
    }
    fn into_iter(self) -> Range<usize> {
        self.0
    }
}

/// The items of a vector, by value.
#[derive(Debug, Clone)]
pub struct Owned<T>(pub Vec<T>);

impl<T: Send> Drive for Owned<T> {
    drive_indexed!(T);
}

impl<T: Send> DriveIndexed for Owned<T> {
    type Producer<'a>
        = Self
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn producer(&mut self) -> Self {
        Self(std::mem::take(&mut self.0))
    }
}

impl<T: Send> Producer for Owned<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn split_at(mut self, mid: usize) -> (Self, Self) {
        let right = self.0.split_off(mid);
        (self, Self(right))
    }
    fn into_iter(self) -> vec::IntoIter<T> {
        self.0.into_iter()
    }
}

/// Returns the items of a producer that is cut at random places, and whose parts are iterated from both ends.
pub fn cut<P>(producer: P, random: &mut Random) -> Vec<P::Item>
where
    P: Producer<IntoIter: DoubleEndedIterator + ExactSizeIterator>,
{
    let len = producer.len();
    if len == 0 || random.below(3) == 0 {
        return iterate(producer.into_iter(), len, random);
    }
    let mid = random.below(len as u64 + 1) as usize;
    let limits = (producer.min_len(), producer.max_len());
    let (left, right) = producer.split_at(mid);
    assert_eq!((left.len(), right.len()), (mid, len - mid), "the lengths of the parts");
    assert_eq!((left.min_len(), left.max_len()), limits, "the limits of the left part");
    assert_eq!((right.min_len(), right.max_len()), limits, "the limits of the right part");
    let mut items = cut(left, random);
    items.extend(cut(right, random));
    items
}

/// Returns the items of an iterator in order, taken from random ends in random ways.
fn iterate<I>(mut items: I, len: usize, random: &mut Random) -> Vec<I::Item>
where
    I: DoubleEndedIterator + ExactSizeIterator,
{
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for left in (0..=len).rev() {
        assert_eq!(items.len(), left, "the length of the iterator");
        match random.below(12) {
            0 => {
                items.for_each(|item| front.push(item));
                break;
            }
            1 => {
                items.rev().for_each(|item| back.push(item));
                break;
            }
            2..7 => front.extend(items.next()),
            _ => back.extend(items.next_back()),
        }
        assert_eq!(front.len() + back.len(), len.min(len + 1 - left), "one item more");
        if left == 0 {
            assert!(items.next().is_none() && items.next_back().is_none());
        }
    }
    front.extend(back.into_iter().rev());
    front
}

/// Checks that a parallel iterator of known length yields `plain`, however its producer is cut, and in pools.
#[track_caller]
pub fn check_indexed<I>(plain: impl Iterator<Item = I::Item>, make: impl Fn() -> I)
where
    I: DriveIndexed<Item: PartialEq + Debug>,
{
    let plain: Vec<_> = plain.collect();
    assert_eq!(make().len(), plain.len(), "the length");
    for seed in 0..20 {
        assert_eq!(cut(make().producer(), &mut Random(seed)), plain, "seed {seed}");
    }
    check(plain, || to_vec(make()));
}

/// Returns the items, as the driver folds them.
pub fn to_vec<I: Drive>(items: I) -> Vec<I::Item> {
    items.drive(&ToVec, Vec::new(), ()).finish::<I::Item, _>(&ToVec)
}

struct ToVec;

impl<T: Send> Consumer<T> for ToVec {
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
    fn combine(&self, mut left: Vec<T>, right: Vec<T>) -> Vec<T> {
        left.extend(right);
        left
    }
    fn is_full(&self, _: &Vec<T>, (): ()) -> bool {
        false
    }
}

/// Runs `body` on the only thread of a pool, so that no other thread takes work.
pub fn alone<R: Send>(body: impl Fn() -> R + Sync) -> R {
    one_thread().build().unwrap().broadcast(|_| body()).remove(0)
}

/// Returns the lengths of the blocks of each piece, as the driver runs them.
pub fn block_lens<I: Drive>(items: I) -> Vec<Vec<usize>> {
    items.drive(&BlockLens::<false>, Vec::new(), ()).finish::<I::Item, _>(&BlockLens::<false>)
}

/// Returns the lengths of the blocks of each piece of a loop that is cut at the same places in each run.
pub fn deterministic_block_lens<I: Drive>(items: I) -> Vec<Vec<usize>> {
    items.drive(&BlockLens::<true>, Vec::new(), ()).finish::<I::Item, _>(&BlockLens::<true>)
}

struct BlockLens<const IS_DETERMINISTIC: bool>;

impl<T, const IS_DETERMINISTIC: bool> Consumer<T> for BlockLens<IS_DETERMINISTIC> {
    const IS_DETERMINISTIC: bool = IS_DETERMINISTIC;

    type Folder = Vec<usize>;
    type Result = Vec<Vec<usize>>;
    type Position = ();

    fn folder(&self, (): ()) -> Vec<usize> {
        Vec::new()
    }
    fn consume_iter(&self, mut lens: Vec<usize>, items: impl Iterator<Item = T>) -> Vec<usize> {
        lens.push(items.count());
        lens
    }
    fn complete(&self, lens: Vec<usize>) -> Vec<Vec<usize>> {
        vec![lens]
    }
    fn combine(&self, mut left: Vec<Vec<usize>>, right: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        left.extend(right);
        left
    }
    fn is_full(&self, _: &Vec<usize>, (): ()) -> bool {
        false
    }
}

/// Folds items until one of them was odd, and returns how many it folded.
pub fn count_until_odd<I: Drive<Item = usize>>(items: I) -> usize {
    items.drive(&UntilOdd, (0, false), ()).finish(&UntilOdd)
}

struct UntilOdd;

impl Consumer<usize> for UntilOdd {
    type Folder = (usize, bool);
    type Result = usize;
    type Position = ();

    fn folder(&self, (): ()) -> (usize, bool) {
        (0, false)
    }
    fn consume_iter(&self, folder: (usize, bool), items: impl Iterator<Item = usize>) -> (usize, bool) {
        items.fold(folder, |(count, is_found), item| (count + 1, is_found || item % 2 == 1))
    }
    fn complete(&self, folder: (usize, bool)) -> usize {
        folder.0
    }
    fn combine(&self, left: usize, right: usize) -> usize {
        left + right
    }
    fn is_full(&self, folder: &(usize, bool), (): ()) -> bool {
        folder.1
    }
}
