//! The macro `#[kernel]` of [`anabranch-kernel`](https://crates.io/crates/anabranch-kernel). That crate re-exports it.
//!
//! The steps are modules. `items` collects the items that functions may refer to, and `read` makes a tree of each
//! function, while `infer` unifies types. `write` turns the trees into programs of `anabranch-kernel-ir`. `expand`
//! writes these beside the functions. Each step reports all of its errors, at the offending words.

mod errors;
mod expand;
mod infer;
mod items;
mod methods;
mod read;
#[cfg(test)]
mod tests;
mod tree;
mod types;
mod write;
mod written_types;

use proc_macro::TokenStream;

/// Makes a kernel of a function, or kernels of the functions of a module.
///
/// The function stays as it is. Beside it the macro writes a type with the name of the function, which implements
/// `Kernel` and has a function `map` with one argument for each parameter.
///
/// ```
/// use anabranch_kernel::{Queue, Vector};
/// use anabranch_kernel_macros::kernel; // or `anabranch_kernel::kernel`
///
/// #[kernel]
/// fn saxpy(a: f32, x: f32, y: f32) -> f32 {
///     a * x + y
/// }
///
/// assert_eq!(saxpy(2.0, 1.0, 3.0), 5.0);
/// let stored = saxpy::map(2.0, &[1.0, 2.0], &[3.0, 4.0]).collect(&Queue::cpu())?;
/// assert_eq!(anabranch::run(|cx| stored.download(cx))?, [5.0, 8.0]);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
///
/// A single function sees only itself. A module has structs, constants and functions, and its functions may use all of
/// them. Each function of a module is a kernel if it has one to eight parameters, and no `usize` in its signature.
///
/// ```
/// # use anabranch_kernel_macros::kernel;
/// #[kernel]
/// mod physics {
///     const GRAVITY: f32 = 9.81;
///
///     pub struct Body {
///         pub height: f32,
///         pub speed: f32,
///     }
///
///     pub fn step(body: Body, time: f32) -> Body {
///         Body { height: body.height + body.speed * time, speed: faster(body.speed, time) }
///     }
///
///     fn faster(speed: f32, time: f32) -> f32 {
///         speed - GRAVITY * time
///     }
/// }
/// # let body = physics::step(physics::Body { height: 10.0, speed: 1.0 }, 0.5);
/// # assert_eq!(body.height, 10.5);
/// ```
///
/// # The subset of Rust
/// - **Types:** `bool`, `i32`, `u32`, `f32`, arrays `[T; N]` of at most 65,536 bytes, structs of the module, and
///   read-only slices `&[T]` as parameters. `usize` is the type of indices, ranges and lengths. The macro makes the
///   structs `#[repr(C)]`, `Copy` and `Element`.
/// - **Statements:** `let`, assignments, `if`, `match` on integers and `bool`, blocks, `return`, `break`, `continue`.
/// - **Loops:** `for` over `a..b`, `a..=b`, `(a..b).rev()`, arrays and slices, with `iter`, `zip` and `enumerate`.
/// - **Operators** of numbers and truth values, `as`, and the methods of `std` that devices have: `wrapping_*`,
///   `saturating_*`, `min`, `max`, `clamp`, `abs`, `pow`, bit counts and rotations; `sqrt`, `mul_add`, `floor`,
///   `round`, `powi`, `powf`, `exp`, `ln`, `sin`, `atan2`, `to_bits`, `is_nan` and so on. Constants such as `f32::MAX`
///   and `std::f32::consts::PI`.
/// - **Calls** of functions of the module, without recursion. A slice argument is a slice of the caller, or a part of
///   one, `&xs[a..b]`.
///
/// Everything else is a compile error at the offending word, which says what to write instead.
///
/// # Meaning on a device
/// - Integers wrap as in a release build, and the amount of a shift is taken modulo 32. `wrapping_add` and the like say
///   so for every build.
/// - Where Rust panics, the operation that runs the kernel returns an error with the line: at an index out of range, a
///   division by zero, a division of `i32::MIN` by -1, and at bounds of `clamp` in the wrong order.
/// - `as` saturates, and `min` and `max` ignore a NaN. If the operands are two zeros with different signs, `min` and
///   `max` may return either.
/// - Floats are IEEE single precision. A device may flush denormal numbers to zero, and compute `a * b + c` with one
///   rounding. `/`, `sqrt`, `powf` and the functions of trigonometry and exponents have the errors of the device.
/// - `usize` has 32 bits. A vector has at most 2^32 - 1 elements.
///
/// # Arguments
/// `#[kernel(crate = path)]` names the crate `anabranch_kernel` if it has another name where the macro is used.
#[proc_macro_attribute]
pub fn kernel(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(args.into(), item.into()).into()
}
