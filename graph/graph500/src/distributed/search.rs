//! Kernel 2 on several processes: the direction-optimising search, with a one-dimensional partition.
//!
//! Source: Buluç, Madduri, *Parallel Breadth-First Search on Distributed Memory Systems*, SC 2011 (top-down); Buluç,
//! Beamer, Madduri, Asanović, Patterson, *Distributed-Memory Breadth-First Search on Massive Graphs*, 2017 (bottom-up).
//! `docs/MPI.md` has the model that chooses the partition.
//!
//! A process searches its own vertices with the code of the search for one process ([`direction`]).
//!
//! **Bottom-up.** Each process gathers the frontier of all, then searches the rows of its unvisited vertices. A set
//! of at least 1 / [`SPARSE`] of the vertices is a bitmap; a smaller one is a list of 4 bytes a vertex.
//!
//! **Top-down.** Each process claims the own neighbours of its frontier, and sends a message of 8 bytes for each of the
//! others to its owner, all at once. `visited` has a bit for every vertex of all processes: an own one is visited; of
//! the others the process knows those that it has sent, and those in the frontiers that it has gathered. It sends
//! nothing for them.
//!
//! **Direction.** The rules and constants are those of one process, with sums over all. After each level the processes
//! gather their counts of vertices and edges. So all turn at the same level.

use std::ops::Range;
use std::time::Instant;

use anabranch::prelude::*;

use super::communicator::gather_equal;
use super::traffic::Counted;
use super::{Communicator, Part, Traffic};
use crate::RunError;
use crate::bfs::direction::{self, ALPHA, BETA, bottom_up, convert, top_down};
use crate::bfs::{Reach, UNREACHED, translate};
use crate::bitmap::{self, clear_to};
use crate::memory::zeroed;
use crate::watch::Halt;

/// A frontier of less than this fraction of the vertices is gathered as a list.
pub(super) const SPARSE: u64 = 64;
/// Words that one task combines.
const WORDS: usize = 1 << 13;

/// How a level was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelKind {
    /// From the frontier to its neighbours, with messages to their owners.
    TopDown,
    /// From the unvisited vertices to the frontier, gathered as a list.
    BottomUpList,
    /// From the unvisited vertices to the frontier, gathered as a bitmap.
    BottomUpBitmap,
}

/// A level of a search, with what this process has sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRecord {
    /// How it was searched.
    pub kind: LevelKind,
    /// Vertices in the frontier of all processes.
    pub frontier: u64,
    /// The sum of their degrees, where the level was searched top-down or is the first one bottom-up; else 0.
    pub edges: u64,
    /// Vertices that all processes found.
    pub found: u64,
    /// The time of the level on this process, in seconds.
    pub seconds: f64,
    /// What this process has sent.
    pub traffic: Traffic,
}

/// A search with its memory, which searches from one root after the other.
///
/// ```
/// use graph500::Edge;
/// use graph500::distributed::{Communicator, Part, PartSearch, in_threads};
/// let parents = in_threads(2, |communicator| {
///     let edges = if communicator.process() == 0 { &[Edge::new(0, 1), Edge::new(1, 2)][..] } else { &[] };
///     let part = Part::build(communicator, edges, &()).unwrap();
///     let mut search = PartSearch::new(communicator, &part).unwrap();
///     let reach = search.run(0);
///     assert_eq!((reach.reached, reach.depth), (3, 2));
///     search.parents().to_vec()
/// });
/// // The vertices 0 and 2 belong to the first process.
/// assert_eq!(parents, [vec![0, 1], vec![0]]);
/// ```
pub struct PartSearch<'a> {
    part: &'a Part,
    communicator: Counted<'a>,
    /// By number, see the head of this file.
    visited: Vec<u64>,
    /// The frontier of all processes, by number.
    front: Vec<u64>,
    /// The own vertices that a level bottom-up finds, by rank.
    next: Vec<u64>,
    /// The own vertices of the frontiers, by rank.
    queue: Vec<u32>,
    tree: Vec<u32>,
    parents: Vec<i64>,
    levels: Vec<LevelRecord>,
}

/// The counts of a frontier.
struct Totals {
    /// The vertices of each process.
    found_by: Vec<u64>,
    found: u64,
    edges: u64,
}

/// Where the own vertices of a frontier are.
enum Own {
    Queue(Range<usize>),
    Next,
}

