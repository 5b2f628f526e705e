//! Methods of numbers.

use super::{
    function::{Lowering, Value},
    ops::SIGN,
};
use crate::{Builtin, Literal, Scalar, Type};
use naga::{BinaryOperator as Op, Expression, MathFunction as Math, ScalarKind, Statement};

impl Lowering<'_, '_> {
    /// Lowers a method of a number with a type. `args` begins with the receiver.
    pub(super) fn builtin(&mut self, builtin: Builtin, scalar: Scalar, args: &[Value], site: Option<u32>) -> Value {
        let math = match builtin {
            Builtin::Sqrt => Math::Sqrt,
            Builtin::MulAdd => Math::Fma,
            Builtin::Floor => Math::Floor,
            Builtin::Ceil => Math::Ceil,
            Builtin::Trunc => Math::Trunc,
            Builtin::RoundTiesEven => Math::Round,
            Builtin::Exp => Math::Exp,
            Builtin::Exp2 => Math::Exp2,
            Builtin::Ln => Math::Log,
            Builtin::Log2 => Math::Log2,
            Builtin::Sin => Math::Sin,
            Builtin::Cos => Math::Cos,
            Builtin::Tan => Math::Tan,
            Builtin::Asin => Math::Asin,
            Builtin::Acos => Math::Acos,
            Builtin::Atan => Math::Atan,
            Builtin::Atan2 => Math::Atan2,
            Builtin::Sinh => Math::Sinh,
            Builtin::Cosh => Math::Cosh,
            Builtin::Tanh => Math::Tanh,
            Builtin::Abs => Math::Abs,
            _ if scalar == Scalar::F32 => return self.float_builtin(builtin, args, site),
            _ => return self.integer_builtin(builtin, scalar, args, site),
        };
        self.math(math, args)
    }

    fn math(&mut self, fun: Math, args: &[Value]) -> Value {
        let (arg, arg1, arg2) = (args[0], args.get(1).copied(), args.get(2).copied());
        self.push(Expression::Math { fun, arg, arg1, arg2, arg3: None })
    }

    fn float_builtin(&mut self, builtin: Builtin, args: &[Value], site: Option<u32>) -> Value {
        let x = args[0];
        match builtin {
            Builtin::Min => self.float_extreme(Op::Less, x, args[1]),
            Builtin::Max => self.float_extreme(Op::Greater, x, args[1]),
            Builtin::Clamp => {
                let ordered = self.op(Op::LessEqual, args[1], args[2]);
                self.trap_unless(ordered, site.expect("`clamp` has a site"));
                let below = self.op(Op::Less, x, args[1]);
                let raised = self.select(below, args[1], x);
                let above = self.op(Op::Greater, raised, args[2]);
                self.select(above, args[2], raised)
            }
            Builtin::Signum => {
                let one = self.float(1.0);
                let sign = self.copysign(one, x);
                let is_nan = self.is_nan(x);
                self.select(is_nan, x, sign)
            }
            Builtin::Copysign => self.copysign(x, args[1]),
            Builtin::Round => {
                let whole = self.math(Math::Trunc, &[x]);
                let rest = self.op(Op::Subtract, x, whole);
                let rest = self.math(Math::Abs, &[rest]);
                let half = self.float(0.5);
                let away = self.op(Op::GreaterEqual, rest, half);
                let one = self.float(1.0);
                let step = self.copysign(one, x);
                let next = self.op(Op::Add, whole, step);
                self.select(away, next, whole)
            }
            Builtin::Fract => {
                let whole = self.math(Math::Trunc, &[x]);
                self.op(Op::Subtract, x, whole)
            }
            Builtin::Powi => self.powi(x, args[1]),
            Builtin::Powf => self.powf(x, args[1]),
            Builtin::ToBits => self.float_to_bits(x),
            Builtin::IsNan => self.is_nan(x),
            Builtin::IsInfinite => self.compare_with_infinity(Op::Equal, x),
            Builtin::IsFinite => self.compare_with_infinity(Op::Less, x),
            Builtin::IsSignNegative => {
                let bits = self.float_to_bits(x);
                let sign = self.u32(SIGN);
                self.op(Op::GreaterEqual, bits, sign)
            }
            _ => panic!("floats have no method {builtin:?}"),
        }
    }

