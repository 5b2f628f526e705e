//! The arguments of kernels.

mod elements;
mod gather;
mod indices;
mod map;
mod nested;
mod scalar;

pub use self::{
    elements::Values,
    gather::{Gather, gather},
    indices::{Indices, indices},
    map::Map,
    nested::{Rows, Segments, Whole, rows, segments, whole},
};
use crate::Param;
use crate::source::Source;

/// An argument that a kernel accepts for a parameter of type `P`.
///
/// | parameter | argument | the kernel gets for element `i` |
/// |---|---|---|
/// | `T` | a value of type `T` | this value |
/// | `T` | `&DeviceVec<T>`, `&[T]`, `&Vec<T>`, `&[T; N]` | element `i` |
/// | `T` | another lazy vector: [`Map`], [`gather`] | its result for `i`; nothing is stored |
/// | `u32` | [`indices`] | `i` |
/// | `&[T]` | [`whole`] | the whole vector |
/// | `&[T]` | [`rows`] | row `i` of a matrix |
/// | `&[T]` | [`segments`] | segment `i`, such as the neighbours of a vertex |
///
/// ```
/// use anabranch_kernel::Argument;
///
/// fn takes_one_number_each(_: impl Argument<f32>) {}
/// takes_one_number_each(2.0);
/// takes_one_number_each(&vec![1.0, 2.0]);
/// takes_one_number_each(&[1.0, 2.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no argument for a parameter of type `{P}`",
    label = "no argument for `{P}`",
    note = "a parameter `T` takes a `T`, a `&DeviceVec<T>`, a `&[T]`, or a lazy vector of `T`",
    note = "a parameter `&[T]` takes `whole(&v)`, `rows(&v, width)` or `segments(&offsets, &v)`"
)]
pub trait Argument<P: Param>: Source<P> {}

impl<P: Param, S: Source<P>> Argument<P> for S {}
