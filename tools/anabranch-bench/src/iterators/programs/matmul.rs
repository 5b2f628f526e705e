//! The product of two square matrices by Strassen's recursion.
//!
//! A matrix is stored as its four quarters, one after the other, each stored in the same way, down to blocks that are
//! stored row by row. So a quarter is a part of the slice.

use super::library::{join, prelude::*};
use crate::iterators::program::{Program, digest};

/// The side of the blocks that are multiplied directly.
const BLOCK: usize = 32;

/// Two matrices.
pub struct Matmul {
    a: Vec<f32>,
    b: Vec<f32>,
    product: Vec<f32>,
}

impl Matmul {
    /// Creates two matrices of `side` columns and rows, which is a power of two, and at least 32.
    pub fn new(side: usize) -> Matmul {
        // So small that all sums are exact.
        let mut random = fastrand::Rng::with_seed(0x3a7);
        let mut matrix = || (0..side * side).map(|_| random.u8(..4).into()).collect();
        Matmul { a: matrix(), b: matrix(), product: Vec::new() }
    }
}

impl Program for Matmul {
    fn reset(&mut self) {
        self.product = Vec::new();
    }

    fn run(&mut self) -> u64 {
        self.product = product(&self.a, &self.b);
        self.product.len() as u64
    }

    fn digest(&self) -> u64 {
        digest(self.product.iter().map(|x| x.to_bits().into()))
    }
}

fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    if a.len() <= BLOCK * BLOCK {
        return block_product(a, b);
    }
    let [a11, a12, a21, a22] = quarters(a);
    let [b11, b12, b21, b22] = quarters(b);
    let (((m1, m2), (m3, m4)), ((m5, m6), m7)) = join(
        || {
            join(
                || join(|| product(&sum(a11, a22), &sum(b11, b22)), || product(&sum(a21, a22), b11)),
                || join(|| product(a11, &difference(b12, b22)), || product(a22, &difference(b21, b11))),
            )
        },
        || {
            join(
                || join(|| product(&sum(a11, a12), b22), || product(&difference(a21, a11), &sum(b11, b12))),
                || product(&difference(a12, a22), &sum(b21, b22)),
            )
        },
    );
    let mut c = vec![0.0; a.len()];
    let (top, bottom) = c.split_at_mut(a.len() / 2);
    let (c11, c12) = top.split_at_mut(a.len() / 4);
    let (c21, c22) = bottom.split_at_mut(a.len() / 4);
    join(
        || {
            join(
                || {
                    let terms = m1.par_iter().zip(m4.par_iter()).zip(m5.par_iter()).zip(m7.par_iter());
                    c11.par_iter_mut().zip(terms).for_each(|(c, (((m1, m4), m5), m7))| *c = m1 + m4 - m5 + m7);
                },
                || c12.par_iter_mut().zip(m3.par_iter().zip(m5.par_iter())).for_each(|(c, (m3, m5))| *c = m3 + m5),
            )
        },
        || {
            join(
                || c21.par_iter_mut().zip(m2.par_iter().zip(m4.par_iter())).for_each(|(c, (m2, m4))| *c = m2 + m4),
                || {
                    let terms = m1.par_iter().zip(m2.par_iter()).zip(m3.par_iter()).zip(m6.par_iter());
                    c22.par_iter_mut().zip(terms).for_each(|(c, (((m1, m2), m3), m6))| *c = m1 - m2 + m3 + m6);
                },
            )
        },
    );
    c
}

fn sum(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.par_iter().zip(b.par_iter()).map(|(a, b)| a + b).collect()
}

fn difference(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.par_iter().zip(b.par_iter()).map(|(a, b)| a - b).collect()
}

fn quarters(matrix: &[f32]) -> [&[f32]; 4] {
    let (top, bottom) = matrix.split_at(matrix.len() / 2);
    let ((a, b), (c, d)) = (top.split_at(top.len() / 2), bottom.split_at(bottom.len() / 2));
    [a, b, c, d]
}

fn block_product(a: &[f32], b: &[f32]) -> Vec<f32> {
    let mut c = vec![0.0; a.len()];
    for (a, c) in a.chunks_exact(BLOCK).zip(c.chunks_exact_mut(BLOCK)) {
        for (a, b) in a.iter().zip(b.chunks_exact(BLOCK)) {
            for (c, b) in c.iter_mut().zip(b) {
                *c += a * b;
            }
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the index of an item in a matrix of `side`.
    fn at(side: usize, row: usize, column: usize) -> usize {
        if side == BLOCK {
            return row * BLOCK + column;
        }
        let half = side / 2;
        (row / half * 2 + column / half) * half * half + at(half, row % half, column % half)
    }

    #[test]
    fn products_are_those_of_the_definition() {
        let side = 4 * BLOCK;
        let mut program = Matmul::new(side);
        program.run();
        for (row, column) in [(0, 0), (1, 2), (33, 70), (100, 5), (127, 127)] {
            let terms = (0..side).map(|k| program.a[at(side, row, k)] * program.b[at(side, k, column)]);
            assert_eq!(program.product[at(side, row, column)], terms.sum::<f32>(), "{row}, {column}");
        }
    }
}
