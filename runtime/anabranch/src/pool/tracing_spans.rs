//! Spans of the crate `tracing` that follow their fibers.

use crate::pool::hooks::{FiberHooks, HookedFiber};
use tracing::{Id, dispatcher};

/// Hooks that let the spans of the crate `tracing` follow their fibers (feature `tracing`).
///
/// A span of `tracing` that is entered belongs to its thread. When its fiber waits, other fibers of the thread run
/// inside it. With these hooks a fiber that suspends leaves its spans, and enters them again when it resumes.
///
/// For each switch they cost about 100 ns, and the time that the subscriber needs to leave and enter the spans. The
/// subscriber has to know which span is the current one, as the registry of `tracing-subscriber` does.
///
/// ```
/// use anabranch::{Pool, pool::TracingSpans};
/// use tracing::{Span, dispatcher, info_span};
///
/// dispatcher::set_global_default(dispatcher::Dispatch::new(tracing_subscriber::registry()))?;
/// let pool = Pool::builder().threads(1).fiber_hooks(TracingSpans).build()?;
/// let fibers = ["one", "two"].map(|name| {
///     pool.spawn(move |cx| {
///         let _entered = info_span!("request", name).entered();
///         let before = Span::current().id();
///         cx.yield_now();                                         // the other one runs
///         assert_eq!(Span::current().id(), before);
///     })
/// });
/// pool.run(|cx| fibers.map(|fiber| fiber.join(cx).unwrap()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct TracingSpans;

impl FiberHooks for TracingSpans {
    /// The spans that the fiber has entered, the innermost first.
    type Saved = Vec<Id>;

    fn suspend(&self, _: &HookedFiber<'_>) -> Vec<Id> {
        dispatcher::get_default(|dispatch| {
            let mut entered = Vec::new();
            while let Some(id) = dispatch.current_span().id().cloned() {
                dispatch.exit(&id);
                entered.push(id);
            }
            entered
        })
    }

    fn resume(&self, _: &HookedFiber<'_>, entered: Vec<Id>) {
        dispatcher::get_default(|dispatch| entered.iter().rev().for_each(|id| dispatch.enter(id)));
    }
}
