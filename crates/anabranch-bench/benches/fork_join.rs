//! Fork-join side by side: `cargo bench -p anabranch-bench --bench fork_join -- --help`.

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
    use std::time::Instant;

    use anabranch_bench::bench::{Outcome, run, variants};
    use anabranch_bench::machine::{Machine, Versions};
    use anabranch_bench::peers::Kind;
    use anabranch_bench::report::{Entry, Report, head, table};
    use anabranch_bench::workloads::fib::Fib;
    use anabranch_bench::workloads::{ALL, Build, Settings, Spinner};
    use clap::Parser;

    /// Measures fork-join libraries side by side on this machine.
    #[derive(Parser)]
    #[command(after_help = workloads_help())]
    struct Options {
        /// Workloads to run, separated by commas; a name may end in * [default: all]
        #[arg(long, value_delimiter = ',', value_name = "NAME")]
        workload: Vec<String>,
        /// Peers to compare, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER")]
        peers: Vec<Kind>,
        /// Numbers of threads [default: 1,2,4,8,16,32, or 1,2,8 with --quick]
        #[arg(long, value_delimiter = ',', value_name = "N")]
        threads: Vec<usize>,
        /// Rounds: each runs everything once [default: 9, or 3 with --quick]
        #[arg(long, value_name = "N")]
        rounds: Option<usize>,
        /// Smaller and shorter: a look within a minute
        #[arg(long)]
        quick: bool,
        /// Which Fibonacci number to compute [default: 37, or 32 with --quick]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=50))]
        fib: Option<u32>,
        /// Writes every sample to this file
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Passed by cargo
        #[arg(long, hide = true)]
        bench: bool,
    }

    fn workloads_help() -> String {
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        let peers = Kind::ALL.map(Kind::name);
        format!("Workloads: {}\nPeers: {}", names.join(", "), peers.join(", "))
    }

    pub fn main() -> ExitCode {
        // Before any thread exists: the unbalanced tree is 1,500 levels deep, and who waits by running other jobs may
        // stack several such recursions. rayon, chili and forte start threads through std, which reads this once.
        // SAFETY: this process has one thread, which is here, so nobody reads the environment meanwhile.
        unsafe { std::env::set_var("RUST_MIN_STACK", (64 << 20).to_string()) };

        let start = Instant::now();
        let options = Options::parse();
        let chosen = match chosen(&options.workload) {
            Ok(chosen) => chosen,
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::from(2);
            }
        };
        if options.threads.contains(&0) {
            eprintln!("a pool needs at least one thread");
            return ExitCode::from(2);
        }
        let quick = options.quick;
        let peers = or_default(options.peers, &Kind::ALL);
        let threads = or_default(options.threads, if quick { &[1, 2, 8] } else { &[1, 2, 4, 8, 16, 32] });
        let rounds = options.rounds.unwrap_or(if quick { 3 } else { 9 }).max(1);
        let settings = Settings {
            quick,
            fib: options.fib.unwrap_or(if quick { Fib::QUICK } else { Fib::USUAL }),
            spinner: Spinner::calibrate(),
        };

        let machine = Machine::look();
        print!("{}", head(&machine, &Versions::BUILT));
        let mut outcomes: Vec<Outcome> = Vec::new();
        for (name, build) in chosen {
            // The data live only as long as the workload runs: every sample's process inherits what is there.
            let workload = build(&settings);
            let variants = variants(&*workload, &peers, &threads);
            let outcome = run(name, &*workload, &variants, rounds);
            print!("{}", table(&outcome));
            outcomes.push(outcome);
        }
        println!("\n{:.0} s in all", start.elapsed().as_secs_f64());

        if let Some(path) = options.json {
            let report = Report {
                machine: &machine,
                versions: Versions::BUILT,
                quick,
                nanoseconds_a_step: settings.spinner.nanoseconds_a_step(),
                workloads: outcomes.iter().map(Entry::from).collect(),
            };
            let text = serde_json::to_string_pretty(&report).expect("a report is plain data");
            if let Err(error) = fs::write(&path, text + "\n") {
                eprintln!("cannot write {}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
        let failed = outcomes.iter().any(|outcome| outcome.failures().next().is_some());
        ExitCode::from(u8::from(failed))
    }

    fn or_default<T: Clone>(chosen: Vec<T>, default: &[T]) -> Vec<T> {
        if chosen.is_empty() { default.to_vec() } else { chosen }
    }

    fn chosen(names: &[String]) -> Result<Vec<(&'static str, Build)>, String> {
        let matches = |wanted: &str, name: &str| match wanted.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == wanted,
        };
        if let Some(unknown) = names.iter().find(|wanted| !ALL.iter().any(|(name, _)| matches(wanted, name))) {
            return Err(format!("no workload is called `{unknown}`\n{}", workloads_help()));
        }
        let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| matches(wanted, name));
        Ok(ALL.into_iter().filter(|(name, _)| wanted(name)).collect())
    }
}
