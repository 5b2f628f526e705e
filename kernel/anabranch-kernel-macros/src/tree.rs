//! Functions as trees whose types are being inferred.

use crate::{methods::Action, types::Ty};
use anabranch_kernel_ir::{BinaryOp, Literal, UnaryOp};
use proc_macro2::Span;

/// A function.
pub(crate) struct Function {
    pub(crate) locals: Vec<Local>,
    /// For each parameter its variable, if it is not a slice.
    pub(crate) params: Vec<Option<usize>>,
    pub(crate) body: Block,
    /// The functions that it calls, and where.
    pub(crate) calls: Vec<(usize, Span)>,
}

pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    /// Whether it is assigned to.
    pub(crate) mutable: bool,
}

pub(crate) struct Block {
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) value: Option<Box<Expr>>,
    pub(crate) ty: Ty,
}

pub(crate) enum Stmt {
    Let(usize, Expr),
    Expr(Expr),
}

pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

pub(crate) enum Kind {
    /// An expression with an error that has already been reported.
    Error,
    Literal(Literal),
    /// An integer whose type is inferred.
    Integer(u64),
    /// A float whose type is inferred.
    Float(f32),
    Read(Place),
    /// The length of the slice of a parameter.
    Length(usize),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    Method(Action, Vec<Expr>),
    Call(usize, Vec<Argument>),
    Struct(usize, Vec<(usize, Expr)>),
    Array(Vec<Expr>),
    Repeat(Box<Expr>, u32),
    If(Box<Expr>, Block, Block),
    Block(Block),
    Assign(Place, Box<Expr>),
    Update(BinaryOp, Place, Box<Expr>),
    For {
        local: usize,
        first: Box<Expr>,
        end: Box<Expr>,
        inclusive: bool,
        body: Block,
    },
    Return(Box<Expr>),
    Break,
    Continue,
}

pub(crate) enum Argument {
    Value(Expr),
    Slice(usize),
    Part { slice: usize, first: Box<Expr>, end: Box<Expr>, span: Span },
}

pub(crate) struct Place {
    pub(crate) root: Root,
    pub(crate) steps: Vec<Step>,
    /// The type of the place.
    pub(crate) ty: Ty,
}

pub(crate) enum Root {
    Local(usize),
    Slice(usize),
    Value(Box<Expr>),
}

pub(crate) enum Step {
    Field(usize),
    /// An index. It is checked unless it is in range by construction.
    Index {
        index: Box<Expr>,
        length: Option<u32>,
        checked: bool,
    },
}

impl Expr {
    pub(crate) fn error(span: Span) -> Self {
        Self { kind: Kind::Error, ty: Ty::Unknown, span }
    }

    pub(crate) fn local(local: usize, ty: Ty, span: Span) -> Self {
        let place = Place { root: Root::Local(local), steps: Vec::new(), ty: ty.clone() };
        Self { kind: Kind::Read(place), ty, span }
    }
}
