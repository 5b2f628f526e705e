//! Programs that are written by hand: their bytes, and what naga makes of them.
//!
//! The tests of `anabranch-kernel-macros` compare what programs mean with Rust.

use anabranch_kernel_ir::{
    Argument, BinaryOp, Block, Expr, Function, Linker, Literal, Local, Param, Place, Program, Root, Scalar, Site, Step,
    Stmt, TrapKind, Type, validate,
};

fn local(name: &str, ty: Type, mutable: bool) -> Local {
    Local { name: name.to_owned(), ty, mutable }
}

fn read(number: u32) -> Expr {
    Expr::Read(Place::local(number))
}

fn binary(op: BinaryOp, scalar: Scalar, left: Expr, right: Expr, site: Option<u32>) -> Expr {
    Expr::Binary { op, scalar, left: Box::new(left), right: Box::new(right), site }
}

/// `fn saxpy(a: f32, x: f32, y: f32) -> f32 { a * x + y }`
fn saxpy() -> Program {
    let locals = ["a", "x", "y"].map(|name| local(name, Type::F32, false)).to_vec();
    let product = binary(BinaryOp::Mul, Scalar::F32, read(0), read(1), None);
    let body = Block::value(binary(BinaryOp::Add, Scalar::F32, product, read(2), None));
    let params = (0..3).map(Param::Value).collect();
    let saxpy = Function { name: "saxpy".to_owned(), params, locals, output: Type::F32, body };
    Program { structs: Vec::new(), functions: vec![saxpy], sites: Vec::new() }
}

/// `fn at(xs: &[u32], i: u32) -> u32 { xs[i as usize] }`, and a function that calls it on both of its slices:
/// `fn both(a: &[u32], b: &[u32], n: u32) -> u32 { let mut s = 0; for i in 0..n { s += at(a, i) / at(b, i); } s }`
fn both() -> Program {
    let index = Step::Index { index: Box::new(read(0)), site: Some(0) };
    let slice = |name: &str| Param::Slice { name: name.to_owned(), item: Type::U32 };
    let at = Function {
        name: "at".to_owned(),
        params: vec![slice("xs"), Param::Value(0)],
        locals: vec![local("i", Type::U32, false)],
        output: Type::U32,
        body: Block::value(Expr::Read(Place { root: Root::Slice(0), steps: vec![index] })),
    };
    let call = |slice| Expr::Call { function: 0, args: vec![Argument::Slice(slice), Argument::Value(read(2))] };
    let quotient = binary(BinaryOp::Div, Scalar::U32, call(0), call(1), Some(1));
    let sum =
        Stmt::Update { place: Place::local(1), op: BinaryOp::Add, scalar: Scalar::U32, value: quotient, site: None };
    let zero = || Expr::Literal(Literal::U32(0));
    let body = Block { stmts: vec![sum], value: None };
    let both = Function {
        name: "both".to_owned(),
        params: vec![slice("a"), slice("b"), Param::Value(0)],
        locals: vec![local("n", Type::U32, false), local("s", Type::U32, true), local("i", Type::U32, false)],
        output: Type::U32,
        body: Block {
            stmts: vec![
                Stmt::Let { local: 1, value: zero() },
                Stmt::For { local: 2, first: zero(), end: read(0), inclusive: false, body },
            ],
            value: Some(Box::new(read(1))),
        },
    };
    let site = |kind, function| Site { kind, function, line: 1, column: 1 };
    let sites = vec![site(TrapKind::Index, 0), site(TrapKind::DivisionByZero, 1)];
    Program { structs: Vec::new(), functions: vec![at, both], sites }
}

#[test]
fn programs_survive_their_bytes() {
    for program in [saxpy(), both()] {
        assert_eq!(Program::from_bytes(&program.to_bytes()).as_ref(), Ok(&program));
    }
}

#[test]
fn from_bytes_rejects_what_is_no_program() {
    let bytes = saxpy().to_bytes();
    let message = "the bytes are not a kernel of this version; build `#[kernel]` and the runtime from one version";
    assert_eq!(Program::from_bytes(&bytes[..bytes.len() - 1]).unwrap_err().to_string(), message);
    assert_eq!(Program::from_bytes(&[&bytes[..], &[0]].concat()).unwrap_err().to_string(), message);
}

#[test]
fn arithmetic_becomes_one_expression() {
    let text = validate(&saxpy()).unwrap();
    assert!(text.contains("fn saxpy(a: f32, x: f32, y: f32) -> f32 {\n    return ((a * x) + y);\n}"), "{text}");
}

#[test]
fn function_with_slices_exists_once_for_each_set_of_them() {
    let program = both();
    let mut module = naga::Module::default();
    let mut linker = Linker::new(&mut module);
    let binding = |binding| naga::ResourceBinding { group: 0, binding };
    let traps = linker.traps(binding(0));
    let first = linker.slice(&program, &Type::U32, binding(1));
    let second = linker.slice(&program, &Type::U32, binding(2));
    let names = |module: &naga::Module| -> Vec<_> {
        module.functions.iter().map(|(_, function)| function.name.clone().unwrap()).collect()
    };
    linker.function(&program, &[first, second], traps, 0);
    assert_eq!(names(&module), ["at", "at", "both"]);
    Linker::new(&mut module).function(&program, &[first, first], traps, 0);
    assert_eq!(names(&module)[3..], ["at", "both"]);
}

#[test]
fn sites_are_numbered_from_the_base() {
    let program = both();
    let mut module = naga::Module::default();
    let mut linker = Linker::new(&mut module);
    let traps = linker.traps(naga::ResourceBinding { group: 0, binding: 0 });
    let slice = linker.slice(&program, &Type::U32, naga::ResourceBinding { group: 0, binding: 1 });
    linker.function(&program, &[slice, slice], traps, 70);
    let codes = |function: &str| -> Vec<u32> {
        let (_, function) = module.functions.iter().find(|(_, found)| found.name.as_deref() == Some(function)).unwrap();
        let literals = function.expressions.iter().filter_map(|(_, expression)| match expression {
            naga::Expression::Literal(naga::Literal::U32(value)) => Some(*value),
            _ => None,
        });
        literals.filter(|value| *value > 70).collect()
    };
    assert_eq!((codes("at"), codes("both")), (vec![71], vec![72]));
}
