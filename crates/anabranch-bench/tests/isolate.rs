//! The isolation of samples, tested by a program with one thread: the usual test harness has several, and a process
//! with several threads must not fork.

use std::time::{Duration, Instant};

use anabranch_bench::isolate::{Failure, in_child};
use anabranch_bench::process;

fn main() {
    // Panics in children are expected below and would only look like failures.
    std::panic::set_hook(Box::new(|_| {}));

    brings_the_result_home();
    children_may_have_threads_and_leave_them_running();
    reports_a_panic();
    ends_a_child_that_hangs();
    notices_a_child_that_dies();
    refuses_to_fork_beside_other_threads();
}

fn check(condition: bool, what: &str) {
    if !condition {
        eprintln!("failed: {what}");
        std::process::exit(1);
    }
}

const LIMIT: Duration = Duration::from_secs(20);

fn brings_the_result_home() {
    let big: Vec<u64> = (0..50_000).collect();
    let result = in_child(LIMIT, || big.iter().map(|x| x * 2).collect::<Vec<u64>>());
    check(result == Ok(big.iter().map(|x| x * 2).collect()), "a result larger than a pipe comes home whole");
}

fn children_may_have_threads_and_leave_them_running() {
    let result = in_child(LIMIT, || {
        std::thread::spawn(|| std::thread::sleep(Duration::from_secs(60)));
        process::thread_count()
    });
    check(result == Ok(2), "the child's thread is the child's alone");
    check(process::thread_count() == 1, "and not ours");
}

fn reports_a_panic() {
    let result = in_child(LIMIT, || -> u64 { panic!("seven is {}", 8) });
    check(result == Err(Failure::Panicked("seven is 8".into())), "a panic brings its message");
}

fn ends_a_child_that_hangs() {
    let start = Instant::now();
    let limit = Duration::from_millis(100);
    let result: Result<(), Failure> = in_child(limit, || std::thread::sleep(Duration::from_secs(60)));
    check(result == Err(Failure::TimedOut(limit)), "a child that hangs is reported");
    check(start.elapsed() < Duration::from_secs(20), "and not waited for");
}

fn notices_a_child_that_dies() {
    let result: Result<(), Failure> = in_child(LIMIT, || std::process::abort());
    check(matches!(result, Err(Failure::Died(_))), "a child that dies is reported");
}

fn refuses_to_fork_beside_other_threads() {
    let result = std::thread::scope(|scope| scope.spawn(|| in_child(LIMIT, || 1)).join());
    check(matches!(result, Ok(Err(Failure::Died(_)))), "no fork beside another thread");
}
