//! The numbers of the elements.

use std::ops::Range;

use crate::Error;
use crate::graph::Graph;
use crate::source::{Source, View};
use crate::tree::Node;

/// The numbers from 0 up to a length. [`indices`] returns it.
#[derive(Debug, Clone, Copy)]
#[must_use = "a lazy vector does nothing by itself"]
pub struct Indices {
    len: usize,
}

/// Returns the lazy vector `0, 1, .., len - 1` of type `u32`. An operation on it returns [`Error::Lengths`] if `len` is
/// larger than 2^32.
///
/// ```
/// use anabranch_kernel::{Queue, Vector, indices};
///
/// let numbers = indices(4).collect(&Queue::cpu())?;
/// assert_eq!(anabranch::run(|cx| numbers.download(cx))?, [0, 1, 2, 3]);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
pub fn indices(len: usize) -> Indices {
    Indices { len }
}

impl Source<u32> for Indices {
    type View<'a> = From;
    const NAME: &'static str = "indices";

    #[inline]
    fn count(&self) -> Result<Option<usize>, Error> {
        if self.len > 1 << 32 {
            return Err(Error::lengths(format!("{} indices do not fit `u32`: use at most 2^32", self.len)));
        }
        Ok(Some(self.len))
    }
    #[inline]
    fn view(&self) -> Result<From, Error> {
        Ok(From(0))
    }
    fn describe<'a>(&'a self, _: &mut Graph<'a>) -> Result<Node, Error> {
        Ok(Node::Index)
    }
}

/// The numbers from a first one upwards.
#[derive(Clone, Copy)]
pub struct From(u32);

impl<'a> View<'a, u32> for From {
    #[inline(always)]
    fn part(&self, range: Range<usize>) -> Self {
        Self(self.0.wrapping_add(range.start as u32))
    }
    #[inline(always)]
    fn get(&self, index: usize) -> u32 {
        self.0.wrapping_add(index as u32)
    }
}
