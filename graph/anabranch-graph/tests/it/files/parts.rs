//! Files that several processes read, each a part.

use super::Directory;
use anabranch_graph::{Format, Graph, Labels, Part, ReadError, ReadErrorKind, ReadOptions, Weight, read, read_part};
use std::path::Path;

/// Reads all parts.
fn read_parts<W: Weight>(path: &Path, options: &ReadOptions, parts: usize) -> Result<Vec<Part<W>>, ReadError> {
    (0..parts).map(|part| read_part(path, options, part, parts, &())).collect()
}

/// Checks that the parts of a file have its edges in order, for several numbers of parts.
fn check<W: Weight>(path: &Path, edges: &[(u32, u32, W)], num_vertices: u64, is_directed: bool) {
    for parts in [1, 2, 3, 4, 7, 8, 100] {
        let read = read_parts::<W>(path, &ReadOptions::default(), parts).unwrap();
        let found: Vec<_> = read.iter().flat_map(|part| part.pieces.iter().flatten().copied()).collect();
        assert!(found == edges, "{parts} parts of {}", path.display());
        assert_eq!(read.iter().map(|part| part.num_vertices).max(), Some(num_vertices), "{parts} parts");
        assert!(read.iter().all(|part| part.is_directed == is_directed));
        for part in &read {
            part.check_whole(num_vertices, edges.len() as u64).unwrap();
        }
    }
}

/// Edges whose lines have many lengths.
fn some_edges(count: u32) -> Vec<(u32, u32, u32)> {
    (0..count).map(|i| (i % 10, i.wrapping_mul(2_654_435_761) >> (12 + i % 19), i % 255)).collect()
}

fn largest(edges: &[(u32, u32, u32)]) -> u64 {
    edges.iter().map(|edge| u64::from(edge.0.max(edge.1))).max().unwrap()
}

#[test]
fn texts_are_cut_at_lines() {
    let directory = Directory::new();
    // The larger one has blocks within each part.
    for count in [1, 5, 300, 400_000] {
        let edges = some_edges(count);
        let num_vertices = largest(&edges) + 1;
        let lines: Vec<String> = edges.iter().map(|(from, to, weight)| format!("{from} {to} {weight}")).collect();
        check(&directory.file("unix.wel", lines.join("\n") + "\n"), &edges, num_vertices, true);
        check(&directory.file("open.wel", lines.join("\n")), &edges, num_vertices, true);
        let commented = format!("# {}\r\n\r\n{}\r\n\n%\n", "x".repeat(5000), lines.join("\r\n"));
        check(&directory.file("commented.wel", commented), &edges, num_vertices, true);
    }
    check::<()>(&directory.file("empty.el", ""), &[], 0, true);
}

#[test]
fn headers_belong_to_all_parts() {
    let directory = Directory::new();
    let edges = some_edges(1000);
    let num_vertices = largest(&edges) + 5;
    let one_based = |word: &str| -> String {
        let line = |&(from, to, weight): &(u32, u32, u32)| format!("{word}{} {} {weight}\n", from + 1, to + 1);
        edges.iter().map(line).collect()
    };
    let dimacs = format!("c a comment\np sp {num_vertices} 1000\n{}", one_based("a "));
    check(&directory.file("a.gr", dimacs), &edges, num_vertices, true);
    let matrix = |symmetry: &str| {
        let header = format!("%%MatrixMarket matrix coordinate integer {symmetry}\n% a comment\n");
        format!("{header}{num_vertices} {num_vertices} 1000\n{}", one_based(""))
    };
    check(&directory.file("a.mtx", matrix("symmetric")), &edges, num_vertices, false);
    check(&directory.file("a.mtx", matrix("general")), &edges, num_vertices, true);
    let parts = read_parts::<u32>(&directory.file("a.mtx", matrix("general")), &ReadOptions::default(), 2).unwrap();
    assert_eq!(parts[1].labels.label(0), 1);
    let message = parts[0].check_whole(num_vertices, 999).unwrap_err().to_string();
    assert!(message.contains("the header promises 1000 edges, but there are 999"), "{message}");
}

