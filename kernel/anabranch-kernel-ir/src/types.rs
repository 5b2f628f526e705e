//! The types of values.

use serde::{Deserialize, Serialize};

/// A number or a truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// `i32`
    I32,
    /// `u32`, also for `usize`
    U32,
    /// `f32`
    F32,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    /// A number or a truth value.
    Scalar(Scalar),
    /// `[T; N]`, with at least one item.
    Array(Box<Type>, u32),
    /// A struct, by its index in [`Program::structs`](crate::Program::structs).
    Struct(u32),
}

impl Type {
    /// `bool`
    pub const BOOL: Self = Self::Scalar(Scalar::Bool);
    /// `i32`
    pub const I32: Self = Self::Scalar(Scalar::I32);
    /// `u32`
    pub const U32: Self = Self::Scalar(Scalar::U32);
    /// `f32`
    pub const F32: Self = Self::Scalar(Scalar::F32);
}
