//! The bench of programs that compute and serve: `cargo bench -p anabranch-bench --bench compute_and_serve -- --help`.

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
    use std::fs;
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::thread::available_parallelism;
    use std::time::Duration;

    use anabranch_bench::bench;
    use anabranch_bench::compute_and_serve::{ALL, Kind, Settings, workloads};
    use anabranch_bench::machine::Versions;
    use anabranch_bench::options::{self, Bench};
    use clap::Parser;

    /// Compares timers and servers beside parallel loops on this machine: on one pool, and on tokio with rayon.
    #[derive(Parser)]
    #[command(after_help = options::help(&ALL))]
    struct Options {
        #[command(flatten)]
        common: options::Options,
        /// Peers to compare, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER", value_parser = bench::by_name::<Kind>)]
        peers: Vec<Kind>,
        /// Duration of a sample in milliseconds [default: 1000, or 300 with --quick]
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(10..=20_000))]
        budget: Option<u64>,
        /// Draws the latency of requests over time to this SVG file, and measures nothing else
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
    }

    pub fn main() -> ExitCode {
        let options = Options::parse();
        let mut settings = Settings::new(options.common.quick);
        if let Some(milliseconds) = options.budget {
            settings.budget = Duration::from_millis(milliseconds);
        }
        let cores = available_parallelism().map_or(1, usize::from);
        if let Some(path) = options.picture {
            let peers = if options.peers.is_empty() { vec![Kind::Anabranch, Kind::TokioRayon] } else { options.peers };
            let threads = options.common.threads.first().copied().unwrap_or(cores);
            let drawn = workloads::draw(&peers, threads, settings).map_err(|failure| failure.to_string());
            let written = drawn.and_then(|svg| fs::write(&path, svg).map_err(|error| error.to_string()));
            return written.map_or_else(
                |reason| {
                    eprintln!("cannot draw {}: {reason}", path.display());
                    ExitCode::FAILURE
                },
                |()| ExitCode::SUCCESS,
            );
        }
        options.common.run(Bench {
            suite: "compute_and_serve",
            workloads: &ALL,
            settings,
            peers: options.peers,
            threads: &[cores],
            versions: Versions::of_compute_and_serve(),
            legend: "Here CPU is in seconds for ticks, and in\n\
                     seconds per second for the others; for http, of the server's process. /base: median of the\n\
                     ratios to anabranch in the same round; CPU/b: the same for CPU time.\n\
                     ticks: t/idle is the rate of ticks divided by the rate beside nothing; wall/alone is the time\n\
                     of the computation divided by its time without timers; cpu/apart is the CPU time divided by\n\
                     the CPU times of computation and timers one after the other.\n\
                     http: p50, max and heavy in ms; running: threads of the server that run at once, mean.",
            across: &[],
            means: &[],
            nanoseconds_a_step: None,
        })
    }
}
