//! The bench of kernels: `cargo bench -p anabranch-bench --bench kernels -- --help`.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod workloads;

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;

    use anabranch_bench::machine::Versions;
    use anabranch_bench::options;

    use crate::workloads::{ALL, Settings};

    pub fn main() -> ExitCode {
        let (options, peers, ()) =
            options::parse("Compares kernels with loops by iterators and by hand on this machine.", &ALL);
        let settings = Settings::new(options.quick);
        options.run(options::Bench {
            suite: "kernels",
            workloads: &ALL,
            settings,
            peers,
            threads: &[1],
            versions: Versions::of_ours(),
            legend: "/base: median of the ratios to plain loops\n\
                     in the same round; CPU/b: the same for CPU time.",
            across: &[],
            means: &[],
            nanoseconds_a_step: None,
        })
    }
}
