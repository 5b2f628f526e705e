//! Spans of `tracing`: without hooks they leak from fiber to fiber, with hooks they follow their fiber. In a process of
//! its own, since a process has one global subscriber.

#![cfg(all(feature = "tracing", unix, not(loom), not(shuttle), not(miri)))]

mod common;

use anabranch::{Builder, Cx, pool::TracingSpans, sync::Trigger};
use tracing::{Span, dispatcher, info_span};

/// The name of the innermost span.
fn current() -> Option<&'static str> {
    Span::current().metadata().map(|metadata| metadata.name())
}

/// Runs two fibers of one thread. The first enters spans and waits for the second, which returns what it finds.
fn inside_of_another(builder: Builder) -> (Option<&'static str>, [Option<&'static str>; 4]) {
    let pool = builder.threads(1).max_spare_threads(0).build().unwrap();
    let mut seen = Trigger::new();
    let signal = seen.signal();
    let first = pool.spawn(move |cx: &Cx<'_>| {
        let outer = info_span!("outer").entered();
        let inner = info_span!("inner").entered();
        seen.wait(cx).unwrap();
        let mut found = [current(), None, None, None];
        // A span that is entered twice, and waits of another kind.
        let again = outer.enter();
        cx.yield_now();
        drop(again);
        cx.sleep(std::time::Duration::from_micros(10)).unwrap();
        found[1] = current();
        drop(inner);
        found[2] = current();
        drop(outer);
        found[3] = current();
        found
    });
    common::fibers::until_waiting(&pool, 1);
    let second = pool.spawn(move |_| {
        let found = current();
        signal.send();
        found
    });
    pool.run(|cx| (second.join(cx).unwrap(), first.join(cx).unwrap()))
}

#[test]
fn spans_follow_their_fiber() {
    common::watchdog(common::LONG, || {
        dispatcher::set_global_default(dispatcher::Dispatch::new(tracing_subscriber::registry())).unwrap();
        let (leaked, _) = inside_of_another(anabranch::Pool::builder());
        assert_eq!(leaked, Some("inner"), "the leak that the hooks are for");
        let (leaked, found) = inside_of_another(anabranch::Pool::builder().fiber_hooks(TracingSpans));
        assert_eq!(leaked, None);
        assert_eq!(found, [Some("inner"), Some("inner"), Some("outer"), None]);
    });
}
