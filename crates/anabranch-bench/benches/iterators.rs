//! The bench of parallel iterators: `cargo bench -p anabranch-bench --bench iterators -- --help`.

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

    use anabranch_bench::bench;
    use anabranch_bench::iterators::kind::Kind;
    use anabranch_bench::iterators::{ALL, MEANS, Settings};
    use anabranch_bench::machine::Versions;
    use anabranch_bench::options::{self, Bench};
    use anabranch_bench::workloads::Spinner;
    use clap::Parser;

    /// Compares parallel iterators on this machine.
    #[derive(Parser)]
    #[command(after_help = options::help(&ALL))]
    struct Options {
        #[command(flatten)]
        common: options::Options,
        /// Peers to compare, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER", value_parser = bench::by_name::<Kind>)]
        peers: Vec<Kind>,
    }

    pub fn main() -> ExitCode {
        let options = Options::parse();
        let settings = Settings::new(options.common.quick, Spinner::calibrate());
        options.common.run(Bench {
            suite: "iterators",
            workloads: &ALL,
            settings,
            peers: options.peers,
            threads: &[2],
            versions: Versions::of_iterators(),
            legend: "/base: median of the ratios to plain\n\
                     iterators in the same round; CPU/b: the same for CPU time. hand: equal parts on std threads.",
            across: &[],
            means: &MEANS,
            nanoseconds_a_step: Some(settings.spinner.nanoseconds_a_step()),
        })
    }
}
