//! The game of life, one cell an item.

use super::library::prelude::*;
use crate::iterators::program::{Program, digest};

/// A board, and the number of generations to compute.
pub struct Life {
    side: usize,
    generations: usize,
    first: Vec<bool>,
    cells: Vec<bool>,
}

impl Life {
    /// Creates a random square board. A border of dead cells surrounds it.
    pub fn new(side: usize, generations: usize) -> Life {
        let mut random = fastrand::Rng::with_seed(0x11fe);
        let wide = side + 2;
        let is_inside = |at: usize| (1..=side).contains(&(at % wide)) && (1..=side).contains(&(at / wide));
        let first = (0..wide * wide).map(|at| is_inside(at) && random.bool()).collect();
        Life { side, generations, first, cells: Vec::new() }
    }

    fn lives_next(&self, at: usize) -> bool {
        let wide = self.side + 2;
        let (x, y) = (at % wide, at / wide);
        if x == 0 || y == 0 || x > self.side || y > self.side {
            return false;
        }
        let above = at - wide;
        let below = at + wide;
        let around = [above - 1, above, above + 1, at - 1, at + 1, below - 1, below, below + 1];
        let alive = around.iter().filter(|at| self.cells[**at]).count();
        alive == 3 || (alive == 2 && self.cells[at])
    }
}

impl Program for Life {
    fn reset(&mut self) {
        self.cells.clone_from(&self.first);
    }

    fn run(&mut self) -> u64 {
        for _ in 0..self.generations {
            self.cells = (0..self.cells.len()).into_par_iter().map(|at| self.lives_next(at)).collect();
        }
        self.cells.par_iter().filter(|cell| **cell).count() as u64
    }

    fn digest(&self) -> u64 {
        digest(self.cells.iter().map(|cell| u64::from(*cell)))
    }
}
