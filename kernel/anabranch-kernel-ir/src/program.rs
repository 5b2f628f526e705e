//! Programs: types, functions, and the sites of traps.

use crate::{Block, Type};
use serde::{Deserialize, Serialize};
use std::{error::Error, fmt};

/// A kernel and all that it calls.
///
/// The last function is the kernel. A function calls only functions before it, so there is no recursion.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Program {
    /// The structs, each after the structs of its fields.
    pub structs: Vec<Struct>,
    /// The functions, each after the functions that it calls.
    pub functions: Vec<Function>,
    /// The operations that can trap.
    pub sites: Vec<Site>,
}

impl Program {
    /// Returns the kernel, which is the last function.
    ///
    /// # Panics
    /// Panics if the program has no function.
    #[must_use]
    pub fn kernel(&self) -> &Function {
        self.functions.last().expect("a program has at least one function")
    }

    /// Returns the serialised form.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("plain data in memory can be serialised")
    }

    /// Reads the serialised form.
    ///
    /// # Errors
    /// Returns an error if `bytes` is not the output of [`to_bytes`](Self::to_bytes) of this version of the crate.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidProgram> {
        match postcard::take_from_bytes(bytes) {
            Ok((program, [])) => Ok(program),
            _ => Err(InvalidProgram(())),
        }
    }

    /// Returns the size of a value of the type in bytes, as in Rust with `#[repr(C)]`. `bool` has 4 bytes on a device.
    #[must_use]
    pub fn size(&self, ty: &Type) -> u32 {
        match ty {
            Type::Scalar(_) => 4,
            Type::Array(item, length) => self.size(item) * length,
            Type::Struct(number) => {
                self.structs[*number as usize].fields.iter().map(|field| self.size(&field.ty)).sum()
            }
        }
    }
}

/// The error of [`Program::from_bytes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProgram(());

impl fmt::Display for InvalidProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are not a kernel of this version; build `#[kernel]` and the runtime from one version")
    }
}

impl Error for InvalidProgram {}

/// A struct. Its fields follow one another without gaps, since each has a size of 4 bytes or a multiple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Struct {
    /// The name, for messages and generated text.
    pub name: String,
    /// The fields in the order of memory. There is at least one.
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// The name, for messages and generated text.
    pub name: String,
    /// The type, in which there is no `bool`.
    pub ty: Type,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Function {
    /// The name, for messages and generated text.
    pub name: String,
    /// The parameters.
    pub params: Vec<Param>,
    /// The variables, among them the parameters by value.
    pub locals: Vec<Local>,
    /// The type of the result.
    pub output: Type,
    /// The body. Its value is the result; it has none if each path returns.
    pub body: Block,
}

impl Function {
    /// Returns the type of each parameter by value, and the item type of each slice, in order.
    ///
    /// # Panics
    /// Panics if a parameter by value is not among the variables.
    pub fn param_types(&self) -> impl Iterator<Item = &Type> {
        self.params.iter().map(|param| match param {
            Param::Value(local) => &self.locals[*local as usize].ty,
            Param::Slice { item, .. } => item,
        })
    }
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Param {
    /// By value: the variable with this index.
    Value(u32),
    /// A slice `&[T]`.
    Slice {
        /// The name, for messages and generated text.
        name: String,
        /// The type of the items, in which there is no `bool`.
        item: Type,
    },
}

/// A variable of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Local {
    /// The name, for messages and generated text.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// Whether anything but one `Stmt::Let`, one loop, or the call of the function sets it.
    pub mutable: bool,
}

/// An operation that can trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The cause of the trap.
    pub kind: TrapKind,
    /// Its function, by the index in [`Program::functions`].
    pub function: u32,
    /// Its line in the source, counted from 1.
    pub line: u32,
    /// Its column in the source, counted from 1.
    pub column: u32,
}

/// A cause of a trap. In Rust the operation panics.
///
/// ```
/// assert_eq!(anabranch_kernel_ir::TrapKind::Index.to_string(), "index out of range");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TrapKind {
    /// An index, or a range of indices, that is not in an array or a slice.
    Index,
    /// A division or remainder of `u32` by zero.
    DivisionByZero,
    /// A division or remainder of `i32` by zero, or of the smallest `i32` by -1.
    Division,
    /// A call of `clamp` whose lower bound is above the upper bound, or whose bounds include a NaN.
    Clamp,
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Index => "index out of range",
            Self::DivisionByZero => "division by zero",
            Self::Division => "division by zero, or of the smallest i32 by -1",
            Self::Clamp => "bounds of clamp in the wrong order",
        })
    }
}
