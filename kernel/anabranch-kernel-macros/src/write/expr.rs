//! Expressions with a value.

use super::{Writer, index};
use crate::{
    tree::{Argument, Expr, Kind},
    types::Ty,
};
use anabranch_kernel_ir as ir;
use ir::UnaryOp;
use proc_macro2::Span;

impl Writer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> ir::Expr {
        match &expr.kind {
            // The program has an error, and is not used.
            Kind::Error => ir::Expr::Literal(ir::Literal::U32(0)),
            Kind::Literal(literal) => ir::Expr::Literal(*literal),
            Kind::Integer(value) => self.integer(*value, false, &expr.ty, expr.span),
            Kind::Float(value) => ir::Expr::Literal(ir::Literal::F32(value.to_bits())),
            Kind::Read(place) => ir::Expr::Read(self.place(place)),
            Kind::Length(slice) => ir::Expr::Length(index(*slice)),
            Kind::Unary(op, value) => self.unary(*op, value, expr.span),
            Kind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            Kind::And(left, right) => ir::Expr::And(Box::new(self.expr(left)), Box::new(self.expr(right))),
            Kind::Or(left, right) => ir::Expr::Or(Box::new(self.expr(left)), Box::new(self.expr(right))),
            Kind::Cast(value) => self.cast(value, &expr.ty, expr.span),
            Kind::Method(action, args) => self.method(*action, args, expr.span),
            Kind::Call(function, args) => {
                let args = args.iter().map(|arg| self.argument(arg)).collect();
                ir::Expr::Call { function: self.numbers[function], args }
            }
            Kind::Struct(number, fields) => {
                let fields = fields.iter().map(|(field, value)| (index(*field), self.expr(value))).collect();
                ir::Expr::Struct { number: index(*number), fields }
            }
            Kind::Array(items) => {
                let item = self.item_type(&expr.ty);
                ir::Expr::Array { item, items: items.iter().map(|item| self.expr(item)).collect() }
            }
            Kind::Repeat(value, length) => {
                let item = self.item_type(&expr.ty);
                ir::Expr::Repeat { item, value: Box::new(self.expr(value)), length: *length }
            }
            Kind::If(condition, accept, reject) => ir::Expr::If {
                ty: self.type_of(&expr.ty),
                condition: Box::new(self.expr(condition)),
                accept: self.block(accept),
                reject: self.block(reject),
            },
            Kind::Block(block) => ir::Expr::Block(self.block(block)),
            Kind::Assign(..) | Kind::Update(..) | Kind::For { .. } => {
                self.errors.add(expr.span, "this has no value; write it as a statement");
                ir::Expr::Literal(ir::Literal::U32(0))
            }
            // What does not reach its end has no value.
            Kind::Return(_) | Kind::Break | Kind::Continue => {
                ir::Expr::Block(ir::Block { stmts: vec![self.stmt(expr)], value: None })
            }
        }
    }

    fn item_type(&self, ty: &Ty) -> ir::Type {
        match self.type_of(ty) {
            ir::Type::Array(item, _) => *item,
            ty => ty,
        }
    }

    fn argument(&mut self, arg: &Argument) -> ir::Argument {
        match arg {
            Argument::Value(value) => ir::Argument::Value(self.expr(value)),
            Argument::Slice(slice) => ir::Argument::Slice(index(*slice)),
            Argument::Part { slice, first, end, span } => {
                let first = Box::new(self.expr(first));
                let end = Box::new(self.expr(end));
                ir::Argument::Part { slice: index(*slice), first, end, site: self.site(ir::TrapKind::Index, *span) }
            }
        }
    }

    /// Writes a number without a suffix, or with one.
    fn integer(&mut self, value: u64, negative: bool, ty: &Ty, span: Span) -> ir::Expr {
        let ty = self.resolve(ty);
        let signed = i64::try_from(value).map(|value| if negative { -value } else { value });
        let literal = match ty {
            Ty::I32 => signed.ok().and_then(|value| i32::try_from(value).ok()).map(ir::Literal::I32),
            Ty::U32 | Ty::Usize if !negative => u32::try_from(value).ok().map(ir::Literal::U32),
            // rustc reports a negative `u32`.
            _ => Some(ir::Literal::U32(0)),
        };
        let literal = literal.unwrap_or_else(|| {
            let name = ty.name(self.items);
            let text = match ty {
                Ty::I32 => format!("this number is out of the range of `{name}`; for a `u32` write the suffix `_u32`"),
                _ => "this number is larger than any `u32`".to_owned(),
            };
            self.errors.add(span, text);
            ir::Literal::U32(0)
        });
        ir::Expr::Literal(literal)
    }

    fn unary(&mut self, op: UnaryOp, value: &Expr, span: Span) -> ir::Expr {
        let ty = self.resolve(&value.ty);
        if let (UnaryOp::Neg, Kind::Integer(number), Ty::I32) = (op, &value.kind, &ty) {
            return self.integer(*number, true, &ty, value.span);
        }
        let fits = match op {
            UnaryOp::Neg => matches!(ty, Ty::I32 | Ty::F32 | Ty::Unknown),
            UnaryOp::Not => ty == Ty::Bool || ty.is_integer() || ty == Ty::Unknown,
        };
        if !fits {
            let sign = if op == UnaryOp::Neg { "-" } else { "!" };
            let name = ty.name(self.items);
            let text = match (op, &ty) {
                (UnaryOp::Neg, Ty::U32 | Ty::Usize) => {
                    format!("`{name}` has no negative numbers; write `x.wrapping_neg()` or convert to `i32`")
                }
                _ => format!("there is no `{sign}` for `{name}` in kernels"),
            };
            self.errors.add(span, text);
        }
        let scalar = self.scalar(&value.ty);
        match self.expr(value) {
            ir::Expr::Literal(ir::Literal::F32(bits)) if op == UnaryOp::Neg => {
                ir::Expr::Literal(ir::Literal::F32(bits ^ (1 << 31)))
            }
            value => ir::Expr::Unary { op, scalar, value: Box::new(value) },
        }
    }

    fn cast(&mut self, value: &Expr, to: &Ty, span: Span) -> ir::Expr {
        let (from, to) = (self.resolve(&value.ty), self.resolve(to));
        let fits = match (&from, &to) {
            (Ty::Unknown, _) | (_, Ty::Unknown) => true,
            (Ty::Bool, to) => *to == Ty::Bool || to.is_integer(),
            (from, to) => from.is_number() && to.is_number(),
        };
        if !fits {
            let (from, to) = (from.name(self.items), to.name(self.items));
            self.errors.add(span, format!("`{from}` cannot be converted to `{to}` by `as`"));
        }
        let (from, to) = (from.scalar(), to.scalar());
        let value = self.expr(value);
        match (from, to) {
            (Some(from), Some(to)) if from != to => ir::Expr::Cast { from, to, value: Box::new(value) },
            _ => value,
        }
    }
}
