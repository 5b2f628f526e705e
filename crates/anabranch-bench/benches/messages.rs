//! The bench of messages: `cargo bench -p anabranch-bench --bench messages -- --help`.

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

    use anabranch_bench::machine::Versions;
    use anabranch_bench::messages::peers;
    use anabranch_bench::messages::workloads::{ACROSS, ALL, Extent, Settings};
    use anabranch_bench::options::{self, Bench};
    use clap::Parser;

    /// Compares channels on this machine, between fibers, tasks and threads.
    #[derive(Parser)]
    #[command(after_help = options::help(&ALL))]
    struct Options {
        #[command(flatten)]
        common: options::Options,
        /// Peers to compare, separated by commas; a name may end in * [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER")]
        peers: Vec<String>,
        /// Approximate duration of a sample in milliseconds [default: 40, or 10 with --quick]
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=10_000))]
        budget: Option<u64>,
    }

    pub fn main() -> ExitCode {
        let options = Options::parse();
        let peers = match peers::chosen(&options.peers) {
            Ok(peers) => peers,
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::from(2);
            }
        };
        let budget = options.budget.unwrap_or(if options.common.quick { 10 } else { 40 });
        options.common.run(Bench {
            suite: "messages",
            workloads: &ALL,
            settings: Settings { extent: Extent::For(Duration::from_millis(budget)) },
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
