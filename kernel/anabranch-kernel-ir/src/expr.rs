//! Expressions and statements.

use crate::{Scalar, Type};
use serde::{Deserialize, Serialize};

/// Statements, and the value after them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// The value. A block has no value if it is a statement, or if its end is not reached.
    pub value: Option<Box<Expr>>,
}

impl Block {
    /// Returns the block `{ value }`.
    #[must_use]
    pub fn value(value: Expr) -> Self {
        Self { stmts: Vec::new(), value: Some(Box::new(value)) }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stmt {
    /// Sets a variable for the first time, in each round of a loop.
    Let {
        /// The variable.
        local: u32,
        /// Its value.
        value: Expr,
    },
    /// `place = value`. The value is evaluated first.
    Store {
        /// A place whose root is a variable.
        place: Place,
        /// The value.
        value: Expr,
    },
    /// `place op= value`. The value is evaluated first.
    Update {
        /// A place whose root is a variable.
        place: Place,
        /// The operator.
        op: BinaryOp,
        /// The type of the place.
        scalar: Scalar,
        /// The right side.
        value: Expr,
        /// The trap of a division.
        site: Option<u32>,
    },
    /// `if`. The blocks have no values.
    If {
        /// The condition.
        condition: Expr,
        /// The block for `true`.
        accept: Block,
        /// The block for `false`.
        reject: Block,
    },
    /// `for local in first..end`, or `first..=end`.
    For {
        /// The variable, an integer.
        local: u32,
        /// The first value.
        first: Expr,
        /// The end.
        end: Expr,
        /// Whether the end belongs to the range.
        inclusive: bool,
        /// The body, without a value.
        body: Block,
    },
    /// A block without a value.
    Block(Block),
    /// Leaves the innermost loop.
    Break,
    /// Continues with the next round of the innermost loop.
    Continue,
    /// Returns from the function.
    Return(Expr),
    /// Evaluates an expression for its traps.
    Discard(Expr),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// A constant.
    Literal(Literal),
    /// The value of a variable or of an item of a slice, or of a part of such a value.
    Read(Place),
    /// `slice.len()`, for the slice of the parameter with this index.
    Length(u32),
    /// An operator with one operand.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The type of the operand.
        scalar: Scalar,
        /// The operand.
        value: Box<Expr>,
    },
    /// An operator with two operands, of one type except for shifts.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The type of the left operand.
        scalar: Scalar,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand. The amount of a shift is a `u32`.
        right: Box<Expr>,
        /// The trap of a division. Without one, the right operand is known to be neither 0 nor -1.
        site: Option<u32>,
    },
    /// `left && right`
    And(Box<Expr>, Box<Expr>),
    /// `left || right`
    Or(Box<Expr>, Box<Expr>),
    /// `value as to`
    Cast {
        /// The type of the value.
        from: Scalar,
        /// The type of the result.
        to: Scalar,
        /// The value.
        value: Box<Expr>,
    },
    /// A method of numbers.
    Builtin {
        /// The method.
        builtin: Builtin,
        /// The type of the receiver.
        scalar: Scalar,
        /// The receiver and the arguments.
        args: Vec<Expr>,
        /// The trap of a division or of `clamp`.
        site: Option<u32>,
    },
    /// A call of a function.
    Call {
        /// The index of a function before the calling one.
        function: u32,
        /// The arguments.
        args: Vec<Argument>,
    },
    /// A struct with its fields in the order of evaluation.
    Struct {
        /// The index of the struct.
        number: u32,
        /// For each field its index and its value.
        fields: Vec<(u32, Expr)>,
    },
    /// `[a, b, c]`
    Array {
        /// The type of the items.
        item: Type,
        /// The items.
        items: Vec<Expr>,
    },
    /// `[value; length]`
    Repeat {
        /// The type of the items.
        item: Type,
        /// The value, evaluated once.
        value: Box<Expr>,
        /// The number of items.
        length: u32,
    },
    /// `if` with a value.
    If {
        /// The type of the value.
        ty: Type,
        /// The condition.
        condition: Box<Expr>,
        /// The block for `true`.
        accept: Block,
        /// The block for `false`.
        reject: Block,
    },
    /// A block with a value, or whose end is not reached.
    Block(Block),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Argument {
    /// A value.
    Value(Expr),
    /// The slice of a parameter, by the index of the parameter.
    Slice(u32),
    /// `&slice[first..end]`
    Part {
        /// The index of the parameter.
        slice: u32,
        /// The index of the first item.
        first: Box<Expr>,
        /// The index after the last item.
        end: Box<Expr>,
        /// The trap of a range that is not in the slice.
        site: u32,
    },
}

/// A place in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Where it begins.
    pub root: Root,
    /// The way from there to the part.
    pub steps: Vec<Step>,
}

impl Place {
    /// Returns a variable as a place.
    #[must_use]
    pub fn local(local: u32) -> Self {
        Self { root: Root::Local(local), steps: Vec::new() }
    }
}

/// Where a place begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Root {
    /// A variable.
    Local(u32),
    /// The slice of a parameter, by the index of the parameter. The first step is an index.
    Slice(u32),
    /// A value without a name.
    Value {
        /// Its type.
        ty: Type,
        /// The value.
        value: Box<Expr>,
    },
}

/// A step to a part.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Step {
    /// To the field with this index.
    Field(u32),
    /// To an item.
    Index {
        /// The index, a `u32`.
        index: Box<Expr>,
        /// The trap of an index out of range. Without one, the index is known to be in range.
        site: Option<u32>,
    },
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Literal {
    /// `bool`
    Bool(bool),
    /// `i32`
    I32(i32),
    /// `u32`
    U32(u32),
    /// `f32`, as its bits, so that each NaN is kept.
    F32(u32),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnaryOp {
    /// `-`, for `i32` and `f32`
    Neg,
    /// `!`, for `bool` and integers
    Not,
}

/// An operator with two operands. The result of a comparison is a `bool`, and the result of any other operator has the
/// type of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`, for integers
    Rem,
    /// `&`, for `bool` and integers
    BitAnd,
    /// `|`, for `bool` and integers
    BitOr,
    /// `^`, for `bool` and integers
    BitXor,
    /// `<<`, for integers
    Shl,
    /// `>>`, for integers
    Shr,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// A method of numbers, with the meaning of the method of that name in `std`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
#[rustfmt::skip]
#[allow(missing_docs, reason = "std documents the methods of these names")]
pub enum Builtin {
    // All numbers.
    Min, Max, Clamp, Abs, Signum,
    // Integers.
    AbsDiff, UnsignedAbs, RemEuclid, DivEuclid, Pow, SaturatingAdd, SaturatingSub,
    IsMultipleOf, DivCeil,
    CountOnes, LeadingZeros, TrailingZeros, ReverseBits, SwapBytes, RotateLeft, RotateRight,
    // Floats.
    Sqrt, MulAdd, Floor, Ceil, Trunc, Round, RoundTiesEven, Fract, Copysign,
    Exp, Exp2, Ln, Log2, Powi, Powf,
    Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh,
    ToBits, FromBits, IsNan, IsInfinite, IsFinite, IsSignNegative,
}
