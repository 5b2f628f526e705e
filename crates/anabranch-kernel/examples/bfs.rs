//! Breadth-first search on the graph of the Graph500 benchmark. The graph is in compressed rows: a kernel gets the
//! neighbours of its vertex as a slice.
//!
//! Each level maps all vertices. One that is not reached yet looks for a neighbour of the level before, and stops at
//! the first one. Most vertices of such a graph are within few levels.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example bfs -- 16
//! ```

use std::time::Instant;

use anabranch::Cx;
use anabranch_graph::Graph;
use anabranch_kernel::{DeviceVec, Error, Queue, Vector, indices, kernel, segments, whole};
use graph500::{Edge, Spec, UNREACHED, Validator, generate};

mod common;

/// What vertices compute.
#[kernel]
mod search {
    /// The level of a vertex that is not reached.
    pub const FAR: u32 = 0xffff_ffff;

    /// Returns the level of a vertex, which is `level` if it is reached now.
    pub fn visit(own: u32, neighbours: &[u32], levels: &[u32], level: u32) -> u32 {
        let mut result = own;
        if own == FAR {
            for neighbour in neighbours {
                if levels[*neighbour as usize] == level - 1 {
                    result = level;
                    break;
                }
            }
        }
        result
    }

    /// Returns 1 for a vertex of this level.
    pub fn is_new(own: u32, level: u32) -> u32 {
        if own == level { 1 } else { 0 }
    }

    /// Returns the first neighbour of the level before, or the vertex itself if it is the root, or `FAR`.
    pub fn parent(vertex: u32, own: u32, neighbours: &[u32], levels: &[u32]) -> u32 {
        let mut result = FAR;
        if own == 0 {
            result = vertex;
        } else if own != FAR {
            for neighbour in neighbours {
                if levels[*neighbour as usize] == own - 1 {
                    result = *neighbour;
                    break;
                }
            }
        }
        result
    }
}
use search::FAR;

fn main() -> Result<(), Error> {
    common::main(16, run)
}

/// Searches the graph with 2^`scale` vertices on each device, and checks the trees.
pub fn run(scale: usize) -> Result<String, Error> {
    let spec = Spec::new(scale as u32, 16, 1).unwrap_or_else(|error| panic!("scale {scale}: {error}"));
    let edges = generate(&spec, &()).unwrap_or_else(|error| panic!("scale {scale}: {error}"));
    let ends = |edge: &Edge| (edge.ends().0 as u32, edge.ends().1 as u32);
    // A graph has the vertices up to the largest one of an edge. Loops are no edges of the benchmark's graph.
    let last = spec.num_vertices() as u32 - 1;
    let graph = Graph::undirected(edges.iter().map(ends).chain([(last, last)]).filter(|(a, b)| a != b || *a == last));
    let (offsets, neighbours) = rows(&graph);
    let key = (0..=last).find(|vertex| graph.out_neighbours(*vertex).iter().any(|to| to != vertex)).unwrap_or(0);
    let title = format!("breadth-first search from vertex {key} of the Graph500 graph of scale {scale}");
    common::table(&title, |cx, queue| {
        let (offsets, neighbours) = (queue.upload(&offsets)?, queue.upload(&neighbours)?);
        // The first search compiles the kernels.
        tree(cx, queue, &offsets, &neighbours, key)?;
        let start = Instant::now();
        let parents = tree(cx, queue, &offsets, &neighbours, key)?;
        let seconds = start.elapsed().as_secs_f64();
        let parents: Vec<i64> = parents.iter().map(|to| if *to == FAR { UNREACHED } else { i64::from(*to) }).collect();
        let mut validator = Validator::new(&edges, parents.len() as u64).expect("the graph has these edges");
        let reached = match validator.check(u64::from(key), &parents, &()) {
            Ok(component) => component,
            Err(verdict) => panic!("the tree is wrong: {verdict:?}"),
        };
        let rate = reached.edges as f64 / seconds / 1e9;
        Ok(format!("{} edges reached, {rate:.4} GTEPS, a valid tree", reached.edges))
    })
}

/// Returns the parent of each vertex.
fn tree(
    cx: &Cx<'_>,
    queue: &Queue,
    offsets: &DeviceVec<u32>,
    neighbours: &DeviceVec<u32>,
    key: u32,
) -> Result<Vec<u32>, Error> {
    let vertices = offsets.len() - 1;
    let mut first = vec![FAR; vertices];
    first[key as usize] = 0;
    let mut levels = queue.upload(&first)?;
    for level in 1.. {
        levels = search::visit::map(&levels, segments(offsets, neighbours), whole(&levels), level).collect(queue)?;
        if search::is_new::map(&levels, level).sum(queue)?.wait(cx)? == 0 {
            break;
        }
    }
    let rows = segments(offsets, neighbours);
    search::parent::map(indices(vertices), &levels, rows, whole(&levels)).collect(queue)?.download(cx)
}

/// Returns the neighbours of all vertices, and where those of each vertex begin.
fn rows(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let (mut offsets, mut neighbours) = (vec![0], Vec::with_capacity(graph.num_arcs() as usize));
    for vertex in 0..graph.num_vertices() as u32 {
        neighbours.extend_from_slice(graph.out_neighbours(vertex));
        offsets.push(neighbours.len() as u32);
    }
    (offsets, neighbours)
}
