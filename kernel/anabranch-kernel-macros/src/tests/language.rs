//! Statements, structs, arrays, slices and calls.
#![allow(clippy::all, reason = "the functions are written in each way that a user may choose")]

use super::{Program, ToValue, Value, agree, compile, kernels};
use proptest::prelude::*;
use std::{collections::HashMap, sync::LazyLock};

kernels! {
    const COUNT: usize = 3 + 1;
    const TABLE: [u32; COUNT] = [2, 3, 5, 7];
    const LIMIT: u32 = BASE * 2;
    const BASE: u32 = 50;
    const KIND: i32 = -2;

    #[derive(Clone, Copy, Debug)]
    struct Vec2 { x: f32, y: f32 }
    #[derive(Clone, Copy, Debug)]
    struct Body { at: Vec2, speed: [f32; 2], kind: u32 }
    #[derive(Clone, Copy, Debug)]
    struct Pair(u32, i32);

    fn shadowed(a: u32) -> u32 {
        let x = a;
        let x = x.wrapping_mul(3);
        { let x = x ^ 1; if x > 5 { return x; } }
        let _ = x;
        x
    }
    fn mutable_parameter(mut a: u32, b: u32) -> u32 { a ^= b; a |= 1; a -= 1; a <<= 2; a }
    fn late(a: u32) -> u32 { let x; if a > 7 { x = 1; } else { x = a; } x }
    fn literals(n: u32) -> u32 {
        let mut count = 0; let step = 2; for i in 0..n % 20 { if i % step == 0 { count += 1; } } count
    }
    fn default_literal(a: i32) -> i32 { let x = 1; let y = x << 3; a.wrapping_add(y) }
    fn float_literal(a: f32) -> f32 { let half = 0.5; let x = half * a; x + 1e3 - 2. }
    fn cast_literals(a: u32) -> f32 { (a % 4) as f32 * 3 as f32 + -1 as f32 + 0.5 as f32 + 4_000_000_000 as u32 as f32 }
    fn choose(a: i32, b: i32) -> i32 {
        let c = if a < b { a } else if a == b { 7 } else { b }; c ^ if c > 0 { 1 } else { 2 }
    }
    fn diverging_branch(a: f32) -> f32 { let root = if a < 0.0 { return -1.0; } else { a.sqrt() }; root + 1.0 }
    fn all_return(a: u32) -> u32 { if a > 3 { return 1; } else { return 2; } }
    fn blocks(a: u32) -> u32 { let b = { let c = a ^ 5; c & 0xff }; b + { b + 1 } }
    fn short_and(a: u32, b: u32) -> bool { b != 0 && a / b > 2 }
    fn short_or(a: u32, b: u32) -> bool { b == 0 || a / b > 2 || { let c = a ^ b; c > 100 } }
    fn short_call(a: u32, b: u32) -> bool { a > 5 && divides(a, b) }
    fn divides(a: u32, b: u32) -> bool { b % a == 0 }
    fn order(a: u32) -> u32 { let mut n = a & 15; let x = { n += 1; n } * 10 + { n *= 2; n }; x + n }

    fn triangle(n: u32) -> u32 { let mut sum = 0; for i in 0..n & 63 { sum += i; } sum }
    fn inclusive(a: i32, b: i32) -> u32 { let mut n = 0u32; for _ in (a & 7)..=(b & 7) { n += 1; } n }
    fn until_the_end(a: u32) -> u32 { let mut n = 0; for i in (u32::MAX - (a & 3))..=u32::MAX { n += i & 7; } n }
    fn reversed(a: u32) -> u32 { let mut n = 0u32; for i in (1..a & 15).rev() { n = n.wrapping_mul(7) ^ i; } n }
    fn reversed_inclusive(a: i32) -> i32 {
        let mut n = 0i32; for i in (-3..=a & 7).rev() { n = n.wrapping_mul(5) ^ i; } n
    }
    fn jumps(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n & 31 {
            if i == 3 { continue; }
            if i > 20 { break; }
            for j in 0..i { if j == 5 { break; } if j % 2 == 1 { continue; } sum += j; }
            sum += i;
        }
        sum
    }
    fn early_return(n: u32, wanted: u32) -> u32 {
        for i in 0..n & 15 { for j in i..n & 15 { if i * j == wanted & 31 { return i * 100 + j; } } }
        9999
    }
    fn rounds_start_anew(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n & 7 { let mut inner = 0; let array = [0u32; 2]; inner += array[1] + i; sum += inner; }
        sum
    }
    fn loop_variable_changes(n: u32) -> u32 { let mut sum = 0; for mut i in 0..n & 7 { i *= 2; sum += i; } sum }

    fn select(a: i32) -> u32 {
        match a {
            0 => 10,
            1 | 2 => 20,
            3..=9 => 30,
            KIND => 40,
            -7 => 50,
            i32::MIN..-100 => 60,
            n if n > 1000 => n as u32,
            _ => 70,
        }
    }
    fn select_bool(a: bool, b: u32) -> u32 { match a { true => b, false => { if b > 3 { return 7; } 1 } } }
    fn select_in_loop(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n & 15 { match i { 2 => continue, 9.. => break, x => sum += x } }
        sum
    }

    fn array(a: u32, i: u32) -> u32 {
        let mut x = [a, 1, 2]; x[1] = 5; x[(i & 3) as usize] += 10; x[0] ^ x[i as usize & 1]
    }
    fn array_of_constants(i: u32) -> u32 { TABLE[i as usize & 7] + TABLE[2] + LIMIT }
    fn long_array(i: u32) -> u32 {
        let mut x = [7; 40]; x[39] = i; for k in 0..x.len() { x[k] += k as u32; } x[i as usize & 63]
    }
    fn nested_array(i: u32, j: u32) -> u32 {
        let mut x = [[1, 2, 3], [4, 5, 6]];
        x[i as usize & 3][j as usize & 3] = 9;
        let row = x[1];
        row[j as usize & 3] + x[0][2]
    }
    fn returned_array(a: u32) -> [u32; 2] { [a, a ^ 1] }
    fn array_of_a_call(a: u32) -> u32 { returned_array(a)[(a & 1) as usize] + returned_array(a).len() as u32 }
    fn array_loop(a: u32) -> u32 {
        let mut n = 0; for x in [a & 7, 3, 5] { n = n * 9 + x; } for x in TABLE.iter() { n += x; } n
    }
    fn truth_array(i: u32) -> bool { let mut x = [false; 5]; x[2] = true; x[i as usize & 7] }

    fn structs(a: f32, b: f32) -> f32 {
        let mut body = Body { kind: 3, at: Vec2 { x: a, y: b }, speed: [1.0, b] };
        body.at.x += body.speed[1];
        let other = Body { kind: 4, ..body };
        body.speed[0] = 9.0;
        other.at.x - other.speed[0] + body.speed[0] + other.kind as f32 + length(body.at)
    }
    fn length(v: Vec2) -> f32 { (v.x * v.x + v.y * v.y).sqrt() }
    fn field_of_a_call(a: f32) -> f32 { mirrored(Vec2 { x: a, y: 2.0 }).x }
    fn mirrored(v: Vec2) -> Vec2 { Vec2 { y: v.x, x: v.y } }
    fn tuple_struct(a: u32) -> i32 { let mut p = Pair(a, 5); p.1 -= 7; p.0 += 1; p.1 ^ p.0 as i32 }
    fn branch_of_structs(a: f32) -> f32 {
        let v = if a > 0.0 { Vec2 { x: a, y: 1.0 } } else { mirrored(Vec2 { x: 3.0, y: a }) }; v.x - v.y
    }
    fn struct_array(i: u32) -> f32 { let mut v = [Vec2 { x: 1.0, y: 2.0 }; 3]; v[1].y = 5.0; v[i as usize & 3].y }

    fn item(xs: &[u32], i: u32) -> u32 { xs[i as usize] }
    fn length_of(xs: &[f32]) -> u32 { if xs.is_empty() { 77 } else { xs.len() as u32 } }
    fn sum(xs: &[u32]) -> u32 { let mut sum = 0u32; for x in xs { sum = sum.wrapping_add(*x); } sum }
    fn sum_by_index(xs: &[u32]) -> u32 {
        let mut sum = 0u32; for i in 0..xs.len() { sum = sum.wrapping_add(xs[i]); } sum
    }
    fn dot(xs: &[f32], ys: &[f32]) -> f32 { let mut sum = 0.0; for (x, y) in xs.iter().zip(ys) { sum += x * y; } sum }
    fn numbered(xs: &[u32]) -> u32 {
        let mut sum = 0u32;
        for (i, &x) in xs.iter().enumerate() { if i == 2 { continue; } sum = sum.wrapping_mul(3) ^ x ^ i as u32; }
        sum
    }
    fn numbered_pairs(xs: &[u32], ys: &[u32]) -> u32 {
        let mut sum = 0u32;
        for (i, (x, y)) in xs.iter().zip(ys.iter()).enumerate() {
            sum = sum.wrapping_add((*x ^ *y).wrapping_mul(i as u32));
        }
        sum
    }
    fn field_of_item(bodies: &[Body], i: u32, j: u32) -> f32 { bodies[i as usize].at.y + bodies[0].speed[j as usize] }
    fn item_of_both(xs: &[u32], ys: &[u32], i: u32) -> u32 { item(xs, i) ^ item(ys, i).rotate_left(1) ^ item(xs, 0) }
    fn part(xs: &[u32], a: u32, b: u32) -> u32 {
        sum(&xs[a as usize..b as usize]) ^ sum(&xs[1..]) ^ sum(&xs[..1]) ^ sum(&xs[..])
    }
    fn part_of_part(xs: &[u32], a: u32) -> u32 { part(&xs[a as usize..], 1, 2) }
    fn gathered(xs: &[u32], indices: &[u32], i: u32) -> u32 { xs[indices[i as usize] as usize] }
    fn search(xs: &[u32], wanted: u32) -> u32 {
        let mut low = 0;
        let mut high = xs.len();
        for _ in 0..32 {
            if low >= high { break; }
            let middle = low + (high - low) / 2;
            if xs[middle] < wanted { low = middle + 1; } else { high = middle; }
        }
        low as u32
    }
    fn item_of_float_slice(xs: &[f32], i: u32) -> f32 { let x = xs[i as usize]; if x > 1.0 { x } else { xs[0] } }
    fn mandelbrot(re: f32, im: f32) -> u32 {
        let mut x = 0.0;
        let mut y = 0.0;
        for n in 0..50 {
            let xx = x * x;
            let yy = y * y;
            if xx + yy > 4.0 { return n; }
            y = 2.0 * x * y + im;
            x = xx - yy + re;
        }
        50
    }
}

