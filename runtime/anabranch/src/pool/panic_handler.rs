//! The handler for panics that reach no caller.

use crate::sys::unwind::catch_unwind;
use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

/// See the [module](self). It may outlive its pool, in a handle that was never joined.
#[derive(Clone, Default)]
pub(crate) struct PanicHandler(Option<Arc<PanicFunction>>);

type PanicFunction = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

impl PanicHandler {
    pub(crate) fn new(handler: impl Fn(Box<dyn Any + Send>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(handler)))
    }

    /// Passes a panic to the handler, or drops it if there is none. Does not unwind.
    pub(crate) fn report(&self, panic: Box<dyn Any + Send>) {
        let mut outcome = catch_unwind(AssertUnwindSafe(|| match &self.0 {
            Some(handler) => handler(panic),
            None => drop(panic),
        }));
        // A panic of the handler is dropped. Its payload may panic when it is dropped, with a payload that does the
        // same. The rest of such a chain is leaked.
        for _ in 0..8 {
            let Err(panic) = outcome else { return };
            outcome = catch_unwind(AssertUnwindSafe(|| drop(panic)));
        }
        std::mem::forget(outcome);
    }
}