    /// Returns the first float if it is better by `op`, and otherwise the second, but no NaN if one is a number.
    fn float_extreme(&mut self, op: Op, first: Value, second: Value) -> Value {
        let better = self.op(op, first, second);
        let is_nan = self.is_nan(second);
        let takes_first = self.op(Op::LogicalOr, better, is_nan);
        self.select(takes_first, first, second)
    }

    fn compare_with_infinity(&mut self, op: Op, value: Value) -> Value {
        let magnitude = self.magnitude_bits(value);
        let infinity = self.u32(f32::INFINITY.to_bits());
        self.op(op, magnitude, infinity)
    }

    fn copysign(&mut self, value: Value, sign: Value) -> Value {
        let magnitude = self.magnitude_bits(value);
        let sign = self.float_to_bits(sign);
        let mask = self.u32(SIGN);
        let sign = self.op(Op::And, sign, mask);
        let bits = self.op(Op::InclusiveOr, magnitude, sign);
        self.bits_to_float(bits)
    }

    /// Multiplies `base` by itself `exponent` times, by squaring.
    fn power(&mut self, ty: &Type, one: Value, base: Value, exponent: Value) -> Value {
        let result = self.variable("power", ty);
        let square = self.variable("square", ty);
        let rest = self.variable("exponent", &Type::U32);
        self.store(result, one);
        self.store(square, base);
        self.store(rest, exponent);
        let (body, ()) = self.nested(|this| {
            let bits = this.load(rest);
            let zero = this.u32(0);
            let one = this.u32(1);
            let ends = this.op(Op::Equal, bits, zero);
            this.when(ends, |this| this.statement(Statement::Break));
            let factor = this.load(square);
            let odd = this.op(Op::And, bits, one);
            let odd = this.op(Op::Equal, odd, one);
            this.when(odd, |this| {
                let old = this.load(result);
                let new = this.op(Op::Multiply, old, factor);
                this.store(result, new);
            });
            let next = this.op(Op::Multiply, factor, factor);
            this.store(square, next);
            let bits = this.shift(Op::ShiftRight, bits, one);
            this.store(rest, bits);
        });
        self.statement(Statement::Loop { body, continuing: naga::Block::new(), break_if: None });
        self.load(result)
    }

    fn powi(&mut self, base: Value, exponent: Value) -> Value {
        let magnitude = self.math(Math::Abs, &[exponent]);
        let magnitude = self.convert(magnitude, ScalarKind::Uint);
        let one = self.float(1.0);
        let power = self.power(&Type::F32, one, base, magnitude);
        let inverse = self.op(Op::Divide, one, power);
        let zero = self.literal(Literal::I32(0));
        let negative = self.op(Op::Less, exponent, zero);
        self.select(negative, inverse, power)
    }

    /// Lowers `powf`. Devices define the power only of a positive base.
    fn powf(&mut self, base: Value, exponent: Value) -> Value {
        let zero = self.float(0.0);
        let one = self.float(1.0);
        let magnitude = self.math(Math::Abs, &[base]);
        let is_zero = self.op(Op::Equal, base, zero);
        let safe = self.select(is_zero, one, magnitude);
        let power = self.math(Math::Pow, &[safe, exponent]);
        // A base of zero: zero for a positive exponent, infinity for a negative one.
        let infinity = self.literal(Literal::F32(f32::INFINITY.to_bits()));
        let rises = self.op(Op::Greater, exponent, zero);
        let of_zero = self.select(rises, zero, infinity);
        let power = self.select(is_zero, of_zero, power);
        // A negative base: the sign is that of the base for odd exponents. A finite one has no power to a fraction.
        let two = self.float(2.0);
        let half = self.op(Op::Divide, exponent, two);
        let (whole, whole_half) = (self.math(Math::Trunc, &[exponent]), self.math(Math::Trunc, &[half]));
        let is_whole = self.op(Op::Equal, whole, exponent);
        let is_even = self.op(Op::Equal, whole_half, half);
        let signed = self.copysign(power, base);
        let of_whole = self.select(is_even, power, signed);
        let nan = self.literal(Literal::F32(f32::NAN.to_bits()));
        let negative = self.op(Op::Less, base, zero);
        let finite = self.compare_with_infinity(Op::Less, base);
        let has_none = self.op(Op::LogicalAnd, negative, finite);
        let of_fraction = self.select(has_none, nan, power);
        let result = self.select(is_whole, of_whole, of_fraction);
        let flat = self.op(Op::Equal, exponent, zero);
        let is_one = self.op(Op::Equal, base, one);
        let constant = self.op(Op::LogicalOr, flat, is_one);
        let result = self.select(constant, one, result);
        let base_is_nan = self.is_nan(base);
        let exponent_is_nan = self.is_nan(exponent);
        let any_nan = self.op(Op::LogicalOr, base_is_nan, exponent_is_nan);
        let varies = self.not(constant);
        let undefined = self.op(Op::LogicalAnd, any_nan, varies);
        self.select(undefined, nan, result)
    }

