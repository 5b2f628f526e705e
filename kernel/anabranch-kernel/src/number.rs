//! Numbers, and the kernels of `sum`, `min` and `max`.

use crate::{Element, Kernel, kernel};

/// A number: `f32`, `i32` or `u32`. Vectors of numbers have [`sum`](crate::Vector::sum), [`min`](crate::Vector::min)
/// and [`max`](crate::Vector::max).
///
/// ```
/// use anabranch_kernel::Number;
///
/// assert_eq!((f32::LEAST, f32::GREATEST), (f32::NEG_INFINITY, f32::INFINITY));
/// ```
pub trait Number: Element {
    /// The sum of two numbers. Integers wrap.
    type Add: Kernel<Params = (Self, Self), Output = Self>;
    /// The lesser of two numbers. For a float and a NaN it is the float.
    type Min: Kernel<Params = (Self, Self), Output = Self>;
    /// The greater of two numbers. For a float and a NaN it is the float.
    type Max: Kernel<Params = (Self, Self), Output = Self>;
    /// The number 0.
    const ZERO: Self;
    /// The least number.
    const LEAST: Self;
    /// The greatest number.
    const GREATEST: Self;
}

/// The kernels of `f32`.
#[kernel(crate = crate)]
mod floats {
    /// Returns the sum.
    #[inline]
    pub fn add(a: f32, b: f32) -> f32 {
        a + b
    }
    /// Returns the lesser number.
    #[inline]
    pub fn min(a: f32, b: f32) -> f32 {
        a.min(b)
    }
    /// Returns the greater number.
    #[inline]
    pub fn max(a: f32, b: f32) -> f32 {
        a.max(b)
    }
}

/// The kernels of `i32`.
#[kernel(crate = crate)]
mod signed {
    /// Returns the sum.
    #[inline]
    pub fn add(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
    /// Returns the lesser number.
    #[inline]
    pub fn min(a: i32, b: i32) -> i32 {
        a.min(b)
    }
    /// Returns the greater number.
    #[inline]
    pub fn max(a: i32, b: i32) -> i32 {
        a.max(b)
    }
}

/// The kernels of `u32`.
#[kernel(crate = crate)]
mod unsigned {
    /// Returns the sum.
    #[inline]
    pub fn add(a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }
    /// Returns the lesser number.
    #[inline]
    pub fn min(a: u32, b: u32) -> u32 {
        a.min(b)
    }
    /// Returns the greater number.
    #[inline]
    pub fn max(a: u32, b: u32) -> u32 {
        a.max(b)
    }
}

/// Implements the trait with the kernels of a module.
macro_rules! number {
    ($number:ident, $module:ident, $least:expr, $greatest:expr) => {
        impl Number for $number {
            type Add = $module::add;
            type Min = $module::min;
            type Max = $module::max;
            const ZERO: Self = 0 as $number;
            const LEAST: Self = $least;
            const GREATEST: Self = $greatest;
        }
    };
}

number!(f32, floats, f32::NEG_INFINITY, f32::INFINITY);
number!(i32, signed, i32::MIN, i32::MAX);
number!(u32, unsigned, u32::MIN, u32::MAX);
