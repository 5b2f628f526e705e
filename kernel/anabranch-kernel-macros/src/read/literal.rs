//! Literals.

use super::Reader;
use crate::{
    infer::Class,
    tree::{Expr, Kind},
    types::Ty,
    written_types::known_refusal,
};
use anabranch_kernel_ir::{Literal, UnaryOp};
use proc_macro2::Span;

impl Reader<'_> {
    /// Reads a literal. One in a pattern may have a sign.
    pub(super) fn literal(&mut self, literal: &syn::Lit) -> Expr {
        let span = literal.span();
        match literal {
            syn::Lit::Bool(value) => Expr { kind: Kind::Literal(Literal::Bool(value.value)), ty: Ty::Bool, span },
            syn::Lit::Int(number) if number.suffix() == "f32" => self.float(number.base10_digits(), "f32", span),
            syn::Lit::Int(number) => {
                let ty = match number.suffix() {
                    "" => self.table.fresh(Class::Integer, span),
                    "i32" => Ty::I32,
                    "u32" => Ty::U32,
                    "usize" => Ty::Usize,
                    suffix => return self.refused_suffix(suffix, span),
                };
                let digits = number.base10_digits();
                let negative = digits.starts_with('-');
                match digits.trim_start_matches('-').parse() {
                    Ok(value) if negative => {
                        let value = Box::new(Expr { kind: Kind::Integer(value), ty: ty.clone(), span });
                        Expr { kind: Kind::Unary(UnaryOp::Neg, value), ty, span }
                    }
                    Ok(value) => Expr { kind: Kind::Integer(value), ty, span },
                    Err(_) => self.error(span, "this number is larger than any `u32`"),
                }
            }
            syn::Lit::Float(number) => self.float(number.base10_digits(), number.suffix(), span),
            syn::Lit::Char(_) | syn::Lit::Byte(_) => {
                self.error(span, "kernels have no characters; write the number as a `u32`")
            }
            _ => self.error(span, "kernels have no text; return a number that stands for it"),
        }
    }

    fn float(&mut self, digits: &str, suffix: &str, span: Span) -> Expr {
        let ty = match suffix {
            "" => self.table.fresh(Class::Float, span),
            "f32" => Ty::F32,
            suffix => return self.refused_suffix(suffix, span),
        };
        let value: f32 = digits.parse().expect("the digits of a literal are a number");
        if value.is_infinite() {
            return self.error(span, "this number is larger than any `f32`; write `f32::INFINITY`");
        }
        Expr { kind: Kind::Float(value), ty, span }
    }

    fn refused_suffix(&mut self, suffix: &str, span: Span) -> Expr {
        let text = known_refusal(suffix).unwrap_or_else(|| format!("there is no type `{suffix}`"));
        self.error(span, text)
    }
}
