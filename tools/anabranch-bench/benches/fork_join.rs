//! The bench of fork-join: `cargo bench -p anabranch-bench --bench fork_join -- --help`.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;

    use anabranch_bench::machine::Versions;
    use anabranch_bench::options::{self, Bench};
    use anabranch_bench::workloads::fib::Fib;
    use anabranch_bench::workloads::{ALL, Settings, Spinner};

    #[derive(clap::Args)]
    struct Own {
        /// Which Fibonacci number to compute [default: 37, or 32 with --quick]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=50))]
        fib: Option<u32>,
    }

    pub fn main() -> ExitCode {
        // Before any thread exists: the unbalanced tree is 1,500 levels deep, and a thread that waits by running other
        // jobs may have several such recursions on its stack. rayon, chili and forte start threads through std, which
        // reads this variable once.
        // SAFETY: this process has only this thread, so no other thread reads the environment meanwhile.
        unsafe { std::env::set_var("RUST_MIN_STACK", (64 << 20).to_string()) };

        let (options, peers, Own { fib }) = options::parse("Compares fork-join libraries on this machine.", &ALL);
        let quick = options.quick;
        let spinner = Spinner::calibrate();
        let settings = Settings { quick, fib: fib.unwrap_or(if quick { Fib::QUICK } else { Fib::USUAL }), spinner };
        options.run(Bench {
            suite: "fork_join",
            workloads: &ALL,
            settings,
            peers,
            threads: if quick { &[1, 2, 8] } else { &[1, 2, 4, 8, 16, 32] },
            versions: Versions::of_fork_join(),
            legend: "/base: median of the ratios to plain\n\
                     recursion in the same round; CPU/b: the same for CPU time. dflt: the default pool's threads.",
            across: &[],
            means: &[],
            nanoseconds_a_step: Some(spinner.nanoseconds_a_step()),
        })
    }
}
