//! What a parallel loop does not run over, and what to write instead.

use anabranch::prelude::*;
use std::{cell::Cell, rc::Rc};

fn main() {
    let numbers = [1, 2, 3];
    numbers.iter().par_bridge().zip(&numbers).for_each(|_| ());
    numbers.iter().into_par_iter().for_each(|_| ());
    5.into_par_iter().for_each(|_| ());
    numbers.par_iter().filter(|_| true).enumerate().for_each(|_| ());
    [Rc::new(1)].par_iter().for_each(|_| ());
    [Cell::new(1)].par_iter().for_each(|_| ());
    numbers.par_iter().map(|n| Rc::new(*n)).for_each(|_| ());
    let mut sum = 0;
    numbers.par_iter().for_each(|n| sum += n);
}