    fn integer_builtin(&mut self, builtin: Builtin, scalar: Scalar, args: &[Value], site: Option<u32>) -> Value {
        let x = args[0];
        let signed = scalar == Scalar::I32;
        match builtin {
            Builtin::Min => self.math(Math::Min, args),
            Builtin::Max => self.math(Math::Max, args),
            Builtin::Clamp => {
                let ordered = self.op(Op::LessEqual, args[1], args[2]);
                self.trap_unless(ordered, site.expect("`clamp` has a site"));
                let raised = self.math(Math::Max, &args[..2]);
                self.math(Math::Min, &[raised, args[2]])
            }
            Builtin::Signum => self.math(Math::Sign, args),
            Builtin::UnsignedAbs => {
                let magnitude = self.math(Math::Abs, args);
                self.convert(magnitude, ScalarKind::Uint)
            }
            Builtin::AbsDiff => {
                let low = self.math(Math::Min, args);
                let high = self.math(Math::Max, args);
                let (low, high) = (self.unsigned(low, signed), self.unsigned(high, signed));
                self.op(Op::Subtract, high, low)
            }
            Builtin::RemEuclid | Builtin::DivEuclid => {
                self.euclid(builtin == Builtin::RemEuclid, signed, x, args[1], site)
            }
            Builtin::IsMultipleOf => self.is_multiple(x, args[1]),
            Builtin::DivCeil => {
                let quotient = self.divide(Op::Divide, scalar, x, args[1], site);
                let product = self.op(Op::Multiply, quotient, args[1]);
                let rest = self.op(Op::NotEqual, product, x);
                let rest = self.convert(rest, ScalarKind::Uint);
                self.op(Op::Add, quotient, rest)
            }
            Builtin::Pow => {
                let one = self.literal(if signed { Literal::I32(1) } else { Literal::U32(1) });
                self.power(&Type::Scalar(scalar), one, x, args[1])
            }
            Builtin::SaturatingAdd | Builtin::SaturatingSub => {
                self.saturating(builtin == Builtin::SaturatingAdd, signed, x, args[1])
            }
            Builtin::FromBits => self.bits_to_float(x),
            Builtin::CountOnes => self.count(Math::CountOneBits, x, signed),
            Builtin::LeadingZeros => self.count(Math::CountLeadingZeros, x, signed),
            Builtin::TrailingZeros => self.count(Math::CountTrailingZeros, x, signed),
            Builtin::ReverseBits | Builtin::SwapBytes | Builtin::RotateLeft | Builtin::RotateRight => {
                let bits = self.unsigned(x, signed);
                let bits = match builtin {
                    Builtin::ReverseBits => self.math(Math::ReverseBits, &[bits]),
                    Builtin::SwapBytes => self.swap_bytes(bits),
                    Builtin::RotateLeft => self.rotate(Op::ShiftLeft, Op::ShiftRight, bits, args[1]),
                    _ => self.rotate(Op::ShiftRight, Op::ShiftLeft, bits, args[1]),
                };
                if signed { self.convert(bits, ScalarKind::Sint) } else { bits }
            }
            _ => panic!("integers have no method {builtin:?}"),
        }
    }

