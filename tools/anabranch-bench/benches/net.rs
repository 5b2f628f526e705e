//! The bench of sockets: `cargo bench -p anabranch-bench --bench net -- --help`.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;

    use anabranch_bench::fibers::peers::go;
    use anabranch_bench::machine::Versions;
    use anabranch_bench::net::{ALL, Kind, Settings};
    use anabranch_bench::options::{self, Bench, Budget};

    pub fn main() -> ExitCode {
        let (options, mut peers, budget) = options::parse(
            "Compares servers on this machine: each server on one core, the load generator on another.",
            &ALL,
        );
        let versions = go::prepare(&mut peers, Kind::Go, Versions::of_net(), env!("CARGO_TARGET_TMPDIR"));
        let mut settings = Settings::new(options.quick);
        settings.budget = Budget::or(budget, settings.budget);
        options.run(Bench {
            suite: "net",
            workloads: &ALL,
            settings,
            peers,
            threads: &[1],
            versions,
            legend: "CPU: of the server's process.\n\
                     /base: median of the ratios to anabranch in the same round; CPU/b: the same for CPU time.",
            across: &[],
            means: &[],
            nanoseconds_a_step: None,
        })
    }
}