static PROGRAMS: LazyLock<HashMap<String, Program>> = LazyLock::new(|| compile(SOURCE));

impl ToValue for Vec2 {
    fn to_value(&self) -> Value {
        Value::Composite(vec![self.x.to_value(), self.y.to_value()])
    }
}
impl ToValue for Body {
    fn to_value(&self) -> Value {
        Value::Composite(vec![self.at.to_value(), self.speed.to_value(), self.kind.to_value()])
    }
}

macro_rules! each {
    ($args:tt: $($name:ident)*) => { $(agree!(PROGRAMS, $name $args);)* };
}

fn check_numbers(a: u32, b: u32) {
    let (i, j) = (a.cast_signed(), b.cast_signed());
    let (x, y) = (i as f32 / 16.0, j as f32 / 16.0);
    each!((a): shadowed late literals cast_literals all_return blocks order triangle until_the_end reversed jumps);
    each!((a): rounds_start_anew loop_variable_changes select_in_loop array_of_constants long_array returned_array);
    each!((a): array_of_a_call array_loop truth_array tuple_struct struct_array);
    each!((a, b): mutable_parameter short_and short_or short_call early_return array nested_array);
    each!((i): default_literal reversed_inclusive select);
    each!((i, j): choose inclusive);
    each!((x): float_literal diverging_branch field_of_a_call branch_of_structs);
    each!((x, y): structs mandelbrot);
    each!((x / 1e9, y / 1e9): mandelbrot);
    let truth = a > b;
    each!((truth, b): select_bool);
}

