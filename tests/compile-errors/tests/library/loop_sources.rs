//! What a parallel loop does not run over, and what to write instead.

use anabranch::prelude::*;
use std::{cell::Cell, ptr::null, rc::Rc};

#[derive(Clone, Copy)]
struct NotSend(*const ());

unsafe impl Sync for NotSend {}

fn main() {
    let numbers = [1, 2, 3];
    numbers.iter().par_bridge().zip(&numbers).for_each(|_| ());
    numbers.iter().into_par_iter().for_each(|_| ());
    5.into_par_iter().for_each(|_| ());
    numbers.par_iter().filter(|_| true).enumerate().for_each(|_| ());
    [Rc::new(1)].par_iter().for_each(|_| ());
    [Cell::new(1)].par_iter().for_each(|_| ());
    numbers.par_iter().map(|n| Rc::new(*n)).for_each(|_| ());
    numbers.par_iter().zip(numbers.par_iter().filter(|_| true)).for_each(|_| ());
    numbers.par_iter().filter_map(|n| Some(n)).collect_into_vec(&mut vec![]);
    vec![Rc::new(1)].into_par_iter().map(|n| *n).collect_into_vec(&mut vec![]);
    let one = Some(NotSend(null()));
    one.par_iter().map(|x| *x).count();
    one.par_iter().filter_map(|x| Some(*x)).count();
    one.par_iter().cloned().count();
}
