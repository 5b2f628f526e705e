//! The bench of conversations: `cargo bench -p anabranch-bench --bench pipes -- --help`.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;
    use std::time::Duration;

    use anabranch_bench::machine::Versions;
    use anabranch_bench::messages::workloads::Extent;
    use anabranch_bench::options::{self, Budget};
    use anabranch_bench::pipes::allocations::Counting;
    use anabranch_bench::pipes::{ALL, Settings};

    #[global_allocator]
    static COUNTING: Counting = Counting;

    pub fn main() -> ExitCode {
        let (options, peers, budget) = options::parse("Compares conversations with channels on this machine.", &ALL);
        let usual = Duration::from_millis(if options.quick { 10 } else { 40 });
        options.run(options::Bench {
            suite: "pipes",
            workloads: &ALL,
            settings: Settings { extent: Extent::For(Budget::or(budget, usual)) },
            peers,
            threads: &[2],
            versions: Versions::of_ours(),
            legend: "allocs: allocations a message.\n\
                     /base: median of the ratios to the protocol in the same round; CPU/b: the same for CPU time.",
            across: &[],
            means: &[],
            nanoseconds_a_step: None,
        })
    }
}
