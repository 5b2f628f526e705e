//! Each operation of numbers, with all pairs of notable numbers and with random ones.

use super::{agree, compile, kernels};
use proptest::prelude::*;
use std::sync::LazyLock;

kernels! {
    fn add_i(a: i32, b: i32) -> i32 { a.wrapping_add(b) }
    fn sub_i(a: i32, b: i32) -> i32 { a.wrapping_sub(b) }
    fn mul_i(a: i32, b: i32) -> i32 { a.wrapping_mul(b) }
    fn neg_i(a: i32) -> i32 { a.wrapping_neg() }
    fn div_i(a: i32, b: i32) -> i32 { a / b }
    fn rem_i(a: i32, b: i32) -> i32 { a % b }
    fn div_euclid_i(a: i32, b: i32) -> i32 { a.div_euclid(b) }
    fn rem_euclid_i(a: i32, b: i32) -> i32 { a.rem_euclid(b) }
    fn div_by_constants_i(a: i32) -> i32 { a / 7 + a % 10 - a / -3 }
    fn plain_i(a: i32, b: i32) -> i32 { a + b - a * b + -a }
    fn bits_i(a: i32, b: i32) -> i32 { (a & b) ^ (a | !b) }
    fn shifts_i(a: i32, b: u32) -> i32 { a.wrapping_shl(b) ^ a.wrapping_shr(b) }
    fn masked_shifts_i(a: i32, b: i32) -> i32 { (a << (b & 31)) ^ (a >> (b & 31)) ^ (a << 3) ^ (a >> 31) }
    fn min_i(a: i32, b: i32) -> i32 { a.min(b) }
    fn max_i(a: i32, b: i32) -> i32 { a.max(b) }
    fn clamp_i(a: i32, b: i32, c: i32) -> i32 { a.clamp(b, c) }
    fn abs_i(a: i32) -> i32 { a.wrapping_abs() }
    fn signum_i(a: i32) -> i32 { a.signum() }
    fn unsigned_abs_i(a: i32) -> u32 { a.unsigned_abs() }
    fn abs_diff_i(a: i32, b: i32) -> u32 { a.abs_diff(b) }
    fn pow_i(a: i32, b: u32) -> i32 { a.wrapping_pow(b) }
    fn saturating_add_i(a: i32, b: i32) -> i32 { a.saturating_add(b) }
    fn saturating_sub_i(a: i32, b: i32) -> i32 { a.saturating_sub(b) }
    fn counts_i(a: i32) -> u32 { a.count_ones() + a.leading_zeros() * 64 + a.trailing_zeros() * 4096 }
    fn reverse_i(a: i32) -> i32 { a.reverse_bits() ^ a.swap_bytes() }
    fn rotate_i(a: i32, b: u32) -> i32 { a.rotate_left(b) ^ i32::rotate_right(a, b) }
    fn less_i(a: i32, b: i32) -> bool { a < b }
    fn less_equal_i(a: i32, b: i32) -> bool { a <= b }
    fn equal_i(a: i32, b: i32) -> bool { (a == b) != (a != b) && a == b || a > b && a >= b }
    fn to_u(a: i32) -> u32 { a as u32 }
    fn i_to_f(a: i32) -> f32 { a as f32 }

    fn add_u(a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    fn sub_u(a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    fn mul_u(a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
    fn neg_u(a: u32) -> u32 { a.wrapping_neg() }
    fn div_u(a: u32, b: u32) -> u32 { a / b }
    fn rem_u(a: u32, b: u32) -> u32 { a % b }
    fn euclid_u(a: u32, b: u32) -> u32 { a.div_euclid(b) ^ a.rem_euclid(b) }
    fn plain_u(a: u32, b: u32) -> u32 { a + b - a * b }
    fn bits_u(a: u32, b: u32) -> u32 { (a & b) ^ (a | !b) }
    fn shifts_u(a: u32, b: u32) -> u32 { a.wrapping_shl(b) ^ a.wrapping_shr(b) }
    fn min_max_u(a: u32, b: u32) -> u32 { a.min(b) ^ u32::max(a, b).rotate_left(1) }
    fn clamp_u(a: u32, b: u32, c: u32) -> u32 { a.clamp(b, c) }
    fn abs_diff_u(a: u32, b: u32) -> u32 { a.abs_diff(b) }
    fn pow_u(a: u32, b: u32) -> u32 { a.wrapping_pow(b) }
    fn saturating_u(a: u32, b: u32) -> u32 { a.saturating_add(b) ^ a.saturating_sub(b) }
    fn counts_u(a: u32) -> u32 { a.count_ones() + a.leading_zeros() * 64 + a.trailing_zeros() * 4096 }
    fn reverse_u(a: u32) -> u32 { a.reverse_bits() ^ a.swap_bytes() }
    fn rotate_u(a: u32, b: u32) -> u32 { a.rotate_left(b) ^ a.rotate_right(b) }
    fn power_of_two_u(a: u32) -> bool { a.is_power_of_two() }
    fn multiple_u(a: u32, b: u32) -> bool { a.is_multiple_of(b) }
    fn div_ceil_u(a: u32, b: u32) -> u32 { a.div_ceil(b) }
    fn compare_u(a: u32, b: u32) -> u32 {
        (a < b) as u32 + (a <= b) as u32 * 2 + u32::from(a > b) * 4 + (a >= b) as u32 * 8
    }
    fn to_i(a: u32) -> i32 { a as i32 }
    fn u_to_f(a: u32) -> f32 { a as f32 }
    fn from_bits(a: u32) -> f32 { f32::from_bits(a) }
    fn through_usize(a: u32, b: i32) -> u32 { (a as usize & b as u32 as usize) as u32 }

    fn add_f(a: f32, b: f32) -> f32 { a + b }
    fn sub_f(a: f32, b: f32) -> f32 { a - b }
    fn mul_f(a: f32, b: f32) -> f32 { a * b }
    fn div_f(a: f32, b: f32) -> f32 { a / b }
    fn neg_f(a: f32) -> f32 { -a }
    fn recip(a: f32) -> f32 { a.recip() }
    // Of two zeros, either may be the result.
    fn min_f(a: f32, b: f32) -> f32 { a.min(b) + 0.0 }
    fn max_f(a: f32, b: f32) -> f32 { f32::max(a, b) + 0.0 }
    fn clamp_f(a: f32, b: f32, c: f32) -> f32 { a.clamp(b, c) }
    fn abs_f(a: f32) -> f32 { a.abs() }
    fn signum_f(a: f32) -> f32 { a.signum() }
    fn copysign(a: f32, b: f32) -> f32 { a.copysign(b) }
    fn floor(a: f32) -> f32 { a.floor() }
    fn ceil(a: f32) -> f32 { a.ceil() }
    fn trunc(a: f32) -> f32 { a.trunc() }
    fn round(a: f32) -> f32 { a.round() }
    fn round_ties_even(a: f32) -> f32 { a.round_ties_even() }
    fn fract(a: f32) -> f32 { a.fract() }
    fn sqrt(a: f32) -> f32 { a.sqrt() }
    fn mul_add(a: f32, b: f32, c: f32) -> f32 { a.mul_add(b, c) }
    fn powf(a: f32, b: f32) -> f32 { a.powf(b) }
    fn waves(a: f32) -> f32 { a.sin() + a.cos() * a.tan() }
    fn arcs(a: f32, b: f32) -> f32 { a.asin() + a.acos() * a.atan() + a.atan2(b) }
    fn hyperbolic(a: f32) -> f32 { a.sinh() + a.cosh() * a.tanh() }
    fn exponents(a: f32) -> f32 { a.exp() + a.exp2() * a.ln() + a.log2() }
    fn angles(a: f32) -> f32 { a.to_degrees() + a.to_radians() }
    fn to_bits(a: f32) -> u32 { if a.is_nan() { 7 } else { a.to_bits() } }
    fn classes(a: f32) -> u32 {
        a.is_nan() as u32 + a.is_infinite() as u32 * 2 + a.is_finite() as u32 * 4 + u32::from(a.is_sign_negative()) * 8
    }
    fn compare_f(a: f32, b: f32) -> u32 {
        (a < b) as u32
            + (a <= b) as u32 * 2
            + (a > b) as u32 * 4
            + (a >= b) as u32 * 8
            + (a == b) as u32 * 16
            + (a != b) as u32 * 32
    }
    fn f_to_i(a: f32) -> i32 { a as i32 }
    fn f_to_u(a: f32) -> u32 { a as u32 }
    fn constants(a: f32) -> f32 {
        if a > f32::MAX { return f32::NEG_INFINITY; }
        if a < f32::MIN { f32::NAN } else { a * std::f32::consts::PI + f32::EPSILON }
    }
    fn bools(a: bool, b: bool) -> bool { ((a & b) ^ (a | !b)) == (a != b) }
}

static PROGRAMS: LazyLock<std::collections::HashMap<String, anabranch_kernel_ir::Program>> =
    LazyLock::new(|| compile(SOURCE));

const INTEGERS: [i32; 14] = [0, 1, -1, 2, -2, 3, 7, 31, 32, 33, i32::MIN, i32::MIN + 1, i32::MAX, 0x5555_5555];

const FLOATS: [f32; 26] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.499_999_97,
    1.0,
    -1.0,
    1.5,
    2.5,
    -2.5,
    3.0,
    -3.0,
    8_388_607.5,
    -8_388_609.0,
    2_147_483_520.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    4_294_967_040.0,
    4_294_967_296.0,
    1e-40,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

macro_rules! each {
    ($args:tt: $($name:ident)*) => { $(agree!(PROGRAMS, $name $args);)* };
}

fn check_integers(a: i32, b: i32, c: i32) {
    each!((a): neg_i div_by_constants_i abs_i signum_i unsigned_abs_i counts_i reverse_i to_u i_to_f);
    each!((a, b): add_i sub_i mul_i div_i rem_i div_euclid_i rem_euclid_i plain_i bits_i masked_shifts_i min_i max_i);
    each!((a, b): abs_diff_i saturating_add_i saturating_sub_i less_i less_equal_i equal_i);
    each!((a, b, c): clamp_i);
    let (u, v, w) = (a.cast_unsigned(), b.cast_unsigned(), c.cast_unsigned());
    each!((a, v): shifts_i pow_i rotate_i);
    each!((u): neg_u counts_u reverse_u power_of_two_u to_i u_to_f from_bits);
    each!((u, v): add_u sub_u mul_u div_u rem_u euclid_u plain_u bits_u shifts_u min_max_u abs_diff_u pow_u);
    each!((u, v): saturating_u rotate_u compare_u multiple_u div_ceil_u);
    each!((u, b): through_usize);
    each!((u, v, w): clamp_u);
}

fn check_floats(a: f32, b: f32, c: f32) {
    each!((a): neg_f recip abs_f signum_f floor ceil trunc round round_ties_even fract sqrt waves hyperbolic exponents);
    each!((a): angles to_bits classes f_to_i f_to_u constants);
    each!((a, b): add_f sub_f mul_f div_f min_f max_f copysign powf arcs compare_f);
    each!((a, b, c): clamp_f mul_add);
}

#[test]
pub(super) fn integers_have_the_meaning_of_rust() {
    for a in INTEGERS {
        for b in INTEGERS {
            check_integers(a, b, a.wrapping_add(b));
        }
    }
}

#[test]
pub(super) fn floats_have_the_meaning_of_rust() {
    for a in FLOATS {
        for b in FLOATS {
            check_floats(a, b, b + 1.0);
        }
    }
}

#[test]
pub(super) fn truth_values_have_the_meaning_of_rust() {
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        each!((a, b): bools);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_integers_have_the_meaning_of_rust(a: i32, b: i32, c: i32) {
        check_integers(a, b, c);
    }

    #[test]
    fn random_floats_have_the_meaning_of_rust(a: u32, b in -100.0f32..100.0, c: u32) {
        check_floats(f32::from_bits(a), b, f32::from_bits(c));
        check_floats(b, f32::from_bits(a), f32::from_bits(c));
    }
}

mod inexact {
    use super::{
        super::{Program, ToArg, Value, compile, run},
        kernels,
    };

    kernels! {
        fn powi(a: f32, b: i32) -> f32 { a.powi(b) }
        fn log10(a: f32) -> f32 { a.log10() }
    }

    fn assert_close(program: &Program, args: &[super::super::Arg], expected: f32) {
        let (Value::F32(value), 0) = run(program, args) else { panic!("no float") };
        assert!(value == expected || (value - expected).abs() <= expected.abs() * 1e-6, "{value}, not {expected}");
    }

    /// `powi` and `log10` have no specified rounding.
    #[test]
    fn powers_and_logarithms_are_close() {
        let programs = compile(SOURCE);
        for a in [0.0, 0.1, 1.0, 1.5, 10.0, 12345.0_f32] {
            assert_close(&programs["log10"], &[a.to_arg()], log10(a));
            for b in [-7, -2, -1, 0, 1, 2, 3, 10] {
                assert_close(&programs["powi"], &[a.to_arg(), b.to_arg()], powi(a, b));
            }
        }
    }
}
