//! Elements selected by their numbers.

use std::marker::PhantomData;
use std::ops::Range;

use crate::arguments::elements::{Stored, host};
use crate::graph::Graph;
use crate::source::{Source, View, trap};
use crate::tree::Node;
use crate::{Argument, Element, Error, Values, element};

/// Elements of a vector, chosen by numbers. [`gather`] returns it.
#[derive(Debug, Clone, Copy)]
#[must_use = "a lazy vector does nothing by itself"]
pub struct Gather<T, V, I> {
    values: V,
    numbers: I,
    element: PhantomData<fn() -> T>,
}

/// Returns the lazy vector whose element `i` is `values[numbers[i]]`.
///
/// `numbers` is itself lazy. A number that is out of range is an [`Error::Trap`] of the operation.
///
/// ```
/// use anabranch_kernel::{Queue, Vector, gather};
///
/// let letters = [0x61u32, 0x62, 0x63];
/// let chosen = gather(&letters, &[2, 0, 0]).collect(&Queue::cpu())?;
/// assert_eq!(anabranch::run(|cx| chosen.download(cx))?, [0x63, 0x61, 0x61]);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
pub fn gather<T: Element, V: Values<T>, I: Argument<u32>>(values: V, numbers: I) -> Gather<T, V, I> {
    Gather { values, numbers, element: PhantomData }
}

impl<T: Element, V: Stored<T>, I: Source<u32>> Source<T> for Gather<T, V, I> {
    type View<'a>
        = Gathered<'a, T, I::View<'a>>
    where
        Self: 'a;
    const NAME: &'static str = "gather";

    fn count(&self) -> Result<Option<usize>, Error> {
        self.numbers.count()
    }
    fn view(&self) -> Result<Self::View<'_>, Error> {
        Ok(Gathered { values: host(&self.values)?, numbers: self.numbers.view()? })
    }
    fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Node, Error> {
        let buffer = self.values.data().on_device(graph)?;
        Ok(Node::Gather { buffer, words: element::words::<T>(), index: Box::new(self.numbers.describe(graph)?) })
    }
}

/// The view of a [`Gather`].
#[derive(Clone)]
pub struct Gathered<'a, T, I> {
    values: &'a [T],
    numbers: I,
}

impl<'a, T: Element, I: View<'a, u32>> View<'a, T> for Gathered<'a, T, I> {
    #[inline(always)]
    fn part(&self, range: Range<usize>) -> Self {
        Self { numbers: self.numbers.part(range), ..*self }
    }
    #[inline(always)]
    fn get(&self, index: usize) -> T {
        let number = self.numbers.get(index);
        match self.values.get(number as usize) {
            Some(value) => *value,
            None => trap("gather", format!("index {number} is out of range for {} elements", self.values.len())),
        }
    }
}
