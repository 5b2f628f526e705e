//! The programs. `super::library` is the library that they use: this module is compiled once for each of the three.

use super::library;

pub mod collect;
pub mod life;
pub mod loops;
pub mod matmul;
pub mod mergesort;
pub mod n_body;
pub mod nested;
pub mod quicksort;
pub mod sieve;
pub mod sorts;
pub mod sums;
pub mod text;
pub mod tsp;
