//! The bench of conversations: `cargo bench -p anabranch-bench --bench pipes -- --help`.

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("this bench reads /proc and runs on Linux only");
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;
    use std::time::Duration;

    use anabranch_bench::bench;
    use anabranch_bench::machine::Versions;
    use anabranch_bench::messages::workloads::Extent;
    use anabranch_bench::options;
    use anabranch_bench::pipes::allocations::Counting;
    use anabranch_bench::pipes::{ALL, Kind, Settings};
    use clap::Parser;

    #[global_allocator]
    static COUNTING: Counting = Counting;

    /// Compares conversations with channels on this machine.
    #[derive(Parser)]
    #[command(after_help = options::help(&ALL))]
    struct Options {
        #[command(flatten)]
        common: options::Options,
        /// Variants to measure, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER", value_parser = bench::by_name::<Kind>)]
        peers: Vec<Kind>,
        /// Approximate duration of a sample in milliseconds [default: 40, or 10 with --quick]
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=10_000))]
        budget: Option<u64>,
    }

    pub fn main() -> ExitCode {
        let options = Options::parse();
        let budget = options.budget.unwrap_or(if options.common.quick { 10 } else { 40 });
        options.common.run(options::Bench {
            suite: "pipes",
            workloads: &ALL,
            settings: Settings { extent: Extent::For(Duration::from_millis(budget)) },
            peers: options.peers,
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
