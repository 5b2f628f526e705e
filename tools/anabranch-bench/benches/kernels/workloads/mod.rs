//! Kernels on the processor, compared with the same loops by parallel iterators and by hand.
//!
//! A workload is a function of elements, which all three call. So they differ only in the loop around it.

pub mod dot;
mod kind;
mod mandelbrot;
mod n_body;
pub mod saxpy;
pub mod workload;

use std::time::Duration;

pub use self::kind::Kind;
use self::workload::Workload;
use anabranch_bench::contest::Listed;

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// By how much sizes and samples are smaller than usual.
    pub divisor: usize,
}

impl Settings {
    /// Returns the usual sizes, or those for `--quick`.
    pub fn new(is_quick: bool) -> Settings {
        Settings { divisor: if is_quick { 10 } else { 1 } }
    }

    fn budget(&self) -> Duration {
        Duration::from_millis(100) / self.divisor as u32
    }

    fn large(&self, count: usize) -> usize {
        (count / self.divisor).max(1)
    }
}

/// All workloads: the name on the command line, and how to build it.
pub const ALL: [Listed<Kind, Settings>; 6] = [
    ("saxpy-10k", |settings| {
        Box::new(Workload::new("saxpy of 10,000 f32, in cache", settings, || saxpy::Saxpy::new(10_000)))
    }),
    ("saxpy", |settings| {
        let count = settings.large(10_000_000);
        Box::new(Workload::new(format!("saxpy of {count} f32"), settings, move || saxpy::Saxpy::new(count)))
    }),
    ("dot-10k", |settings| {
        Box::new(Workload::new("dot product of 10,000 f32, in cache", settings, || dot::Dot::new(10_000)))
    }),
    ("dot", |settings| {
        let count = settings.large(10_000_000);
        Box::new(Workload::new(format!("dot product of {count} f32"), settings, move || dot::Dot::new(count)))
    }),
    ("mandelbrot", |settings| {
        let side = settings.large(500);
        let title = format!("the Mandelbrot set, {side} x {side} points");
        Box::new(Workload::new(title, settings, move || mandelbrot::Mandelbrot::new(side)))
    }),
    ("n-body", |settings| {
        let count = settings.large(2_000);
        let title = format!("the pull on each of {count} bodies");
        Box::new(Workload::new(title, settings, move || n_body::NBody::new(count)))
    }),
];

/// Returns the parts of a slice, one for each thread.
fn parts<T>(slice: &[T], threads: usize) -> impl Iterator<Item = &[T]> {
    slice.chunks(slice.len().div_ceil(threads).max(1))
}
