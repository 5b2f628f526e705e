//! `match` on numbers and truth values, as a chain of `if`.

use super::{Reader, block_expr, block_of};
use crate::{
    tree::{Block, Expr, Kind, Stmt},
    types::Ty,
};
use anabranch_kernel_ir::BinaryOp;
use proc_macro2::Span;
use syn::{ext::IdentExt, spanned::Spanned};

impl Reader<'_> {
    pub(super) fn selection(&mut self, selection: &syn::ExprMatch) -> Expr {
        let span = selection.match_token.span;
        let value = self.expr(&selection.expr);
        let known = self.table.known(&value.ty);
        if !matches!(known, Ty::Var(_) | Ty::Unknown | Ty::Bool) && !known.is_integer() {
            return self.error(value.span, "`match` in a kernel is on integers and `bool`; write `if`");
        }
        let selected = self.hidden("selected", value.ty.clone());
        let ty = value.ty.clone();
        let mut arms = Vec::new();
        for arm in &selection.arms {
            let outer = self.names.len();
            let condition = self.pattern(&arm.pat, selected, &ty);
            let body = block_of(self.expr(&arm.body));
            self.names.truncate(outer);
            arms.push((condition, body));
        }
        let Some(chain) = self.chain(arms, span) else {
            return self.error(span, "a `match` in a kernel has at least one arm");
        };
        block_expr(vec![Stmt::Let(selected, value)], chain)
    }

    /// Returns the arms as a chain of `if`. rustc checks that they cover all values, so the last one needs no
    /// condition.
    fn chain(&mut self, arms: Vec<(Option<Expr>, Block)>, span: Span) -> Option<Expr> {
        let mut arms = arms.into_iter().rev();
        let (_, last) = arms.next()?;
        let mut rest = last;
        for (condition, body) in arms {
            // Without a condition, the arms after this one are never reached.
            rest = match condition {
                Some(condition) => block_of(self.choose(condition, body, rest, span)),
                None => body,
            };
        }
        let ty = rest.ty.clone();
        Some(Expr { kind: Kind::Block(rest), ty, span })
    }

    /// Returns the condition of a pattern. A pattern that always matches has none.
    fn pattern(&mut self, pat: &syn::Pat, selected: usize, ty: &Ty) -> Option<Expr> {
        let span = pat.span();
        let value = || Box::new(Expr::local(selected, ty.clone(), span));
        let compare = |op, left, right| Expr { kind: Kind::Binary(op, left, right), ty: Ty::Bool, span };
        match pat {
            syn::Pat::Wild(_) => None,
            syn::Pat::Paren(inner) => self.pattern(&inner.pat, selected, ty),
            syn::Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                let name = pat.ident.unraw().to_string();
                if self.items.constants.iter().any(|constant| constant.name == name) {
                    let constant = self.name_of_pattern(&pat.ident, ty);
                    return Some(compare(BinaryOp::Eq, value(), Box::new(constant)));
                }
                self.names.push((name, super::Binding::Local(selected)));
                None
            }
            syn::Pat::Lit(literal) => {
                let literal = self.bound_of_pattern(&syn::Expr::Lit(literal.clone()), ty);
                Some(compare(BinaryOp::Eq, value(), Box::new(literal)))
            }
            syn::Pat::Path(path) => {
                let constant = self.bound_of_pattern(&syn::Expr::Path(path.clone()), ty);
                Some(compare(BinaryOp::Eq, value(), Box::new(constant)))
            }
            syn::Pat::Range(range) => {
                let low = range.start.as_ref().map(|low| self.bound_of_pattern(low, ty));
                let high = range.end.as_ref().map(|high| self.bound_of_pattern(high, ty));
                let below =
                    if matches!(range.limits, syn::RangeLimits::Closed(_)) { BinaryOp::Le } else { BinaryOp::Lt };
                let low = low.map(|low| compare(BinaryOp::Ge, value(), Box::new(low)));
                let high = high.map(|high| compare(below, value(), Box::new(high)));
                match (low, high) {
                    (Some(low), Some(high)) => {
                        Some(Expr { kind: Kind::And(Box::new(low), Box::new(high)), ty: Ty::Bool, span })
                    }
                    (low, high) => low.or(high),
                }
            }
            syn::Pat::Or(cases) => {
                let mut conditions = cases.cases.iter().map(|case| self.pattern(case, selected, ty));
                let first = conditions.next()??;
                conditions.try_fold(first, |left, right| {
                    Some(Expr { kind: Kind::Or(Box::new(left), Box::new(right?)), ty: Ty::Bool, span })
                })
            }
            syn::Pat::Guard(guarded) => {
                let condition = self.pattern(&guarded.pat, selected, ty);
                let guard = self.condition(&guarded.guard);
                Some(match condition {
                    Some(left) => Expr { kind: Kind::And(Box::new(left), Box::new(guard)), ty: Ty::Bool, span },
                    None => guard,
                })
            }
            _ => {
                self.errors.add(span, "a `match` in a kernel has numbers, ranges, `|`, names and `_`; write `if`");
                None
            }
        }
    }

    fn name_of_pattern(&mut self, name: &syn::Ident, ty: &Ty) -> Expr {
        let path = syn::ExprPath { attrs: Vec::new(), qself: None, path: name.clone().into() };
        self.bound_of_pattern(&syn::Expr::Path(path), ty)
    }

    /// Reads a number in a pattern. The variables of the function are not in its scope.
    fn bound_of_pattern(&mut self, expr: &syn::Expr, ty: &Ty) -> Expr {
        let names = std::mem::take(&mut self.names);
        let bound = self.expr(expr);
        self.names = names;
        self.expect(ty, &bound.ty.clone(), bound.span);
        bound
    }
}
