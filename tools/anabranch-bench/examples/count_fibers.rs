//! Runs a fixed number of fiber operations, to count their instructions in the same way as `count_forks`:
//!
//! ```text
//! cargo build --release -p anabranch-bench --example count_fibers
//! for times in 1000 2000; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!         target/release/examples/count_fibers anabranch yield $times 2>&1 | grep Collected
//! done
//! ```
//!
//! The difference of the two counts, divided by that of the times, is the cost of one operation. The operations are a
//! `yield` of a single fiber, a yield of a `pair` that takes turns, a spawn and join of one fiber (`spawn`), and one
//! `lock` of a mutex. For `fib`, `times` is the argument: `fib(n)` forks `fib(n + 1) - 1` times. The peers
//! `anabranch-spawn`, `may`, `tokio`, `tokio-current` and `async-executor` work too. One thread runs fibers, and
//! another one only waits for it.
//!
//! Callgrind follows stack switches well enough to count, but attributes some instructions to the wrong callers. So
//! totals are right. Of the lists by function, only those without callees are right. `callgrind_annotate` prints these,
//! with `--dump-instr=yes` and a real output file.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;

    use anabranch_bench::fibers::peers::{Done, Kind, Peer, anabranch, executor, may, tokio};
    use anabranch_bench::program;

    pub fn main() -> ExitCode {
        program::main(
            run,
            "count_fibers PEER yield|pair|spawn|lock|fib TIMES, such as: count_fibers anabranch yield 1000",
        )
    }

    fn run(arguments: &[String]) -> Result<String, String> {
        let [peer, work, times] = arguments else {
            return Err("three arguments are needed".into());
        };
        let kind: Kind = peer.parse()?;
        let times: u64 = times.parse().map_err(|error| format!("times: {error}"))?;
        let done = match kind {
            Kind::Anabranch => once::<anabranch::Structured>(work, times),
            Kind::AnabranchSpawn => once::<anabranch::Spawned>(work, times),
            Kind::May => once::<may::May>(work, times),
            Kind::Tokio => once::<tokio::Tokio>(work, times),
            Kind::TokioCurrent => once::<tokio::Current>(work, times),
            Kind::Executor => once::<executor::Smol>(work, times),
            Kind::Go | Kind::Std | Kind::ParkingLot => return Err(format!("{kind} is not counted")),
        }?;
        Ok(format!("{kind}: {work} {times}, answer {}", done.answer))
    }

    fn once<P: Peer>(work: &str, times: u64) -> Result<Done, String> {
        let pool = P::pool(1);
        match work {
            "yield" => Ok(P::yields(&pool, 1, times)),
            "pair" => Ok(P::yields(&pool, 2, times / 2)),
            "spawn" => Ok(P::spawn(&pool, times)),
            "lock" => Ok(P::lock(&pool, 1, times)),
            "fib" => Ok(P::fib(&pool, u32::try_from(times).map_err(|error| error.to_string())?)),
            other => Err(format!("no work is called `{other}`")),
        }
    }
}
