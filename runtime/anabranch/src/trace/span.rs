//! Spans and marks of the program.

use crate::trace::{lane, sites, store};
use anabranch_trace::event::Event;
use std::{marker::PhantomData, panic::Location};

/// A part of the program's work with a name, in a trace. It ends when this is dropped. See [`span`].
#[derive(Debug)]
#[must_use = "a span ends when it is dropped"]
pub struct Span {
    is_recorded: bool,
    /// It ends on the thread on which it began.
    _not_send: PhantomData<*const ()>,
}

/// Begins a span, which appears in a trace on the thread or fiber that calls this. Spans nest.
///
/// Costs a test of a byte if the process has no traced pool, and two events otherwise. See the
/// [module](crate::trace).
///
/// ```
/// use anabranch::trace;
///
/// let words: Vec<&str> = {
///     let _span = trace::span("parse");
///     "one two three".split(' ').collect()
/// };
/// assert_eq!(words.len(), 3);
/// ```
#[inline]
#[track_caller]
pub fn span(name: &'static str) -> Span {
    let is_recorded = store::is_on();
    if is_recorded {
        begin(name, Location::caller());
    }
    Span { is_recorded, _not_send: PhantomData }
}

/// Marks a moment in a trace, on the thread or fiber that calls this.
///
/// ```
/// anabranch::trace::mark("the cache is warm");
/// ```
#[inline]
#[track_caller]
pub fn mark(name: &'static str) {
    if store::is_on() {
        lane::record(Event::Mark(sites::site(name, Some(Location::caller()))));
    }
}

#[cold]
fn begin(name: &'static str, at: &'static Location<'static>) {
    lane::record(Event::SpanBegin(sites::site(name, Some(at))));
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if self.is_recorded {
            lane::record(Event::SpanEnd);
        }
    }
}
