//! No poller: there is no value of this type.

#[derive(Debug)]
pub(crate) enum Poller {}

impl Poller {
    pub(crate) fn notify(&self) {
        match *self {}
    }
}
