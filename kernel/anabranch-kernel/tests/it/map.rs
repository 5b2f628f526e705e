//! Maps, and what they take.

use anabranch_kernel::{Vector, gather, indices, rows, segments, whole};

use crate::kernels::{
    add_eight, bits, choose, cpu, dot, elements, floats, for_all_sizes, halve, is_odd, numbers, saxpy, square, total,
};

#[test]
fn map_computes_each_element_of_any_float() {
    for_all_sizes(|len| {
        let (x, y) = (floats(len, 1), floats(len, 2));
        let stored = cpu().upload(&x).unwrap();
        let results = saxpy::map((-1.5, &stored, &y)).collect(&cpu()).unwrap();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| -1.5 * x + y).collect();
        assert_eq!(bits(&elements(&results)), bits(&expected), "{len}");
    });
}

#[test]
fn denormals_are_kept_on_the_processor() {
    let least = f32::from_bits(2);
    let halves = halve::map((&[least, f32::MIN_POSITIVE],)).collect(&cpu()).unwrap();
    assert_eq!(elements(&halves).iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [1, 0x0040_0000]);
}

#[test]
fn map_of_a_map_is_one_vector() {
    for_all_sizes(|len| {
        let numbers = numbers(len, 3);
        let results = square::map((square::map((&numbers,)),)).collect(&cpu()).unwrap();
        let square = |x: u32| x.wrapping_mul(x);
        assert_eq!(elements(&results), numbers.iter().map(|x| square(square(*x))).collect::<Vec<_>>());
    });
}

#[test]
fn items_between_two_kernels_can_be_bool() {
    let numbers = numbers(100, 4);
    let odd = choose::map((is_odd::map((&numbers,)), &numbers)).collect(&cpu()).unwrap();
    assert_eq!(elements(&odd), numbers.iter().map(|x| if x % 2 == 1 { *x } else { 0 }).collect::<Vec<_>>());
}

#[test]
fn eight_arguments_come_in_order() {
    let v = [1, 2];
    let results = add_eight::map((1, 2, &v, 4, indices(2), 6, &v, 8)).collect(&cpu()).unwrap();
    let expected = |i: u32| [1, 2, i + 1, 4, i, 6, i + 1, 8].iter().fold(0, |a, b| a * 3 + b);
    assert_eq!(elements(&results), [expected(0), expected(1)]);
}

#[test]
fn indices_count() {
    for_all_sizes(|len| {
        let counted = indices(len).collect(&cpu()).unwrap();
        assert_eq!(elements(&counted), (0..len as u32).collect::<Vec<_>>());
    });
}

#[test]
fn gather_takes_elements_by_their_numbers() {
    for_all_sizes(|len| {
        let values = numbers(len, 5);
        let places: Vec<u32> = numbers(len, 6).iter().map(|number| number % len as u32).collect();
        let lazy = square::map((gather(&values, &places),)).collect(&cpu()).unwrap();
        let square = |x: u32| x.wrapping_mul(x);
        assert_eq!(elements(&lazy), places.iter().map(|i| square(values[*i as usize])).collect::<Vec<_>>());
    });
}

#[test]
fn rows_give_each_element_its_row() {
    for (height, width) in [(1, 1), (3, 5), (64, 33), (257, 256)] {
        let matrix: Vec<f32> = (0..height * width).map(|i| (i % 7) as f32).collect();
        let vector: Vec<f32> = (0..width).map(|i| (i % 3) as f32).collect();
        let product = dot::map((rows(&matrix, width), whole(&vector))).collect(&cpu()).unwrap();
        let by_hand = |row: &[f32]| row.iter().zip(&vector).map(|(a, b)| a * b).sum::<f32>();
        assert_eq!(elements(&product), matrix.chunks(width).map(by_hand).collect::<Vec<_>>(), "{height} x {width}");
    }
}

#[test]
fn segments_give_each_element_its_segment() {
    for_all_sizes(|len| {
        let values = numbers(len, 7);
        let mut offsets: Vec<u32> = numbers(len / 3, 8).iter().map(|number| number % (len as u32 + 1)).collect();
        offsets.extend([0, len as u32]);
        offsets.sort_unstable();
        let totals = total::map((segments(&offsets, &values),)).collect(&cpu()).unwrap();
        let by_hand =
            |ends: &[u32]| values[ends[0] as usize..ends[1] as usize].iter().fold(0u32, |a, b| a.wrapping_add(*b));
        assert_eq!(elements(&totals), offsets.windows(2).map(by_hand).collect::<Vec<_>>());
    });
}
