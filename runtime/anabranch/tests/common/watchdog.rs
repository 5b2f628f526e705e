//! A limit for tests that could hang.

use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Far longer than any test takes, also on a machine that is slow and loaded: the longest take seconds.
pub const LONG: Duration = Duration::from_secs(300);

/// Runs `body`. If it has not returned after `limit`, aborts the process with the name of the test.
/// `ANABRANCH_WATCHDOG`, in seconds, reduces the limit: `.ci/mutate` sets it, because a broken program often hangs.
pub fn watchdog<R>(limit: Duration, body: impl FnOnce() -> R) -> R {
    let most = std::env::var("ANABRANCH_WATCHDOG").ok().and_then(|seconds| seconds.parse().ok());
    let limit = most.map_or(limit, |seconds| limit.min(Duration::from_secs(seconds)));
    let test = thread::current().name().unwrap_or("unnamed").to_owned();
    let (ended, end) = mpsc::channel::<()>();
    thread::spawn(move || {
        if end.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
            // Not `eprintln`: the harness would keep the message, and the process ends before it is shown.
            let _ = writeln!(std::io::stderr(), "test `{test}` hangs: not over after {limit:?}");
            std::process::abort();
        }
    });
    let result = body();
    drop(ended);
    result
}