#[test]
fn serialized_graphs_are_cut_at_arcs() {
    let directory = Directory::new();
    let edges = some_edges(300_000);
    let write = |graph: &Graph<u32>, name: &str, format| {
        let mut bytes = Vec::new();
        anabranch_graph::write(graph, &Labels::identity(), format, &mut bytes).unwrap();
        directory.file(name, bytes)
    };
    for graph in [Graph::undirected_weighted(edges.clone()), Graph::directed_weighted(edges)] {
        let arcs = super::arcs(&graph);
        let unweighted: Vec<_> = arcs.iter().map(|&(from, to, _)| (from, to, ())).collect();
        let num_vertices = graph.num_vertices() as u64;
        check(&write(&graph, "a.wsg", Format::WeightedGap), &arcs, num_vertices, graph.is_directed());
        check(&write(&graph, "a.sg", Format::Gap), &unweighted, num_vertices, graph.is_directed());
    }
    let empty = write(&Graph::undirected_weighted([]), "empty.sg", Format::Gap);
    check::<()>(&empty, &[], 0, false);
}

#[test]
fn errors_name_the_line_of_the_whole_file() {
    let directory = Directory::new();
    let mut lines: Vec<String> = (0..5000).map(|i| format!("{i} {}", i + 1)).collect();
    lines[3999] = "7 x".to_owned();
    let path = directory.file("a.el", lines.join("\n"));
    for parts in [1, 2, 5] {
        let results = (0..parts).map(|part| read_part::<()>(&path, &ReadOptions::default(), part, parts, &()));
        let errors: Vec<ReadError> = results.filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "{parts} parts");
        assert_eq!((errors[0].line(), errors[0].column()), (Some(4000), Some(3)));
        assert_eq!(errors[0].to_string(), read::<()>(&path, &ReadOptions::default()).unwrap_err().to_string());
    }
}

#[test]
fn other_files_are_refused() {
    let directory = Directory::new();
    let refused = |name: &str, contents: &[u8], options: &ReadOptions| {
        let error = read_part::<()>(directory.file(name, contents), options, 0, 2, &()).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Unsupported, "{error}");
    };
    let mut compact = ReadOptions::default();
    compact.compact = true;
    refused("a.el", b"0 1\n", &compact);
    refused("a.txt", b"0 1\n", &ReadOptions::default());
    refused("a.el", b"0 1\r1 2\r", &ReadOptions::default());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, b"0 1\n").unwrap();
    refused("a.el.gz", &gzip.finish().unwrap(), &ReadOptions::default());
    let sparse = directory.file("sparse.el", "0 4000000000\n");
    let part = read_part::<()>(sparse, &ReadOptions::default(), 0, 1, &()).unwrap();
    let error = part.check_whole(part.num_vertices, 1).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::TooLarge, "{error}");
}

#[test]
fn rows_that_do_not_ascend_are_refused() {
    let directory = Directory::new();
    let mut bytes = Vec::new();
    let graph: Graph = Graph::undirected((0..200).map(|vertex| (vertex, vertex + 1)));
    anabranch_graph::write(&graph, &Labels::identity(), Format::Gap, &mut bytes).unwrap();
    for row in 0..=201 {
        for start in [0, 7, 399, 401, u64::MAX] {
            let mut damaged = bytes.clone();
            damaged[17 + 8 * row..][..8].copy_from_slice(&start.to_le_bytes());
            let path = directory.file("damaged.sg", &damaged);
            let whole = read::<()>(&path, &ReadOptions::default());
            // A part may not see the damage, but no part panics, and none has a vertex that does not exist.
            for part in 0..3 {
                let Ok(part) = read_part::<()>(&path, &ReadOptions::default(), part, 3, &()) else { continue };
                assert!(part.pieces.iter().flatten().all(|edge| edge.0 < 201 && edge.1 < 201), "row {row}");
                assert!(part.num_edges() <= 134, "row {row} at {start}: {:?}", whole.as_ref().err());
            }
        }
    }
}
