//! A `Cx` belongs to one fiber or thread, and waits on its stack only. With published crates, safe code can carry a
//! `Cx` to another fiber of the same thread. There it panics with a message where it would have to wait.

#![forbid(unsafe_code)]

mod callbacks;
mod foreign;
mod over_compute;
mod ownership;

use crate::common::{LONG, fibers::on_fiber, one_thread, watchdog};
use anabranch::Cx;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

const SHORT: Duration = Duration::from_micros(100);

scoped_tls_hkt::scoped_thread_local!(static CURRENT: for<'a> &'a Cx<'a>);

/// Runs `body` in a pool of one thread, where `!Send` does not keep a `Cx` from the other fibers.
fn on_one_thread<R: Send + 'static>(body: impl FnOnce(&Cx<'_>) -> R + Send + 'static) -> R {
    watchdog(LONG, || on_fiber(&one_thread().build().unwrap(), body))
}

#[track_caller]
fn check_foreign(text: &str) {
    assert!(text.contains("a `Cx` was used on a stack that is not its own"), "{text}");
}

/// Returns whether a wait with that `Cx` panics because it belongs to another fiber.
fn is_foreign(cx: &Cx<'_>) -> bool {
    let refused = catch_unwind(AssertUnwindSafe(|| _ = cx.sleep(SHORT)));
    refused.is_err_and(|panic| panic.downcast_ref::<&str>().is_some_and(|text| text.contains("not its own")))
}
