//! The context switch: a stack on which a function runs that can be left in the middle and gone on with later.
//!
//! Everything happens on one thread: whoever resumes a context is the thread that made it. (A started fiber does not move: the
//! addresses of thread-locals are kept in registers across calls, and values on the stack need not be `Send`.)

use crate::fiber::stack::FiberStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// What the function is told when it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resume {
    GoOn,
    /// Only for a function that is between two pieces of work: return, so that the stack can be given back.
    End,
}

/// Why the function was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// In the middle of something.
    Suspended,
    /// Between two pieces of work.
    Idle,
}

/// The function's way out.
pub(crate) type Exit = Yielder<Resume, Left>;

/// See the [module](self).
pub(crate) struct Context {
    coroutine: Coroutine<Resume, Left, (), FiberStack>,
}

impl Context {
    /// Prepares a function to be run on a stack. It must not unwind.
    pub(crate) fn new(stack: FiberStack, function: impl FnOnce(&Exit) + 'static) -> Self {
        Self {
            coroutine: Coroutine::with_stack(stack, move |exit, resume| {
                if resume == Resume::GoOn {
                    function(exit);
                }
            }),
        }
    }

    /// Runs the function until it leaves. `Idle` also when it has returned.
    #[inline]
    pub(crate) fn resume(&mut self) -> Left {
        match self.coroutine.resume(Resume::GoOn) {
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
