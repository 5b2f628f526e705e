//! Breadth-first search on the graph of the Graph500 benchmark. The graph is in compressed rows: a kernel gets the
//! neighbours of its vertex as a slice.
//!
//! A level goes in one of two directions, after Beamer, Asanovic and Patterson, "Direction-Optimizing Breadth-First
//! Search" (2012). While the frontier, the vertices of the level before, has few edges, each edge gets a lane. So a
//! vertex with many edges keeps no lane longer than others. Otherwise each vertex that is not reached looks for a
//! neighbour that is, and stops at the first one.
//!
//! ```text
//! cargo run --release -p anabranch-kernel --example bfs -- 16
//! ```

use std::time::Instant;

use anabranch::Cx;
use anabranch_graph::Graph;
use anabranch_kernel::{DeviceVec, Error, Number, Queue, Vector, gather, indices, kernel, segments, whole};
use graph500::{Edge, Spec, UNREACHED, Validator, generate};

mod common;

/// A level follows the edges of the frontier while they are fewer than a fourteenth of all. Beamer's factor is the
/// same, of the edges that are left.
const ALPHA: usize = 14;

/// What vertices and edges compute.
#[kernel]
mod search {
    /// No vertex: the parent of a vertex that is not reached.
    pub const NONE: u32 = 0xffff_ffff;

    /// An edge that was followed.
    pub struct Edge {
        pub from: u32,
        pub to: u32,
    }

    /// Returns the parent of a vertex before the first level.
    pub fn root(vertex: u32, key: u32) -> u32 {
        if vertex == key { key } else { NONE }
    }

    /// Returns the number of edges of a vertex.
    pub fn degree(vertex: u32, offsets: &[u32]) -> u32 {
        offsets[vertex as usize + 1] - offsets[vertex as usize]
    }

