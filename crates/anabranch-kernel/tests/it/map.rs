//! Maps, and what they take.

use anabranch_kernel::{Queue, Vector};

use crate::kernels::{elements, saxpy, square};

#[test]
fn map_computes_each_element() {
    let queue = Queue::cpu();
    for len in [0, 1, 31, 32, 33, 1000] {
        let (x, y): (Vec<f32>, Vec<f32>) = (0..len).map(|i| (i as f32, 0.5)).unzip();
        let stored = queue.upload(&x).unwrap();
        let results = saxpy::map((2.0, &stored, &y)).collect(&queue).unwrap();
        let expected: Vec<f32> = x.iter().map(|x| 2.0 * x + 0.5).collect();
        assert_eq!(elements(&results), expected, "{len}");
    }
}

#[test]
fn map_of_a_map_is_fused() {
    let powers = square::map((square::map((&[1, 2, 3],)),)).collect(&Queue::cpu()).unwrap();
    assert_eq!(elements(&powers), [1, 16, 81]);
}
