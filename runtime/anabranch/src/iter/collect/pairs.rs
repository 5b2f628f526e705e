//! Collecting pairs into two collections.
//!
//! If the collections are vectors, and the number of pairs is known, both parts are written directly to their places.
//! Otherwise [`unzip`](super::unzip) separates them.

use crate::iter::{
    collect::{
        FromParallelIterator, ParallelExtend, in_place,
        unzip::{self, Unzip},
    },
    convert::IntoParallelIterator,
    plumbing::{Drive, DriveIndexed, Visitor},
};

/// Adds the parts of the items of `base` to two collections.
#[track_caller]
fn extend<I, A, B, X, Y>(base: I, left: &mut X, right: &mut Y)
where
    I: Drive<Item = (A, B)>,
    A: Send,
    B: Send,
    X: ParallelExtend<A>,
    Y: ParallelExtend<B> + Send,
{
    match (left.as_vec(), right.as_vec()) {
        (Some(left), Some(right)) => base.accept(ExtendVecs { left, right }),
        _ => unzip::extend(base, Unzip, left, right),
    }
}

/// Makes two collections of the parts of the items of `base`.
#[track_caller]
pub(in crate::iter) fn collect<I, A, B, X, Y>(base: I) -> (X, Y)
where
    I: Drive<Item = (A, B)>,
    A: Send,
    B: Send,
    X: ParallelExtend<A> + Default,
    Y: ParallelExtend<B> + Default + Send,
{
    let (mut left, mut right) = (X::default(), Y::default());
    extend(base, &mut left, &mut right);
    (left, right)
}

struct ExtendVecs<'a, A, B> {
    left: &'a mut Vec<A>,
    right: &'a mut Vec<B>,
}

impl<A: Send, B: Send> Visitor<(A, B)> for ExtendVecs<'_, A, B> {
    type Output = ();

    #[track_caller]
    fn visit<I: Drive<Item = (A, B)>>(self, iter: I) {
        unzip::extend(iter, Unzip, self.left, self.right);
    }
    #[track_caller]
    fn visit_indexed<I: DriveIndexed<Item = (A, B)>>(self, iter: I) {
        in_place::extend_both(self.left, self.right, iter);
    }
}

/// Adds the two parts of each pair to two collections.
///
/// ```
/// use anabranch::prelude::*;
///
/// let mut halves = (vec![1], vec!["one"]);
/// halves.par_extend(vec![(2, "two"), (3, "three")]);
/// assert_eq!(halves, (vec![1, 2, 3], vec!["one", "two", "three"]));
/// ```
impl<A, B, X, Y> ParallelExtend<(A, B)> for (X, Y)
where
    A: Send,
    B: Send,
    X: ParallelExtend<A> + Send,
    Y: ParallelExtend<B> + Send,
{
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = (A, B)>>(&mut self, items: I) {
        extend(items.into_par_iter(), &mut self.0, &mut self.1);
    }
}

/// Makes two collections of the two parts of each pair.
///
/// ```
/// use anabranch::prelude::*;
///
/// let (numbers, names): (Vec<u32>, String) = vec![(1, 'a'), (2, 'b')].into_par_iter().collect();
/// assert_eq!((numbers, names.as_str()), (vec![1, 2], "ab"));
/// ```
impl<A, B, X, Y> FromParallelIterator<(A, B)> for (X, Y)
where
    A: Send,
    B: Send,
    X: FromParallelIterator<A> + Send,
    Y: FromParallelIterator<B> + Send,
{
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = (A, B)>>(items: I) -> Self {
        let (Some(x), Some(y)) = (X::of_vec(), Y::of_vec()) else {
            return unzip::make(items.into_par_iter(), Unzip);
        };
        let (left, right) = collect(items.into_par_iter());
        (x(left), y(right))
    }
}
