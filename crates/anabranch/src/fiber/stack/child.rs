//! Tests whose point is how a process dies: the test binary again, as a child.

use std::{
    env,
    os::unix::process::ExitStatusExt,
    process::{Command, Output},
};

const CASE: &str = "ANABRANCH_TEST_CASE";

/// In the child: which case it is to run.
pub(crate) fn case() -> Option<String> {
    let case = env::var(CASE).ok()?;
    // What dies here dies on purpose.
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `none` is valid to be read.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    Some(case)
}

/// Runs `test`, by its path in the crate, in a child of its own, for one case.
pub(crate) fn run(test: &str, case: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads", "2"])
        .env(CASE, case)
        // The sanitizer, where there is one, has handlers of its own, which would come before those that are tested.
        .env("ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0")
        .output()
        .unwrap()
}

/// The child ran its test, which passed.
#[track_caller]
pub(crate) fn assert_passed(child: &Output) {
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && text.contains("1 passed"), "{text}\n{}", error_text(child));
}

/// The child was ended by one of these signals.
#[track_caller]
pub(crate) fn assert_killed(child: &Output, signals: &[libc::c_int]) {
    let signal = child.status.signal();
    assert!(signal.is_some_and(|signal| signals.contains(&signal)), "{}\n{}", child.status, error_text(child));
}

/// Returns what the child wrote to its standard error stream.
pub(crate) fn error_text(child: &Output) -> String {
    String::from_utf8_lossy(&child.stderr).into_owned()
}
