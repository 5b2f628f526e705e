//! From syntax to trees: names, types, and code outside the subset.
//!
//! `expr` reads expressions, `literal` literals, `call` calls and methods, `path` names, `place` parts of values,
//! `loops` loops, `matches` `match`, and `refuse` suggests what to write instead of the rest.

mod call;
mod expr;
mod literal;
mod loops;
mod matches;
mod path;
mod place;
mod refuse;

use crate::{
    errors::Errors,
    infer::{Class, Table},
    tree::{Block, Expr, Function, Kind, Local, Stmt},
    types::{Items, Ty},
    written_types,
};
use proc_macro2::Span;
use syn::{ext::IdentExt, spanned::Spanned};

/// The meaning of a name in a function.
#[derive(Clone, Copy)]
enum Binding {
    Local(usize),
    /// The slice of a parameter.
    Slice(usize),
}

/// The reader of one function.
struct Reader<'a> {
    items: &'a Items,
    errors: &'a mut Errors,
    table: Table,
    locals: Vec<Local>,
    /// The names in scope, the innermost last.
    names: Vec<(String, Binding)>,
    /// The index of the function, and its result.
    number: usize,
    output: Ty,
    calls: Vec<(usize, Span)>,
    /// The number of loops around.
    loops: u32,
    /// The constants whose values are being read.
    constants: Vec<usize>,
}

/// Reads the body of a function. All types of the tree are resolved.
pub(crate) fn function(source: &syn::ItemFn, number: usize, items: &Items, errors: &mut Errors) -> (Function, Table) {
    let signature = &items.functions[number];
    let mut reader = Reader {
        items,
        errors,
        table: Table::default(),
        locals: Vec::new(),
        names: Vec::new(),
        number,
        output: signature.output.clone(),
        calls: Vec::new(),
        loops: 0,
        constants: Vec::new(),
    };
    let mut params = Vec::new();
    for (position, param) in signature.params.iter().enumerate() {
        if param.is_slice {
            reader.names.push((param.name.clone(), Binding::Slice(position)));
            params.push(None);
        } else {
            params.push(Some(reader.declare(&param.name, param.ty.clone())));
        }
    }
    let body = reader.block(&source.block);
    if body.ty != Ty::Never {
        let span = match source.block.stmts.last() {
            Some(syn::Stmt::Expr(value, None)) => value.span(),
            _ => source.sig.output.span(),
        };
        let output = signature.output.clone();
        reader.expect(&output, &body.ty, span);
    }
    reader.table.finish(reader.errors);
    let Reader { table, locals, calls, .. } = reader;
    (Function { locals, params, body, calls }, table)
}

