//! Reductions and scans.

use anabranch_kernel::{Kernel, Number, Vector};

use crate::kernels::{compose, cpu, elements, floats, for_all_sizes, larger, numbers, square};

type Add = <u32 as Number>::Add;

/// Returns affine maps.
fn affine(len: usize) -> Vec<[u32; 2]> {
    numbers(len, 1).into_iter().zip(numbers(len, 2)).map(|(a, b)| [a | 1, b]).collect()
}

fn composed(f: [u32; 2], g: [u32; 2]) -> [u32; 2] {
    [f[0].wrapping_mul(g[0]), f[1].wrapping_mul(g[0]).wrapping_add(g[1])]
}

#[test]
fn sums_of_integers_wrap() {
    for_all_sizes(|len| {
        let numbers = numbers(len, 1);
        let signed: Vec<i32> = numbers.iter().map(|number| number.cast_signed()).collect();
        let (unsigned, signed) = (numbers.sum(&cpu()).unwrap(), signed.sum(&cpu()).unwrap());
        let expected = numbers.iter().fold(0u32, |a, b| a.wrapping_add(*b));
        anabranch::run(|cx| {
            assert_eq!(unsigned.wait(cx), Ok(expected), "{len}");
            assert_eq!(signed.wait(cx), Ok(expected.cast_signed()), "{len}");
        });
    });
}

/// Adds arrays that are too large for several lanes.
enum AddWide {}

impl Kernel for AddWide {
    type Params = ([u32; 40], [u32; 40]);
    type Output = [u32; 40];
    const NAME: &'static str = "add_wide";
    const PROGRAM: &'static [u8] = &[];

    fn call((a, b): ([u32; 40], [u32; 40])) -> [u32; 40] {
        std::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }
}

#[test]
fn large_elements_are_reduced() {
    for_all_sizes(|len| {
        let numbers = numbers(len.min(1000), 1);
        let wide: Vec<[u32; 40]> = numbers.iter().map(|number| [*number; 40]).collect();
        let sum = wide.reduce::<AddWide>(&cpu(), [0; 40]).unwrap();
        let expected = numbers.iter().fold(0u32, |a, b| a.wrapping_add(*b));
        assert_eq!(sum.into_value().unwrap(), [expected; 40]);
    });
}

#[test]
fn sums_of_floats_are_exact_where_every_order_is() {
    for_all_sizes(|len| {
        let small: Vec<f32> = numbers(len, 1).iter().map(|number| (number % 16) as f32 - 8.0).collect();
        let sum = small.sum(&cpu()).unwrap();
        assert_eq!(anabranch::run(|cx| sum.wait(cx)), Ok(small.iter().sum::<f32>()), "{len}");
    });
}

#[test]
fn sum_of_infinities_or_nan_is_nan() {
    for extra in [f32::NAN, f32::INFINITY] {
        let mut values = vec![1.0; 100];
        (values[7], values[40]) = (extra, f32::NEG_INFINITY);
        let sum = values.sum(&cpu()).unwrap();
        assert!(anabranch::run(|cx| sum.wait(cx)).unwrap().is_nan());
    }
}

#[test]
fn least_and_greatest_ignore_nan() {
    for_all_sizes(|len| {
        let values = floats(len, 1);
        let (least, greatest) = ((&values).min(&cpu()).unwrap(), (&values).max(&cpu()).unwrap());
        anabranch::run(|cx| {
            assert_eq!(least.wait(cx), Ok(values.iter().copied().fold(f32::INFINITY, f32::min)), "{len}");
            assert_eq!(greatest.wait(cx), Ok(values.iter().copied().fold(f32::NEG_INFINITY, f32::max)), "{len}");
        });
    });
}

#[test]
fn reduce_combines_structs_behind_a_map() {
    for_all_sizes(|len| {
        let pairs: Vec<[u32; 2]> = numbers(len, 3).into_iter().zip(numbers(len, 4)).map(|(a, b)| [a % 9, b]).collect();
        let best = pairs.reduce::<larger>(&cpu(), [0, 0]).unwrap();
        let squares = square::map((&numbers(len, 5),)).reduce::<Add>(&cpu(), 0).unwrap();
        let expected = numbers(len, 5).iter().fold(0u32, |sum, x| sum.wrapping_add(x.wrapping_mul(*x)));
        anabranch::run(|cx| {
            assert_eq!(best.wait(cx), Ok(pairs.iter().copied().max().unwrap_or_default()));
            assert_eq!(squares.wait(cx), Ok(expected));
        });
    });
}

#[test]
fn scans_keep_the_order() {
    for_all_sizes(|len| {
        let maps = affine(len);
        let inclusive = elements(&maps.scan::<compose>(&cpu(), [1, 0]).unwrap());
        let exclusive = elements(&maps.exclusive_scan::<compose>(&cpu(), [1, 0]).unwrap());
        let mut before = [1, 0];
        for (index, map) in maps.iter().enumerate() {
            assert_eq!(exclusive[index], before, "{index} of {len}");
            before = composed(before, *map);
            assert_eq!(inclusive[index], before, "{index} of {len}");
        }
        assert_eq!((inclusive.len(), exclusive.len()), (len, len));
    });
}

#[test]
fn async_code_can_wait_for_a_reduction() {
    let sum = [1, 2, 3].sum(&cpu()).unwrap();
    let sum = anabranch::run(|cx| cx.block_on(async { sum.await.unwrap() }));
    assert_eq!(sum, Ok(6));
}
