//! Counts the messages and bytes that a process sends.

use std::cell::Cell;
use std::ops::AddAssign;

use super::Communicator;

/// What a process has sent to others.
///
/// A collective operation counts as the messages of its plainest form: one to each process for which there are words.
/// (A library may send fewer, or combine them. The bytes that a process must receive are the same.) An
/// all-to-all operation first sends each process the number of words for it, in eight bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages to other processes.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

/// A communicator that counts.
pub(super) struct Counted<'a> {
    inner: &'a dyn Communicator,
    traffic: Cell<Traffic>,
}

impl<'a> Counted<'a> {
    pub(super) fn new(inner: &'a dyn Communicator) -> Counted<'a> {
        Counted { inner, traffic: Cell::default() }
    }

    /// Returns what was sent since the last call.
    pub(super) fn take(&self) -> Traffic {
        self.traffic.take()
    }

    fn add(&self, messages: u64, words: u64) {
        let mut traffic = self.traffic.get();
        traffic += Traffic { messages, bytes: 8 * words };
        self.traffic.set(traffic);
    }
}

impl Communicator for Counted<'_> {
    fn process(&self) -> usize {
        self.inner.process()
    }

    fn processes(&self) -> usize {
        self.inner.processes()
    }

    fn all_gather(&self, own: &[u64], counts: &[usize], all: &mut [u64]) {
        let others = self.processes() as u64 - 1;
        if !own.is_empty() {
            self.add(others, others * own.len() as u64);
        }
        self.inner.all_gather(own, counts, all);
    }

    fn all_to_all(&self, words: &[u64], counts: &[usize]) -> Vec<u64> {
        let others = self.processes() as u64 - 1;
        let filled = counts.iter().enumerate().filter(|&(process, &count)| process != self.process() && count > 0);
        let sent: u64 = filled.clone().map(|(_, &count)| count as u64).sum();
        self.add(others + filled.count() as u64, others + sent);
        self.inner.all_to_all(words, counts)
    }
}
