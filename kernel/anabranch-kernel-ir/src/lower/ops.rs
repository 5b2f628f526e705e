//! Operators and casts.

use super::function::{Lowering, Value};
use crate::{BinaryOp, Literal, Scalar, UnaryOp};
use naga::{BinaryOperator, Expression, ScalarKind, UnaryOperator};

impl Lowering<'_, '_> {
    pub(super) fn op(&mut self, op: BinaryOperator, left: Value, right: Value) -> Value {
        self.push(Expression::Binary { op, left, right })
    }

    pub(super) fn not(&mut self, value: Value) -> Value {
        self.push(Expression::Unary { op: UnaryOperator::LogicalNot, expr: value })
    }

    pub(super) fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Value {
        self.push(Expression::Select { condition, accept, reject })
    }

    pub(super) fn float(&mut self, value: f32) -> Value {
        self.literal(Literal::F32(value.to_bits()))
    }

    /// Converts between numbers.
    pub(super) fn convert(&mut self, value: Value, kind: ScalarKind) -> Value {
        self.push(Expression::As { expr: value, kind, convert: Some(4) })
    }

    pub(super) fn bits_to_float(&mut self, bits: Value) -> Value {
        self.push(Expression::As { expr: bits, kind: ScalarKind::Float, convert: None })
    }

    pub(super) fn float_to_bits(&mut self, value: Value) -> Value {
        self.push(Expression::As { expr: value, kind: ScalarKind::Uint, convert: None })
    }

    /// Returns whether a float is NaN, by its bits. Compilers for devices may assume that no float is NaN.
    pub(super) fn is_nan(&mut self, value: Value) -> Value {
        let magnitude = self.magnitude_bits(value);
        let infinity = self.u32(f32::INFINITY.to_bits());
        self.op(BinaryOperator::Greater, magnitude, infinity)
    }

    /// Returns the bits of a float without its sign.
    pub(super) fn magnitude_bits(&mut self, value: Value) -> Value {
        let bits = self.float_to_bits(value);
        let mask = self.u32(!SIGN);
        self.op(BinaryOperator::And, bits, mask)
    }

    pub(super) fn unary(&mut self, op: UnaryOp, scalar: Scalar, value: Value) -> Value {
        let op = match (op, scalar) {
            (UnaryOp::Neg, _) => UnaryOperator::Negate,
            (UnaryOp::Not, Scalar::Bool) => UnaryOperator::LogicalNot,
            (UnaryOp::Not, _) => UnaryOperator::BitwiseNot,
        };
        self.push(Expression::Unary { op, expr: value })
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        left: Value,
        right: Value,
        site: Option<u32>,
    ) -> Value {
        let op = match (op, scalar) {
            (BinaryOp::Div, Scalar::I32 | Scalar::U32) => {
                return self.divide(BinaryOperator::Divide, scalar, left, right, site);
            }
            (BinaryOp::Rem, _) => return self.divide(BinaryOperator::Modulo, scalar, left, right, site),
            (BinaryOp::Shl, _) => return self.shift(BinaryOperator::ShiftLeft, left, right),
            (BinaryOp::Shr, _) => return self.shift(BinaryOperator::ShiftRight, left, right),
            // naga's operator for floats is false for a NaN in SPIR-V.
            (BinaryOp::Ne, Scalar::F32) => {
                let equal = self.op(BinaryOperator::Equal, left, right);
                return self.not(equal);
            }
            (BinaryOp::BitXor, Scalar::Bool) => BinaryOperator::NotEqual,
            (BinaryOp::Add, _) => BinaryOperator::Add,
            (BinaryOp::Sub, _) => BinaryOperator::Subtract,
            (BinaryOp::Mul, _) => BinaryOperator::Multiply,
            (BinaryOp::Div, _) => BinaryOperator::Divide,
            (BinaryOp::BitAnd, _) => BinaryOperator::And,
            (BinaryOp::BitOr, _) => BinaryOperator::InclusiveOr,
            (BinaryOp::BitXor, _) => BinaryOperator::ExclusiveOr,
            (BinaryOp::Eq, _) => BinaryOperator::Equal,
            (BinaryOp::Ne, _) => BinaryOperator::NotEqual,
            (BinaryOp::Lt, _) => BinaryOperator::Less,
            (BinaryOp::Le, _) => BinaryOperator::LessEqual,
            (BinaryOp::Gt, _) => BinaryOperator::Greater,
            (BinaryOp::Ge, _) => BinaryOperator::GreaterEqual,
        };
        self.op(op, left, right)
    }