    /// Follows an edge of the frontier, and returns it if it leads to a vertex that is not reached. `edge` counts the
    /// edges of the frontier, and those of its vertex `i` end before `ends[i]`.
    pub fn follow(
        edge: u32,
        ends: &[u32],
        frontier: &[u32],
        offsets: &[u32],
        neighbours: &[u32],
        parents: &[u32],
    ) -> Edge {
        let mut first = 0;
        let mut last = ends.len() - 1;
        for _ in 0..32 {
            if first == last {
                break;
            }
            let middle = first + (last - first) / 2;
            if edge < ends[middle] {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        let from = frontier[first];
        // The last edge of the vertex is the one before `ends[first]`.
        let to = neighbours[(offsets[from as usize + 1] - (ends[first] - edge)) as usize];
        Edge { from, to: if parents[to as usize] == NONE { to } else { NONE } }
    }

    pub fn leads(edge: Edge) -> bool {
        edge.to != NONE
    }
    pub fn from(edge: Edge) -> u32 {
        edge.from
    }
    pub fn to(edge: Edge) -> u32 {
        edge.to
    }

    /// Returns the vertex that an edge leads to if this edge made it a child. Of several edges to a vertex one did,
    /// since they come from different vertices.
    pub fn of_edge(edge: Edge, parent: u32) -> u32 {
        if parent == edge.from { edge.to } else { NONE }
    }

    /// Returns the parent of a vertex, which is its first neighbour that is reached if it has none yet.
    pub fn look(parent: u32, neighbours: &[u32], parents: &[u32]) -> u32 {
        let mut result = parent;
        if parent == NONE {
            for neighbour in neighbours {
                if parents[*neighbour as usize] != NONE {
                    result = *neighbour;
                    break;
                }
            }
        }
        result
    }

    /// Returns a vertex if it is reached now and was not before.
    pub fn of_level(vertex: u32, before: u32, now: u32) -> u32 {
        if before == NONE && now != NONE { vertex } else { NONE }
    }

    pub fn is_vertex(vertex: u32) -> bool {
        vertex != NONE
    }
}
use search::NONE;

/// A graph in compressed rows on a device.
struct Rows {
    /// The number of edges before those of each vertex, and the number of all.
    offsets: DeviceVec<u32>,
    neighbours: DeviceVec<u32>,
}

fn main() -> Result<(), Error> {
    common::main(16, run)
}

/// Searches the graph with 2^`scale` vertices on each device, and checks the trees.
pub fn run(scale: usize) -> Result<String, Error> {
    let scale_of_spec = u32::try_from(scale).unwrap_or(u32::MAX);
    let spec = Spec::new(scale_of_spec, 16, 1).unwrap_or_else(|error| panic!("scale {scale}: {error}"));
    let edges = generate(&spec, &()).unwrap_or_else(|error| panic!("scale {scale}: {error}"));
    let ends = |edge: &Edge| (edge.ends().0 as u32, edge.ends().1 as u32);
    // A graph has the vertices up to the largest one of an edge. Loops are no edges of the benchmark's graph.
    let last = spec.num_vertices() as u32 - 1;
    let graph = Graph::undirected(edges.iter().map(ends).chain([(last, last)]).filter(|(a, b)| a != b || *a == last));
    let (offsets, neighbours) = rows(&graph);
    let key = (0..=last).find(|vertex| graph.out_neighbours(*vertex).iter().any(|to| to != vertex)).unwrap_or(0);
    let title = format!("breadth-first search from vertex {key} of the Graph500 graph of scale {scale}");
    common::table(&title, |cx, queue| {
        let rows = Rows { offsets: queue.upload(&offsets)?, neighbours: queue.upload(&neighbours)? };
        // The first search compiles the kernels.
        tree(cx, queue, &rows, key)?;
        let start = Instant::now();
        let Tree { parents, levels_down, levels_up } = tree(cx, queue, &rows, key)?;
        parents.wait(cx)?;
        let seconds = start.elapsed().as_secs_f64();
        let parents = parents.download(cx)?;
        let parents: Vec<i64> = parents.iter().map(|to| if *to == NONE { UNREACHED } else { i64::from(*to) }).collect();
        let mut validator = Validator::new(&edges, parents.len() as u64).expect("the graph has these edges");
        let reached = match validator.check(u64::from(key), &parents, &()) {
            Ok(component) => component,
            Err(verdict) => panic!("the tree is wrong: {verdict:?}"),
        };
        let rate = reached.edges as f64 / seconds / 1e9;
        let levels = format!("{levels_down} levels down, {levels_up} up");
        Ok(format!("{} edges reached, {levels}, {rate:.4} GTEPS, a valid tree", reached.edges))
    })
}

/// The result of a search.
struct Tree {
    parents: DeviceVec<u32>,
    /// The levels that followed the edges of the frontier.
    levels_down: usize,
    /// The levels of which each vertex looked for a parent.
    levels_up: usize,
}

/// Searches from `key`.
fn tree(cx: &Cx<'_>, queue: &Queue, rows: &Rows, key: u32) -> Result<Tree, Error> {
    let [mut levels_down, mut levels_up] = [0; 2];
    let vertices = indices(rows.offsets.len() - 1);
    let mut parents = search::root::map(vertices, key).collect(queue)?;
    let mut frontier = queue.upload(&[key])?;
    while !frontier.is_empty() {
        let degrees = search::degree::map(&frontier, whole(&rows.offsets));
        let edges = degrees.sum(queue)?.wait(cx)? as usize;
        frontier = if edges < rows.neighbours.len() / ALPHA {
            levels_down += 1;
            let ends = degrees.scan::<<u32 as Number>::Add>(queue, 0)?;
            let (offsets, neighbours) = (whole(&rows.offsets), whole(&rows.neighbours));
            let followed = indices(edges);
            let followed =
                search::follow::map(followed, whole(&ends), whole(&frontier), offsets, neighbours, whole(&parents));
            let found = followed.collect(queue)?.compact::<search::leads>(cx, queue)?;
            let to = search::to::map(&found);
            search::from::map(&found).scatter(queue, to, &mut parents)?;
            search::of_edge::map(&found, gather(&parents, to)).compact::<search::is_vertex>(cx, queue)?
        } else {
            levels_up += 1;
            let neighbours = segments(&rows.offsets, &rows.neighbours);
            let before = parents;
            parents = search::look::map(&before, neighbours, whole(&before)).collect(queue)?;
            search::of_level::map(vertices, &before, &parents).compact::<search::is_vertex>(cx, queue)?
        };
    }
    Ok(Tree { parents, levels_down, levels_up })
}

/// Returns the neighbours of all vertices, and where those of each vertex begin.
fn rows(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let (mut offsets, mut neighbours) = (vec![0], Vec::with_capacity(graph.num_arcs() as usize));
    for vertex in 0..graph.num_vertices() as u32 {
        neighbours.extend_from_slice(graph.out_neighbours(vertex));
        offsets.push(u32::try_from(neighbours.len()).expect("a device counts fewer than 2^32 edges"));
    }
    (offsets, neighbours)
}
