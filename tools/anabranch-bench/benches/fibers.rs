//! The bench of fibers: `cargo bench -p anabranch-bench --bench fibers -- --help`.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;

    use anabranch_bench::fibers::peers::{Kind, go};
    use anabranch_bench::fibers::workloads::{ALL, Settings};
    use anabranch_bench::machine::Versions;
    use anabranch_bench::options::{self, Bench};

    pub fn main() -> ExitCode {
        let (options, mut peers, ()) = options::parse("Compares fibers, tasks and goroutines on this machine.", &ALL);
        let versions = go::prepare(&mut peers, Kind::Go, Versions::of_fibers(), env!("CARGO_TARGET_TMPDIR"));
        let settings = Settings { quick: options.quick };
        options.run(Bench {
            suite: "fibers",
            workloads: &ALL,
            settings,
            peers,
            threads: &[1, 2],
            versions,
            legend: "/base: median of the ratios to\n\
                     anabranch with as many threads in the same round; CPU/b: the same for CPU time.",
            across: &[],
            means: &[],
            nanoseconds_a_step: None,
        })
    }
}
