//! The time of the compiler for a program of fifty chains of adapters.
//!
//! The compiler alone is measured, without cargo, and with the library already compiled: a check, as `cargo check`
//! makes it, and a build with optimisation and the linker, as `cargo build --release` does.

use std::fmt::Write as _;

use crate::bench::{AnyWorkload, Threads};
use crate::compiler::{Folder, Library};
use crate::iterators::kind::Kind;
use crate::sample::Sample;
use crate::stopwatch::metered;
use crate::target::{Limit, Target};

/// The number of chains.
const CHAINS: usize = 50;

/// Compiles a program of many chains.
pub struct Compile {
    /// Whether machine code is made.
    pub is_build: bool,
}

impl Compile {
    fn options(&self) -> &'static [&'static str] {
        if self.is_build {
            &["--crate-type=bin", "--emit=link", "-Copt-level=3"]
        } else {
            &["--crate-type=bin", "--emit=metadata"]
        }
    }
}

impl AnyWorkload<Kind> for Compile {
    fn title(&self) -> String {
        let what = if self.is_build { "builds, with optimisation" } else { "checks" };
        format!("the compiler {what}, a program of {CHAINS} chains")
    }

    fn unit(&self) -> &'static str {
        "ms"
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(1)
    }

    fn rounds(&self, asked: usize) -> usize {
        asked
    }

    fn suits(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Anabranch | Kind::Rayon)
    }

    fn targets(&self) -> Vec<Target<Kind>> {
        vec![Target::new("at most as long as rayon", Limit::Ratio { to: Kind::Rayon, threads: None, most: 1.0 })]
    }

    fn sample_with(&self, kind: Kind, _threads: usize) -> Sample {
        let name = if kind == Kind::Rayon { "rayon" } else { "anabranch" };
        let folder = Folder::new("chains");
        let library = Library::find(&folder, name, &format!("pub use {name}::prelude::*;"));
        let mut command = library.rustc(&folder, "chains", &source(name), self.options());
        let (output, meter) = metered(|| command.output().expect("the compiler runs"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Sample::per_unit(meter, 1.0, 1e-3)
    }
}

/// Returns the program. Each chain has closures of its own, and so types of its own.
fn source(library: &str) -> String {
    /// The chains. `N` is the number of the chain.
    const FORMS: [&str; 10] = [
        "xs.par_iter().map(|x| x * N).sum::<u64>()",
        "xs.par_iter().filter(|x| *x % 7 == N % 7).count() as u64",
        "xs.par_iter().enumerate().map(|(i, x)| i as u64 ^ (x + N)).collect::<Vec<u64>>().len() as u64",
        "xs.par_iter().zip(ys).map(|(x, y)| x * y + N).reduce(|| 0, |a, b| a.max(b))",
        "xs.par_chunks(64).map(|xs| xs.iter().sum::<u64>() + N).max().unwrap_or(0)",
        "xs.par_iter().fold(|| N, |sum, x| sum ^ x).reduce(|| 0, |a, b| a ^ b)",
        "xs.par_iter().filter_map(|x| x.checked_sub(N)).map(|x| (x % 9, x)).collect::<HashMap<_, _>>().len() as u64",
        "(0..N).into_par_iter().flat_map_iter(|i| (0..i % 5).map(move |j| i * j)).sum::<u64>()",
        "xs.par_iter().copied().find_any(|x| *x == N).unwrap_or(N) + u64::from(ys.par_iter().any(|y| *y == N))",
        "ys.par_iter().map(|y| y + N).rev().take(1000).min_by_key(|y| y % 100).unwrap_or(N)",
    ];
    let mut text = format!("#![allow(unused)]\nuse {library}::prelude::*;\nuse std::collections::HashMap;\n\n");
    let mut calls = String::new();
    for chain in 0..CHAINS {
        let form = FORMS[chain % FORMS.len()].replace('N', &format!("{}", chain + 1));
        let _ = writeln!(text, "fn chain{chain}(xs: &[u64], ys: &[u64]) -> u64 {{\n    {form}\n}}\n");
        let _ = writeln!(calls, "    println!(\"{{}}\", chain{chain}(&xs, &ys));");
    }
    let inputs = "    let xs: Vec<u64> = (0..1000).collect();\n    let ys: Vec<u64> = (0..1000).rev().collect();\n";
    let _ = write!(text, "fn main() {{\n{inputs}{calls}}}\n");
    text
}
