//! The format of this crate, and writing.

use super::{Directory, arcs, read_text};
use anabranch_graph::{Format, Graph, Labels, ReadOptions, Weight, WeightType, map, read, weight_type, write};
use proptest::prelude::*;

fn written<W: Weight>(graph: &Graph<W>, labels: &Labels, format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(graph, labels, format, &mut bytes).expect("memory is never full");
    bytes
}

fn same<W: Weight + std::fmt::Debug>(a: &Graph<W>, b: &Graph<W>) {
    assert_eq!((a.num_vertices(), a.is_directed()), (b.num_vertices(), b.is_directed()));
    assert_eq!(arcs(a), arcs(b));
    for vertex in 0..a.num_vertices() as u32 {
        assert_eq!(a.in_neighbours(vertex), b.in_neighbours(vertex));
    }
}

/// Maps a file of a test.
fn open<W: Weight>(path: &std::path::Path) -> Result<anabranch_graph::Input<W>, anabranch_graph::ReadError> {
    // SAFETY: no test changes a file that it has mapped.
    unsafe { map(path) }
}

fn round_trip<W: Weight + std::fmt::Debug>(graph: &Graph<W>, labels: &Labels) {
    let directory = Directory::new();
    let path = directory.file("a.ag", written(graph, labels, Format::Native));
    for input in [read::<W>(&path, &ReadOptions::default()).unwrap(), open::<W>(&path).unwrap()] {
        same(&input.graph, graph);
        assert_eq!(&input.labels, labels);
        input.graph.verify().unwrap();
    }
}

#[test]
fn native_files_keep_everything() {
    let edges = [(0, 1, 7), (2, 0, 9), (4, 1, 2)];
    round_trip(&Graph::directed_weighted(edges), &Labels::from_one());
    round_trip(&Graph::undirected_weighted(edges), &Labels::identity());
    round_trip(&Graph::undirected_weighted([(0, 1, -0.5f32), (1, 2, 1e30)]), &Labels::identity());
    round_trip(&Graph::directed_weighted([(0, 1, 16_777_217.0), (2, 1, -0.1), (1, 2, 1e300)]), &Labels::from_one());
    round_trip(&Graph::directed([]), &Labels::identity());
    let input = read_text::<()>("a.txt", "5 70\n70 9000000000\n", &ReadOptions::default()).unwrap();
    round_trip(&input.graph, &input.labels);
}

#[test]
fn weights_are_converted() {
    let directory = Directory::new();
    let graph = Graph::directed_weighted([(0, 1, 7u32)]);
    let path = directory.file("a.ag", written(&graph, &Labels::identity(), Format::Native));
    assert_eq!(arcs(&read::<f32>(&path, &ReadOptions::default()).unwrap().graph), [(0, 1, 7.0)]);
    assert_eq!(arcs(&open::<f32>(&path).unwrap().graph), [(0, 1, 7.0)]);
    assert_eq!(arcs(&open::<f64>(&path).unwrap().graph), [(0, 1, 7.0)]);
    assert_eq!(arcs(&open::<()>(&path).unwrap().graph), [(0, 1, ())]);
    assert_eq!(weight_type(&path, &ReadOptions::default()).unwrap(), WeightType::Whole);
    let path = directory.file("b.ag", written(&Graph::directed([(0, 1)]), &Labels::identity(), Format::Native));
    assert_eq!(arcs(&open::<u32>(&path).unwrap().graph), [(0, 1, 1)]);
    let graph = Graph::directed_weighted([(0, 1, 0.5f32)]);
    let path = directory.file("c.ag", written(&graph, &Labels::identity(), Format::Native));
    assert!(open::<u32>(&path).err().unwrap().to_string().contains("read the graph with f64"));
}

#[test]
fn every_format_reads_what_it_writes() {
    let directory = Directory::new();
    let edges = [(0, 1, 7), (2, 0, 9), (4, 1, 2), (3, 4, 1)];
    for graph in [Graph::directed_weighted(edges), Graph::undirected_weighted(edges)] {
        for &format in Format::ALL {
            let name = format!("a.{}", format.extensions()[0]);
            let path = directory.file(&name, written(&graph, &Labels::identity(), format));
            let read = read::<u32>(&path, &ReadOptions::default()).unwrap().graph;
            let has_weights = !matches!(format, Format::EdgeList | Format::Gap);
            let expected: Vec<_> = arcs(&graph)
                .iter()
                .map(|&(from, to, weight)| (from, to, if has_weights { weight } else { 1 }))
                .collect();
            assert_eq!(arcs(&read), expected, "{format}");
        }
    }
}

#[test]
fn damaged_native_files_are_refused() {
    let graph = Graph::undirected([(0, 1), (1, 2)]);
    let good = written(&graph, &Labels::identity(), Format::Native);
    let directory = Directory::new();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    for (bytes, words) in [
        (Vec::new(), "no graph file"),
        (good[..63].to_vec(), "no graph file"),
        (with(0, 0), "no graph file"),
        (with(8, 9), "the header is damaged"),
        (with(31, 1), "the header is damaged"),
        (good[..good.len() - 1].to_vec(), "its header means"),
    ] {
        let path = directory.file("a.ag", &bytes);
        let message = open::<()>(&path).err().unwrap().to_string();
        // An empty file cannot be read as a header at all.
        assert!(message.contains(words), "{words}: {message}");
        assert!(read::<()>(&path, &ReadOptions::default()).is_err());
    }
    // The starts are at 64, the neighbours at 128.
    for at in [64, 72, 79, 128, 132, 135] {
        let path = directory.file("a.ag", with(at, 0x77));
        assert!(open::<()>(&path).unwrap().graph.verify().is_err(), "{at}");
        let message = read::<()>(&path, &ReadOptions::default()).err().unwrap().to_string();
        assert!(message.contains("copy or convert its file again"), "{message}");
    }
}

#[test]
#[should_panic(expected = "`Graph::verify` finds")]
fn damaged_row_says_so() {
    let mut bytes = written(&Graph::undirected([(0, 1), (1, 2)]), &Labels::identity(), Format::Native);
    bytes[72] = 0x77;
    let directory = Directory::new();
    open::<()>(&directory.file("a.ag", bytes)).unwrap().graph.out_neighbours(0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn random_bytes_cause_no_panic(
        format in 0..Format::ALL.len(),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "[0-9a#% \n.-]{0,60}",
        at in 0usize..200,
    ) {
        let directory = Directory::new();
        let mut options = ReadOptions::default();
        options.format = Some(Format::ALL[format]);
        let graph = Graph::undirected_weighted([(0, 1, 7), (1, 2, 9)]);
        let mut damaged = written(&graph, &Labels::identity(), Format::ALL[format]);
        let at = at % damaged.len();
        damaged[at] = bytes.first().copied().unwrap_or(0);
        for bytes in [bytes, text.into_bytes(), damaged] {
            let path = directory.file("a", &bytes);
            let _ = read::<()>(&path, &options);
            let _ = read::<f32>(&path, &options);
            if let Ok(input) = read::<u32>(&path, &options) {
                input.graph.verify().unwrap();
            }
        }
    }
}
