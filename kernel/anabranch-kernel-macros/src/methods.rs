//! The methods and constants of numbers that kernels may use, and what to write instead of other methods.

use crate::types::Ty;
use anabranch_kernel_ir::{BinaryOp, Builtin, Literal};

/// The operation of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    Builtin(Builtin),
    /// The operator, which wraps.
    Operator(BinaryOp),
    /// `0 - x`, which wraps.
    Negate,
    /// `1.0 / x`
    Reciprocal,
    /// `x * factor`
    Scale(f32),
    /// `x.log2() * factor`
    ScaleLog2(f32),
    /// `x.count_ones() == 1`
    IsPowerOfTwo,
}

/// A type in the signature of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The type of the receiver.
    Same,
    /// `u32` for an `i32`, and otherwise the type of the receiver.
    Unsigned,
    Bool,
    I32,
    U32,
    F32,
}

impl Shape {
    pub(crate) fn of(self, receiver: &Ty) -> Ty {
        match self {
            Self::Unsigned if *receiver == Ty::I32 => Ty::U32,
            Self::Same | Self::Unsigned => receiver.clone(),
            Self::Bool => Ty::Bool,
            Self::I32 => Ty::I32,
            Self::U32 => Ty::U32,
            Self::F32 => Ty::F32,
        }
    }
}

pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// The types that have it, a sum of bits.
    on: u8,
    pub(crate) args: &'static [Shape],
    pub(crate) output: Shape,
    pub(crate) action: Action,
}

const F32: u8 = 1;
const I32: u8 = 2;
const U32: u8 = 4;
const USIZE: u8 = 8;
/// Integers whose size is the same on all devices.
const WORDS: u8 = I32 | U32;
const INTEGERS: u8 = WORDS | USIZE;
const NUMBERS: u8 = INTEGERS | F32;

const fn method(name: &'static str, on: u8, args: &'static [Shape], output: Shape, action: Action) -> Method {
    Method { name, on, args, output, action }
}

const fn builtin(name: &'static str, on: u8, args: &'static [Shape], output: Shape, builtin: Builtin) -> Method {
    method(name, on, args, output, Action::Builtin(builtin))
}

const fn operator(name: &'static str, args: &'static [Shape], op: BinaryOp) -> Method {
    method(name, INTEGERS, args, Shape::Same, Action::Operator(op))
}

const fn float(name: &'static str, builtin: Builtin) -> Method {
    method(name, F32, &[], Shape::Same, Action::Builtin(builtin))
}

/// `180.0_f32 / PI` is rounded twice.
const DEGREES_PER_RADIAN: f32 = 57.295_78;

