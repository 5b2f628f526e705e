//! A closure that runs on another fiber is passed a `cx` of its own. It does not use that of the code around it.

use anabranch::prelude::*;
use anabranch::Cx;

fn child_of_a_scope(cx: &Cx<'_>) {
    cx.scope(|s| s.spawn(|_| cx.yield_now()));
}

fn half_of_a_join(cx: &Cx<'_>) {
    cx.join(|_| (), |_| cx.yield_now());
}

fn fiber(cx: &'static Cx<'static>) {
    anabranch::spawn(|_| cx.yield_now());
}

fn task(cx: &'static Cx<'static>) {
    anabranch::spawn_async(async { cx.yield_now() });
}

fn racer(cx: &Cx<'_>) {
    cx.race_iter(0..3, |_, _| cx.yield_now());
}

fn half_of_a_compute_join(cx: &Cx<'_>) {
    anabranch::join(|| cx.yield_now(), || ());
}

fn parallel_loop(cx: &Cx<'_>) {
    (0..3).into_par_iter().for_each(|_| cx.yield_now());
}

fn main() {}