impl Reader<'_> {
    /// Adds a variable, and its name to the scope.
    fn declare(&mut self, name: &str, ty: Ty) -> usize {
        let local = self.hidden(name, ty);
        if name != "_" {
            self.names.push((name.to_owned(), Binding::Local(local)));
        }
        local
    }

    /// Adds a variable that the source does not see.
    fn hidden(&mut self, name: &str, ty: Ty) -> usize {
        self.locals.push(Local { name: name.to_owned(), ty, mutable: false });
        self.locals.len() - 1
    }

    fn error(&mut self, span: Span, text: impl Into<String>) -> Expr {
        self.errors.add(span, text);
        Expr::error(span)
    }

    /// Makes the types one, and reports if they differ.
    fn expect(&mut self, expected: &Ty, found: &Ty, span: Span) {
        if !self.table.unify(expected, found) {
            let text = format!("expected `{}`, found `{}`", self.shown(expected), self.shown(found));
            self.errors.add(span, text);
        }
    }

    /// Returns a type as text for an error.
    fn shown(&self, ty: &Ty) -> String {
        match self.table.class(ty) {
            Some(Class::Integer) => "an integer".to_owned(),
            Some(Class::Float) => "a float".to_owned(),
            _ => self.table.known(ty).name(self.items),
        }
    }

    /// Reads a block in a scope of its own.
    fn block(&mut self, block: &syn::Block) -> Block {
        let outer = self.names.len();
        let mut stmts = Vec::new();
        let mut value = None;
        let mut diverges = false;
        for (position, stmt) in block.stmts.iter().enumerate() {
            match stmt {
                syn::Stmt::Local(local) => stmts.extend(self.local(local)),
                syn::Stmt::Item(item) => {
                    self.errors.add(item.span(), refuse::INNER_ITEM);
                }
                syn::Stmt::Macro(stmt) => {
                    let text = refuse::macro_call(&stmt.mac);
                    self.errors.add(stmt.mac.path.span(), text);
                }
                syn::Stmt::Expr(expr, semicolon) => {
                    let read = self.expr(expr);
                    let known = self.table.known(&read.ty);
                    diverges |= known == Ty::Never;
                    let is_last = position + 1 == block.stmts.len();
                    if is_last && semicolon.is_none() && !matches!(known, Ty::Unit | Ty::Never) {
                        value = Some(Box::new(read));
                    } else {
                        stmts.push(Stmt::Expr(read));
                    }
                }
            }
        }
        self.names.truncate(outer);
        let ty = match &value {
            _ if diverges => Ty::Never,
            Some(value) => value.ty.clone(),
            None => Ty::Unit,
        };
        Block { stmts, value: value.filter(|_| !diverges), ty }
    }

    /// Reads a `let`.
    fn local(&mut self, local: &syn::Local) -> Option<Stmt> {
        let (pat, annotation) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(written_types::read(&typed.ty, self.items, self.errors))),
            pat => (pat, None),
        };
        let init = local.init.as_ref().map(|init| {
            if let Some((token, _)) = &init.diverge {
                self.errors.add(token.span, "kernels have no `let .. else`; write `if`");
            }
            self.expr(&init.expr)
        });
        let ty = match (&annotation, &init) {
            (Some(ty), Some(init)) => {
                let (ty, found, span) = (ty.clone(), init.ty.clone(), init.span);
                self.expect(&ty, &found, span);
                ty
            }
            (Some(ty), None) => ty.clone(),
            (None, Some(init)) => init.ty.clone(),
            (None, None) => self.table.fresh(Class::Any, pat.span()),
        };
        if let Some(init) = &init
            && self.table.known(&ty) == Ty::Unit
        {
            self.errors.add(init.span, "this has no value; write it as a statement");
            return None;
        }
        let local = match pat {
            syn::Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                self.declare(&pat.ident.unraw().to_string(), ty)
            }
            syn::Pat::Wild(_) => self.declare("_", ty),
            pat => {
                self.errors.add(pat.span(), refuse::PATTERN);
                return None;
            }
        };
        init.map(|init| Stmt::Let(local, init))
    }

    /// Reads a condition.
    fn condition(&mut self, expr: &syn::Expr) -> Expr {
        let condition = self.expr(expr);
        self.expect(&Ty::Bool, &condition.ty.clone(), condition.span);
        condition
    }
}

/// Returns the block `{ value }`.
fn block_of(value: Expr) -> Block {
    let ty = value.ty.clone();
    if matches!(ty, Ty::Unit | Ty::Never) {
        return Block { stmts: vec![Stmt::Expr(value)], value: None, ty };
    }
    Block { stmts: Vec::new(), value: Some(Box::new(value)), ty }
}

/// Returns the block `{}`.
fn empty_block() -> Block {
    Block { stmts: Vec::new(), value: None, ty: Ty::Unit }
}

/// Returns the expression `{ stmts; value }`.
fn block_expr(mut stmts: Vec<Stmt>, value: Expr) -> Expr {
    let (ty, span) = (value.ty.clone(), value.span);
    let value = if matches!(ty, Ty::Unit | Ty::Never) {
        stmts.push(Stmt::Expr(value));
        None
    } else {
        Some(Box::new(value))
    };
    Expr { kind: Kind::Block(Block { stmts, value, ty: ty.clone() }), ty, span }
}
