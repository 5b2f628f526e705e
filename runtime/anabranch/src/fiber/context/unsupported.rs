//! A substitute for contexts on systems without stack switching: there are none.

use super::{Left, Resume};
use crate::fiber::{stack::pool::FiberStack, switch::PendingSwitch};

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

pub(crate) fn prepare_switch(exit: &Exit) -> Option<PendingSwitch> {
    match *exit {}
}

pub(crate) fn prepare_switch_to(from: &Exit, _: &Exit) -> Option<PendingSwitch> {
    match *from {}
}