    /// Returns an integer as `u32`.
    fn unsigned(&mut self, value: Value, signed: bool) -> Value {
        if signed { self.convert(value, ScalarKind::Uint) } else { value }
    }

    fn count(&mut self, fun: Math, value: Value, signed: bool) -> Value {
        let bits = self.unsigned(value, signed);
        self.math(fun, &[bits])
    }

    /// Only 0 is a multiple of 0.
    fn is_multiple(&mut self, left: Value, right: Value) -> Value {
        let (zero, one) = (self.u32(0), self.u32(1));
        let of_zero = self.op(Op::Equal, right, zero);
        let divisor = self.select(of_zero, one, right);
        let rest = self.op(Op::Modulo, left, divisor);
        let rest = self.select(of_zero, left, rest);
        self.op(Op::Equal, rest, zero)
    }

    fn swap_bytes(&mut self, bits: Value) -> Value {
        let eight = self.u32(8);
        let mask = self.u32(0x00ff_00ff);
        let swapped = self.rotate(Op::ShiftLeft, Op::ShiftRight, bits, eight);
        let low = self.op(Op::And, swapped, mask);
        let swapped = self.rotate(Op::ShiftRight, Op::ShiftLeft, bits, eight);
        let mask = self.u32(0xff00_ff00);
        let high = self.op(Op::And, swapped, mask);
        self.op(Op::InclusiveOr, high, low)
    }

    /// Shifts by `amount`, and the other way by the rest of the bits.
    fn rotate(&mut self, there: Op, back: Op, bits: Value, amount: Value) -> Value {
        let zero = self.u32(0);
        let rest = self.op(Op::Subtract, zero, amount);
        let first = self.shift(there, bits, amount);
        let second = self.shift(back, bits, rest);
        self.op(Op::InclusiveOr, first, second)
    }

    fn euclid(&mut self, remainder: bool, signed: bool, left: Value, right: Value, site: Option<u32>) -> Value {
        let scalar = if signed { Scalar::I32 } else { Scalar::U32 };
        let first = if remainder { Op::Modulo } else { Op::Divide };
        let result = self.divide(first, scalar, left, right, site);
        if !signed {
            return result;
        }
        let zero = self.literal(Literal::I32(0));
        let rest = if remainder {
            result
        } else {
            let product = self.op(Op::Multiply, result, right);
            self.op(Op::Subtract, left, product)
        };
        let below = self.op(Op::Less, rest, zero);
        // After a trap the quotient is 0, and its rest no remainder. Any value will do.
        let positive = self.op(Op::Greater, right, zero);
        let (one, minus_one) = (self.literal(Literal::I32(1)), self.literal(Literal::I32(-1)));
        let step = if remainder { self.math(Math::Abs, &[right]) } else { self.select(positive, minus_one, one) };
        let corrected = self.op(Op::Add, result, step);
        self.select(below, corrected, result)
    }

    fn saturating(&mut self, add: bool, signed: bool, left: Value, right: Value) -> Value {
        let result = self.op(if add { Op::Add } else { Op::Subtract }, left, right);
        if !signed {
            let overflows = self.op(if add { Op::Less } else { Op::Greater }, result, left);
            let limit = self.u32(if add { u32::MAX } else { 0 });
            return self.select(overflows, limit, result);
        }
        // The sum overflows if its sign differs from that of both operands; a difference if the signs of the operands
        // differ, and that of the result from the left one.
        let changed = self.op(Op::ExclusiveOr, left, result);
        let other = self.op(Op::ExclusiveOr, right, if add { result } else { left });
        let overflow = self.op(Op::And, changed, other);
        let zero = self.literal(Literal::I32(0));
        let overflows = self.op(Op::Less, overflow, zero);
        let negative = self.op(Op::Less, left, zero);
        let (smallest, largest) = (self.literal(Literal::I32(i32::MIN)), self.literal(Literal::I32(i32::MAX)));
        let limit = self.select(negative, smallest, largest);
        self.select(overflows, limit, result)
    }
}