static METHODS: &[Method] = &[
    builtin("min", NUMBERS, &[Shape::Same], Shape::Same, Builtin::Min),
    builtin("max", NUMBERS, &[Shape::Same], Shape::Same, Builtin::Max),
    builtin("clamp", NUMBERS, &[Shape::Same, Shape::Same], Shape::Same, Builtin::Clamp),
    builtin("abs", F32 | I32, &[], Shape::Same, Builtin::Abs),
    builtin("wrapping_abs", I32, &[], Shape::Same, Builtin::Abs),
    builtin("signum", F32 | I32, &[], Shape::Same, Builtin::Signum),
    builtin("abs_diff", INTEGERS, &[Shape::Same], Shape::Unsigned, Builtin::AbsDiff),
    builtin("unsigned_abs", I32, &[], Shape::U32, Builtin::UnsignedAbs),
    builtin("rem_euclid", INTEGERS, &[Shape::Same], Shape::Same, Builtin::RemEuclid),
    builtin("div_euclid", INTEGERS, &[Shape::Same], Shape::Same, Builtin::DivEuclid),
    builtin("pow", INTEGERS, &[Shape::U32], Shape::Same, Builtin::Pow),
    builtin("wrapping_pow", INTEGERS, &[Shape::U32], Shape::Same, Builtin::Pow),
    builtin("saturating_add", INTEGERS, &[Shape::Same], Shape::Same, Builtin::SaturatingAdd),
    builtin("saturating_sub", INTEGERS, &[Shape::Same], Shape::Same, Builtin::SaturatingSub),
    builtin("is_multiple_of", U32 | USIZE, &[Shape::Same], Shape::Bool, Builtin::IsMultipleOf),
    builtin("div_ceil", U32 | USIZE, &[Shape::Same], Shape::Same, Builtin::DivCeil),
    builtin("count_ones", WORDS, &[], Shape::U32, Builtin::CountOnes),
    builtin("leading_zeros", WORDS, &[], Shape::U32, Builtin::LeadingZeros),
    builtin("trailing_zeros", WORDS, &[], Shape::U32, Builtin::TrailingZeros),
    builtin("reverse_bits", WORDS, &[], Shape::Same, Builtin::ReverseBits),
    builtin("swap_bytes", WORDS, &[], Shape::Same, Builtin::SwapBytes),
    builtin("rotate_left", WORDS, &[Shape::U32], Shape::Same, Builtin::RotateLeft),
    builtin("rotate_right", WORDS, &[Shape::U32], Shape::Same, Builtin::RotateRight),
    operator("wrapping_add", &[Shape::Same], BinaryOp::Add),
    operator("wrapping_sub", &[Shape::Same], BinaryOp::Sub),
    operator("wrapping_mul", &[Shape::Same], BinaryOp::Mul),
    operator("wrapping_shl", &[Shape::U32], BinaryOp::Shl),
    operator("wrapping_shr", &[Shape::U32], BinaryOp::Shr),
    method("wrapping_neg", INTEGERS, &[], Shape::Same, Action::Negate),
    method("is_power_of_two", U32 | USIZE, &[], Shape::Bool, Action::IsPowerOfTwo),
    float("sqrt", Builtin::Sqrt),
    float("floor", Builtin::Floor),
    float("ceil", Builtin::Ceil),
    float("trunc", Builtin::Trunc),
    float("round", Builtin::Round),
    float("round_ties_even", Builtin::RoundTiesEven),
    float("fract", Builtin::Fract),
    float("exp", Builtin::Exp),
    float("exp2", Builtin::Exp2),
    float("ln", Builtin::Ln),
    float("log2", Builtin::Log2),
    method("log10", F32, &[], Shape::Same, Action::ScaleLog2(std::f32::consts::LOG10_2)),
    float("sin", Builtin::Sin),
    float("cos", Builtin::Cos),
    float("tan", Builtin::Tan),
    float("asin", Builtin::Asin),
    float("acos", Builtin::Acos),
    float("atan", Builtin::Atan),
    builtin("atan2", F32, &[Shape::Same], Shape::Same, Builtin::Atan2),
    float("sinh", Builtin::Sinh),
    float("cosh", Builtin::Cosh),
    float("tanh", Builtin::Tanh),
    builtin("mul_add", F32, &[Shape::Same, Shape::Same], Shape::Same, Builtin::MulAdd),
    builtin("copysign", F32, &[Shape::Same], Shape::Same, Builtin::Copysign),
    builtin("powi", F32, &[Shape::I32], Shape::Same, Builtin::Powi),
    builtin("powf", F32, &[Shape::Same], Shape::Same, Builtin::Powf),
    builtin("to_bits", F32, &[], Shape::U32, Builtin::ToBits),
    builtin("is_nan", F32, &[], Shape::Bool, Builtin::IsNan),
    builtin("is_infinite", F32, &[], Shape::Bool, Builtin::IsInfinite),
    builtin("is_finite", F32, &[], Shape::Bool, Builtin::IsFinite),
    builtin("is_sign_negative", F32, &[], Shape::Bool, Builtin::IsSignNegative),
    method("recip", F32, &[], Shape::Same, Action::Reciprocal),
    method("to_degrees", F32, &[], Shape::Same, Action::Scale(DEGREES_PER_RADIAN)),
    method("to_radians", F32, &[], Shape::Same, Action::Scale(std::f32::consts::PI / 180.0)),
    // A function of a type, not a method: `f32::from_bits(bits)`.
    builtin("from_bits", U32, &[], Shape::F32, Builtin::FromBits),
];

fn bit(ty: &Ty) -> u8 {
    match ty {
        Ty::F32 => F32,
        Ty::I32 => I32,
        Ty::U32 => U32,
        Ty::Usize => USIZE,
        _ => 0,
    }
}

/// Returns the names of the methods of a type.
pub(crate) fn names(ty: &Ty) -> impl Iterator<Item = &'static str> {
    let bit = bit(ty);
    METHODS.iter().filter(move |method| method.on & bit != 0 && method.name != "from_bits").map(|method| method.name)
}

/// Returns the method of a type.
pub(crate) fn find(ty: &Ty, name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name && method.on & bit(ty) != 0 && name != "from_bits")
}

/// Returns `f32::from_bits` as a method of `u32`.
pub(crate) fn from_bits() -> &'static Method {
    METHODS.last().expect("the table has methods")
}

