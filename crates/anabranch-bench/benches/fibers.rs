//! The bench of fibers: `cargo bench -p anabranch-bench --bench fibers -- --help`.

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

    use anabranch_bench::bench::Peers;
    use anabranch_bench::fibers::peers::{Kind, go};
    use anabranch_bench::fibers::workloads::{ALL, Settings};
    use anabranch_bench::machine::Versions;
    use anabranch_bench::options::{self, Bench};
    use clap::Parser;

    /// Compares fibers, tasks and goroutines on this machine.
    #[derive(Parser)]
    #[command(after_help = options::help(&ALL))]
    struct Options {
        #[command(flatten)]
        common: options::Options,
        /// Peers to compare, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER")]
        peers: Vec<Kind>,
    }

    pub fn main() -> ExitCode {
        let options = Options::parse();
        let mut peers = if options.peers.is_empty() { Kind::ALL.to_vec() } else { options.peers };
        let mut versions = Versions::of_fibers();
        if peers.contains(&Kind::Go) {
            match go::build(Path::new(env!("CARGO_TARGET_TMPDIR"))) {
                Ok(version) => versions = versions.with("go", &version),
                Err(reason) => {
                    println!("Without Go: {reason}");
                    peers.retain(|peer| *peer != Kind::Go);
                }
            }
        }
        let settings = Settings { quick: options.common.quick };
        options.common.run(Bench {
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
