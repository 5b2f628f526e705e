//! Reports of reading and construction to an observer.

/// The steps from a file to a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Reading and parsing the file. Its unit is the byte.
    Read,
    /// Construction of the graph. Its unit is the arc.
    Build,
    /// Writing a file. Its unit is the byte.
    Write,
}

/// Receives the progress of reading or writing a file. Any thread calls the methods. By default they do nothing.
///
/// `()` is an observer that ignores everything.
pub trait Observer: Sync {
    /// Reports that `phase` begins, with about `total` units of work; 0 if the total is unknown.
    fn begin(&self, phase: Phase, total: u64) {
        let _ = (phase, total);
    }

    /// Reports that `done` more units of `phase` are complete.
    fn advance(&self, phase: Phase, done: u64) {
        let _ = (phase, done);
    }

    /// Reports that `phase` has ended.
    fn end(&self, phase: Phase) {
        let _ = phase;
    }
}

impl Observer for () {}

/// A running phase.
pub(crate) struct Watch<'a> {
    observer: &'a dyn Observer,
    phase: Phase,
}

impl<'a> Watch<'a> {
    pub(crate) fn begin(observer: &'a dyn Observer, phase: Phase, total: u64) -> Watch<'a> {
        observer.begin(phase, total);
        Watch { observer, phase }
    }

    pub(crate) fn advance(&self, done: u64) {
        self.observer.advance(self.phase, done);
    }

    pub(crate) fn end(self) {
        self.observer.end(self.phase);
    }
}
