//! The intermediate representation of anabranch's kernels.
//!
//! The macro `#[kernel]` reads a function of a subset of Rust and writes a [`Program`]. The program is plain data:
//! types, functions with expression trees, and the places where a kernel can trap. It has a serialised form,
//! [`Program::to_bytes`], which the macro puts into the expansion. `anabranch-kernel` reads it when it launches a
//! kernel on a device.
//!
//! With the feature `naga`, [`Linker`] adds kernels to a shader module of [naga](https://docs.rs/naga), and
//! [`validate`] checks a program with naga and returns it as WGSL text. With the feature `cuda`, [`write_cuda`] writes
//! such a module as CUDA C++.
//!
//! ```
//! use anabranch_kernel_ir::{BinaryOp, Block, Expr, Function, Local, Param, Place, Program, Scalar, Type};
//!
//! // fn double(x: f32) -> f32 { x + x }
//! let x = || Box::new(Expr::Read(Place::local(0)));
//! let double = Function {
//!     name: "double".to_owned(),
//!     params: vec![Param::Value(0)],
//!     locals: vec![Local { name: "x".to_owned(), ty: Type::F32, mutable: false }],
//!     output: Type::F32,
//!     body: Block::value(Expr::Binary { op: BinaryOp::Add, scalar: Scalar::F32, left: x(), right: x(), site: None }),
//! };
//! let program = Program { structs: Vec::new(), functions: vec![double], sites: Vec::new() };
//! assert_eq!(Program::from_bytes(&program.to_bytes()), Ok(program));
//! ```
//!
//! # Meaning
//! A program means what the Rust function means in a release build:
//! - Integer `+ - *`, negation and shifts wrap. The amount of a shift is taken modulo 32.
//! - An operation that panics in Rust *traps*: a division by zero, an index out of range, bounds of `clamp` in the
//!   wrong order. A trap records its [`Site`]. The function continues with some value, and reads or writes no memory
//!   outside of its variables and slices.
//! - `as` between numbers saturates, and maps NaN to 0. `min` and `max` of floats ignore a NaN.
//! - Floats are IEEE single precision. Devices may flush denormal numbers to zero, and may contract `a * b + c` to one
//!   rounding. The errors of division, `sqrt`, and transcendental functions depend on the device.
//! - `usize` is [`Type::U32`].
//!
//! Expressions are evaluated in Rust's order. Kernels have no effect except their result and their traps.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cuda")]
mod cuda;
mod expr;
#[cfg(feature = "naga")]
mod lower;
mod program;
mod types;

#[cfg(feature = "cuda")]
pub use cuda::{CudaBuffer, CudaSource, write_cuda};
pub use expr::{Argument, BinaryOp, Block, Builtin, Expr, Literal, Place, Root, Step, Stmt, UnaryOp};
#[cfg(feature = "naga")]
pub use lower::{Linker, validate};
pub use program::{Field, Function, InvalidProgram, Local, Param, Program, Site, Struct, TrapKind};
pub use types::{Scalar, Type};
