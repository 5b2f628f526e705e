//! Kernel 3 of a run: weights, construction, and a search with its validation for each key.

use std::time::Duration;

use anabranch::prelude::*;

use super::{PathRecord, PathReport, PathSearch, PathValidator, WeightedGraph};
use crate::edge::Tuple as _;
use crate::watch::timed;
use crate::{Graph, Observer, Phase, RunError, Spec, WeightedEdge, generate_weighted};

/// Runs kernel 3 from `keys`. `validate` says whether to check the paths. `order` is the graph of kernel 1.
pub(crate) fn run(
    spec: &Spec,
    validate: bool,
    order: &Graph,
    keys: &[u64],
    observer: &dyn Observer,
) -> Result<PathReport, RunError> {
    let (edges, generation) = timed(|| generate_weighted(spec, observer));
    let edges = edges?;
    let (graph, construction) = timed(|| WeightedGraph::build(order, &edges, observer));
    let graph = graph?;
    let mut search = PathSearch::new(&graph)?;
    let mut validator = if validate { Some(PathValidator::new(&edges, order.num_vertices())?) } else { None };
    let mut searches = Vec::with_capacity(keys.len());
    let (mut searching, mut validating) = (Duration::ZERO, Duration::ZERO);
    observer.begin(Phase::Paths, keys.len() as u64);
    if validate {
        observer.begin(Phase::PathValidation, keys.len() as u64);
    }
    for &key in keys {
        let (result, time) = timed(|| search.run(key, observer));
        result?;
        searching += time;
        observer.advance(Phase::Paths, 1);
        let (reached, farthest) = extent(search.distances());
        let mut record =
            PathRecord { key, seconds: time.as_secs_f64(), edges: 0, reached, farthest, validation_seconds: None };
        if let Some(validator) = &mut validator {
            let (component, time) = timed(|| validator.check(key, search.parents(), search.distances(), observer));
            record.edges = component.map_err(|verdict| RunError::of_paths(key, verdict))?.edges;
            validating += time;
            observer.advance(Phase::PathValidation, 1);
            record.validation_seconds = Some(time.as_secs_f64());
        } else {
            record.edges = count_edges(&edges, search.distances());
        }
        searches.push(record);
    }
    observer.end(Phase::Paths, searching);
    if validate {
        observer.end(Phase::PathValidation, validating);
    }
    let (generation_seconds, construction_seconds) = (generation.as_secs_f64(), construction.as_secs_f64());
    Ok(PathReport { generation_seconds, construction_seconds, searches })
}

/// Returns the number of reached vertices, and the distance of the farthest.
fn extent(distances: &[f32]) -> (u64, f32) {
    let of = |found: (u64, f32), &distance: &f32| {
        if distance < f32::INFINITY { (found.0 + 1, found.1.max(distance)) } else { found }
    };
    distances.par_iter().fold(|| (0, 0.0), of).reduce(|| (0, 0.0), |a, b| (a.0 + b.0, a.1.max(b.1)))
}

/// Counts the tuples in the component, if the paths are not validated.
fn count_edges(edges: &[WeightedEdge], distances: &[f32]) -> u64 {
    edges.par_iter().filter(|weighted| distances[weighted.edge.low_ends().0 as usize] < f32::INFINITY).count() as u64
}
