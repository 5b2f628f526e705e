//! Captures the stacks of the fibers of a worker, and of its thread, for a report. See `pool::stack_request`.
//!
//! Only addresses are captured here. The code that prints a stack looks up the names.

use crate::{
    fiber::{context::call_from, fiber::Fiber, fibers::Fibers, stack::overflow},
    sys::unwind::catch_unwind,
    wait::current_stack::Stack,
};
use std::{backtrace::Backtrace, panic::AssertUnwindSafe, ptr};

/// The room that a capture needs on the stack where it runs, in bytes. It takes less than 4 KiB with the unwinder of
/// GCC.
const ROOM: usize = 16 << 10;

impl Fiber {
    /// Captures the stack of the fiber, if it waits. Returns `None` if it does not, or where that is impossible.
    ///
    /// # Safety
    /// The caller is the thread of the fiber's worker.
    unsafe fn capture(&self) -> Option<Backtrace> {
        if !self.card.state().is_suspended() {
            return None;
        }
        // It blocks its thread, that is, this is its stack. Only the innermost call knows where that ends.
        if self.depth.get().is_null() {
            return (Stack::current().fiber() == Some(ptr::from_ref(self).cast())).then(capture_here);
        }
        let mut stack = None;
        // SAFETY: the fiber is suspended and does not block its thread. So this thread has left the stack of the fiber,
        // by its exit, and is the only one that could continue there.
        unsafe { call_from(&*self.exit.get(), &mut || stack = Some(Backtrace::force_capture())) };
        stack
    }
}

/// Captures the stack on which this is called.
#[inline(never)]
fn capture_here() -> Backtrace {
    Backtrace::force_capture()
}

/// Returns whether a capture fits onto the stack of the caller. The stack of a thread is taken to be large enough.
fn has_room() -> bool {
    let here = 0_u8;
    overflow::current_floor().is_none_or(|floor| ptr::from_ref(&here).addr().saturating_sub(floor) >= ROOM)
}

impl Fibers {
    /// Answers the requests for stacks in the middle of a wait inside `run`, and the kick that has come with them.
    #[inline]
    pub(crate) fn answer_stack_requests_while_waiting(&self) {
        if self.stack_requests.is_asked() {
            self.answer_stack_requests(true);
            self.answer_kicks();
        }
    }

    /// Answers the requests for stacks. Only the thread that holds the worker entry calls this. `is_waiting`: it waits
    /// inside `run`.
    #[cold]
    pub(crate) fn answer_stack_requests(&self, is_waiting: bool) {
        if !self.stack_requests.is_asked() {
            return;
        }
        let requests = self.stack_requests.take();
        // Those who wait for an answer find out at once that there is none.
        if !has_room() {
            return;
        }
        for request in requests {
            let answer = |number, capture: &dyn Fn() -> Option<Backtrace>| {
                if let Ok(Some(stack)) = catch_unwind(AssertUnwindSafe(capture)) {
                    // The reporter may have ceased to wait.
                    request.answers.send((number, stack));
                }
            };
            if let Some(number) = request.thread
                && is_waiting
            {
                answer(number, &|| Some(capture_here()));
            }
            if request.fibers.is_empty() {
                continue;
            }
            self.blocks.for_each(|fiber| {
                if let Some(&(number, since)) = request.fibers.get(&ptr::from_ref(fiber).addr())
                    && fiber.card().since() == since
                {
                    // SAFETY: the fiber belongs to this worker, and this is the worker's thread.
                    answer(number, &|| unsafe { fiber.capture() });
                }
            });
        }
    }
}
