//! The horizon, and the step beyond it: all distances below it are final, and all others are unknown.
//!
//! Source: the pruning by pulling and pushing of Chakaravarthy, Checconi, Petrini, Sabharwal, *Scalable Single Source
//! Shortest Path Algorithms for Massively Parallel Systems*, IPDPS 2014.
//!
//! In most undirected graphs the final vertices have most of the edges, as ends of high degree are near. Then each
//! unknown vertex *pulls*: it takes the least sum of its final neighbours. An unknown neighbour can offer a lower one
//! only if the horizon and the weight of the edge are below that sum. So few arcs can still matter, 1 to 2% in
//! Kronecker graphs of scale 20, and the rest of the search runs on the rows of these. In rows by weight, an unknown
//! vertex reads few edges: it stops at the first weight that is not below its sum.
//!
//! Otherwise the final vertices *push* the sums that they have skipped, and the search goes on with all edges.
//!
//! A root of low degree may be far from the rest of the graph, relative to the distances there. It would pass a horizon
//! close to it by pushing. So the horizon is as far from the nearest vertex with at least the mean degree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anabranch::prelude::*;

use super::length::{Label, Length};
use super::{Bins, Entry, Run};
use crate::Graph;
use crate::kernels::tools::{blocks, states};
use crate::rows::{Arcs, Partition};

/// Vertices per block of work.
const BLOCK: usize = 256;

/// The vertices among which [`distance_to_many_edges`] looks.
const NEAREST: usize = 100;

/// Returns the distance from `root` to the nearest vertex with at least the mean degree, or 0 if it is none of the
/// nearest vertices.
pub(super) fn distance_to_many_edges<W: Length>(graph: &Graph<W>, root: u32) -> f64 {
    let mean = graph.num_arcs() / graph.num_vertices().max(1) as u64;
    // The bits of numbers from 0 on have the order of the numbers.
    let mut open = BinaryHeap::from([Reverse((0f64.to_bits(), root))]);
    for _ in 0..NEAREST {
        let Some(Reverse((distance, vertex))) = open.pop() else { break };
        let row = graph.out_neighbours(vertex);
        let distance = f64::from_bits(distance);
        if row.len() as u64 >= mean {
            return distance;
        }
        let sums = row.iter().zip(graph.out_weights(vertex)).map(|(&to, &weight)| (distance + weight.into(), to));
        open.extend(sums.map(|(sum, to)| Reverse((sum.to_bits(), to))));
    }
    0.0
}

impl<W: Length, D: Label<W>> Run<'_, W, D> {
    /// Offers the sums beyond the horizon that can matter. Returns the graph of the arcs that still can, or `None` if
    /// that is the whole one.
    pub(super) fn pass_horizon(&self, bins: &mut [Bins<D>]) -> Option<Graph<W>> {
        let num_vertices = self.labels.len();
        let final_vertices = (0..num_vertices as u32).into_par_iter().filter(|vertex| self.is_final(*vertex));
        let arcs_of_final: usize = final_vertices.map(|vertex| self.graph.out_neighbours(vertex).len()).sum();
        if self.graph.is_directed() || arcs_of_final as u64 <= self.graph.num_arcs() / 2 {
            self.for_each(bins, |bins, vertex| {
                if self.is_final(vertex) {
                    self.push(bins, vertex);
                }
            });
            return None;
        }
        let mut arcs: Vec<Vec<(u32, u32, W)>> = states(Vec::new);
        self.for_each(&mut arcs, |arcs, vertex| {
            if !self.is_final(vertex) {
                self.pull(arcs, vertex);
            }
        });
        let rows = Partition::new(num_vertices, &arcs, Arcs::Forward, |weight: W| weight).into_rows();
        let remaining = Graph::from_rows(rows, None);
        self.for_each(bins, |bins, vertex| {
            let distance = D::load(&self.labels[vertex as usize]);
            if distance < D::UNREACHED && !remaining.out_neighbours(vertex).is_empty() {
                bins.push(distance.bucket(self.step), Entry { vertex, distance });
            }
        });
        Some(remaining)
    }

    /// Calls `visit` for each vertex, with the state of a thread.
    fn for_each<S: Send>(&self, states: &mut [S], visit: impl Fn(&mut S, u32) + Sync) {
        blocks(self.labels.len(), BLOCK, states, self.cancel, |state, range| {
            range.for_each(|vertex| visit(state, vertex as u32));
        });
    }

    #[inline]
    fn is_final(&self, vertex: u32) -> bool {
        D::load(&self.labels[vertex as usize]) < self.horizon
    }

    /// Offers the sums of a final vertex that are not below the horizon.
    fn push(&self, bins: &mut Bins<D>, vertex: u32) {
        let distance = D::load(&self.labels[vertex as usize]);
        for (&neighbour, &weight) in self.graph.out_neighbours(vertex).iter().zip(self.graph.out_weights(vertex)) {
            match distance.plus(weight) {
                Some(sum) if sum >= self.horizon => self.offer(bins, neighbour, sum),
                Some(_) => {}
                None => self.refuse(vertex, neighbour, weight),
            }
        }
    }

    /// Gives `vertex` the least sum of its final neighbours. Then adds the arcs to `arcs` on which other neighbours may
    /// offer a lower one.
    fn pull(&self, arcs: &mut Vec<(u32, u32, W)>, vertex: u32) {
        let row = || self.graph.out_neighbours(vertex).iter().zip(self.graph.out_weights(vertex));
        let mut least = D::UNREACHED;
        for (&neighbour, &weight) in row() {
            if self.is_light_first && D::ZERO.plus(weight).is_some_and(|sum| sum >= least) {
                break;
            }
            let distance = D::load(&self.labels[neighbour as usize]);
            if distance < self.horizon {
                match distance.plus(weight) {
                    Some(sum) if sum < least => least = sum,
                    Some(_) => {}
                    None => self.refuse(neighbour, vertex, weight),
                }
            }
        }
        D::lower(&self.labels[vertex as usize], least);
        for (&neighbour, &weight) in row() {
            match self.horizon.plus(weight) {
                Some(sum) if sum >= least && self.is_light_first => break,
                Some(sum) if sum >= least => {}
                // A weight that does not count is refused once the neighbour is relaxed.
                _ if !self.is_final(neighbour) => arcs.push((neighbour, vertex, weight)),
                _ => {}
            }
        }
    }
}
