//! The bench of kernels: `cargo bench -p anabranch-bench --bench kernels -- --help`.

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("this bench reads /proc and runs on Linux only");
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(target_os = "linux")]
mod workloads;

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;

    use anabranch_bench::bench;
    use anabranch_bench::machine::Versions;
    use anabranch_bench::options;
    use clap::Parser;

    use crate::workloads::{ALL, Kind, Settings};

    /// Compares kernels with loops by iterators and by hand on this machine.
    #[derive(Parser)]
    #[command(after_help = options::help(&ALL))]
    struct Options {
        #[command(flatten)]
        common: options::Options,
        /// Variants to measure, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER", value_parser = bench::by_name::<Kind>)]
        peers: Vec<Kind>,
    }

    pub fn main() -> ExitCode {
        let options = Options::parse();
        let settings = Settings::new(options.common.quick);
        options.common.run(options::Bench {
            suite: "kernels",
            workloads: &ALL,
            settings,
            peers: options.peers,
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
