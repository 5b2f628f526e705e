//! The isolation of samples, tested by a program with one thread: the usual test harness has several, and a process
//! with several threads must not fork.

use std::time::{Duration, Instant};

use anabranch_bench::bench::Peers;
use anabranch_bench::compute_and_serve;
use anabranch_bench::isolate::{Failure, in_child};
use anabranch_bench::measurer::{Answer, Measurer, Order};
use anabranch_bench::net::{self, Kind, Settings};
use anabranch_bench::process;
use anabranch_bench::sample::Sample;
use anabranch_bench::suite::Field;

fn main() {
    // Panics in children are expected below and would only look like failures.
    std::panic::set_hook(Box::new(|_| {}));

    brings_the_result_home();
    children_may_have_threads_and_leave_them_running();
    reports_a_panic();
    ends_a_child_that_hangs();
    notices_a_child_that_dies();
    measurer_takes_samples_on_request();
    measurer_reports_failures_and_lives_on();
    measurer_that_waits_can_be_stopped();
    servers_take_every_load();
    programs_compute_and_serve_in_every_way();
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

fn order() -> Order {
    let field = Field { peers: Some(Vec::new()), threads: vec![1] };
    let workloads = vec![("iterators", "nested-8"), ("fork_join", "sleepers"), ("fork_join", "no-such-workload")];
    Order { workloads, field, quick: true, rounds: 5 }
}

fn done<T>(answer: Result<Answer<T>, Failure>) -> Option<T> {
    match answer {
        Ok(Answer::Done(answer)) => Some(answer),
        Ok(Answer::Stopped) | Err(_) => None,
    }
}

fn measurer_takes_samples_on_request() {
    let mut measurer = Measurer::start(&order()).expect("this process has one thread");
    let prepared = done(measurer.prepare(0, &|| false)).expect("the data can be built");
    check(prepared.rounds == 5 && prepared.unit == "ns", "a workload is described");
    let names: Vec<&str> = prepared.contenders.iter().map(|contender| contender.peer.as_str()).collect();
    check(names == ["plain", "anabranch"], "plain code and anabranch take part without being named");
    for contender in 0..2 {
        let sample = done(measurer.sample(contender, &|| false)).expect("an answer").expect("a sample");
        check(sample.value > 0.0 && sample.wall > 0.0, "a sample has figures");
    }
}

fn measurer_reports_failures_and_lives_on() {
    let mut measurer = Measurer::start(&order()).expect("this process has one thread");
    let answer = done(measurer.sample(0, &|| false)).expect("an answer");
    check(answer.is_err_and(|why| why.contains("no workload")), "a sample needs a workload");
    let unknown = measurer.prepare(2, &|| false);
    check(matches!(unknown, Err(Failure::Panicked(_))), "data that cannot be built are reported");
    done(measurer.prepare(0, &|| false)).expect("the data can be built");
    let answer = done(measurer.sample(99, &|| false)).expect("an answer");
    check(answer.is_err(), "a sample that panics is reported");
    let answer = done(measurer.sample(1, &|| false)).expect("an answer");
    check(answer.is_ok(), "and the next one is taken");
}

fn measurer_that_waits_can_be_stopped() {
    let mut measurer = Measurer::start(&order()).expect("this process has one thread");
    done(measurer.prepare(1, &|| false)).expect("the data can be built");
    // Plain code sleeps 64 times, for more than a second.
    let asked = std::cell::Cell::new(0);
    let answer = measurer.sample(0, &|| asked.replace(asked.get() + 1) > 2);
    check(matches!(answer, Ok(Answer::Stopped)), "a program that waits is asked whether it should stop");
    drop(measurer);
    check(nix::sys::wait::wait() == Err(nix::Error::ECHILD), "and no process is left");
}

fn servers_take_every_load() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        println!("skipped: a server and its load need two cores");
        return;
    }
    let settings = Settings { budget: Duration::from_millis(5), connections: 16 };
    for (name, build) in &net::ALL {
        let workload = build(&settings);
        // Go is not always there.
        for kind in Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Go) {
            let sample = in_child(LIMIT, || workload.sample_with(kind, 1));
            // A server may have more memory than the connections need.
            let is_measured =
                |sample: &Sample| sample.wall > 0.0 && (sample.value > 0.0 || *name == "idle") && sample.cpu > 0.0;
            check(sample.as_ref().is_ok_and(is_measured), &format!("{name}, {kind}: {sample:?}"));
        }
    }
}

fn programs_compute_and_serve_in_every_way() {
    let settings = compute_and_serve::Settings { budget: Duration::from_millis(8) };
    for (name, build) in &compute_and_serve::ALL {
        let workload = build(&settings);
        for kind in compute_and_serve::Kind::ALL.iter().copied().filter(|kind| workload.suits(*kind)) {
            let sample = in_child(LIMIT, || workload.sample_with(kind, 2));
            let is_measured = |sample: &Sample| sample.wall > 0.0 && sample.value.is_finite();
            check(sample.as_ref().is_ok_and(is_measured), &format!("{name}, {kind}: {sample:?}"));
        }
    }
    let picture = compute_and_serve::workloads::draw(&[compute_and_serve::Kind::Anabranch], 1, settings);
    check(picture.is_ok_and(|svg| svg.contains("<polyline points=\"")), "the latency over time is drawn");
}

fn refuses_to_fork_beside_other_threads() {
    let result = std::thread::scope(|scope| scope.spawn(|| in_child(LIMIT, || 1)).join());
    check(matches!(result, Ok(Err(Failure::Died(_)))), "no fork beside another thread");
    let result = std::thread::scope(|scope| scope.spawn(|| Measurer::start(&order()).map(drop)).join());
    check(matches!(result, Ok(Err(Failure::Died(_)))), "no measurer beside another thread");
}
