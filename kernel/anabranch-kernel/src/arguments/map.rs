//! A kernel that is applied to each element.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use crate::graph::Graph;
use crate::source::{Source, Sources, View, Views};
use crate::tree::Node;
use crate::{Error, Kernel};

/// The lazy vector of the results of a kernel, one for each element of its arguments.
///
/// It can be an argument of another kernel. Then both run in the same loop, and the vector between them is not stored.
///
/// ```
/// use anabranch_kernel::{Kernel, Map, Queue, Vector};
///
/// enum Square {}
///
/// impl Kernel for Square {
///     type Params = (u32,);
///     type Output = u32;
///     const NAME: &'static str = "square";
///     const PROGRAM: &'static [u8] = &[];
///
///     fn call((x,): (u32,)) -> u32 {
///         x * x
///     }
/// }
///
/// let fourth_powers = Map::<Square, _>::new((Map::<Square, _>::new((&[1, 2, 3],)),));
/// let stored = fourth_powers.collect(&Queue::cpu())?;
/// assert_eq!(anabranch::run(|cx| stored.download(cx))?, [1, 16, 81]);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
#[must_use = "a lazy vector does nothing by itself"]
pub struct Map<K, A> {
    args: A,
    kernel: PhantomData<fn() -> K>,
}

impl<K, A> Map<K, A> {
    /// Returns the lazy vector for a tuple of arguments: see [`Argument`](crate::Argument). The function `map` of a
    /// kernel calls it.
    ///
    /// All arguments that have one element per index must have the same length. Otherwise each operation on the lazy
    /// vector returns [`Error::Lengths`].
    pub fn new(args: A) -> Self {
        Self { args, kernel: PhantomData }
    }
}

impl<K, A: Clone> Clone for Map<K, A> {
    fn clone(&self) -> Self {
        Self::new(self.args.clone())
    }
}
impl<K, A: Copy> Copy for Map<K, A> {}

impl<K: Kernel, A: fmt::Debug> fmt::Debug for Map<K, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map").field("kernel", &K::NAME).field("args", &self.args).finish()
    }
}

impl<K: Kernel, A: Sources<K::Params>> Source<K::Output> for Map<K, A> {
    type View<'a>
        = Mapped<K, A::Views<'a>>
    where
        Self: 'a;
    const NAME: &'static str = K::NAME;

    #[inline]
    fn count(&self) -> Result<Option<usize>, Error> {
        self.args.count()
    }
    #[inline]
    fn view(&self) -> Result<Self::View<'_>, Error> {
        Ok(Mapped { args: self.args.views()?, kernel: PhantomData })
    }
    fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Node, Error> {
        Ok(Node::Call { name: K::NAME, program: K::PROGRAM, args: self.args.describe(graph)? })
    }
}

/// The view of a [`Map`].
pub struct Mapped<K, V> {
    args: V,
    kernel: PhantomData<fn() -> K>,
}

impl<K, V: Clone> Clone for Mapped<K, V> {
    fn clone(&self) -> Self {
        Self { args: self.args.clone(), kernel: PhantomData }
    }
}

impl<'a, K: Kernel, V: Views<'a, K::Params>> View<'a, K::Output> for Mapped<K, V> {
    #[inline(always)]
    fn part(&self, range: Range<usize>) -> Self {
        Self { args: self.args.part(range), kernel: PhantomData }
    }
    #[inline(always)]
    fn get(&self, index: usize) -> K::Output {
        K::call(self.args.get(index))
    }
}
