//! The bench of sockets: `cargo bench -p anabranch-bench --bench net -- --help`.

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
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::Duration;

    use anabranch_bench::bench::{self, Peers};
    use anabranch_bench::fibers::peers::go;
    use anabranch_bench::machine::Versions;
    use anabranch_bench::net::{ALL, Kind, Settings};
    use anabranch_bench::options::{self, Bench};
    use clap::Parser;

    /// Compares servers on this machine: each server on one core, the load generator on another.
    #[derive(Parser)]
    #[command(after_help = options::help(&ALL))]
    struct Options {
        #[command(flatten)]
        common: options::Options,
        /// Peers to compare, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER", value_parser = bench::by_name::<Kind>)]
        peers: Vec<Kind>,
        /// Duration of a sample in milliseconds [default: 1000, or 100 with --quick]
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=20_000))]
        budget: Option<u64>,
    }

    pub fn main() -> ExitCode {
        let options = Options::parse();
        let mut peers = if options.peers.is_empty() { Kind::ALL.to_vec() } else { options.peers };
        let mut versions = Versions::of_net();
        if peers.contains(&Kind::Go) {
            match go::build(Path::new(env!("CARGO_TARGET_TMPDIR"))) {
                Ok(version) => versions = versions.with("go", &version),
                Err(reason) => {
                    println!("Without Go: {reason}");
                    peers.retain(|peer| *peer != Kind::Go);
                }
            }
        }
        let mut settings = Settings::new(options.common.quick);
        if let Some(milliseconds) = options.budget {
            settings.budget = Duration::from_millis(milliseconds);
        }
        options.common.run(Bench {
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
