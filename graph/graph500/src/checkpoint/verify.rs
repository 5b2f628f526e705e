//! The check of a graph from a file: every number in an array that a search uses as an index is in range.

use anabranch::prelude::*;

use super::CheckpointError;
use crate::construct::no_label;
use crate::edge::NarrowEdge;
use crate::graph::{Graph, Row};

/// Checks the graph, whose arrays have the lengths that belong together.
pub(super) fn graph(graph: &Graph) -> Result<(), CheckpointError> {
    let num_ranks = graph.num_ranks();
    let connected = graph.ranks.par_iter().filter(|&&rank| (rank as usize) < num_ranks).count();
    let are_ranks = graph.ranks.par_iter().all(|&rank| rank as usize <= num_ranks);
    let are_inverse = (0..num_ranks).into_par_iter().all(|rank| {
        let label = graph.labels[rank] as usize;
        graph.ranks.get(label).is_some_and(|&found| found as usize == rank)
    });
    if !(are_ranks
        && are_inverse
        && connected == num_ranks
        && graph.no_label() == no_label(&graph.ranks, graph.no_rank()))
    {
        return Err(CheckpointError::Damaged { what: "the order of the vertices" });
    }
    let is_row = |rank: usize| {
        let Row { offset, len } = graph.rows[rank];
        let start = graph.bases[rank / 64].checked_add(offset.into());
        let end = start.and_then(|start| start.checked_add(len.into()));
        let (Some(start), Some(end)) = (start, end) else { return false };
        let Some(row) = graph.neighbours.get(start as usize..end as usize) else { return false };
        row.first() == Some(&graph.first[rank])
            && row.is_sorted_by(|a, b| a < b)
            && row.last().is_some_and(|&last| (last as usize) < num_ranks)
    };
    let arcs: u64 = graph.rows.par_iter().map(|row| u64::from(row.len)).sum();
    if arcs != graph.num_arcs || !(0..num_ranks).into_par_iter().all(is_row) {
        return Err(CheckpointError::Damaged { what: "the rows" });
    }
    Ok(())
}

/// Checks that all ends are vertices of the graph.
pub(super) fn edges(edges: &[NarrowEdge], graph: &Graph) -> Result<(), CheckpointError> {
    let vertices = graph.num_vertices();
    if edges.par_iter().flatten().all(|&end| u64::from(end) < vertices) {
        Ok(())
    } else {
        Err(CheckpointError::Damaged { what: "the edge tuples" })
    }
}
