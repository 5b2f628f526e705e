//! `ANABRANCH_NUM_THREADS`, seen by child processes: this binary again, with the variable set.

mod common;

use anabranch::{BuildError, Pool};
use std::process::{Command, Output};

const VARIABLE: &str = "ANABRANCH_NUM_THREADS";
const IS_CHILD: &str = "ANABRANCH_TEST_IS_CHILD";

/// Runs `test` of this binary again as a child; in the child itself: `None`.
fn run_child(test: &str, value: &str) -> Option<Output> {
    if std::env::var_os(IS_CHILD).is_some() {
        return None;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(IS_CHILD, "1")
        .env(VARIABLE, value)
        .output()
        .unwrap();
    Some(child)
}

#[track_caller]
fn assert_passed(child: &Output) {
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&child.stderr));
}

#[test]
fn the_variable_sets_the_number_of_threads() {
    let Some(child) = run_child("the_variable_sets_the_number_of_threads", "3") else {
        assert_eq!(anabranch::current_num_threads(), 3);
        assert_eq!(Pool::builder().build().unwrap().num_threads(), 3);
        assert_eq!(common::pool(2).num_threads(), 2, "the builder's word goes first");
        assert_eq!(common::sum_to(100), 5050);
        return;
    };
    assert_passed(&child);
}

#[test]
fn zero_in_the_variable_is_an_error() {
    let Some(child) = run_child("zero_in_the_variable_is_an_error", "0") else {
        assert!(matches!(Pool::builder().build(), Err(BuildError::ZeroThreads)));
        assert_eq!(common::pool(2).num_threads(), 2, "where it is not used it does no harm");
        let text = common::panic_text(|| _ = anabranch::join(|| (), || ()));
        assert!(text.contains("cannot be made") && text.contains("at least one thread"), "{text}");
        return;
    };
    assert_passed(&child);
}

#[test]
fn garbage_in_the_variable_is_an_error() {
    let Some(child) = run_child("garbage_in_the_variable_is_an_error", "many") else {
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
fn more_threads_than_a_pool_can_have_are_an_error() {
    let Some(child) = run_child("more_threads_than_a_pool_can_have_are_an_error", "5000") else {
        assert!(matches!(Pool::builder().build(), Err(BuildError::TooManyThreads(5000))));
        return;
    };
    assert_passed(&child);
}
