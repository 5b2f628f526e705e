//! Tests of devices, on programs that are written by hand. Those of `#[kernel]` are in `tests/it/gpu`.

mod limits;
mod loss;
mod operations;
mod traps;
mod waits;

use std::sync::{Arc, OnceLock};

use anabranch_kernel_ir::{
    BinaryOp, Block, Expr, Function, Literal, Local, Param, Place, Program, Root, Scalar, Site, Step, TrapKind, Type,
};

use super::opened::Opened;
use super::*;
use crate::Error;
pub(super) use crate::graph::{Graph, Inputs};
pub(super) use crate::tree::{Node, Operator};

/// The sizes that are at the edges of vectors, blocks, reductions in one block, and words.
pub(super) const SIZES: [u32; 14] = [0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 16_384, 16_385, 65_535, 65_537];

/// Returns the most slots of a vector.
pub(super) fn traps_limit() -> usize {
    super::slots::MOST
}

/// Returns a queue of the first device, the same each time. Returns `None` and says so if there is none.
pub(super) fn queue() -> Option<GpuQueue> {
    static QUEUE: OnceLock<GpuQueue> = OnceLock::new();
    let device = device()?;
    Some(QUEUE.get_or_init(|| GpuQueue::open(&device).expect("a device that was found can be opened")).clone())
}

/// Returns the first device. Returns `None` and says so if there is none.
pub(super) fn device() -> Option<Device> {
    let device = devices().into_iter().next();
    if device.is_none() {
        assert!(std::env::var_os("ANABRANCH_REQUIRE_GPU").is_none(), "no GPU was found, and one is required");
        eprintln!("no GPU was found: this test is skipped");
    }
    device
}

/// Runs a closure in a fiber.
pub(super) fn run<T>(f: impl FnOnce(&anabranch::Cx<'_>) -> T) -> T {
    anabranch::run(f)
}

pub(super) fn download(buffer: &Buffer) -> Result<Vec<u32>, Error> {
    let mut words = vec![0; buffer.words()];
    run(|cx| buffer.download(cx, &mut words))?;
    Ok(words)
}

/// Returns numbers that look random.
pub(super) fn numbers(n: u32) -> Vec<u32> {
    (0..n).map(|i| (i.wrapping_add(1).wrapping_mul(0x9e37_79b1) >> 7).wrapping_mul(0x85eb_ca6b)).collect()
}

/// Returns inputs of one buffer of elements of one word.
pub(super) fn of(buffer: &Buffer) -> Inputs<'_, 1> {
    let mut graph = Graph::default();
    let root = Node::Buffer { buffer: graph.buffer(buffer), words: 1 };
    Inputs { graph, roots: [root], words: [1], len: buffer.words() as u32 }
}

/// Returns inputs of two buffers of elements of one word.
pub(super) fn of_two<'a>(first: &'a Buffer, second: &'a Buffer) -> Inputs<'a, 2> {
    let mut graph = Graph::default();
    let roots = [first, second].map(|buffer| Node::Buffer { buffer: graph.buffer(buffer), words: 1 });
    Inputs { graph, roots, words: [1, 1], len: first.words() as u32 }
}

/// Returns inputs of the results of a kernel for each element of the buffers, as one word.
pub(super) fn mapped<'a, const N: usize>(kernel: Operator, buffers: [&'a Buffer; N]) -> Inputs<'a, 1> {
    let mut graph = Graph::default();
    let args = buffers.map(|buffer| Node::Buffer { buffer: graph.buffer(buffer), words: 1 }).to_vec();
    let root = Node::Call { name: kernel.name, program: kernel.program, args };
    Inputs { graph, roots: [root], words: [1], len: buffers[0].words() as u32 }
}

pub(super) fn read(local: u32) -> Box<Expr> {
    Box::new(Expr::Read(Place::local(local)))
}

pub(super) fn number(value: u32) -> Box<Expr> {
    Box::new(Expr::Literal(Literal::U32(value)))
}

pub(super) fn op(op: BinaryOp, scalar: Scalar, left: Box<Expr>, right: Box<Expr>, site: Option<u32>) -> Box<Expr> {
    Box::new(Expr::Binary { op, scalar, left, right, site })
}

/// Returns a kernel with parameters of one type, and at most one site, at line 7.
pub(super) fn kernel(
    name: &'static str,
    params: usize,
    scalar: Scalar,
    output: Type,
    trap: Option<TrapKind>,
    value: Box<Expr>,
) -> Operator {
    kernel_of(name, params, &Type::Scalar(scalar), output, trap, value)
}

fn kernel_of(
    name: &'static str,
    params: usize,
    ty: &Type,
    output: Type,
    trap: Option<TrapKind>,
    value: Box<Expr>,
) -> Operator {
    let local = |number: usize| Local { name: format!("p{number}"), ty: ty.clone(), mutable: false };
    let function = Function {
        name: name.to_owned(),
        params: (0..params as u32).map(Param::Value).collect(),
        locals: (0..params).map(local).collect(),
        output,
        body: Block { stmts: Vec::new(), value: Some(value) },
    };
    let sites = trap.map(|kind| Site { kind, function: 0, line: 7, column: 1 });
    leak(name, Program { structs: Vec::new(), functions: vec![function], sites: sites.into_iter().collect() })
}

