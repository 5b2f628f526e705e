//! Runs a fixed number of forks, to count their instructions.
//!
//! Times on a shared machine vary by more than the fraction of a nanosecond that a change to a fork costs or saves;
//! instruction counts do not. This program repeats one operation a given number of times, so that constant costs can be
//! subtracted:
//!
//! ```text
//! cargo build --release -p anabranch-bench --example count_forks
//! for peer in plain anabranch; do for times in 10 20; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!         target/release/examples/count_forks $peer tree 1000 $times 2>&1 | grep Collected
//! done; done
//! ```
//!
//! Let `peer(n)` be the count with `n` repetitions. `peer(20) - peer(10)` excludes the start-up, the allocation of the
//! tree and the pool. `((anabranch(20) - anabranch(10)) - (plain(20) - plain(10))) / (10 * forks)` is the cost of a
//! fork. The program prints the number of forks per repetition. `fib 20` instead of `tree 1000` forks without memory
//! accesses. `uts 20` forks with several captured values, below a root with 20 children.
//!
//! The pool has one thread, because a count means little if threads search and sleep. The start of that thread is the
//! same in both runs. `ours` is another name for `anabranch`; `rayon`, `chili` and `forte` work too.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::hint::black_box;
    use std::process::ExitCode;

    use anabranch_bench::peers::{Kind, Peer, anabranch, chili, forte, plain, rayon};
    use anabranch_bench::program;
    use anabranch_bench::workloads::fib::fib;
    use anabranch_bench::workloads::tree::{Node, sum};
    use anabranch_bench::workloads::uts::Shape;

    enum Work {
        Tree(Box<Node>),
        Fib(u32),
        Uts(Shape),
    }

    pub fn main() -> ExitCode {
        program::main(run, "count_forks PEER tree|fib|uts SIZE TIMES, such as: count_forks ours tree 1000 10")
    }

    fn run(arguments: &[String]) -> Result<String, String> {
        let [peer, work, size, times] = arguments else {
            return Err("four arguments are needed".into());
        };
        let kind = if peer == "ours" { Kind::Anabranch } else { peer.parse()? };
        let size: u32 = size.parse().map_err(|error| format!("size: {error}"))?;
        let times: u32 = times.parse().map_err(|error| format!("times: {error}"))?;
        let (work, forks) = match work.as_str() {
            "tree" => (Work::Tree(Node::tree(1, u64::from(size)).ok_or("a tree has nodes")?), u64::from(size)),
            "fib" => (Work::Fib(size), fib_forks(size)),
            "uts" => {
                let shape = Shape { root_children: size, ..Shape::FOUR_MILLION };
                // A node with children makes one fork less than it has children.
                let below_root = shape.count::<plain::Plain>(&()) - 1;
                let parents = 1 + (below_root - u64::from(size)) / u64::from(shape.children);
                (Work::Uts(shape), below_root - parents)
            }
            other => return Err(format!("no work is called `{other}`")),
        };
        let answer = match kind {
            Kind::Plain => repeat::<plain::Plain>(&work, times),
            Kind::Anabranch => repeat::<anabranch::Installed>(&work, times),
            Kind::AnabranchOutside => repeat::<anabranch::Outside>(&work, times),
            Kind::Rayon => repeat::<rayon::Rayon>(&work, times),
            Kind::Chili => repeat::<chili::Chili>(&work, times),
            Kind::Forte => repeat::<forte::Forte>(&work, times),
            Kind::Hand => return Err("work cut by hand does not fork".into()),
        };
        Ok(format!("{kind}: {times} times {forks} forks, answer {answer}"))
    }

    fn repeat<P: Peer>(work: &Work, times: u32) -> u64 {
        P::enter(&P::pool(1), |cx| {
            (0..times).fold(0u64, |total, _| {
                total.wrapping_add(match work {
                    Work::Tree(root) => sum::<P>(black_box(root), cx),
                    Work::Fib(n) => fib::<P>(black_box(*n), cx),
                    Work::Uts(shape) => black_box(shape).count::<P>(cx),
                })
            })
        })
    }

    fn fib_forks(n: u32) -> u64 {
        // A call with n >= 2 forks once.
        (2..=n).fold((0, 0), |(before, last), _| (last, 1 + last + before)).1
    }
}
