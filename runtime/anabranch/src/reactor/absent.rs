//! No reactor: there is no value of this type.

use crate::sys::parker::Parker;
use std::{io, time::Duration};

pub(crate) enum Reactor {}

impl Reactor {
    pub(crate) fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn park(&self, _: &Parker, _: Option<Duration>) -> bool {
        match *self {}
    }

    pub(crate) fn poll(&self) {
        match *self {}
    }

    pub(crate) fn poll_if_busy(&self) {
        match *self {}
    }

    pub(crate) fn poll_for_owner(&self) -> bool {
        match *self {}
    }

    pub(crate) fn has_sources(&self) -> bool {
        match *self {}
    }

    pub(crate) fn close(&self) {
        match *self {}
    }
}