    /// Lowers `/` or `%` of integers. Where Rust panics, it traps, and the result is 0.
    pub(super) fn divide(
        &mut self,
        op: BinaryOperator,
        scalar: Scalar,
        left: Value,
        right: Value,
        site: Option<u32>,
    ) -> Value {
        let Some(site) = site else { return self.op(op, left, right) };
        let integer = |value: i32| match scalar {
            Scalar::I32 => Literal::I32(value),
            _ => Literal::U32(value.cast_unsigned()),
        };
        let zero = self.literal(integer(0));
        let mut invalid = self.op(BinaryOperator::Equal, right, zero);
        if scalar == Scalar::I32 {
            let smallest = self.literal(integer(i32::MIN));
            let minus_one = self.literal(integer(-1));
            let smallest = self.op(BinaryOperator::Equal, left, smallest);
            let by_minus_one = self.op(BinaryOperator::Equal, right, minus_one);
            let overflows = self.op(BinaryOperator::LogicalAnd, smallest, by_minus_one);
            invalid = self.op(BinaryOperator::LogicalOr, invalid, overflows);
        }
        self.when(invalid, |this| this.trap(site));
        let one = self.literal(integer(1));
        let divisor = self.select(invalid, one, right);
        let result = self.op(op, left, divisor);
        self.select(invalid, zero, result)
    }

    /// Lowers a shift by an amount modulo 32.
    pub(super) fn shift(&mut self, op: BinaryOperator, left: Value, amount: Value) -> Value {
        let is_small = matches!(self.out.expressions[amount], Expression::Literal(naga::Literal::U32(0..32)));
        let amount = if is_small {
            amount
        } else {
            let mask = self.u32(31);
            self.op(BinaryOperator::And, amount, mask)
        };
        self.op(op, left, amount)
    }

    pub(super) fn cast(&mut self, from: Scalar, to: Scalar, value: Value) -> Value {
        let kind = match to {
            _ if from == to => return value,
            Scalar::Bool => ScalarKind::Bool,
            Scalar::I32 => ScalarKind::Sint,
            Scalar::U32 => ScalarKind::Uint,
            Scalar::F32 => ScalarKind::Float,
        };
        match (from, to) {
            (Scalar::F32, Scalar::I32) => self.saturate(value, kind, 2_147_483_648.0, Literal::I32(i32::MAX)),
            (Scalar::F32, Scalar::U32) => self.saturate(value, kind, 4_294_967_296.0, Literal::U32(u32::MAX)),
            _ => self.convert(value, kind),
        }
    }

    /// Converts a float to an integer: NaN to 0, and from `limit` on to `largest`.
    ///
    /// naga clamps to the floats that the integer type has. The largest of these is not the largest integer.
    fn saturate(&mut self, value: Value, kind: ScalarKind, limit: f32, largest: Literal) -> Value {
        let is_nan = self.is_nan(value);
        let zero = self.float(0.0);
        let number = self.select(is_nan, zero, value);
        let integer = self.convert(number, kind);
        let limit = self.float(limit);
        let is_large = self.op(BinaryOperator::GreaterEqual, number, limit);
        let largest = self.literal(largest);
        self.select(is_large, largest, integer)
    }
}

/// The sign of a float.
pub(super) const SIGN: u32 = 1 << 31;
