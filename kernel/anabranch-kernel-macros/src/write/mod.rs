//! From trees to the representation, once all types are known. Reports operations that a type does not have.

mod expr;
mod ops;

use crate::{
    errors::Errors,
    infer::Table,
    tree::{Block, Expr, Function, Kind, Place, Root, Step, Stmt},
    types::{Items, Signature, Ty},
};
use anabranch_kernel_ir as ir;
use proc_macro2::Span;
use std::collections::HashMap;

/// A function with its types.
pub(crate) struct Typed {
    pub(crate) function: Function,
    pub(crate) table: Table,
}

/// The writer of one function.
struct Writer<'a> {
    source: &'a Typed,
    items: &'a Items,
    errors: &'a mut Errors,
    /// The indices in the program of the functions that this one calls.
    numbers: &'a HashMap<usize, u32>,
    sites: &'a mut Vec<ir::Site>,
    number: u32,
}

/// Writes the program of a kernel, once `check` has found no error.
pub(crate) fn program(kernel: usize, functions: &[Typed], items: &Items, errors: &mut Errors) -> ir::Program {
    let mut order = Vec::new();
    visit(kernel, functions, &mut order);
    let mut program = ir::Program { structs: structs(items), functions: Vec::new(), sites: Vec::new() };
    let mut numbers = HashMap::new();
    for number in order {
        let position = u32::try_from(numbers.len()).expect("a module has fewer than 2^32 functions");
        let sites = &mut program.sites;
        let mut writer =
            Writer { source: &functions[number], items, errors, numbers: &numbers, sites, number: position };
        let written = writer.function(&items.functions[number]);
        program.functions.push(written);
        numbers.insert(number, position);
    }
    program
}

/// Reports the errors of all functions, also of those that no kernel calls.
pub(crate) fn check(functions: &[Typed], items: &Items, errors: &mut Errors) {
    let numbers = (0..functions.len()).map(|number| (number, index(number))).collect();
    for (number, source) in functions.iter().enumerate() {
        let sites = &mut Vec::new();
        let mut writer =
            Writer { source, items, errors: &mut *errors, numbers: &numbers, sites, number: index(number) };
        writer.function(&items.functions[number]);
    }
}

/// Appends a function after all that it calls. There is no recursion.
fn visit(number: usize, functions: &[Typed], order: &mut Vec<usize>) {
    if order.contains(&number) {
        return;
    }
    for (callee, _) in &functions[number].function.calls {
        visit(*callee, functions, order);
    }
    order.push(number);
}

fn structs(items: &Items) -> Vec<ir::Struct> {
    let field = |field: &crate::types::Field| ir::Field {
        name: field.name.clone(),
        ty: field.ty.to_ir().unwrap_or(ir::Type::U32),
    };
    let of_struct = |known: &crate::types::Struct| ir::Struct {
        name: known.name.clone(),
        fields: known.fields.iter().map(field).collect(),
    };
    items.structs.iter().map(of_struct).collect()
}

impl Writer<'_> {
    fn function(&mut self, signature: &Signature) -> ir::Function {
        let source = &self.source.function;
        let locals = source.locals.iter().map(|local| ir::Local {
            name: local.name.clone(),
            ty: self.type_of(&local.ty),
            mutable: local.mutable,
        });
        let locals = locals.collect();
        let params = signature.params.iter().zip(&source.params).map(|(param, local)| match local {
            Some(local) => ir::Param::Value(index(*local)),
            None => ir::Param::Slice { name: param.name.clone(), item: self.type_of(&param.ty) },
        });
        let params = params.collect();
        let body = self.block(&source.body);
        ir::Function { name: signature.name.clone(), params, locals, output: self.type_of(&signature.output), body }
    }

    fn resolve(&self, ty: &Ty) -> Ty {
        self.source.table.resolve(ty)
    }

    /// Returns a type in the representation. A type with an error, and a variable without a value, have any.
    fn type_of(&self, ty: &Ty) -> ir::Type {
        self.resolve(ty).to_ir().unwrap_or(ir::Type::U32)
    }

    fn scalar(&self, ty: &Ty) -> ir::Scalar {
        self.resolve(ty).scalar().unwrap_or(ir::Scalar::U32)
    }

    fn site(&mut self, kind: ir::TrapKind, span: Span) -> u32 {
        let start = span.start();
        let line = u32::try_from(start.line).unwrap_or(u32::MAX);
        let column = u32::try_from(start.column + 1).unwrap_or(u32::MAX);
        self.sites.push(ir::Site { kind, function: self.number, line, column });
        index(self.sites.len() - 1)
    }

    fn block(&mut self, block: &Block) -> ir::Block {
        let mut stmts = Vec::new();
        for stmt in &block.stmts {
            stmts.push(match stmt {
                Stmt::Let(local, value) => ir::Stmt::Let { local: index(*local), value: self.expr(value) },
                Stmt::Expr(expr) => self.stmt(expr),
            });
        }
        let value = block.value.as_ref().map(|value| Box::new(self.expr(value)));
        ir::Block { stmts, value }
    }

    /// Writes an expression whose value is not used.
    fn stmt(&mut self, expr: &Expr) -> ir::Stmt {
        let is_statement = matches!(self.resolve(&expr.ty), Ty::Unit | Ty::Never);
        match &expr.kind {
            Kind::Assign(place, value) => ir::Stmt::Store { place: self.place(place), value: self.expr(value) },
            Kind::Update(op, place, value) => self.update(*op, place, value, expr.span),
            Kind::For { local, first, end, inclusive, body } => ir::Stmt::For {
                local: index(*local),
                first: self.expr(first),
                end: self.expr(end),
                inclusive: *inclusive,
                body: self.block(body),
            },
            Kind::If(condition, accept, reject) if is_statement => {
                ir::Stmt::If { condition: self.expr(condition), accept: self.block(accept), reject: self.block(reject) }
            }
            Kind::Block(block) if is_statement => ir::Stmt::Block(self.block(block)),
            Kind::Return(value) => ir::Stmt::Return(self.expr(value)),
            Kind::Break => ir::Stmt::Break,
            Kind::Continue => ir::Stmt::Continue,
            _ => ir::Stmt::Discard(self.expr(expr)),
        }
    }

    fn place(&mut self, place: &Place) -> ir::Place {
        let root = match &place.root {
            Root::Local(local) => ir::Root::Local(index(*local)),
            Root::Slice(param) => ir::Root::Slice(index(*param)),
            Root::Value(value) => ir::Root::Value { ty: self.type_of(&value.ty), value: Box::new(self.expr(value)) },
        };
        let steps = place.steps.iter().map(|step| match step {
            Step::Field(field) => ir::Step::Field(index(*field)),
            Step::Index { index: number, length, checked } => {
                let span = number.span;
                let number = Box::new(self.expr(number));
                let fits = match (&*number, length) {
                    (ir::Expr::Literal(ir::Literal::U32(number)), Some(length)) => number < length,
                    _ => false,
                };
                let site = (*checked && !fits).then(|| self.site(ir::TrapKind::Index, span));
                ir::Step::Index { index: number, site }
            }
        });
        let steps = steps.collect();
        ir::Place { root, steps }
    }
}

/// Returns an index as the representation has it.
fn index(number: usize) -> u32 {
    u32::try_from(number).expect("a function has fewer than 2^32 parts")
}
