//! A substitute for stacks on systems without stack switching: there are none.

pub use crate::fiber::stack::error::StackError;

pub(crate) use crate::fiber::stack::config::StackConfig;

use crate::fiber::stack::overflow::Guarded;

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

    pub(crate) fn trim(&mut self) {
        match *self {}
    }

    pub(crate) fn give_back(&mut self, stack: FiberStack) {
        match stack {}
    }
}
