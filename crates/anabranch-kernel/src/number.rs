//! Numbers, and the kernels of `sum`, `min` and `max`.

use crate::{Element, Kernel};

/// A number: `f32`, `i32` or `u32`. Vectors of numbers have [`sum`](crate::Vector::sum), [`min`](crate::Vector::min) and
/// [`max`](crate::Vector::max).
///
/// ```
/// use anabranch_kernel::Number;
///
/// assert_eq!((f32::LEAST, f32::GREATEST), (f32::NEG_INFINITY, f32::INFINITY));
/// ```
pub trait Number: Element {
    /// The sum of two numbers. Integers wrap.
    type Add: Kernel<Params = (Self, Self), Output = Self>;
    /// The lesser of two numbers. Of a float and NaN it is the float.
    type Min: Kernel<Params = (Self, Self), Output = Self>;
    /// The greater of two numbers. Of a float and NaN it is the float.
    type Max: Kernel<Params = (Self, Self), Output = Self>;
    /// The number 0.
    const ZERO: Self;
    /// The least number.
    const LEAST: Self;
    /// The greatest number.
    const GREATEST: Self;
}

/// Defines the kernels and implements the trait.
macro_rules! number {
    ($module:ident, $number:ident, $least:expr, $greatest:expr, $add:expr) => {
        mod $module {
            use super::*;

            number!(@kernel Add, $number, $add);
            number!(@kernel Min, $number, |a: $number, b: $number| a.min(b));
            number!(@kernel Max, $number, |a: $number, b: $number| a.max(b));

            impl Number for $number {
                type Add = Add;
                type Min = Min;
                type Max = Max;
                const ZERO: Self = 0 as $number;
                const LEAST: Self = $least;
                const GREATEST: Self = $greatest;
            }
        }
    };
    (@kernel $name:ident, $number:ident, $call:expr) => {
        pub enum $name {}

        impl Kernel for $name {
            type Params = ($number, $number);
            type Output = $number;
            const NAME: &'static str = stringify!($name);
            const PROGRAM: &'static [u8] = &[];

            #[inline(always)]
            fn call((a, b): ($number, $number)) -> $number {
                let call: fn($number, $number) -> $number = $call;
                call(a, b)
            }
        }
    };
}

number!(floats, f32, f32::NEG_INFINITY, f32::INFINITY, |a, b| a + b);
number!(signed, i32, i32::MIN, i32::MAX, i32::wrapping_add);
number!(unsigned, u32, u32::MIN, u32::MAX, u32::wrapping_add);
