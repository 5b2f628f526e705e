//! The bench of messages: `cargo bench -p anabranch-bench --bench messages -- --help`.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;
    use std::time::Duration;

    use anabranch_bench::machine::Versions;
    use anabranch_bench::messages::workloads::{ACROSS, ALL, Extent, Settings};
    use anabranch_bench::options::{self, Bench, Budget};

    pub fn main() -> ExitCode {
        let (options, peers, budget) =
            options::parse("Compares channels on this machine, between fibers, tasks and threads.", &ALL);
        let usual = Duration::from_millis(if options.quick { 10 } else { 40 });
        options.run(Bench {
            suite: "messages",
            workloads: &ALL,
            settings: Settings { extent: Extent::For(Budget::or(budget, usual)) },
            peers,
            threads: &[2],
            versions: Versions::of_messages(),
            legend: "-u: unbounded, -b: capacity 128;\n\
                     -tokio: its thread pool, -current: its current-thread runtime, -threads: system threads.\n\
                     /base: median ratio to the first anabranch line in the same round; CPU/b: the same for CPU time.",
            across: &ACROSS,
            means: &[],
            nanoseconds_a_step: None,
        })
    }
}
