//! The environment variable `ANABRANCH_NUM_THREADS`, and threads that the system refuses. Each test runs itself again
//! in a child process.

mod common;

use anabranch::{Pool, pool::BuildError, prelude::*};
use std::{
    process::Output,
    sync::{Mutex, mpsc},
};

const VARIABLE: &str = "ANABRANCH_NUM_THREADS";
const IS_CHILD: &str = "ANABRANCH_TEST_IS_CHILD";

/// Runs `test` of this binary again as a child; in the child itself: `None`.
fn run_child(test: &str, value: &str) -> Option<Output> {
    if std::env::var_os(IS_CHILD).is_some() {
        return None;
    }
    let child = common::rerun(module_path!(), test).env(IS_CHILD, "1").env(VARIABLE, value).output().unwrap();
    Some(child)
}

#[track_caller]
fn assert_passed(child: &Output) {
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&child.stderr));
}

#[test]
fn variable_sets_number_of_threads() {
    let Some(child) = run_child("variable_sets_number_of_threads", "3") else {
        assert_eq!(anabranch::pool::current_num_threads(), 3);
        assert_eq!(Pool::builder().build().unwrap().num_threads(), 3);
        assert_eq!(common::pool(2).num_threads(), 2, "the builder's word goes first");
        assert_eq!(common::sum_to(100), 5050);
        return;
    };
    assert_passed(&child);
}

/// The builder calls for names in the middle of the build.
#[test]
fn superfluous_default_pool_need_not_be_waited_for() {
    let Some(child) = run_child("superfluous_default_pool_need_not_be_waited_for", "3") else {
        common::watchdog(common::LONG, || {
            let (failed, failure) = mpsc::channel();
            let (ended, end) = mpsc::channel();
            let failure = Mutex::new(failure);
            let name = |index| format!("{index} of {}", Pool::default_pool().num_threads());
            let on_exit = move |_| ended.send(failure.lock().unwrap().recv()).unwrap();
            let builder = Pool::builder().threads(1).without_waiting_for_start().thread_name(name).on_exit(on_exit);
            assert!(matches!(builder.build_default(), Err(BuildError::DefaultExists)));
            failed.send("after the build").unwrap();
            assert_eq!(end.recv(), Ok(Ok("after the build")));
        });
        return;
    };
    assert_passed(&child);
}

#[test]
fn zero_is_refused() {
    let Some(child) = run_child("zero_is_refused", "0") else {
        let error = Pool::builder().build().unwrap_err();
        assert!(matches!(&error, BuildError::BadVariable(value) if value == "0"));
        assert!(error.to_string().contains(VARIABLE) && error.to_string().contains("`0`"), "{error}");
        assert_eq!(common::pool(2).num_threads(), 2, "where it is not used it does no harm");
        let text = common::panic_text(|| _ = anabranch::join(|| (), || ()));
        assert!(text.contains("cannot be made") && text.contains(VARIABLE), "{text}");
        return;
    };
    assert_passed(&child);
}

#[test]
fn non_number_is_refused() {
    let Some(child) = run_child("non_number_is_refused", "many") else {
        let error = Pool::builder().build().unwrap_err();
        assert!(matches!(&error, BuildError::BadVariable(value) if value == "many"));
        assert!(error.to_string().contains(VARIABLE) && error.to_string().contains("`many`"));
        let text = common::panic_text(|| anabranch::scope(|_| ()));
        assert!(text.contains(VARIABLE), "{text}");
        return;
    };
    assert_passed(&child);
}

#[test]
fn too_many_threads_are_refused() {
    let Some(child) = run_child("too_many_threads_are_refused", "5000") else {
        let error = Pool::builder().build().unwrap_err();
        assert!(matches!(&error, BuildError::BadVariable(value) if value == "5000"));
        assert!(error.to_string().contains(VARIABLE) && error.to_string().contains("4095"), "{error}");
        return;
    };
    assert_passed(&child);
}

#[test]
fn empty_variable_is_ignored() {
    let Some(child) = run_child("empty_variable_is_ignored", "") else {
        let threads = std::thread::available_parallelism().unwrap().get();
        assert_eq!(Pool::builder().build().unwrap().num_threads(), threads);
        assert_eq!(anabranch::join(anabranch::pool::current_num_threads, || ()).0, threads);
        return;
    };
    assert_passed(&child);
}