pub(super) fn leak(name: &'static str, program: Program) -> Operator {
    Operator { name, program: program.to_bytes().leak() }
}

/// The kernels of the tests. Each program has one address, so it is compiled once.
pub(super) struct Kernels {
    pub(super) add: Operator,
    pub(super) add_f32: Operator,
    /// Returns whether a number is odd.
    pub(super) odd: Operator,
    /// Returns its second argument unless that is 0, and the first one then: associative, not commutative.
    pub(super) last: Operator,
    pub(super) divide: Operator,
    pub(super) divide_i32: Operator,
    /// Returns `values[i]`.
    pub(super) at: Operator,
    /// Returns the sum of a slice.
    pub(super) sum: Operator,
    /// Adds vectors of three words.
    pub(super) add_wide: Operator,
    /// Returns whether the first of three words is odd.
    pub(super) odd_wide: Operator,
}

/// The type of three words.
fn wide() -> Type {
    Type::Array(Box::new(Type::U32), 3)
}

/// Reads a word of a variable of three words.
fn part(local: u32, index: u32) -> Box<Expr> {
    let steps = vec![Step::Index { index: number(index), site: None }];
    Box::new(Expr::Read(Place { root: Root::Local(local), steps }))
}

pub(super) fn kernels() -> &'static Kernels {
    static KERNELS: OnceLock<Kernels> = OnceLock::new();
    let (u32, f32, i32) = (Scalar::U32, Scalar::F32, Scalar::I32);
    KERNELS.get_or_init(|| Kernels {
        add: kernel("add", 2, u32, Type::U32, None, op(BinaryOp::Add, u32, read(0), read(1), None)),
        add_f32: kernel("add_f32", 2, f32, Type::F32, None, op(BinaryOp::Add, f32, read(0), read(1), None)),
        odd: {
            let bit = op(BinaryOp::BitAnd, u32, read(0), number(1), None);
            kernel("odd", 1, u32, Type::BOOL, None, op(BinaryOp::Eq, u32, bit, number(1), None))
        },
        last: {
            let condition = op(BinaryOp::Eq, u32, read(1), number(0), None);
            let branch = |local| Block { stmts: Vec::new(), value: Some(read(local)) };
            let value = Expr::If { ty: Type::U32, condition, accept: branch(0), reject: branch(1) };
            kernel("last", 2, u32, Type::U32, None, Box::new(value))
        },
        divide: {
            let value = op(BinaryOp::Div, u32, read(0), read(1), Some(0));
            kernel("divide", 2, u32, Type::U32, Some(TrapKind::DivisionByZero), value)
        },
        divide_i32: {
            let value = op(BinaryOp::Div, i32, read(0), read(1), Some(0));
            kernel("divide_i32", 2, i32, Type::I32, Some(TrapKind::Division), value)
        },
        at: {
            let step = Step::Index { index: read(0), site: Some(0) };
            let value = Expr::Read(Place { root: Root::Slice(1), steps: vec![step] });
            with_slice("at", true, vec![], Box::new(value))
        },
        sum: {
            let step = Step::Index { index: read(1), site: None };
            let item = Expr::Read(Place { root: Root::Slice(0), steps: vec![step] });
            let add = anabranch_kernel_ir::Stmt::Update {
                place: Place::local(0),
                op: BinaryOp::Add,
                scalar: u32,
                value: item,
                site: None,
            };
            let body = Block { stmts: vec![add], value: None };
            let length = Expr::Length(0);
            let (first, end, inclusive) = (*number(0), length, false);
            let begin = anabranch_kernel_ir::Stmt::Let { local: 0, value: *number(0) };
            let round = anabranch_kernel_ir::Stmt::For { local: 1, first, end, inclusive, body };
            with_slice("sum", false, vec![begin, round], read(0))
        },
        add_wide: {
            let items = (0..3).map(|i| *op(BinaryOp::Add, u32, part(0, i), part(1, i), None)).collect();
            let value = Box::new(Expr::Array { item: Type::U32, items });
            kernel_of("add_wide", 2, &wide(), wide(), None, value)
        },
        odd_wide: {
            let bit = op(BinaryOp::BitAnd, u32, part(0, 0), number(1), None);
            let value = op(BinaryOp::Eq, u32, bit, number(1), None);
            kernel_of("odd_wide", 1, &wide(), Type::BOOL, None, value)
        },
    })
}

/// Returns a kernel with the parameters `i: u32, values: &[u32]`, or only the second one.
fn with_slice(name: &'static str, indexed: bool, stmts: Vec<anabranch_kernel_ir::Stmt>, value: Box<Expr>) -> Operator {
    let local = |name: &str, mutable| Local { name: name.to_owned(), ty: Type::U32, mutable };
    let slice = Param::Slice { name: "values".to_owned(), item: Type::U32 };
    let function = Function {
        name: name.to_owned(),
        params: if indexed { vec![Param::Value(0), slice] } else { vec![slice] },
        locals: vec![local("a", !indexed), local("k", false)],
        output: Type::U32,
        body: Block { stmts, value: Some(value) },
    };
    let site = Site { kind: TrapKind::Index, function: 0, line: 9, column: 1 };
    leak(name, Program { structs: Vec::new(), functions: vec![function], sites: vec![site] })
}
