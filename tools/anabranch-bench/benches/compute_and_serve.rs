//! The bench of programs that compute and serve: `cargo bench -p anabranch-bench --bench compute_and_serve -- --help`.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::thread::available_parallelism;

    use anabranch_bench::compute_and_serve::{ALL, Kind, Settings, workloads};
    use anabranch_bench::machine::Versions;
    use anabranch_bench::options::{self, Bench, Budget};

    #[derive(clap::Args)]
    struct Own {
        #[command(flatten)]
        budget: Budget,
        /// Draws the latency of requests over time to this SVG file, and measures nothing else
        #[arg(long, value_name = "FILE")]
        picture: Option<PathBuf>,
    }

    pub fn main() -> ExitCode {
        let (options, peers, Own { budget, picture }) = options::parse(
            "Compares timers and servers beside parallel loops on this machine: on one pool, and on tokio with rayon.",
            &ALL,
        );
        let mut settings = Settings::new(options.quick);
        settings.budget = budget.or(settings.budget);
        let cores = available_parallelism().map_or(1, usize::from);
        if let Some(path) = picture {
            let peers = if options.peers.is_empty() { vec![Kind::Anabranch, Kind::TokioRayon] } else { peers };
            let threads = options.threads.first().copied().unwrap_or(cores);
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
        options.run(Bench {
            suite: "compute_and_serve",
            workloads: &ALL,
            settings,
            peers,
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
