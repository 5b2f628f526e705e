//! In the place of fibers where no stack can be left: no stack can be had either, so nothing is ever switched.
//!
//! The public functions that begin fibers are not there on such a system. This is what the rest refers to.

pub(crate) mod context {
    use crate::{fiber::stack::FiberStack, sys::switch::Departure};

    #[allow(dead_code, reason = "there is nothing to resume")]
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Resume {
        GoOn,
        End,
    }

    #[allow(dead_code, reason = "there is nothing to leave")]
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Left {
        Suspended,
        Idle,
    }

    pub(crate) enum Exit {}

    impl Exit {
        pub(crate) fn suspend(&self, _: Left) -> Resume {
            match *self {}
        }
    }

    pub(crate) enum Context {}

    impl Context {
        pub(crate) fn new(stack: FiberStack, _: impl FnOnce(&Exit) + 'static) -> Self {
            match stack {}
        }

        pub(crate) fn resume(&mut self) -> Left {
            match *self {}
        }

        pub(crate) fn into_stack(self) -> FiberStack {
            match self {}
        }
    }

    pub(crate) const GOES_ACROSS: bool = false;

    pub(crate) fn depart(exit: &Exit) -> Option<Departure> {
        match *exit {}
    }

    pub(crate) fn depart_for(from: &Exit, _: &Exit) -> Option<Departure> {
        match *from {}
    }
}

pub(crate) mod stack {
    pub use crate::fiber::stack_error::StackError;

    pub(crate) use crate::fiber::stack_config::StackConfig;

    use crate::fiber::overflow::Guarded;

    pub(crate) enum FiberStack {}

    impl FiberStack {
        pub(crate) fn guarded(&self, _: Option<&str>) -> Guarded {
            match *self {}
        }
    }

    pub(crate) enum StackPool {}

    impl StackPool {
        pub(crate) fn new(_: StackConfig) -> Result<Self, StackError> {
            Err(StackError::Unsupported)
        }

        pub(crate) fn take(&mut self) -> Result<FiberStack, StackError> {
            match *self {}
        }

        pub(crate) fn give_back(&mut self, stack: FiberStack) {
            match stack {}
        }
    }
}
