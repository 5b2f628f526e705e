//! Parallel iterators that nothing consumes: each statement does nothing, and the compiler says so.

#![deny(unused_must_use)]

use anabranch::{iter, prelude::*};

fn main() {
    let v: Vec<Option<u32>> = (0..100).map(Some).collect();
    let mut changed = v.clone();
    v.par_iter();
    changed.par_iter_mut();
    v.par_chunks(2);
    changed.par_chunks_mut(2);
    v.par_windows(2);
    v.par_split(Option::is_none);
    v.iter().par_bridge();
    v.iter().par_bridge_ordered();
    iter::split(0, |n| (n, None));
    iter::walk_tree(0, |n| vec![n + 1]);
    anabranch::run(|cx| {
        v.par_iter().cancelled_by(cx);
    });
    v.par_iter().by_exponential_blocks();
    v.par_iter().by_uniform_blocks(2);
    v.par_iter().chain(&v);
    v.par_iter().chunks(2);
    v.par_iter().cloned();
    v.par_iter().copied();
    v.par_iter().dedup();
    v.par_iter().dedup_by_key(|x| **x);
    v.par_iter().deterministic();
    v.par_iter().enumerate();
    v.par_iter().filter(|_| true);
    v.par_iter().filter_map(|x| *x);
    v.par_iter().flat_map(|x| *x);
    v.par_iter().flat_map_iter(|x| *x);
    v.par_iter().flatten();
    v.par_iter().flatten_iter();
    v.par_iter().fold(|| 0, |x, _| x);
    v.par_iter().fold_chunks(2, || 0, |x, _| x);
    v.par_iter().fold_chunks_with(2, 0, |x, _| x);
    v.par_iter().fold_with(0, |x, _| x);
    v.par_iter().inspect(|_| {});
    v.par_iter().interleave(&v);
    v.par_iter().interleave_shortest(&v);
    v.par_iter().intersperse(&None);
    v.par_iter().map(|x| x);
    v.par_iter().map_init(|| 0, |_, x| x);
    v.par_iter().map_with(0, |_, x| x);
    v.par_iter().panic_fuse();
    v.par_iter().positions(|_| true);
    v.par_iter().progress(|_| ());
    v.par_iter().rev();
    v.par_iter().skip(1);
    v.par_iter().skip_any(1);
    v.par_iter().skip_any_while(|_| true);
    v.par_iter().skip_while(|_| true);
    v.par_iter().step_by(2);
    v.par_iter().take(1);
    v.par_iter().take_any(1);
    v.par_iter().take_any_while(|_| true);
    v.par_iter().take_while(|_| true);
    v.par_iter().try_fold(|| 0, |x, _| Some(x));
    v.par_iter().try_fold_with(0, |x, _| Some(x));
    v.par_iter().update(|_| {});
    v.par_iter().cloned().while_some();
    v.par_iter().with_max_len(1);
    v.par_iter().with_min_len(1);
    v.par_iter().zip(&v);
    v.par_iter().zip_eq(&v);
    (&v, &v).into_par_iter();
}
