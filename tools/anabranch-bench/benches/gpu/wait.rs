//! What a fiber that waits for a kernel costs, and what its worker does meanwhile.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anabranch::{Cx, Pool};
use anabranch_bench::stats::Summary;
use anabranch_kernel::{Queue, Vector, indices, kernel};

/// Numbers that take a while. The shift keeps a compiler from computing many rounds at once.
#[kernel]
fn rounds(i: u32) -> u32 {
    let mut x = i;
    for _ in 0..2000u32 {
        x = (x ^ (x >> 7)).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    x
}

/// Waits for kernels in a fiber of a pool with one thread.
pub fn report(queue: &Queue, rounds: usize) -> String {
    let pool = Pool::builder().threads(1).thread_name(|_| "bench-worker".to_owned()).build();
    let pool = pool.expect("a pool can be built");
    // The calling thread is not the worker, so a fiber measures.
    pool.run(|cx| cx.scope(|s| s.spawn(|cx| report_here(cx, queue, rounds)).join(s)).expect("the fiber ends"))
}

fn report_here(cx: &Cx<'_>, queue: &Queue, rounds: usize) -> String {
    // The first one compiles. The kernel gets as many elements as take some 100 ms.
    let mut len = 1 << 20;
    wait(cx, queue, len);
    while len < 1 << 30 && wait(cx, queue, len) < Duration::from_millis(100) {
        len *= 2;
    }
    let (mut times, mut shares) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let before = cpu_of_waiters();
        let time = wait(cx, queue, len);
        let cpu = cpu_of_waiters().saturating_sub(before);
        times.push(1e3 * time.as_secs_f64());
        shares.push(100.0 * cpu.as_secs_f64() / time.as_secs_f64());
    }
    let is_done = AtomicBool::new(false);
    let mut turns = 0u64;
    let both = cx.scope(|s| {
        let waiter = s.spawn(|cx| {
            let time = wait(cx, queue, len);
            is_done.store(true, Ordering::Relaxed);
            time
        });
        while !is_done.load(Ordering::Relaxed) {
            turns += 1;
            s.yield_now();
        }
        waiter.join(s).expect("the scope is not cancelled")
    });
    let [times, shares] = [&times, &shares].map(|samples| {
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = samples.iter().copied().fold(0.0, f64::max);
        let median = Summary::of(samples).expect("there are rounds").median;
        format!("{median:.2} ({least:.2} to {most:.2})")
    });
    format!(
        "A fiber waits {times} ms for a kernel. Meanwhile its worker and the thread of the device use {shares} % of a \
         processor.\nWhile another fiber waits {both:.1?}, the worker that both share gives this one {turns} turns.\n"
    )
}

/// Launches a kernel, and waits for it. Returns the time of both.
fn wait(cx: &Cx<'_>, queue: &Queue, len: u32) -> Duration {
    let start = Instant::now();
    let sum = rounds::map(indices(len as usize)).sum(queue).expect("the sum is launched");
    sum.wait(cx).expect("no kernel traps");
    start.elapsed()
}

/// Returns the CPU time of the worker and of the threads that wait for devices. The kernel counts it in nanoseconds.
fn cpu_of_waiters() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux");
    let times = tasks.filter_map(|task| {
        let path = task.ok()?.path();
        let name = fs::read_to_string(path.join("comm")).ok()?;
        if !["bench-worker", "anabranch-gpu"].contains(&name.trim()) {
            return None;
        }
        let text = fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    });
    times.sum()
}
