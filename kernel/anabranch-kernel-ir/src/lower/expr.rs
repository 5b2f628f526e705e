//! Expressions.

use super::function::{Lowering, Value};
use crate::{Argument, Block, Builtin, Expr, Literal, Scalar, Step, Type};
use naga::{BinaryOperator, Expression, Handle, Span, Statement};

impl Lowering<'_, '_> {
    /// Lowers an expression. Returns `None` if control does not reach its end.
    pub(super) fn expr(&mut self, expr: &Expr) -> Option<Value> {
        Some(match expr {
            Expr::Literal(literal) => self.literal(*literal),
            Expr::Read(place) => self.read(place)?,
            Expr::Length(slice) => self.view(*slice).length,
            Expr::Unary { op, scalar, value } => {
                let value = self.expr(value)?;
                self.unary(*op, *scalar, value)
            }
            Expr::Binary { op, scalar, left, right, site } => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                self.binary(*op, *scalar, left, right, *site)
            }
            Expr::And(left, right) => self.logical(true, left, right)?,
            Expr::Or(left, right) => self.logical(false, left, right)?,
            Expr::Cast { from, to, value } => {
                let value = self.expr(value)?;
                self.cast(*from, *to, value)
            }
            Expr::Builtin { builtin, scalar, args, site } => self.builtin_call(*builtin, *scalar, args, *site)?,
            Expr::Call { function, args } => self.call(*function, args)?,
            Expr::Struct { number, fields } => {
                let mut components: Vec<_> = fields.iter().map(|_| None).collect();
                for (field, value) in fields {
                    components[*field as usize] = Some(self.expr(value)?);
                }
                let components = components.into_iter().map(|value| value.expect("each field has a value"));
                let components = components.collect();
                let ty = self.link.ty(&Type::Struct(*number));
                self.push(Expression::Compose { ty, components })
            }
            Expr::Array { item, items } => {
                let mut components = Vec::new();
                for item in items {
                    components.push(self.expr(item)?);
                }
                self.array(item, components)
            }
            Expr::Repeat { item, value, length } => self.repeat(item, value, *length)?,
            Expr::If { ty, condition, accept, reject } => self.choice(ty, condition, accept, reject)?,
            Expr::Block(block) => self.block(block)?.expect("a block that is an expression has a value"),
        })
    }

    fn builtin_call(&mut self, builtin: Builtin, scalar: Scalar, args: &[Expr], site: Option<u32>) -> Option<Value> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.expr(arg)?);
        }
        Some(self.builtin(builtin, scalar, &values, site))
    }

    pub(super) fn literal(&mut self, literal: Literal) -> Value {
        let literal = match literal {
            Literal::Bool(value) => naga::Literal::Bool(value),
            Literal::I32(value) => naga::Literal::I32(value),
            Literal::U32(value) => naga::Literal::U32(value),
            Literal::F32(bits) if f32::from_bits(bits).is_finite() => naga::Literal::F32(f32::from_bits(bits)),
            Literal::F32(bits) => return self.special_float(bits),
        };
        self.push(Expression::Literal(literal))
    }

    /// Returns an infinity or a NaN. naga and WGSL have no constants for them, so the bits come from a variable.
    fn special_float(&mut self, bits: u32) -> Value {
        let pointer = self.variable("bits", &Type::U32);
        let bits = self.u32(bits);
        self.store(pointer, bits);
        let bits = self.load(pointer);
        self.bits_to_float(bits)
    }

    pub(super) fn u32(&mut self, value: u32) -> Value {
        self.literal(Literal::U32(value))
    }

    /// Returns 1 in an integer type.
    pub(super) fn one(&mut self, ty: Type) -> Value {
        self.literal(if ty == Type::I32 { Literal::I32(1) } else { Literal::U32(1) })
    }

    fn array(&mut self, item: &Type, components: Vec<Value>) -> Value {
        let length = u32::try_from(components.len()).expect("arrays are short");
        let ty = self.link.ty(&Type::Array(Box::new(item.clone()), length));
        self.push(Expression::Compose { ty, components })
    }

    /// Lowers `[value; length]`: a list of the value if it is short, and a loop if it is long.
    fn repeat(&mut self, item: &Type, value: &Expr, length: u32) -> Option<Value> {
        const LONGEST_LIST: u32 = 16;
        let value = self.expr(value)?;
        if length <= LONGEST_LIST {
            return Some(self.array(item, vec![value; length as usize]));
        }
        let array = self.variable("array", &Type::Array(Box::new(item.clone()), length));
        let counter = self.variable("index", &Type::U32);
        let zero = self.u32(0);
        self.store(counter, zero);
        let (body, ()) = self.nested(|this| {
            let index = this.load(counter);
            let end = this.u32(length);
            let ends = this.push(Expression::Binary { op: BinaryOperator::GreaterEqual, left: index, right: end });
            this.when(ends, |this| this.statement(Statement::Break));
            let pointer = this.push(Expression::Access { base: array, index });
            this.store(pointer, value);
        });
        let (continuing, ()) = self.nested(|this| {
            let index = this.load(counter);
            let one = this.u32(1);
            let next = this.push(Expression::Binary { op: BinaryOperator::Add, left: index, right: one });
            this.store(counter, next);
        });
        self.statement(Statement::Loop { body, continuing, break_if: None });
        Some(self.load(array))
    }

    /// Lowers `&&` if `and`, and `||` otherwise.
    fn logical(&mut self, and: bool, left: &Expr, right: &Expr) -> Option<Value> {
        if is_simple(right) {
            let left = self.expr(left)?;
            let right = self.expr(right)?;
            let op = if and { BinaryOperator::LogicalAnd } else { BinaryOperator::LogicalOr };
            return Some(self.push(Expression::Binary { op, left, right }));
        }
        let constant = Block::value(Expr::Literal(Literal::Bool(!and)));
        let right = Block::value(right.clone());
        let (accept, reject) = if and { (&right, &constant) } else { (&constant, &right) };
        self.choice(&Type::BOOL, left, accept, reject)
    }

    fn call(&mut self, number: u32, args: &[Argument]) -> Option<Value> {
        let mut arguments = Vec::new();
        let mut slices = Vec::new();
        for arg in args {
            match arg {
                Argument::Value(value) => arguments.push(self.expr(value)?),
                Argument::Slice(slice) => {
                    let view = self.view(*slice);
                    slices.push(view.storage);
                    arguments.extend([view.first, view.length]);
                }
                Argument::Part { slice, first, end, site } => {
                    let first = self.expr(first)?;
                    let end = self.expr(end)?;
                    let view = self.part(self.view(*slice), first, end, *site);
                    slices.push(view.storage);
                    arguments.extend([view.first, view.length]);
                }
            }
        }
        let function: Handle<naga::Function> = self.link.instance(number, slices);
        // A call's result is in scope by the call, and is not emitted.
        let result = self.out.expressions.append(Expression::CallResult(function), Span::UNDEFINED);
        self.statement(Statement::Call { function, arguments, result: Some(result) });
        Some(result)
    }
}

/// Returns whether an expression has no statements, so that it may be evaluated where Rust does not evaluate it.
fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Length(_) => true,
        Expr::Read(place) => {
            matches!(place.root, crate::Root::Local(_)) && place.steps.iter().all(|step| matches!(step, Step::Field(_)))
        }
        Expr::Unary { value, .. } | Expr::Cast { value, .. } => is_simple(value),
        Expr::Binary { left, right, site, .. } => site.is_none() && is_simple(left) && is_simple(right),
        Expr::And(left, right) | Expr::Or(left, right) => is_simple(left) && is_simple(right),
        _ => false,
    }
}
