//! What the closure of a parallel loop does not capture. Each function has one mistake, because others would hide it.

use anabranch::prelude::*;
use std::{cell::Cell, rc::Rc};

fn sum() {
    let mut sum = 0;
    [1, 2, 3].par_iter().for_each(|n| sum += n);
}

fn cell() {
    let cell = Cell::new(1);
    (0..3).into_par_iter().map(|_| cell.get()).min();
}

fn counted() {
    let one = Rc::new(1);
    (0..3).into_par_iter().map(|_| *one).min();
}

fn main() {
    sum();
    cell();
    counted();
}
