//! Validation on several processes: all five checks, against the tuples where they are.
//!
//! Each process gathers the parents of all vertices, and runs checks 1 and 2 on the whole tree. It runs checks 3 and 4
//! on its own tuples, and marks the tree edges that it sees among them. Then the marks meet: process i receives those
//! of the i-th part of the vertices from all processes, and check 5 fails for a vertex that none has marked.
//!
//! A process receives 8 bytes for each vertex. A request and a reply for each end of its tuples would take 32 times the
//! edge factor for each of N / P vertices, which is more up to 64 processes.

use super::agree::agree;
use super::communicator::gather_equal;
use super::{Communicator, Part};
use crate::memory::zeroed;
use crate::validate::{Tuples, count_edges};
use crate::watch::Halt;
use crate::{Component, Edge, RunError, ValidationError, Validator, Verdict};

/// Checks the results of searches against the tuples of all processes. It reuses its memory for every result.
///
/// ```
/// use graph500::Edge;
/// use graph500::distributed::{Communicator, Part, PartSearch, PartValidator, in_threads};
/// in_threads(2, |communicator| {
///     let edges = if communicator.process() == 0 { &[Edge::new(0, 1), Edge::new(1, 2)][..] } else { &[] };
///     let part = Part::build(communicator, edges, &()).unwrap();
///     let mut search = PartSearch::new(communicator, &part).unwrap();
///     let mut validator = PartValidator::new(communicator, &part, edges).unwrap();
///     search.run(0);
///     let component = validator.check(0, search.parents()).unwrap();
///     assert_eq!((component.edges, component.reached, component.depth), (2, 3, 2));
/// });
/// ```
pub struct PartValidator<'a> {
    communicator: &'a dyn Communicator,
    part: &'a Part,
    edges: &'a [Edge],
    validator: Validator<'a>,
    own: Vec<u64>,
    /// The parents of all processes, one process after the other.
    gathered: Vec<u64>,
}

impl<'a> PartValidator<'a> {
    /// Creates a validator for searches of the graph of which `part` is this process's part. `edges` are the tuples
    /// that this process has passed to [`Part::build`], in any order.
    ///
    /// # Errors
    /// Returns [`RunError::OutOfMemory`], or [`RunError::Process`] if another process has no memory.
    pub fn new(
        communicator: &'a dyn Communicator,
        part: &'a Part,
        edges: &'a [Edge],
    ) -> Result<PartValidator<'a>, RunError> {
        let allocate = || {
            let (what, own) = ("the parents of all processes", part.layout.owned(0, part.num_vertices));
            Ok(PartValidator {
                communicator,
                part,
                edges,
                validator: Validator::of_graph(Tuples::Wide(edges), part.num_vertices)?,
                own: zeroed(what, own)?,
                gathered: zeroed(what, own * communicator.processes())?,
            })
        };
        agree(communicator, allocate())
    }

    /// Checks that the parents of all processes are a breadth-first tree of the component of `key`. `parents` has
    /// those of this process, as [`PartSearch::parents`](super::PartSearch::parents).
    ///
    /// # Errors
    /// Returns the first violation as [`RunError::Invalid`], on the other processes as [`RunError::Process`].
    ///
    /// # Panics
    /// Panics if this process has another number of labels than parents.
    pub fn check(&mut self, key: u64, parents: &[i64]) -> Result<Component, RunError> {
        let halt = Halt::new(&());
        self.gather(parents);
        let (layout, gathered, own) = (self.part.layout, &self.gathered, self.own.len());
        let parent_of = |vertex: usize| {
            let (owner, index) = layout.split(vertex as u32);
            gathered[owner as usize * own + index as usize] as i64
        };
        let found = self.validator.check_part(key, parent_of, &halt).map_err(|verdict| verdict.of_key(key));
        let mut component = agree(self.communicator, found)?;
        component.edges = gather_equal(self.communicator, &[component.edges]).into_iter().sum();
        let error = self
            .unseen()
            .map(|vertex| ValidationError::NotAnEdge { vertex: vertex as u64, parent: parent_of(vertex) as u64 });
        let result = error.map_or(Ok(component), |error| Err(Verdict::Invalid(error).of_key(key)));
        agree(self.communicator, result)
    }

    fn gather(&mut self, parents: &[i64]) {
        assert_eq!(parents.len(), self.part.graph.ranks.len(), "a parent for each own label");
        // All processes send as many words as the one with the most labels.
        self.own.iter_mut().zip(parents).for_each(|(word, &parent)| *word = parent as u64);
        let counts = vec![self.own.len(); self.communicator.processes()];
        self.communicator.all_gather(&self.own, &counts, &mut self.gathered);
    }

    /// Returns the first vertex of this process's share whose tree edge no process has seen.
    fn unseen(&self) -> Option<usize> {
        let processes = self.communicator.processes();
        let words = (self.part.num_vertices as usize).div_ceil(64);
        let share = words.div_ceil(processes).max(1);
        let marks: Vec<u64> = (0..words).map(|word| self.validator.unseen(word)).collect();
        let counts: Vec<usize> =
            (0..processes).map(|process| words.min((process + 1) * share) - words.min(process * share)).collect();
        let received = self.communicator.all_to_all(&marks, &counts);
        let process = self.communicator.process();
        (0..counts[process]).find_map(|word| {
            let unseen = received.chunks(counts[process]).fold(!0, |all, marks| all & marks[word]);
            (unseen != 0).then(|| (process * share + word) * 64 + unseen.trailing_zeros() as usize)
        })
    }

    /// Counts the tuples of all processes in the component that the parents span, without validation.
    ///
    /// # Panics
    /// Panics if this process has another number of labels than parents.
    pub fn count_edges(&mut self, parents: &[i64]) -> u64 {
        self.gather(parents);
        let (layout, gathered, own) = (self.part.layout, &self.gathered, self.own.len());
        let is_inside = |vertex: u32| {
            let (owner, index) = layout.split(vertex);
            gathered[owner as usize * own + index as usize] as i64 >= 0
        };
        let count = count_edges(self.edges, is_inside, &Halt::new(&())).unwrap_or_default();
        gather_equal(self.communicator, &[count]).into_iter().sum()
    }
}
