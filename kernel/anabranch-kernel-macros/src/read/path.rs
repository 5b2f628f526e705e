//! Names: variables, constants of the module, and constants of std.

use super::{Binding, Reader};
use crate::{
    errors::nearest,
    methods,
    tree::{Expr, Kind},
    types::Ty,
    written_types::{self, known_refusal},
};
use anabranch_kernel_ir::Literal;
use proc_macro2::Span;
use syn::{ext::IdentExt, spanned::Spanned};

impl Reader<'_> {
    pub(super) fn path(&mut self, path: &syn::ExprPath) -> Expr {
        let span = path.path.segments[0].ident.span();
        if path.qself.is_some() {
            return self.error(span, "kernels have no traits; write `f32::MAX`, `i32::MAX` and so on");
        }
        let segments = names(&path.path);
        let segments: Vec<_> = segments.iter().map(String::as_str).collect();
        match segments[..] {
            [name] => self.name(name, span),
            [ty, name] if methods::constant(ty, name).is_some() => {
                let (literal, ty) = methods::constant(ty, name).expect("it was found before");
                Expr { kind: Kind::Literal(literal), ty, span }
            }
            ["std" | "core", "f32", "consts", name] | ["f32", "consts", name] | ["consts", name] => {
                match methods::mathematical_constant(name) {
                    Some(value) => Expr { kind: Kind::Literal(Literal::F32(value.to_bits())), ty: Ty::F32, span },
                    None => self.error(span, format!("`std::f32::consts` has no `{name}` that kernels know")),
                }
            }
            ["usize", "MAX" | "BITS"] => self.error(span, "`usize` has 32 bits on a device; write `u32::MAX as usize`"),
            [ty, _] if known_refusal(ty).is_some() => {
                let text = known_refusal(ty).expect("it was found before");
                self.error(span, text)
            }
            _ => {
                self.error(span, "kernels have no paths but constants of numbers such as `f32::MAX`; use a single name")
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Expr {
        match self.lookup(name) {
            Some(Binding::Local(local)) => {
                let ty = self.locals[local].ty.clone();
                return Expr::local(local, ty, span);
            }
            Some(Binding::Slice(_)) => {
                let text =
                    format!("a slice is no value; use an item `{name}[i]`, `{name}.len()`, or pass it to a function");
                return self.error(span, text);
            }
            None => {}
        }
        if let Some(number) = self.items.constants.iter().position(|constant| constant.name == name) {
            return self.constant(number, span);
        }
        if self.items.functions.iter().any(|function| function.name == name) {
            return self.error(span, format!("a function is no value; call it: `{name}(..)`"));
        }
        let text = match nearest(name, self.known_names()) {
            Some(near) => format!("there is no variable `{name}`; did you mean `{near}`?"),
            None if self.items.is_lone => {
                format!("a lone kernel sees no `{name}`; pass it as a parameter, or put both into one `#[kernel] mod`")
            }
            None => format!("there is no `{name}` in this module; pass it as a parameter, or define a constant here"),
        };
        self.error(span, text)
    }

    fn known_names(&self) -> impl Iterator<Item = &str> {
        let locals = self.names.iter().map(|(name, _)| name.as_str());
        locals.chain(self.items.constants.iter().map(|constant| constant.name.as_str()))
    }

    /// Reads the value of a constant at the place of its use.
    fn constant(&mut self, number: usize, span: Span) -> Expr {
        if self.constants.contains(&number) {
            return self.error(span, "this constant refers to itself");
        }
        let constant = &self.items.constants[number];
        let ty = written_types::read(&constant.ty, self.items, self.errors);
        self.constants.push(number);
        let names = std::mem::take(&mut self.names);
        let value = self.expr(&constant.value);
        self.names = names;
        self.constants.pop();
        self.expect(&ty, &value.ty.clone(), constant.value.span());
        Expr { ty, span, ..value }
    }
}

/// Returns the segments of a path as text.
pub(super) fn names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect()
}
