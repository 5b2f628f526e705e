//! Kernels and their parameters.

use std::marker::PhantomData;

use crate::{Element, Item};

/// A function that runs on the elements of vectors, on the processor or on a device.
///
/// `#[kernel]` implements it for an empty type that has the name of the function. A manual implementation with an empty
/// [`PROGRAM`](Self::PROGRAM) runs on the processor only.
///
/// ```
/// use anabranch_kernel::Kernel;
///
/// /// Doubles a number.
/// enum Double {}
///
/// impl Kernel for Double {
///     type Params = (f32,);
///     type Output = f32;
///     const NAME: &'static str = "double";
///     const PROGRAM: &'static [u8] = &[];
///
///     fn call((x,): (f32,)) -> f32 {
///         2.0 * x
///     }
/// }
///
/// assert_eq!(Double::call((4.0,)), 8.0);
/// ```
pub trait Kernel: 'static {
    /// The parameters: a tuple of [`Param`]s.
    type Params: ParamList;
    /// The return type of the function.
    type Output: Item;
    /// The name of the function.
    const NAME: &'static str;
    /// The function for devices: a serialised program of `anabranch-kernel-ir`. Empty: there is none.
    const PROGRAM: &'static [u8];

    /// Calls the function.
    fn call(args: <Self::Params as ParamList>::Values<'_>) -> Self::Output;
}

/// The type of a parameter of a kernel: an [`Item`], or [`Slice<T>`](Slice) for `&[T]`.
pub trait Param: 'static {
    /// The type of the argument.
    type Value<'a>: Copy;
}

impl<T: Item> Param for T {
    type Value<'a> = T;
}

/// Stands for the parameter type `&[T]`.
#[derive(Debug, Clone, Copy)]
pub struct Slice<T>(PhantomData<fn() -> T>);

impl<T: Element> Param for Slice<T> {
    type Value<'a> = &'a [T];
}

/// The types of the parameters of a kernel: a tuple of up to eight [`Param`]s.
pub trait ParamList: 'static {
    /// The types of the arguments.
    type Values<'a>;
}

macro_rules! param_lists {
    () => {};
    ($first:ident $($other:ident)*) => {
        impl<$first: Param, $($other: Param),*> ParamList for ($first, $($other,)*) {
            type Values<'a> = ($first::Value<'a>, $($other::Value<'a>,)*);
        }
        param_lists!($($other)*);
    };
}
param_lists!(A B C D E F G H);
