//! A program on parallel iterators, and its three translations.

use std::thread;

use crate::iterators::kind::Kind;

/// A program with its data.
pub trait Program: Send {
    /// Restores the input if [`run`](Self::run) changes it, and drops the output. It is not measured.
    fn reset(&mut self) {}

    /// Runs the program, and returns a number that depends on the result.
    fn run(&mut self) -> u64;

    /// Returns a number that depends on the output of the last run. It is not measured.
    fn digest(&self) -> u64 {
        0
    }

    /// Runs the program without a library, in equal parts on `threads` threads of std.
    ///
    /// # Panics
    /// Panics if the program has no such form.
    fn run_by_hand(&mut self, _threads: usize) -> u64 {
        panic!("this program is not cut by hand")
    }
}

/// Makes a program.
pub type Make = Box<dyn Fn() -> Box<dyn Program> + Send + Sync>;

/// A program, compiled for each library.
pub struct Translations {
    /// With [`plain`](crate::iterators::plain).
    pub plain: Make,
    /// With anabranch.
    pub anabranch: Make,
    /// With rayon.
    #[cfg(feature = "peers")]
    pub rayon: Make,
}

impl Translations {
    /// Makes the program for the library of `kind`.
    pub fn make(&self, kind: Kind) -> Box<dyn Program> {
        match kind {
            Kind::Plain | Kind::Hand => (self.plain)(),
            Kind::Anabranch => (self.anabranch)(),
            #[cfg(feature = "peers")]
            Kind::Rayon => (self.rayon)(),
            #[cfg(not(feature = "peers"))]
            Kind::Rayon => panic!("rayon was not compiled in"),
        }
    }
}

/// Calls each of `parts` on a thread, the first one on this thread, and returns the sum of the results.
pub fn on_threads<F: FnOnce() -> u64 + Send>(parts: impl IntoIterator<Item = F>) -> u64 {
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return 0 };
    thread::scope(|s| {
        let others: Vec<_> = parts.map(|part| s.spawn(part)).collect();
        let first = first();
        others.into_iter().map(|other| other.join().expect("a part panics")).sum::<u64>() + first
    })
}

/// Returns a number that depends on the values and on their order.
pub fn digest(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0x5eed, |digest: u64, value| (digest.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
