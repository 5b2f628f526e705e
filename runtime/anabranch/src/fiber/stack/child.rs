//! Tests of how a process dies: they run the test binary again, as a child.

use std::{
    env,
    os::unix::process::ExitStatusExt,
    process::{Command, Output},
};

const CASE: &str = "ANABRANCH_TEST_CASE";

/// Returns the case that this child process is to run.
pub(crate) fn case() -> Option<String> {
    let case = env::var(CASE).ok()?;
    // These children die on purpose and need no core dump.
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `none` is a live `rlimit`, which the call reads.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    Some(case)
}

/// Runs `test`, given by its path in the crate, in its own child process for one case.
pub(crate) fn run(test: &str, case: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads", "2"])
        .env(CASE, case)
        // A sanitizer has its own handlers, which would run before the tested ones.
        .env("ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0")
        .output()
        .unwrap()
}

/// Asserts that the child ran its test and that the test passed.
#[track_caller]
pub(crate) fn assert_passed(child: &Output) {
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && text.contains("1 passed"), "{text}\n{}", error_text(child));
}

/// Asserts that one of these signals ended the child.
#[track_caller]
pub(crate) fn assert_killed(child: &Output, signals: &[libc::c_int]) {
    let signal = child.status.signal();
    assert!(signal.is_some_and(|signal| signals.contains(&signal)), "{}\n{}", child.status, error_text(child));
}

/// Returns what the child wrote to its standard error stream.
pub(crate) fn error_text(child: &Output) -> String {
    String::from_utf8_lossy(&child.stderr).into_owned()
}
