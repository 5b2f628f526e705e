//! Parts of values: fields and items.

use super::{Binding, Reader, expr::member_name};
use crate::{
    errors::nearest,
    tree::{Expr, Kind, Place, Root, Step},
    types::Ty,
};
use proc_macro2::Span;
use syn::{ext::IdentExt, spanned::Spanned};

impl Reader<'_> {
    /// Reads an expression as a place. Returns `None` after an error.
    pub(super) fn place(&mut self, expr: &syn::Expr) -> Option<Place> {
        match expr {
            syn::Expr::Paren(inner) => self.place(&inner.expr),
            syn::Expr::Group(inner) => self.place(&inner.expr),
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.place(&unary.expr),
            syn::Expr::Path(path) => {
                let name = path.path.get_ident().map(|name| name.unraw().to_string());
                if let Some(Binding::Local(local)) = name.and_then(|name| self.lookup(&name)) {
                    let ty = self.locals[local].ty.clone();
                    return Some(Place { root: Root::Local(local), steps: Vec::new(), ty });
                }
                self.value(expr)
            }
            syn::Expr::Field(field) => self.field(field),
            syn::Expr::Index(index) => self.index(index),
            _ => self.value(expr),
        }
    }

    /// Reads an expression that is no place.
    fn value(&mut self, expr: &syn::Expr) -> Option<Place> {
        let value = self.expr(expr);
        let ty = value.ty.clone();
        (self.table.known(&ty) != Ty::Unknown).then(|| Place {
            root: Root::Value(Box::new(value)),
            steps: Vec::new(),
            ty,
        })
    }

    fn field(&mut self, field: &syn::ExprField) -> Option<Place> {
        let mut place = self.place(&field.base)?;
        let name = member_name(&field.member);
        let span = field.member.span();
        let Ty::Struct(number) = self.table.known(&place.ty) else {
            let text = match self.table.class(&place.ty) {
                Some(_) => "the type of this value is not known here; write it: `let x: Type`".to_owned(),
                None => format!("`{}` has no fields", self.shown(&place.ty)),
            };
            self.errors.add(span, text);
            return None;
        };
        let known = &self.items.structs[number];
        let Some(position) = known.fields.iter().position(|found| found.name == name) else {
            let mut text = format!("`{}` has no field `{name}`", known.name);
            if let Some(near) = nearest(&name, known.fields.iter().map(|found| found.name.as_str())) {
                text += &format!("; did you mean `{near}`?");
            }
            self.errors.add(span, text);
            return None;
        };
        place.ty = known.fields[position].ty.clone();
        place.steps.push(Step::Field(position));
        Some(place)
    }

    fn index(&mut self, index: &syn::ExprIndex) -> Option<Place> {
        let span = index.bracket_token.span.open();
        if let syn::Expr::Range(range) = &*index.index {
            self.errors.add(range.limits.span(), "a part of a slice is an argument of a call: `f(&xs[a..b])`");
            return None;
        }
        let slice = self.as_slice(&index.expr);
        let place = match slice {
            Some(param) => {
                let ty = self.items.functions[self.number].params[param].ty.clone();
                Some((Place { root: Root::Slice(param), steps: Vec::new(), ty }, None))
            }
            None => self.place(&index.expr).and_then(|mut place| match self.table.known(&place.ty) {
                Ty::Array(item, length) => {
                    place.ty = *item;
                    Some((place, Some(length)))
                }
                _ => {
                    let text = format!("only slices and arrays have items, and this is `{}`", self.shown(&place.ty));
                    self.errors.add(span, text);
                    None
                }
            }),
        };
        let number = self.expr(&index.index);
        if !self.table.unify(&Ty::Usize, &number.ty) {
            let text = format!("an index is a `usize`, and this is `{}`; write `as usize`", self.shown(&number.ty));
            self.errors.add(number.span, text);
        }
        let (mut place, length) = place?;
        place.steps.push(Step::Index { index: Box::new(number), length, checked: true });
        Some(place)
    }

    /// Returns an item whose index is in range by construction.
    pub(super) fn item(&self, root: Root, item: Ty, index: usize, span: Span) -> Expr {
        let index = Box::new(Expr::local(index, Ty::Usize, span));
        let steps = vec![Step::Index { index, length: None, checked: false }];
        Expr { kind: Kind::Read(Place { root, steps, ty: item.clone() }), ty: item, span }
    }
}