/// Returns what to write instead of a method that std has and devices have not.
pub(crate) fn instead(ty: &Ty, name: &str) -> Option<&'static str> {
    Some(match (name, ty) {
        ("checked_add" | "checked_sub" | "checked_mul" | "checked_div" | "checked_rem", _) => {
            "compare the operands first, or use a `wrapping_` or `saturating_` method"
        }
        ("overflowing_add" | "overflowing_sub" | "overflowing_mul", _) => {
            "kernels have no tuples; use a `wrapping_` method and compare the result"
        }
        ("wrapping_div" | "wrapping_rem", _) => "write `/` or `%`",
        ("saturating_mul", _) => "write `saturating_add` or compare the operands first",
        ("is_positive", _) => "write `x > 0`",
        ("is_negative", _) => "write `x < 0`",
        ("count_zeros", _) => "write `(!x).count_ones()`",
        ("leading_ones", _) => "write `(!x).leading_zeros()`",
        ("trailing_ones", _) => "write `(!x).trailing_zeros()`",
        ("next_power_of_two", _) => "write a shift by `leading_zeros`",
        ("hypot", Ty::F32) => "write `(x * x + y * y).sqrt()`",
        ("cbrt", Ty::F32) => "write `x.abs().powf(1.0 / 3.0).copysign(x)`",
        ("log", Ty::F32) => "write `x.ln() / base.ln()`",
        ("exp_m1", Ty::F32) => "write `x.exp() - 1.0`",
        ("ln_1p", Ty::F32) => "write `(1.0 + x).ln()`",
        ("sin_cos", Ty::F32) => "kernels have no tuples; write `x.sin()` and `x.cos()`",
        ("rem_euclid" | "div_euclid", Ty::F32) => "write `a - b * (a / b).floor()` or `(a / b).floor()`",
        ("abs_sub", Ty::F32) => "write `(a - b).max(0.0)`",
        ("is_sign_positive", Ty::F32) => "write `!x.is_sign_negative()`",
        ("total_cmp" | "partial_cmp" | "cmp", _) => "kernels have no `Ordering`; write `<`, `==` or `>`",
        ("eq", _) => "write `==`",
        ("ne", _) => "write `!=`",
        ("clone" | "to_owned" | "borrow", _) => "numbers are copied; leave it out",
        ("into" | "try_into", _) => "write `as` and the type",
        ("to_string", _) => "kernels have no text; return the number",
        ("sum" | "product" | "fold" | "map" | "filter" | "any" | "all", _) => "write a `for` loop",
        ("count_ones" | "leading_zeros" | "trailing_zeros", Ty::Usize) => {
            "`usize` has 32 bits on a device; write `(x as u32)` first"
        }
        ("reverse_bits" | "swap_bytes" | "rotate_left" | "rotate_right", Ty::Usize) => {
            "`usize` has 32 bits on a device; write `(x as u32)` first"
        }
        _ => return None,
    })
}

/// Returns the constant `ty::name`.
pub(crate) fn constant(ty: &str, name: &str) -> Option<(Literal, Ty)> {
    let float = |value: f32| Some((Literal::F32(value.to_bits()), Ty::F32));
    let unsigned = |value: u32| Some((Literal::U32(value), Ty::U32));
    let signed = |value: i32| Some((Literal::I32(value), Ty::I32));
    match (ty, name) {
        ("f32", "MAX") => float(f32::MAX),
        ("f32", "MIN") => float(f32::MIN),
        ("f32", "MIN_POSITIVE") => float(f32::MIN_POSITIVE),
        ("f32", "EPSILON") => float(f32::EPSILON),
        ("f32", "INFINITY") => float(f32::INFINITY),
        ("f32", "NEG_INFINITY") => float(f32::NEG_INFINITY),
        ("f32", "NAN") => float(f32::NAN),
        ("u32", "MAX") => unsigned(u32::MAX),
        ("u32", "MIN") => unsigned(0),
        ("i32", "MAX") => signed(i32::MAX),
        ("i32", "MIN") => signed(i32::MIN),
        ("i32" | "u32", "BITS") => unsigned(32),
        _ => None,
    }
}

/// Returns the constant `std::f32::consts::name`.
pub(crate) fn mathematical_constant(name: &str) -> Option<f32> {
    use std::f32::consts;
    Some(match name {
        "E" => consts::E,
        "FRAC_1_PI" => consts::FRAC_1_PI,
        "FRAC_1_SQRT_2" => consts::FRAC_1_SQRT_2,
        "FRAC_2_PI" => consts::FRAC_2_PI,
        "FRAC_2_SQRT_PI" => consts::FRAC_2_SQRT_PI,
        "FRAC_PI_2" => consts::FRAC_PI_2,
        "FRAC_PI_3" => consts::FRAC_PI_3,
        "FRAC_PI_4" => consts::FRAC_PI_4,
        "FRAC_PI_6" => consts::FRAC_PI_6,
        "FRAC_PI_8" => consts::FRAC_PI_8,
        "LN_10" => consts::LN_10,
        "LN_2" => consts::LN_2,
        "LOG10_2" => consts::LOG10_2,
        "LOG10_E" => consts::LOG10_E,
        "LOG2_10" => consts::LOG2_10,
        "LOG2_E" => consts::LOG2_E,
        "PI" => consts::PI,
        "SQRT_2" => consts::SQRT_2,
        "TAU" => consts::TAU,
        _ => return None,
    })
}
