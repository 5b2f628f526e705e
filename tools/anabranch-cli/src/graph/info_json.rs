//! The results of `anabranch graph info`, for scripts.

use serde::Serialize;

/// Increases by one when a field is removed or changes its meaning, not when one is added.
const SCHEMA: u32 = 1;

/// A description of a graph.
#[derive(Serialize)]
pub struct Info {
    pub vertices: u64,
    /// An undirected edge counts once.
    pub edges: u64,
    pub directed: bool,
    pub degrees: Degrees,
    /// Components of the graph without directions.
    pub components: u64,
    pub largest_component: u64,
    /// The longest distance that two breadth-first searches have found: from a hub of the largest component, and from
    /// the vertex that is farthest from it.
    pub diameter_at_least: u64,
    pub weights: Option<WeightRange>,
}

/// The distribution of degrees; of outgoing ones in a directed graph.
#[derive(Serialize)]
pub struct Degrees {
    /// Vertices without any edge.
    pub isolated: u64,
    pub min: u64,
    pub median: u64,
    pub percentile_90: u64,
    pub percentile_99: u64,
    pub max: u64,
    pub mean: f64,
}

/// The range of weights.
#[derive(Serialize)]
pub struct WeightRange {
    pub min: f64,
    pub max: f64,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    graph: &'a Info,
}

impl Info {
    /// Returns the document, with a line end.
    pub fn to_json(&self) -> String {
        // Numbers, booleans and text keys can always be serialized.
        serde_json::to_string_pretty(&Document { schema: SCHEMA, graph: self }).unwrap_or_default() + "\n"
    }
}
