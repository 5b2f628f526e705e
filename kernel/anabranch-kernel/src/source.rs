//! The operations of every argument of a kernel: the processor views it, and it describes itself to a device.
//!
//! The traits here are public only because [`Argument`](crate::Argument) has one as a supertrait. No path names them.

use std::ops::Range;
use std::panic;

use crate::graph::Graph;
use crate::tree::Node;
use crate::{Error, Item, Param, ParamList, Trap};

/// A lazy argument for a parameter of type `P`.
pub trait Source<P: Param> {
    /// The argument in the memory of the host.
    type View<'a>: View<'a, P>
    where
        Self: 'a;

    /// Names the argument in messages.
    const NAME: &'static str;

    /// Returns the number of elements, or `None` if the argument is the same for each.
    fn count(&self) -> Result<Option<usize>, Error>;

    /// Returns the view. The processor calls it once for each operation.
    fn view(&self) -> Result<Self::View<'_>, Error>;

    /// Describes the argument.
    fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Node, Error>;
}

/// A part of a lazy argument in the memory of the host.
///
/// A loop takes the part of its block by [`part`](Self::part), and then calls [`get`](Self::get) for each index.
/// Because the part is a slice as long as the loop, the compiler sees that no index is out of range.
pub trait View<'a, P: Param>: Clone + Send + Sync + 'a {
    /// Returns the part for these elements.
    fn part(&self, range: Range<usize>) -> Self;

    /// Returns the argument for an element.
    fn get(&self, index: usize) -> P::Value<'a>;
}

/// The arguments for a list of parameters: a tuple of [`Source`]s.
pub trait Sources<L: ParamList> {
    /// The arguments in the memory of the host.
    type Views<'a>: Views<'a, L>
    where
        Self: 'a;

    /// Returns the number of elements that all arguments have, or `None` if each argument is the same for all elements.
    fn count(&self) -> Result<Option<usize>, Error>;

    /// Returns the views.
    fn views(&self) -> Result<Self::Views<'_>, Error>;

    /// Describes the arguments.
    fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Vec<Node>, Error>;
}

/// A tuple of [`View`]s.
pub trait Views<'a, L: ParamList>: Clone + Send + Sync + 'a {
    /// Returns the part for these elements.
    fn part(&self, range: Range<usize>) -> Self;

    /// Returns the arguments for an element.
    fn get(&self, index: usize) -> L::Values<'a>;
}

macro_rules! tuples {
    () => {};
    ($first:ident $first_arg:ident $(, $param:ident $arg:ident)*) => {
        tuples!(@one $first $first_arg $(, $param $arg)*);
        tuples!($($param $arg),*);
    };
    (@one $($param:ident $arg:ident),*) => {
        #[allow(non_snake_case, reason = "a variable for each type")]
        impl<$($param: Param, $arg: Source<$param>),*> Sources<($($param,)*)> for ($($arg,)*) {
            type Views<'a> = ($($arg::View<'a>,)*) where Self: 'a;

            #[inline]
            fn count(&self) -> Result<Option<usize>, Error> {
                let ($($arg,)*) = self;
                let mut all = None;
                $(all = common(all, $arg.count()?)?;)*
                Ok(all)
            }
            fn views(&self) -> Result<Self::Views<'_>, Error> {
                let ($($arg,)*) = self;
                Ok(($($arg.view()?,)*))
            }
            fn describe<'a>(&'a self, graph: &mut Graph<'a>) -> Result<Vec<Node>, Error> {
                let ($($arg,)*) = self;
                Ok(vec![$($arg.describe(graph)?),*])
            }
        }

        #[allow(non_snake_case, reason = "a variable for each type")]
        impl<'a, $($param: Param, $arg: View<'a, $param>),*> Views<'a, ($($param,)*)> for ($($arg,)*) {
            #[inline(always)]
            fn part(&self, range: Range<usize>) -> Self {
                let ($($arg,)*) = self;
                ($($arg.part(range.clone()),)*)
            }
            #[inline(always)]
            fn get(&self, index: usize) -> ($($param::Value<'a>,)*) {
                let ($($arg,)*) = self;
                ($($arg.get(index),)*)
            }
        }
    };
}
tuples!(P0 A0, P1 A1, P2 A2, P3 A3, P4 A4, P5 A5, P6 A6, P7 A7);

/// Returns the number of elements of a lazy vector.
pub(crate) fn len<T: Item>(vector: &impl Source<T>) -> Result<usize, Error> {
    vector.count()?.ok_or_else(|| {
        Error::lengths(
            "all arguments are the same for each element, so there is no length: pass a vector or `indices(n)`",
        )
    })
}

/// Returns the number of elements of two lazy vectors.
pub(crate) fn same_len<A: Item, B: Item>(a: &impl Source<A>, b: &impl Source<B>) -> Result<usize, Error> {
    common(Some(len(a)?), Some(len(b)?)).map(Option::unwrap_or_default)
}

/// Returns the number of elements that two arguments have in common.
#[inline]
pub(crate) fn common(left: Option<usize>, right: Option<usize>) -> Result<Option<usize>, Error> {
    match (left, right) {
        (Some(left), Some(right)) if left != right => Err(differ(left, right)),
        (left, right) => Ok(left.or(right)),
    }
}

#[cold]
#[inline(never)]
fn differ(left: usize, right: usize) -> Error {
    Error::lengths(format!(
        "arguments have {left} and {right} elements: make them equally long, for example by a part of the longer one"
    ))
}

/// Ends a loop for which there is no result. The caller of the operation gets the error. No panic hook runs.
#[cold]
#[inline(never)]
pub(crate) fn trap(kernel: &'static str, what: String) -> ! {
    panic::resume_unwind(Box::new(Trap::new(kernel, what)))
}
