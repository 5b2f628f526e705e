//! Shows the machine code of the loops of a few chains of adapters and of kernels, and checks that it is vectorised
//! where that of plain iterators is.
//!
//! ```text
//! cargo run --release -p anabranch-bench --example show_iterators
//! cargo run --release -p anabranch-bench --example show_iterators -- --listing
//! ```
//!
//! Each chain is compiled alone, once with plain iterators and once with parallel ones or kernels, so all functions in
//! the output of the compiler belong to it. The check looks at the innermost loops: those that have the packed
//! instructions of the plain one's, which work on several numbers at once.

use std::process::ExitCode;

fn main() -> ExitCode {
    match linux::show(std::env::args().any(|argument| argument == "--listing")) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

mod linux {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;
    use std::fs;

    use anabranch_bench::compiler::{Folder, Library};

    /// A chain: its name, the function's signature, the plain body, and the parallel one.
    type Chain = (&'static str, &'static str, &'static str, &'static str);

    const CHAINS: [Chain; 6] = [
        ("sum of u32", "xs: &[u32]) -> u32", "xs.iter().sum()", "xs.par_iter().sum()"),
        (
            "sum of squares of u32",
            "xs: &[u32]) -> u32",
            "xs.iter().map(|x| x * x).sum()",
            "xs.par_iter().map(|x| x * x).sum()",
        ),
        (
            "dot product of i32",
            "xs: &[i32], ys: &[i32]) -> i32",
            "xs.iter().zip(ys).map(|(x, y)| x * y).sum()",
            "xs.par_iter().zip(ys).map(|(x, y)| x * y).sum()",
        ),
        (
            "dot product of f32",
            "xs: &[f32], ys: &[f32]) -> f32",
            "xs.iter().zip(ys).map(|(x, y)| x * y).sum()",
            "xs.par_iter().zip(ys).map(|(x, y)| x * y).sum()",
        ),
        (
            "map of u32 into a Vec",
            "xs: &[u32]) -> Vec<u32>",
            "xs.iter().map(|x| x ^ 5).collect()",
            "xs.par_iter().map(|x| x ^ 5).collect()",
        ),
        (
            "f32 multiplied in place",
            "xs: &mut [f32]) -> ()",
            "xs.iter_mut().for_each(|x| *x *= 3.0)",
            "xs.par_iter_mut().for_each(|x| *x *= 3.0)",
        ),
    ];

    const PRELUDE: &str = "use anabranch::prelude::*;\n";

    /// The plain dot product has 16 sums, as the kernels' one. A compiler must not do that to floats by itself.
    const KERNELS: [Chain; 2] = [
        (
            "saxpy by a kernel",
            "xs: &[f32], ys: &[f32]) -> Vec<f32>",
            "xs.iter().zip(ys).map(|(x, y)| saxpy(1.5, *x, *y)).collect()",
            "saxpy::map(1.5, xs, ys).collect(&Queue::cpu()).unwrap().into_vec().unwrap()",
        ),
        (
            "dot product by a kernel",
            "xs: &[f32], ys: &[f32]) -> f32",
            "let mut sums = [0.0; 16];
            for (x, y) in xs.as_chunks::<16>().0.iter().zip(ys.as_chunks::<16>().0) {
                for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
                    *sum += multiply(*x, *y);
                }
            }
            sums.into_iter().sum()",
            "multiply::map(xs, ys).sum(&Queue::cpu()).unwrap().into_value().unwrap()",
        ),
    ];

    const KERNEL_PRELUDE: &str = "use anabranch_kernel::{Queue, Vector, kernel};
        #[kernel] fn saxpy(a: f32, x: f32, y: f32) -> f32 { a * x + y }
        #[kernel] fn multiply(x: f32, y: f32) -> f32 { x * y }\n";

    pub fn show(with_listing: bool) -> Result<String, String> {
        let folder = Folder::new("show-iterators");
        let iterators = Library::find(&folder, "anabranch", PRELUDE);
        let kernels = Library::find(&folder, "anabranch_kernel", KERNEL_PRELUDE);
        let of = |library, prelude, chains: &'static [Chain]| chains.iter().map(move |chain| (library, prelude, chain));
        let mut text = String::new();
        let mut is_good = true;
        for (library, prelude, (name, signature, plain, parallel)) in
            of(&iterators, PRELUDE, &CHAINS).chain(of(&kernels, KERNEL_PRELUDE, &KERNELS))
        {
            let loops = |body| -> Result<Vec<Loop>, String> {
                let source = format!("#![allow(unused)]\n{prelude}pub fn run({signature} {{\n    {body}\n}}\n");
                let options = ["--crate-type=lib", "--emit=asm", "-Copt-level=3", "-Ccodegen-units=1", "-Cdebuginfo=0"];
                let output =
                    library.rustc(&folder, "chain", &source, &options).output().map_err(|error| error.to_string())?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).into_owned());
                }
                let assembly = fs::read_to_string(folder.output("chain")).map_err(|error| error.to_string())?;
                Ok(loops_of(&assembly))
            };
            let (plain, parallel) = (loops(plain)?, loops(parallel)?);
            let wanted = plain.iter().max_by_key(|plain| plain.packed().len());
            let wanted_kinds = wanted.map(Loop::packed).unwrap_or_default();
            let matching: Vec<&Loop> = parallel.iter().filter(|one| wanted_kinds.is_subset(&one.packed())).collect();
            let is_met = wanted_kinds.is_empty() || !matching.is_empty();
            is_good &= is_met;
            let kinds: Vec<&str> = wanted_kinds.iter().copied().collect();
            let verdict = match (is_met, kinds.is_empty()) {
                (false, _) => "MISSED  plain loop packed, parallel one not".to_owned(),
                (true, true) => "equal   no packed instructions in the plain loop".to_owned(),
                (true, false) => {
                    format!("met     {} parallel loops have the plain one's {}", matching.len(), kinds.join(", "))
                }
            };
            let _ = writeln!(text, "{name:<24} {verdict}");
            if with_listing {
                let listing =
                    |one: Option<&Loop>| one.map_or_else(|| "    none".to_owned(), |one| one.lines.join("\n"));
                let shown = matching.iter().copied().min_by_key(|one| one.lines.len()).or(parallel.first());
                let _ = writeln!(text, "  plain\n{}\n  parallel\n{}", listing(wanted), listing(shown));
            }
        }
        if is_good { Ok(text) } else { Err(text) }
    }

    /// An innermost loop.
    struct Loop {
        lines: Vec<String>,
    }

    impl Loop {
        /// Returns the instructions on several numbers at once: arithmetic on all of a register.
        fn packed(&self) -> BTreeSet<&'static str> {
            const PACKED: [&str; 10] =
                ["paddd", "paddq", "pmuludq", "pmulld", "pxor", "xorps", "xorpd", "mulps", "addps", "mulpd"];
            let verb =
                |line: &String| line.split_whitespace().next().map(|verb| verb.trim_start_matches('v').to_owned());
            let verbs: Vec<String> = self.lines.iter().filter_map(verb).collect();
            PACKED.into_iter().filter(|packed| verbs.iter().any(|verb| verb == packed)).collect()
        }
    }

    /// Returns the innermost loops of all functions: the lines from a label to a jump back to it, without a label of
    /// another such jump between.
    fn loops_of(assembly: &str) -> Vec<Loop> {
        let lines: Vec<&str> = assembly.lines().filter(|line| !line.trim_start().starts_with(".cfi")).collect();
        let label = |line: &str| line.strip_suffix(':').filter(|label| label.starts_with(".L")).map(str::to_owned);
        let mut loops: Vec<(usize, usize)> = Vec::new();
        for (end, line) in lines.iter().enumerate() {
            let mut words = line.split_whitespace();
            let (Some(verb), Some(target)) = (words.next(), words.next()) else { continue };
            if !verb.starts_with('j') {
                continue;
            }
            // Labels are unique in a file.
            if let Some(start) = lines[..end].iter().position(|line| label(line).as_deref() == Some(target)) {
                loops.push((start, end));
            }
        }
        let is_inner = |&(start, end): &(usize, usize)| {
            !loops.iter().any(|&(other, last)| (other, last) != (start, end) && start <= other && last <= end)
        };
        let inner = loops.iter().copied().filter(is_inner);
        inner
            .map(|(start, end)| Loop { lines: lines[start..=end].iter().map(|line| (*line).to_owned()).collect() })
            .collect()
    }
}
