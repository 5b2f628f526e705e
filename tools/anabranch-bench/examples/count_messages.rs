//! Sends a fixed number of messages, to count their instructions in the same way as `count_forks`:
//!
//! ```text
//! cargo build --release -p anabranch-bench --example count_messages
//! for times in 1000 2000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!         target/release/examples/count_messages anabranch-u ping-pong $times 2>&1 | grep Collected
//! done
//! ```
//!
//! The peers and the workloads are those of the bench of messages, or of conversations (`protocol ping-pong`). `times`
//! is the number of repetitions. The program prints the resulting number of units: messages, hops or round trips. The
//! difference of the two counts, divided by that of the units, is the cost of one unit. There is one worker.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;

    use anabranch_bench::bench::{self, Peers};
    use anabranch_bench::contest::{self, Listed};
    use anabranch_bench::messages::workloads::{self, Extent};
    use anabranch_bench::pipes;
    use anabranch_bench::program;

    pub fn main() -> ExitCode {
        program::main(run, "count_messages PEER WORKLOAD TIMES, such as: count_messages anabranch-u stream 1000")
    }

    fn run(arguments: &[String]) -> Result<String, String> {
        let [peer, name, times] = arguments else {
            return Err("three arguments are needed".into());
        };
        let times: u64 = times.parse().map_err(|error| format!("times: {error}"))?;
        let extent = Extent::Times(times);
        if let Ok(kind) = bench::by_name::<pipes::Kind>(peer) {
            return count(kind, name, &pipes::ALL, &pipes::Settings { extent });
        }
        match contest::chosen(std::slice::from_ref(peer))?[..] {
            [kind] => count(kind, name, &workloads::ALL, &workloads::Settings { extent }),
            _ => Err(format!("`{peer}` is more than one peer")),
        }
    }

    fn count<K: Peers, S>(kind: K, name: &str, all: &[Listed<K, S>], settings: &S) -> Result<String, String> {
        let found = all.iter().find(|(listed, _)| *listed == name);
        let (_, build) = found.ok_or_else(|| format!("no workload is called `{name}`"))?;
        let workload = build(settings);
        if !workload.suits(kind) {
            return Err(format!("{kind} takes no part in {name}"));
        }
        let sample = workload.sample_with(kind, 1);
        let units = sample.wall * 1e9 / sample.value;
        Ok(format!("{units:.0} units of {name} with {kind}: {:.1} {}", sample.value, workload.unit()))
    }
}