/// Returns the location of the panic of `body`: file and line.
fn panic_place(body: impl FnOnce()) -> (String, u32) {
    let place = std::sync::Arc::new(std::sync::Mutex::new(None));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new({
        let place = std::sync::Arc::clone(&place);
        move |info| *place.lock().unwrap() = info.location().map(|at| (at.file().to_owned(), at.line()))
    }));
    common::panic_text(body);
    std::panic::set_hook(hook);
    let place = place.lock().unwrap().take();
    place.unwrap()
}

#[test]
fn panic_names_location_of_caller() {
    let Some(child) = run_child("panic_names_location_of_caller", "0") else {
        let first = line!() + 2;
        let places = [
            panic_place(|| _ = anabranch::join(|| (), || ())),
            panic_place(|| anabranch::scope(|_| ())),
            panic_place(|| (0..9).into_par_iter().for_each(|_| ())),
            panic_place(|| _ = (0..9).into_par_iter().map(|i| i).collect::<Vec<_>>()),
            panic_place(|| _ = (0..9).into_par_iter().fold(|| 0, |a, i| a + i).reduce(|| 0, |a, b| a + b)),
            panic_place(|| anabranch::run(|_| ())),
            panic_place(|| drop(anabranch::spawn(|_| ()))),
            panic_place(|| drop(anabranch::spawn_async(async {}))),
            panic_place(|| _ = anabranch::pool::current_num_threads()),
            panic_place(|| _ = anabranch::fiber::fibers()),
        ];
        for (line, place) in (first..).zip(places) {
            assert_eq!(place, (file!().to_owned(), line));
        }
        return;
    };
    assert_passed(&child);
}

/// A system without memory for the stack of a thread refuses the thread.
#[cfg(target_os = "linux")]
mod refused {
    use super::{assert_passed, common, run_child};
    use anabranch::prelude::*;
    use rustix::process::{Resource, Rlimit, setrlimit};

    /// Limits the address space of this process to so many bytes more.
    fn limit_memory(more: u64) {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
        let kib: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
        setrlimit(Resource::As, Rlimit { current: Some(kib * 1024 + more), maximum: None }).unwrap();
    }

    fn lift_limit() {
        setrlimit(Resource::As, Rlimit { current: None, maximum: None }).unwrap();
    }

    fn work() {
        assert_eq!(common::sum_to(1000), 500_500);
        let mut count = 0;
        anabranch::scope(|s| s.spawn(|| count += 1));
        assert_eq!(count, 1);
        let squares = (0..10_000u64).into_par_iter().map(|i| i * i).collect::<Vec<_>>();
        assert!((0..).zip(&squares).all(|(i, square)| i * i == *square));
        let (sender, mut receiver) = anabranch::channel::oneshot::channel();
        anabranch::run(|cx| assert_eq!(cx.join(|_| sender.send(1).unwrap(), |cx| receiver.recv(cx)).1, Ok(1)));
    }

    #[test]
    fn join_runs_on_caller_if_no_thread_can_start() {
        let Some(child) = run_child("refused::join_runs_on_caller_if_no_thread_can_start", "4") else {
            limit_memory(1 << 20);
            assert!(std::thread::Builder::new().spawn(|| ()).is_err(), "this is to be a system without threads");
            assert_eq!(anabranch::pool::current_num_threads(), 1);
            work();
            return;
        };
        assert_passed(&child);
        assert!(String::from_utf8_lossy(&child.stderr).contains("refused 4 of 4 threads"));
    }

    #[test]
    fn default_pool_works_with_fewer_threads() {
        let Some(child) = run_child("refused::default_pool_works_with_fewer_threads", "8") else {
            limit_memory(9 << 20);
            let threads = anabranch::pool::current_num_threads();
            assert!((1..8).contains(&threads), "{threads}");
            work();
            assert!(
                anabranch::Pool::builder().threads(64).build().is_err(),
                "a pool of one's own is as it was asked for"
            );
            // Fibers need stacks too.
            lift_limit();
            let handle = anabranch::spawn(|_| 6 * 7);
            assert_eq!(anabranch::run(|cx| handle.join(cx)).unwrap(), 42);
            return;
        };
        assert_passed(&child);
    }

    /// A fiber that was spawned when no thread could start begins once one can.
    #[test]
    fn fibers_wait_until_a_thread_can_start() {
        let Some(child) = run_child("refused::fibers_wait_until_a_thread_can_start", "2") else {
            limit_memory(1 << 20);
            let first = anabranch::spawn(|_| 1);
            lift_limit();
            let second = anabranch::spawn(|_| 2);
            anabranch::run(|cx| assert_eq!((first.join(cx).unwrap(), second.join(cx).unwrap()), (1, 2)));
            return;
        };
        assert_passed(&child);
    }
}