#[test]
pub(super) fn statements_have_the_meaning_of_rust() {
    for a in (0..40).chain([100, u32::MAX, u32::MAX - 2, u32::MAX - 7, 1 << 31]) {
        for b in [0, 1, 2, 5, 30, 100, u32::MAX] {
            check_numbers(a, b);
        }
    }
}

fn check_slices(xs: &[u32], ys: &[u32], a: u32, b: u32) {
    let floats: Vec<f32> = xs.iter().map(|x| *x as f32 / 8.0).collect();
    let others: Vec<f32> = ys.iter().map(|x| *x as f32 / 16.0).collect();
    let (floats, others) = (&floats[..], &others[..]);
    let body = |x: &f32| Body { at: Vec2 { x: *x, y: x + 1.0 }, speed: [*x, -x], kind: 5 };
    let bodies: Vec<Body> = floats.iter().map(body).collect();
    let bodies = &bodies[..];
    each!((xs): sum sum_by_index numbered);
    each!((floats): length_of);
    each!((floats, others): dot);
    each!((xs, ys): numbered_pairs);
    each!((xs, a): item search part_of_part);
    each!((floats, a): item_of_float_slice);
    each!((xs, ys, a): item_of_both gathered);
    each!((xs, a, b): part);
    each!((bodies, a, b): field_of_item);
}

#[test]
pub(super) fn slices_have_the_meaning_of_rust() {
    let xs = [3, 1, 4, 1, 5, 9, 2, 6];
    for length in 0..xs.len() {
        for a in 0..10 {
            for b in [0, 1, 2, 5, u32::MAX] {
                check_slices(&xs[..length], &xs[1..], a, b);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_numbers_have_the_meaning_of_rust(a: u32, b: u32) {
        check_numbers(a, b);
        check_numbers(a & 63, b & 7);
    }

    #[test]
    fn random_slices_have_the_meaning_of_rust(
        xs in prop::collection::vec(0..20u32, 0..12),
        ys: Vec<u32>,
        a in 0..14u32,
        b in 0..14u32,
    ) {
        check_slices(&xs, &ys, a, b);
    }
}

#[test]
pub(super) fn traps_are_those_of_the_operation_that_rust_evaluates() {
    let zero = 0u32;
    for (name, args, kinds) in [("short_and", [1, zero], 0), ("short_or", [1, zero], 0), ("divides", [zero, 1], 1)] {
        let args = args.map(|arg| super::ToArg::to_arg(&arg));
        assert_eq!(super::run(&PROGRAMS[name], &args).1, kinds, "{name}");
    }
}
