//! The lost time by cause and place.

use crate::{
    event::Site,
    explain::{Cause, Subject},
};
use std::collections::BTreeMap;

/// A cause at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) cause: Cause,
    pub(super) site: Site,
    pub(super) until: Site,
    pub(super) span: Site,
    pub(super) subject: Subject,
}

impl Key {
    /// A cause at a site.
    pub(super) fn at(cause: Cause, subject: Subject, site: Site) -> Self {
        Self { cause, site, until: Site::UNKNOWN, span: Site::UNKNOWN, subject }
    }
}

/// What was lost at once: the time of all slots, and the wall time with its end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Amount {
    pub(super) time: f64,
    pub(super) wall: f64,
    pub(super) end: u64,
}

/// What was lost by one cause at one place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    pub(super) time: f64,
    pub(super) count: u64,
    /// The one with the longest wall time.
    pub(super) longest: Amount,
}

/// All losses, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) entries: BTreeMap<Key, Entry>,
}

impl Ledger {
    pub(super) fn add(&mut self, key: Key, amount: Amount) {
        if amount.time <= 0.0 {
            return;
        }
        let entry = self.entries.entry(key).or_default();
        entry.time += amount.time;
        entry.count += 1;
        if amount.wall >= entry.longest.wall {
            entry.longest = amount;
        }
    }
}
