//! The switch of the crate corosensei, for many processors.

use super::{Left, Resume};
use crate::fiber::{stack::pool::FiberStack, switch::PendingSwitch};
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// The function's way out.
pub(crate) type Exit = Yielder<Resume, Left>;

/// Leaves a function in the middle of something, until it is resumed.
pub(crate) fn prepare_switch(from: &Exit) -> Option<PendingSwitch> {
    from.suspend(Left::Suspended);
    None
}

/// Whether there is [`prepare_switch_to`].
pub(crate) const GOES_ACROSS: bool = false;

pub(crate) fn prepare_switch_to(_: &Exit, _: &Exit) -> Option<PendingSwitch> {
    unreachable!("corosensei goes by the thread's own stack");
}

/// See the [module](super).
pub(crate) struct Context {
    coroutine: Coroutine<Resume, Left, (), FiberStack>,
}

impl Context {
    /// Prepares a function to be run on a stack. It must not unwind.
    pub(crate) fn new(stack: FiberStack, function: impl FnOnce(&Exit) + 'static) -> Self {
        Self {
            coroutine: Coroutine::with_stack(stack, move |exit, resume| {
                if resume == Resume::Continue {
                    function(exit);
                }
            }),
        }
    }

    /// Runs the function until it leaves. `Idle` also when it has returned.
    #[inline]
    pub(crate) fn resume(&mut self) -> Left {
        match self.coroutine.resume(Resume::Continue) {
            CoroutineResult::Yield(left) => left,
            CoroutineResult::Return(()) => Left::Idle,
        }
    }

    /// Lets an idle function return and gives its stack back.
    ///
    /// # Panics
    /// When the function does not return.
    pub(crate) fn into_stack(mut self) -> FiberStack {
        if !self.coroutine.done() {
            let result = self.coroutine.resume(Resume::End);
            assert!(matches!(result, CoroutineResult::Return(())), "a function is ended only when it is idle");
        }
        self.coroutine.into_stack()
    }
}
