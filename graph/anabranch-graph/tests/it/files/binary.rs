//! Serialized graphs.

use super::{Directory, arcs};
use anabranch_graph::{Graph, ReadErrorKind, ReadOptions, Weight, read};

/// Returns the bytes of a graph of GAP.
fn serialized(graph: &Graph<u32>, is_weighted: bool) -> Vec<u8> {
    let mut bytes = vec![u8::from(graph.is_directed())];
    bytes.extend(graph.num_arcs().to_le_bytes());
    bytes.extend((graph.num_vertices() as u64).to_le_bytes());
    let vertices = 0..graph.num_vertices() as u32;
    for incoming in [false, true].into_iter().take(1 + usize::from(graph.is_directed())) {
        let row = |vertex| if incoming { graph.in_neighbours(vertex) } else { graph.out_neighbours(vertex) };
        let mut start = 0;
        bytes.extend(0u64.to_le_bytes());
        for vertex in vertices.clone() {
            start += row(vertex).len() as u64;
            bytes.extend(start.to_le_bytes());
        }
        for vertex in vertices.clone() {
            for (index, &neighbour) in row(vertex).iter().enumerate() {
                bytes.extend(neighbour.to_le_bytes());
                if is_weighted {
                    let weight = if incoming { 1 } else { graph.out_weights(vertex)[index] };
                    bytes.extend(weight.to_le_bytes());
                }
            }
        }
    }
    bytes
}

/// Returns the outgoing arcs in a file, or the error.
fn load<W: Weight>(name: &str, bytes: &[u8]) -> Result<Vec<(u32, u32, W)>, anabranch_graph::ReadError> {
    let directory = Directory::new();
    read(directory.file(name, bytes), &ReadOptions::default()).map(|input| arcs(&input.graph))
}

#[test]
fn serialized_graphs_of_gap() {
    let edges = [(0, 1, 7), (2, 0, 9), (4, 1, 2)];
    for graph in [Graph::directed_weighted(edges), Graph::undirected_weighted(edges), Graph::directed_weighted([])] {
        assert_eq!(load::<u32>("a.wsg", &serialized(&graph, true)).unwrap(), arcs(&graph));
        let unweighted: Vec<_> = arcs(&graph).into_iter().map(|(from, to, _)| (from, to, 1)).collect();
        assert_eq!(load::<u32>("a.sg", &serialized(&graph, false)).unwrap(), unweighted);
    }
}

#[test]
fn malformed_serialized_graphs() {
    let graph = Graph::undirected_weighted([(0, 1, 7), (2, 0, 9)]);
    let good = serialized(&graph, false);
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    // The starts are at 17, the targets at 49.
    for (bytes, words) in [
        (good[..10].to_vec(), "ends too early"),
        (good[..good.len() - 1].to_vec(), "its header means"),
        (with(0, 7), "neither 0 nor 1"),
        (with(1, 5), "its header means"),
        (with(8, 0x7f), "too large"),
        (with(16, 1), "too large"),
        (with(17, 1), "the starts of the rows do not ascend"),
        (with(25, 200), "the starts of the rows do not ascend"),
        (with(41, 3), "the starts of the rows do not ascend"),
        (with(49, 3), "has an arc to 3"),
        (with(53, 1), "not in the lists of both its ends"),
    ] {
        let error = load::<()>("a.sg", &bytes).unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    let mut other_weight = serialized(&graph, true);
    // The weight of the first arc, behind the header, four starts and its target. The opposite arc keeps its weight.
    other_weight[53] = 8;
    assert!(load::<u32>("a.wsg", &other_weight).unwrap_err().to_string().contains("with the same weight"));
    let mut negative = serialized(&graph, true);
    let last = negative.len() - 1;
    negative[last] = 0xff;
    assert!(load::<u32>("a.wsg", &negative).unwrap_err().to_string().contains("negative weight"));
}

#[test]
fn claimed_sizes_are_not_allocated() {
    // As a stream has no length, only the bytes that are there count.
    use std::io::Write;
    let mut bytes = vec![0];
    bytes.extend((1u64 << 57).to_le_bytes());
    bytes.extend((1u64 << 31).to_le_bytes());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&bytes).unwrap();
    let error = load::<()>("a.sg.gz", &encoder.finish().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::Io);
    assert!(error.to_string().contains("ends too early"), "{error}");
}
