//! Runs a kernel on the processor a fixed number of times, to count its instructions.
//!
//! Times of a call of a microsecond vary on a shared machine, and instruction counts do not:
//!
//! ```text
//! cargo build --release -p anabranch-bench --example count_kernels
//! for peer in hand iterators kernels; do for times in 10 20; do
//!     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!         target/release/examples/count_kernels $peer saxpy 10000 $times 2>&1 | grep Collected
//! done; done
//! ```
//!
//! Let `peer(n)` be the count with `n` calls. `(peer(20) - peer(10)) / 10` is the count of a call. The pool has one
//! thread. `dot` is the other program.

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("this example runs on Linux only");
}

#[cfg(target_os = "linux")]
#[path = "../benches/kernels/workloads/mod.rs"]
#[allow(dead_code, reason = "the bench uses the rest")]
mod workloads;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use workloads::{dot::Dot, saxpy::Saxpy};

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = |at: usize| arguments.get(at).and_then(|argument| argument.parse::<usize>().ok());
    if let ([peer, program, ..], Some(size), Some(times)) = (&arguments[..], count(2), count(3)) {
        let done = match program.as_str() {
            "saxpy" => repeat(&Saxpy::new(size), peer, times),
            "dot" => repeat(&Dot::new(size), peer, times),
            _ => None,
        };
        if done.is_some() {
            return std::process::ExitCode::SUCCESS;
        }
    }
    eprintln!("usage: count_kernels hand|iterators|kernels saxpy|dot SIZE TIMES");
    std::process::ExitCode::from(2)
}

#[cfg(target_os = "linux")]
fn repeat(program: &impl workloads::workload::Program, peer: &str, times: usize) -> Option<()> {
    use std::hint::black_box;

    let pool = anabranch::Pool::builder().threads(1).build().expect("a pool can be built");
    let queue = anabranch_kernel::Queue::cpu();
    match peer {
        "hand" => (0..times).for_each(|_| drop(black_box(program.by_hand(1)))),
        "iterators" => pool.install(|| (0..times).for_each(|_| drop(black_box(program.with_iterators())))),
        "kernels" => pool.install(|| (0..times).for_each(|_| drop(black_box(program.with_kernels(&queue))))),
        _ => return None,
    }
    Some(())
}
