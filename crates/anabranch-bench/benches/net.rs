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
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::Duration;

    use anabranch_bench::fibers::peers::go;
    use anabranch_bench::machine::{Machine, Versions};
    use anabranch_bench::net::load::{self, Client};
    use anabranch_bench::net::{Server, http, servers};
    use anabranch_bench::report::head;
    use anabranch_bench::stats::median;
    use clap::Parser;

    /// Compares servers on this machine: each server on one core, the load generator on another.
    #[derive(Parser)]
    struct Options {
        /// Passed by `cargo bench`
        #[arg(long, hide = true)]
        bench: bool,
        /// The number of rounds; in each, all peers take turns
        #[arg(long, default_value_t = 9)]
        rounds: usize,
        /// The time of a sample in milliseconds
        #[arg(long, value_name = "MS", default_value_t = 1000)]
        budget: u64,
        /// Three short rounds
        #[arg(long)]
        quick: bool,
        /// The workloads: ping-pong, http-64, http-1000, p99-64, p99-1000, idle, accept [default: all]
        #[arg(long, value_delimiter = ',')]
        workload: Vec<String>,
        /// The peers, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_name = "PEER")]
        peers: Vec<String>,
        /// Runs as a server
        #[arg(long, hide = true, num_args = 2)]
        serve: Vec<String>,
    }

    const WORKLOADS: [&str; 7] = ["ping-pong", "http-64", "http-1000", "p99-64", "p99-1000", "idle", "accept"];

    type Row = Vec<(&'static str, f64)>;

    pub fn main() -> ExitCode {
        let mut options = Options::parse();
        if let [peer, workload] = &options.serve[..] {
            servers::serve(peer, workload);
            return ExitCode::SUCCESS;
        }
        if options.quick {
            (options.rounds, options.budget) = (3, options.budget.min(200));
        }
        let wanted = |all: &[&'static str], asked: &[String]| -> Vec<&'static str> {
            all.iter().copied().filter(|name| asked.is_empty() || asked.iter().any(|other| other == name)).collect()
        };
        let (workloads, mut peers) = (wanted(&WORKLOADS, &options.workload), wanted(&servers::PEERS, &options.peers));
        if workloads.is_empty() || peers.is_empty() {
            eprintln!("there is no such workload or peer; workloads: {WORKLOADS:?}, peers: {:?}", servers::PEERS);
            return ExitCode::from(2);
        }
        let mut versions = Versions::of_net();
        if peers.contains(&"go") {
            match go::build(Path::new(env!("CARGO_TARGET_TMPDIR"))) {
                Ok(version) => versions = versions.with("go", &version),
                Err(reason) => {
                    println!("Without Go: {reason}");
                    peers.retain(|peer| *peer != "go");
                }
            }
        }
        let legend = format!(
            "Medians of {} rounds (least to most); after the slash the median of the ratios to {} in the same round.",
            options.rounds, peers[0]
        );
        print!("{}", head(&Machine::look(), &versions, &legend));
        for workload in workloads {
            let mut samples: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
            // The load at which latency is compared is the same for all.
            let rate = workload.starts_with("p99").then(|| 0.7 * common_rate(&peers, workload, options.budget));
            for round in 0..options.rounds {
                for turn in 0..peers.len() {
                    let peer = peers[(round + turn) % peers.len()];
                    samples.entry(peer).or_default().push(measure(peer, workload, rate, options.budget));
                }
            }
            println!("{workload}{}", rate.map_or(String::new(), |rate| format!(" at {rate:.0} requests/s")));
            for peer in &peers {
                println!("  {peer:<14} {}", summary(&samples[peer], &samples[peers[0]]));
            }
        }
        ExitCode::SUCCESS
    }

    fn summary(rows: &[Row], base: &[Row]) -> String {
        let column = |index: usize| {
            let values: Vec<f64> = rows.iter().map(|row| row[index].1).collect();
            let ratios: Vec<f64> = rows.iter().zip(base).map(|(row, base)| row[index].1 / base[index].1).collect();
            let (least, most) =
                values.iter().fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
            let (middle, ratio) = (median(&values).expect("a round"), median(&ratios).expect("a round"));
            format!("{} {middle:.2} ({least:.2} to {most:.2}) /{ratio:.3}", rows[0][index].0)
        };
        (0..rows[0].len()).map(column).collect::<Vec<_>>().join("; ")
    }

    fn connections(workload: &str) -> usize {
        workload.rsplit('-').next().and_then(|count| count.parse().ok()).unwrap_or(1)
    }

    const EXCHANGE: (&[u8], &[u8]) = (http::REQUEST, http::RESPONSE);

    /// Returns the rate without a limit that all peers reach, but those that do not reach half of the best one's.
    fn common_rate(peers: &[&str], workload: &str, budget: u64) -> f64 {
        let rate = |peer: &&str| {
            let server = Server::start(peer, "http");
            let duration = Duration::from_millis(budget);
            let mut client = Client::connect(server.port, connections(workload)).expect("connections");
            client.run(EXCHANGE, None, duration).expect("answers").rate()
        };
        let rates: Vec<f64> = peers.iter().map(rate).collect();
        let best = rates.iter().copied().fold(0.0, f64::max);
        rates.into_iter().filter(|rate| *rate >= best / 2.0).fold(best, f64::min)
    }

    fn measure(peer: &str, workload: &str, rate: Option<f64>, budget: u64) -> Row {
        let duration = Duration::from_millis(budget);
        match workload {
            "ping-pong" => {
                let server = Server::start(peer, "echo");
                load::ping_pong(server.port, servers::MESSAGE, duration / 5).expect("echoes");
                let before = server.cpu();
                let measured = load::ping_pong(server.port, servers::MESSAGE, duration).expect("echoes");
                let cpu = (server.cpu() - before) as f64 / measured.answers as f64 / 1e3;
                vec![
                    ("us/round trip", 1e6 / measured.rate()),
                    ("p99 us", measured.percentile(0.99)),
                    ("server CPU us", cpu),
                ]
            }
            "idle" => {
                const COUNT: usize = 8_000;
                let server = Server::start(peer, "hold");
                // What the first connection needs is not counted.
                let first = load::connect(server.port);
                std::thread::sleep(Duration::from_millis(20));
                let before = server.memory();
                let all: Vec<_> = (0..COUNT).map(|_| load::connect(server.port)).collect();
                std::thread::sleep(Duration::from_millis(200));
                let each = (server.memory() - before) as f64 / COUNT as f64 / 1024.0;
                drop((first, all));
                vec![("KiB/connection", each)]
            }
            "accept" => {
                let server = Server::start(peer, "accept");
                let before = (server.cpu(), server.memory());
                let measured = load::open_and_close(server.port, budget * 10).expect("connections");
                let cpu = (server.cpu() - before.0) as f64 / measured.answers as f64 / 1e3;
                let grown = (server.memory() as f64 - before.1 as f64) / 1024.0;
                vec![("connections/s", measured.rate()), ("server CPU us", cpu), ("KiB more in all", grown)]
            }
            _ => {
                let server = Server::start(peer, "http");
                let mut client = Client::connect(server.port, connections(workload)).expect("connections");
                client.run(EXCHANGE, rate, duration / 5).expect("answers");
                let before = server.cpu();
                let measured = client.run(EXCHANGE, rate, duration).expect("answers");
                let cpu = (server.cpu() - before) as f64 / measured.answers as f64 / 1e3;
                vec![
                    ("requests/s", measured.rate()),
                    ("server CPU us", cpu),
                    ("p50 us", measured.percentile(0.5)),
                    ("p99 us", measured.percentile(0.99)),
                ]
            }
        }
    }
}
