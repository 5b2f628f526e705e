//! The workloads: those of rayon-demo that the bench of Anabranch's iterators has ported, and some short ones.

use crate::{
    iterators::{input::Shape, program::Program},
    ported::programs::{collect, life, loops, matmul, mergesort, n_body, quicksort, sieve, sorts, sums, tsp},
};
use rayon::prelude::*;
use std::hint::black_box;

/// What a workload stands for.
#[derive(Clone, Copy, PartialEq)]
pub enum Grain {
    /// Little work between forks, so the forks are what is measured.
    Fine,
    /// A program of rayon-demo.
    Demo,
}

type Make = fn() -> Box<dyn Program>;

/// The name on the command line, the grain, and the program.
pub const ALL: [(&str, Grain, Make); 17] = [
    ("fib", Grain::Fine, || Box::new(Fib(27))),
    ("join-increment", Grain::Fine, || Box::new(Increment(vec![0; 1 << 20]))),
    ("sum-1k", Grain::Fine, || Box::new(Many(1_000, sums::MapSum::new(1_000)))),
    ("sum-1k-inside", Grain::Fine, || Box::new(Inside(Many(1_000, sums::MapSum::new(1_000))))),
    ("nested", Grain::Fine, || Box::new(crate::ported::programs::nested::Nested::new(1_000))),
    ("collect", Grain::Demo, || Box::new(collect::Map::new(2_000_000))),
    ("find", Grain::Demo, || Box::new(Find((0..4_000_000).collect()))),
    ("life", Grain::Demo, || Box::new(life::Life::new(200, 20))),
    ("matmul", Grain::Demo, || Box::new(matmul::Matmul::new(256))),
    ("mergesort", Grain::Demo, || Box::new(mergesort::Mergesort::new(500_000))),
    ("n-body", Grain::Demo, || Box::new(n_body::NBody::new(1_000, 2))),
    ("pythagoras", Grain::Demo, || Box::new(Pythagoras(500))),
    ("quicksort", Grain::Demo, || Box::new(quicksort::Quicksort::new(500_000))),
    ("sieve", Grain::Demo, || Box::new(sieve::Sieve::new(10_000_000))),
    ("sort", Grain::Demo, || Box::new(sorts::Numbers::new(1_000_000, Shape::Random))),
    ("spins", Grain::Demo, || Box::new(loops::Spins::ramp(3_000))),
    ("tsp", Grain::Demo, || Box::new(tsp::Tsp::new(11))),
];

/// The Fibonacci numbers by their definition.
struct Fib(u32);

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

impl Program for Fib {
    fn run(&mut self) -> u64 {
        fib(black_box(self.0))
    }
}

/// Adds one to each element, in halves down to eight elements.
struct Increment(Vec<u64>);

fn increment(values: &mut [u64]) {
    if values.len() <= 8 {
        return values.iter_mut().for_each(|value| *value += 1);
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    rayon::join(|| increment(left), || increment(right));
}

impl Program for Increment {
    fn run(&mut self) -> u64 {
        increment(&mut self.0);
        self.0[0]
    }
}

/// Runs a short program many times.
struct Many<P>(usize, P);

impl<P: Program> Program for Many<P> {
    fn run(&mut self) -> u64 {
        (0..self.0).map(|_| self.1.run()).fold(0, u64::wrapping_add)
    }
}

/// Runs a program from inside of the pool.
struct Inside<P>(P);

impl<P: Program> Program for Inside<P> {
    fn run(&mut self) -> u64 {
        rayon::scope(|_| self.0.run())
    }
}

/// Finds an element near the end.
struct Find(Vec<u32>);

impl Program for Find {
    fn run(&mut self) -> u64 {
        let wanted = black_box(self.0.len() as u32 - 1_000);
        self.0.par_iter().find_first(|value| **value == wanted).map_or(0, |value| u64::from(*value))
    }
}

/// Counts the triples of Pythagoras, by nested parallel iterators.
struct Pythagoras(u32);

impl Program for Pythagoras {
    fn run(&mut self) -> u64 {
        let most = black_box(self.0);
        let hypotenuse = move |a: u32, b: u32| {
            let square = a * a + b * b;
            let root = f64::from(square).sqrt() as u32;
            root * root == square
        };
        let count = |a: u32| (a..most).into_par_iter().filter(|b| hypotenuse(a, *b)).count() as u64;
        (1..most).into_par_iter().map(count).sum()
    }
}
