//! Operators and methods.

use super::Writer;
use crate::{
    methods::Action,
    tree::{Expr, Place},
    types::Ty,
};
use anabranch_kernel_ir as ir;
use ir::{BinaryOp, Builtin, TrapKind};
use proc_macro2::Span;

impl Writer<'_> {
    pub(super) fn update(&mut self, op: BinaryOp, place: &Place, value: &Expr, span: Span) -> ir::Stmt {
        let ty = self.resolve(&place.ty);
        let value = self.right_operand(op, &ty, value, span);
        let site = self.site_of_division(op, &ty, &value, span);
        let scalar = self.scalar(&ty);
        ir::Stmt::Update { place: self.place(place), op, scalar, value, site }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> ir::Expr {
        let ty = self.resolve(&left.ty);
        let scalar = self.scalar(&ty);
        let left = Box::new(self.expr(left));
        let right = Box::new(self.right_operand(op, &ty, right, span));
        let site = self.site_of_division(op, &ty, &right, span);
        ir::Expr::Binary { op, scalar, left, right, site }
    }

    /// Writes the right operand, after a check of the types. The amount of a shift becomes a `u32`.
    fn right_operand(&mut self, op: BinaryOp, ty: &Ty, right: &Expr, span: Span) -> ir::Expr {
        let fits = match op {
            _ if *ty == Ty::Unknown => true,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => ty.is_number(),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => ty.is_number(),
            BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => ty.is_integer(),
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => ty.is_integer() || *ty == Ty::Bool,
            BinaryOp::Eq | BinaryOp::Ne => ty.is_number() || *ty == Ty::Bool,
        };
        if !fits {
            let text = match (op, ty) {
                (BinaryOp::Rem, Ty::F32) => {
                    "the remainder of floats is not exact on every device; write `a - b * (a / b).trunc()`".to_owned()
                }
                (BinaryOp::Eq | BinaryOp::Ne, Ty::Struct(_)) => {
                    "kernels do not compare structs; compare their fields".to_owned()
                }
                (BinaryOp::Eq | BinaryOp::Ne, Ty::Array(..)) => {
                    "kernels do not compare arrays; compare their items".to_owned()
                }
                (_, Ty::Struct(_)) => {
                    "operators of structs are methods; write a function in the `#[kernel] mod`".to_owned()
                }
                _ => format!("there is no such operator for `{}` in kernels", ty.name(self.items)),
            };
            self.errors.add(span, text);
        }
        let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let amount = self.resolve(&right.ty);
        let value = self.expr(right);
        match (shifts, amount, value) {
            (false, _, value) => value,
            (true, Ty::I32, ir::Expr::Literal(ir::Literal::I32(amount))) => {
                ir::Expr::Literal(ir::Literal::U32(amount.cast_unsigned()))
            }
            (true, Ty::I32, value) => {
                ir::Expr::Cast { from: ir::Scalar::I32, to: ir::Scalar::U32, value: Box::new(value) }
            }
            (true, amount, value) => {
                if !amount.is_integer() && amount != Ty::Unknown {
                    let text =
                        format!("the amount of a shift is an integer, and this is `{}`", amount.name(self.items));
                    self.errors.add(right.span, text);
                }
                value
            }
        }
    }

    /// Adds the site of a division that can trap.
    fn site_of_division(&mut self, op: BinaryOp, ty: &Ty, right: &ir::Expr, span: Span) -> Option<u32> {
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem) && ty.is_integer();
        let is_safe = match right {
            ir::Expr::Literal(ir::Literal::U32(divisor)) => *divisor != 0,
            ir::Expr::Literal(ir::Literal::I32(divisor)) => !matches!(divisor, 0 | -1),
            _ => false,
        };
        (divides && !is_safe).then(|| self.site(kind_of_division(ty), span))
    }

    pub(super) fn method(&mut self, action: Action, args: &[Expr], span: Span) -> ir::Expr {
        let ty = self.resolve(&args[0].ty);
        let scalar = self.scalar(&ty);
        let mut values: Vec<_> = args.iter().map(|arg| self.expr(arg)).collect();
        let site = match action {
            Action::Builtin(Builtin::RemEuclid | Builtin::DivEuclid | Builtin::DivCeil) => {
                Some(self.site(kind_of_division(&ty), span))
            }
            Action::Builtin(Builtin::Clamp) => Some(self.site(TrapKind::Clamp, span)),
            _ => None,
        };
        let builtin = |builtin, args| ir::Expr::Builtin { builtin, scalar, args, site };
        let binary =
            |op, left, right| ir::Expr::Binary { op, scalar, left: Box::new(left), right: Box::new(right), site: None };
        let float = |value: f32| ir::Expr::Literal(ir::Literal::F32(value.to_bits()));
        match action {
            Action::Builtin(found) => builtin(found, values),
            Action::Operator(op) => {
                let right = values.remove(1);
                binary(op, values.remove(0), right)
            }
            Action::Negate if scalar == ir::Scalar::I32 => {
                ir::Expr::Unary { op: ir::UnaryOp::Neg, scalar, value: Box::new(values.remove(0)) }
            }
            Action::Negate => binary(BinaryOp::Sub, ir::Expr::Literal(ir::Literal::U32(0)), values.remove(0)),
            Action::Reciprocal => binary(BinaryOp::Div, float(1.0), values.remove(0)),
            Action::Scale(factor) => binary(BinaryOp::Mul, values.remove(0), float(factor)),
            Action::ScaleLog2(factor) => binary(BinaryOp::Mul, builtin(Builtin::Log2, values), float(factor)),
            Action::IsPowerOfTwo => {
                let one = ir::Expr::Literal(ir::Literal::U32(1));
                binary(BinaryOp::Eq, builtin(Builtin::CountOnes, values), one)
            }
        }
    }
}

fn kind_of_division(ty: &Ty) -> TrapKind {
    if *ty == Ty::I32 { TrapKind::Division } else { TrapKind::DivisionByZero }
}
