//! Loops over ranges, slices and arrays.
//!
//! A loop over items becomes one over indices, in whose body the names of the pattern are set.

use super::{Reader, block_expr, refuse};
use crate::{
    infer::Class,
    tree::{Block, Expr, Kind, Root, Stmt},
    types::Ty,
};
use anabranch_kernel_ir::{BinaryOp, Builtin};
use proc_macro2::Span;
use syn::{ext::IdentExt, spanned::Spanned};

/// The items that a loop iterates over, if it has any.
enum Items {
    /// The slice of a parameter.
    Slice(usize),
    /// An array in a variable.
    Array {
        local: usize,
        item: Ty,
        length: u32,
    },
    Zip(Box<Items>, Box<Items>),
    Enumerate(Box<Items>),
}

impl Reader<'_> {
    pub(super) fn for_loop(&mut self, source: &syn::ExprForLoop) -> Expr {
        self.refuse_label(source.label.as_ref());
        let span = source.for_token.span;
        if let Some((range, reversed)) = as_range(&source.expr) {
            return self.range_loop(source, range, reversed, span);
        }
        let mut before = Vec::new();
        let Some(items) = self.items(&source.expr, &mut before) else {
            // The body may have errors of its own, but its pattern has no types.
            return Expr::error(span);
        };
        let Some(end) = self.length(&items, span) else { return Expr::error(span) };
        let index = self.hidden("index", Ty::Usize);
        let outer = self.names.len();
        let mut stmts = Vec::new();
        self.bind(&source.pat, items, index, &mut stmts);
        let body = self.loop_body(&source.body, outer, stmts);
        let zero = Expr { kind: Kind::Integer(0), ty: Ty::Usize, span };
        let kind = Kind::For { local: index, first: Box::new(zero), end: Box::new(end), inclusive: false, body };
        block_expr(before, Expr { kind, ty: Ty::Unit, span })
    }

    /// Reads the body of a loop after the statements that set the names of its pattern.
    fn loop_body(&mut self, source: &syn::Block, outer: usize, mut stmts: Vec<Stmt>) -> Block {
        self.loops += 1;
        let body = self.block(source);
        self.loops -= 1;
        self.names.truncate(outer);
        if !matches!(self.table.known(&body.ty), Ty::Unit | Ty::Never) {
            self.errors.add(source.span(), "the body of a loop has no value; write `;` after its last expression");
        }
        stmts.extend(body.stmts);
        Block { stmts, value: None, ty: Ty::Unit }
    }

    fn range_loop(&mut self, source: &syn::ExprForLoop, range: &syn::ExprRange, reversed: bool, span: Span) -> Expr {
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        let (Some(first), Some(end)) = (&range.start, &range.end) else {
            return self.error(range.limits.span(), "the range of a loop has both ends: `a..b`");
        };
        let first = self.expr(first);
        let end = self.expr(end);
        let ty = self.table.fresh(Class::Integer, first.span);
        self.expect(&ty, &first.ty.clone(), first.span);
        self.expect(&ty, &end.ty.clone(), end.span);
        let outer = self.names.len();
        let name = match &*source.pat {
            syn::Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.unraw().to_string(),
            syn::Pat::Wild(_) => "_".to_owned(),
            pat => {
                self.errors.add(pat.span(), "the items of a range are numbers; write a name");
                "_".to_owned()
            }
        };
        if !reversed {
            let local = self.declare(&name, ty);
            let body = self.loop_body(&source.body, outer, Vec::new());
            let kind = Kind::For { local, first: Box::new(first), end: Box::new(end), inclusive, body };
            return Expr { kind, ty: Ty::Unit, span };
        }
        // The counter goes up, and the name is set to `first + (last - counter)`.
        let low = self.hidden("first", ty.clone());
        let high = self.hidden("end", ty.clone());
        let counter = self.hidden("counter", ty.clone());
        let read = |local| Box::new(Expr::local(local, ty.clone(), span));
        let binary = |op, left, right| Box::new(Expr { kind: Kind::Binary(op, left, right), ty: ty.clone(), span });
        let mut value = binary(BinaryOp::Add, read(low), binary(BinaryOp::Sub, read(high), read(counter)));
        if !inclusive {
            let one = Box::new(Expr { kind: Kind::Integer(1), ty: ty.clone(), span });
            value = binary(BinaryOp::Sub, value, one);
        }
        let before = vec![Stmt::Let(low, first), Stmt::Let(high, end)];
        let kind_of = |body| Kind::For { local: counter, first: read(low), end: read(high), inclusive, body };
        let local = self.declare(&name, ty.clone());
        let body = self.loop_body(&source.body, outer, vec![Stmt::Let(local, *value)]);
        block_expr(before, Expr { kind: kind_of(body), ty: Ty::Unit, span })
    }

    /// Reads what a loop goes over. Returns `None` after an error.
    fn items(&mut self, expr: &syn::Expr, before: &mut Vec<Stmt>) -> Option<Items> {
        if let Some(slice) = self.as_slice(expr) {
            return Some(Items::Slice(slice));
        }
        match expr {
            syn::Expr::Paren(inner) => self.items(&inner.expr, before),
            syn::Expr::Group(inner) => self.items(&inner.expr, before),
            syn::Expr::Reference(reference) if reference.mutability.is_none() => self.items(&reference.expr, before),
            syn::Expr::MethodCall(call) => self.adapted(call, before),
            _ => self.array_items(expr, before),
        }
    }

    fn adapted(&mut self, call: &syn::ExprMethodCall, before: &mut Vec<Stmt>) -> Option<Items> {
        let name = call.method.unraw().to_string();
        match (name.as_str(), call.args.len()) {
            ("iter" | "into_iter" | "copied" | "cloned", 0) => self.items(&call.receiver, before),
            ("enumerate", 0) => Some(Items::Enumerate(Box::new(self.items(&call.receiver, before)?))),
            ("zip", 1) => {
                let left = self.items(&call.receiver, before)?;
                let right = self.items(&call.args[0], before)?;
                Some(Items::Zip(Box::new(left), Box::new(right)))
            }
            _ => {
                let text = match name.as_str() {
                    "step_by" => "kernels have no `step_by`; write `for k in 0..count` and compute `first + k * step`",
                    "rev" => "only ranges can be reversed: `(a..b).rev()`",
                    "iter_mut" => "kernels have no `iter_mut`; write `for i in 0..array.len()` and set `array[i]`",
                    "chunks" | "windows" | "chunks_exact" => {
                        "kernels have no parts of slices in loops; write `for i in 0..count` and compute the indices"
                    }
                    _ => "kernels have only `iter`, `zip` and `enumerate` in loops; write the rest in the body",
                };
                self.errors.add(call.method.span(), text);
                None
            }
        }
    }

    /// Reads an array, whose value is kept in a variable while the loop runs.
    fn array_items(&mut self, expr: &syn::Expr, before: &mut Vec<Stmt>) -> Option<Items> {
        let value = self.expr(expr);
        match self.table.known(&value.ty) {
            Ty::Array(item, length) => {
                let local = self.hidden("items", value.ty.clone());
                before.push(Stmt::Let(local, value));
                Some(Items::Array { local, item: *item, length })
            }
            Ty::Unknown => None,
            _ => {
                let text =
                    format!("a loop goes over a range, a slice or an array, and this is `{}`", self.shown(&value.ty));
                self.errors.add(expr.span(), text);
                None
            }
        }
    }

    fn length(&mut self, items: &Items, span: Span) -> Option<Expr> {
        let kind = match items {
            Items::Slice(slice) => Kind::Length(*slice),
            Items::Array { length, .. } => Kind::Integer(u64::from(*length)),
            Items::Enumerate(items) => return self.length(items, span),
            Items::Zip(left, right) => {
                let args = vec![self.length(left, span)?, self.length(right, span)?];
                Kind::Method(crate::methods::Action::Builtin(Builtin::Min), args)
            }
        };
        Some(Expr { kind, ty: Ty::Usize, span })
    }

    /// Sets the names of a pattern to the items at an index.
    fn bind(&mut self, pat: &syn::Pat, items: Items, index: usize, stmts: &mut Vec<Stmt>) {
        let span = pat.span();
        let value = match (items, pat) {
            (items, syn::Pat::Paren(pat)) => return self.bind(&pat.pat, items, index, stmts),
            (items, syn::Pat::Reference(pat)) => return self.bind(&pat.pat, items, index, stmts),
            (Items::Zip(left, right), syn::Pat::Tuple(pats)) if pats.elems.len() == 2 => {
                self.bind(&pats.elems[0], *left, index, stmts);
                return self.bind(&pats.elems[1], *right, index, stmts);
            }
            (Items::Enumerate(items), syn::Pat::Tuple(pats)) if pats.elems.len() == 2 => {
                if let Some(local) = self.bound(&pats.elems[0], Ty::Usize) {
                    stmts.push(Stmt::Let(local, Expr::local(index, Ty::Usize, span)));
                }
                return self.bind(&pats.elems[1], *items, index, stmts);
            }
            (Items::Zip(..) | Items::Enumerate(_), _) => {
                self.errors.add(span, "the items of this loop are pairs; write a pattern `(a, b)`");
                return;
            }
            (Items::Slice(slice), _) => {
                let item = self.items.functions[self.number].params[slice].ty.clone();
                self.item(Root::Slice(slice), item, index, span)
            }
            (Items::Array { local, item, .. }, _) => self.item(Root::Local(local), item, index, span),
        };
        if let Some(local) = self.bound(pat, value.ty.clone()) {
            stmts.push(Stmt::Let(local, value));
        }
    }

    /// Declares the name of a pattern.
    fn bound(&mut self, pat: &syn::Pat, ty: Ty) -> Option<usize> {
        match pat {
            syn::Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                Some(self.declare(&pat.ident.unraw().to_string(), ty))
            }
            syn::Pat::Wild(_) => None,
            pat => {
                self.errors.add(pat.span(), refuse::PATTERN);
                None
            }
        }
    }
}

/// Returns the range of `a..b` and `(a..b).rev()`, and whether it is reversed.
fn as_range(expr: &syn::Expr) -> Option<(&syn::ExprRange, bool)> {
    match expr {
        syn::Expr::Range(range) => Some((range, false)),
        syn::Expr::Paren(inner) => as_range(&inner.expr),
        syn::Expr::Group(inner) => as_range(&inner.expr),
        syn::Expr::MethodCall(call) if call.method == "rev" && call.args.is_empty() => {
            as_range(&call.receiver).map(|(range, reversed)| (range, !reversed))
        }
        _ => None,
    }
}