impl<'a> PartSearch<'a> {
    /// Allocates the memory for searches of the graph of which `part` is this process's part.
    ///
    /// # Errors
    /// Returns [`RunError::OutOfMemory`], or [`RunError::Process`] if another process has no memory.
    pub fn new(communicator: &'a dyn Communicator, part: &'a Part) -> Result<PartSearch<'a>, RunError> {
        super::agree::agree(communicator, PartSearch::allocate(communicator, part))
    }

    fn allocate(communicator: &'a dyn Communicator, part: &'a Part) -> Result<PartSearch<'a>, RunError> {
        let (graph, layout, what) = (&part.graph, part.layout, "the search's bitmaps and queue");
        let mut tree = zeroed::<u32>("the tree", graph.num_ranks() + 1)?;
        tree.fill(graph.no_label());
        let mut parents = zeroed::<i64>("the parents", graph.ranks.len())?;
        parents.fill(UNREACHED);
        Ok(PartSearch {
            part,
            communicator: Counted::new(communicator),
            visited: zeroed(what, layout.numbers() / 64)?,
            front: zeroed(what, layout.numbers() / 64)?,
            next: zeroed(what, layout.words())?,
            queue: zeroed(what, graph.num_ranks())?,
            tree,
            parents,
            levels: Vec::new(),
        })
    }

    /// Searches from `root`. The benchmark times this call.
    ///
    /// # Panics
    /// Panics if there is no vertex `root`.
    pub fn run(&mut self, root: u64) -> Reach {
        let (owner, index) = self.part.owner(root);
        let is_owner = owner == self.part.layout.process as usize;
        self.levels.clear();
        let start = self.start(is_owner.then_some(index));
        let mut totals = self.totals(start.len() as u64, self.edges(start.clone()));
        let mut frontier = start;
        let mut reach = Reach { reached: 1, depth: 0 };
        let mut unexplored = self.part.num_arcs();
        while totals.found > 0 {
            if totals.edges > unexplored / ALPHA {
                (frontier, totals) = self.bottom_up_levels(frontier, totals, &mut reach);
                if totals.found == 0 {
                    break;
                }
            } else {
                unexplored = unexplored.saturating_sub(totals.edges);
            }
            (frontier, totals) = self.top_down_level(frontier, &totals);
            reach.add_level(totals.found);
        }
        let (graph, ranks) = (&self.part.graph, self.part.graph.num_ranks());
        let own = self.own_words();
        direction::clear_unreached(&self.visited[own], &mut self.tree[..ranks], graph.no_label());
        translate(&self.tree, graph, &mut self.parents);
        if is_owner {
            // An isolated root is in no tree of ranks.
            self.parents[index] = root as i64;
        }
        reach
    }

    /// Returns the tree of the last run: the parent of each of this process's labels, or
    /// [`UNREACHED`](crate::UNREACHED). The label of the index i is i * P + p for process p of P.
    pub fn parents(&self) -> &[i64] {
        &self.parents
    }

    /// Returns the levels of the last run.
    pub fn levels(&self) -> &[LevelRecord] {
        &self.levels
    }

    /// Returns the own words of `visited` that have vertices.
    fn own_words(&self) -> Range<usize> {
        let start = self.part.layout.process as usize * self.part.layout.words();
        start..start + bitmap::words(self.part.graph.num_ranks())
    }

    /// Forgets the last search, and starts at the root if it is an own label. Returns the frontier.
    fn start(&mut self, root: Option<usize>) -> Range<usize> {
        let (graph, own) = (&self.part.graph, self.own_words());
        self.visited.par_chunks_mut(WORDS).for_each(|words| words.fill(0));
        clear_to(&mut self.visited[own.clone()], graph.num_ranks());
        let rank = root.map(|index| graph.ranks[index]).filter(|&rank| rank < graph.no_rank());
        let Some(rank) = rank else { return 0..0 };
        self.visited[own.start + (rank / 64) as usize] |= 1 << (rank % 64);
        self.tree[rank as usize] = graph.labels[(graph.start + rank) as usize];
        self.queue[0] = rank;
        0..1
    }

    /// Returns the degrees of the vertices of a part of the queue.
    fn edges(&self, places: Range<usize>) -> u64 {
        self.queue[places].iter().map(|&rank| u64::from(self.part.graph.row_len(rank))).sum()
    }

    /// Sums over all processes.
    fn totals(&self, found: u64, edges: u64) -> Totals {
        let all = gather_equal(&self.communicator, &[found, edges]);
        let found_by: Vec<u64> = all.iter().step_by(2).copied().collect();
        Totals { found: found_by.iter().sum(), edges: all.iter().skip(1).step_by(2).sum(), found_by }
    }

    fn record(&mut self, kind: LevelKind, before: &Totals, found: u64, start: Instant) {
        let (seconds, traffic) = (start.elapsed().as_secs_f64(), self.communicator.take());
        let level = LevelRecord { kind, frontier: before.found, edges: before.edges, found, seconds, traffic };
        self.levels.push(level);
    }

    /// Runs a level top-down. Returns the next frontier.
    fn top_down_level(&mut self, frontier: Range<usize>, totals: &Totals) -> (Range<usize>, Totals) {
        let start = Instant::now();
        let (graph, layout) = (&self.part.graph, self.part.layout);
        let tree = &mut self.tree[..graph.num_ranks()];
        let halt = Halt::new(&());
        let level = top_down::level(graph, &mut self.visited, &mut self.queue, frontier, tree, &halt);
        let (first, mut end, mut edges) = (level.places.start, level.places.end, level.edges);
        if layout.processes > 1 {
            let (messages, counts) = self.by_owner(&level.remote);
            let received = self.communicator.all_to_all(&messages, &counts);
            let tree = &mut self.tree[..graph.num_ranks()];
            let more = top_down::receive(graph, &mut self.visited, &mut self.queue, end, tree, &received);
            (end, edges) = (more.places.end, edges + more.edges);
        }
        let next = self.totals((end - first) as u64, edges);
        self.record(LevelKind::TopDown, totals, next.found, start);
        (first..end, next)
    }

    /// Sorts messages by the owners of their vertices, and counts those of each.
    fn by_owner(&self, messages: &[u64]) -> (Vec<u64>, Vec<usize>) {
        let stride = self.part.layout.stride;
        let owner = |message: u64| (top_down::message_vertex(message) / stride) as usize;
        let mut counts = vec![0; self.part.layout.processes as usize];
        messages.iter().for_each(|&message| counts[owner(message)] += 1);
        let mut next: Vec<usize> = Vec::with_capacity(counts.len());
        let mut sum = 0;
        for count in &counts {
            next.push(sum);
            sum += count;
        }
        let mut sorted = vec![0; messages.len()];
        for &message in messages {
            let place = &mut next[owner(message)];
            sorted[*place] = message;
            *place += 1;
        }
        (sorted, counts)
    }

    /// Runs levels bottom-up while they are faster. Returns the frontier of the next level.
    fn bottom_up_levels(
        &mut self,
        frontier: Range<usize>,
        mut totals: Totals,
        reach: &mut Reach,
    ) -> (Range<usize>, Totals) {
        let (graph, end) = (&self.part.graph, frontier.end);
        let (ranks, own_words) = (graph.num_ranks(), self.own_words());
        let mut own = Own::Queue(frontier);
        loop {
            let start = Instant::now();
            let kind = self.gather(own, end, &totals);
            let level = bottom_up::Level { graph, front: &self.front, tries_first: true };
            let (visited, next) = (&mut self.visited[own_words.clone()], &mut self.next[..own_words.len()]);
            let found = level.run(visited, next, &mut self.tree[..ranks], &Halt::new(&()));
            let next = self.totals(found, 0);
            self.record(kind, &totals, next.found, start);
            totals = next;
            reach.add_level(totals.found);
            let unvisited = self.part.num_connected() - reach.reached;
            let words = self.visited.len() as u64;
            if totals.found == 0 || totals.found * BETA < unvisited + words {
                return (convert::list_bits(&self.next, &mut self.queue, end), totals);
            }
            own = Own::Next;
        }
    }

    /// Makes `front` the frontier of all processes. The queue is free from `end` on.
    fn gather(&mut self, own: Own, end: usize, totals: &Totals) -> LevelKind {
        let layout = self.part.layout;
        let is_sparse = totals.found * SPARSE < layout.numbers() as u64;
        let kind = if layout.processes > 1 && is_sparse {
            let places = match own {
                Own::Queue(places) => places,
                Own::Next => convert::list_bits(&self.next, &mut self.queue, end),
            };
            let numbers = self.gather_list(places, totals);
            convert::set_bits(&numbers, &mut self.front);
            LevelKind::BottomUpList
        } else {
            if let Own::Queue(places) = own {
                convert::set_bits(&self.queue[places], &mut self.next);
            }
            let counts = vec![layout.words(); layout.processes as usize];
            self.communicator.all_gather(&self.next, &counts, &mut self.front);
            LevelKind::BottomUpBitmap
        };
        if layout.processes > 1 {
            let words = self.visited.par_chunks_mut(WORDS).zip(self.front.par_chunks(WORDS));
            words.for_each(|(visited, front)| visited.iter_mut().zip(front).for_each(|(word, front)| *word |= front));
        }
        kind
    }

    /// Gathers the numbers of the vertices in the queues of all processes, two ranks a word.
    fn gather_list(&self, places: Range<usize>, totals: &Totals) -> Vec<u32> {
        let pair = |pair: &[u32]| u64::from(pair[0]) | pair.get(1).map_or(0, |&rank| u64::from(rank) << 32);
        let own: Vec<u64> = self.queue[places].chunks(2).map(pair).collect();
        let counts: Vec<usize> = totals.found_by.iter().map(|&found| found.div_ceil(2) as usize).collect();
        let mut all = vec![0; counts.iter().sum()];
        self.communicator.all_gather(&own, &counts, &mut all);
        let (mut rest, mut numbers) = (&all[..], Vec::with_capacity(totals.found as usize));
        for ((process, &found), count) in (0u32..).zip(&totals.found_by).zip(counts) {
            let (words, behind) = rest.split_at(count);
            rest = behind;
            let ranks = words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]);
            numbers.extend(ranks.take(found as usize).map(|rank| process * self.part.layout.stride + rank));
        }
        numbers
    }
}
