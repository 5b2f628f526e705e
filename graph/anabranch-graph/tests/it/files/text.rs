//! Edge lists.

use super::{Directory, arcs, read_text};
use anabranch_graph::{ReadErrorKind, ReadOptions, read};

fn compact() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.compact = true;
    options
}

#[test]
fn edge_list_with_comments_and_blanks() {
    let text = "# a comment\n0 1\r\n\n  2\t3  \n% another\n3 3\n1 0\n0 1";
    let input = read_text::<()>("a.el", text, &ReadOptions::default()).unwrap();
    assert_eq!(arcs(&input.graph), [(0, 1, ()), (1, 0, ()), (2, 3, ())]);
    assert!(input.graph.is_directed() && input.labels.is_identity());
    assert_eq!(input.graph.in_neighbours(3), [2]);
}

#[test]
fn symmetrize_makes_graph_undirected() {
    let mut options = ReadOptions::default();
    options.symmetrize = true;
    let input = read_text::<u32>("a.wel", "0 1 7\n1 0 5\n1 2 1\n", &options).unwrap();
    assert_eq!(arcs(&input.graph), [(0, 1, 5), (1, 0, 5), (1, 2, 1), (2, 1, 1)]);
    assert!(!input.graph.is_directed());
}

#[test]
fn weights_are_converted_or_ignored() {
    assert_eq!(arcs(&read_text("a.wel", "0 1 2.5\n", &ReadOptions::default()).unwrap().graph), [(0, 1, 2.5f32)]);
    let large = "0 1 16777217\n1 2 9007199254740993\n";
    assert_eq!(
        arcs(&read_text("a.wel", large, &ReadOptions::default()).unwrap().graph),
        [(0, 1, 16_777_217.0), (1, 2, 9_007_199_254_740_992.0)]
    );
    assert_eq!(arcs(&read_text("a.wel", "0 1 2.5\n", &ReadOptions::default()).unwrap().graph), [(0, 1, ())]);
    assert_eq!(arcs(&read_text("a.el", "0 1\n", &ReadOptions::default()).unwrap().graph), [(0, 1, 1u32)]);
}

#[test]
fn compact_labels_are_translated_back() {
    let input = read_text::<()>("a.el", "900000000000 7\n7 30\n", &compact()).unwrap();
    assert_eq!(arcs(&input.graph), [(0, 1, ()), (2, 0, ())]);
    assert_eq!([0, 1, 2].map(|vertex| input.labels.label(vertex)), [7, 30, 900_000_000_000]);
    assert_eq!(input.labels.vertex(30), Some(1));
    assert_eq!(input.labels.vertex(31), None);
}

#[test]
fn empty_file_is_empty_graph() {
    for options in [ReadOptions::default(), compact()] {
        let input = read_text::<()>("a.el", "", &options).unwrap();
        assert_eq!((input.graph.num_vertices(), input.graph.num_edges()), (0, 0));
    }
}

#[test]
fn errors_name_file_line_and_column() {
    for (name, text, place, words) in [
        ("a.el", "0 1\n1 x\n", (2, 3), "expected a vertex, a whole number from 0, found 'x'"),
        ("a.el", "0 1\n\n1\n", (3, 2), "found the end of the line"),
        ("a.el", "0 1 5\n", (1, 5), "expected the end of the line (if there are weights"),
        ("a.el", "-1 0\n", (1, 1), "found '-1'"),
        ("a.el", "0 4294967295\n", (1, 3), "compact the labels"),
        ("a.wel", "0 1\n", (1, 4), "expected a weight"),
        ("a.wel", "0 1 0.5\n", (1, 5), "other weights are real"),
    ] {
        let error = read_text::<u32>(name, text, &ReadOptions::default()).err().unwrap();
        assert_eq!((error.line(), error.column()), (Some(place.0), Some(place.1)), "{error}");
        assert!(error.to_string().contains(&format!("{name}:{}:{}: ", place.0, place.1)), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn short_file_causes_no_large_graph() {
    let error = read_text::<()>("a.el", "0 4294967294\n", &ReadOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ReadErrorKind::TooLarge);
    assert!(error.to_string().contains("compact the labels"), "{error}");
}

#[test]
fn files_that_are_none() {
    let directory = Directory::new();
    let refused = |name: &str| read::<()>(directory.0.path().join(name), &ReadOptions::default()).err().unwrap();
    assert!(refused("none.el").to_string().contains("there is no such file"));
    assert!(refused("none").to_string().contains("must end with one of .el"));
    std::fs::create_dir(directory.0.path().join("directory.el")).unwrap();
    assert!(refused("directory.el").to_string().contains("it is a directory"));
}

#[test]
fn blocks_give_every_line_once() {
    // Several blocks, with lines of many lengths, so that some begin exactly at a block.
    let mut text = String::new();
    let mut expected = Vec::new();
    for vertex in 0..300_000u32 {
        let (from, to) = (vertex, vertex.wrapping_mul(2_654_435_761) % 300_000);
        let blanks = " ".repeat(1 + to as usize % 7);
        text += &format!("{from}{blanks}{to}\n");
        if from != to {
            expected.push((from, to, ()));
        }
    }
    assert!(text.len() > 4 << 20);
    let directory = Directory::new();
    let path = directory.file("a.el", &text);
    assert_eq!(arcs(&read(&path, &ReadOptions::default()).unwrap().graph), expected);

    let at = text.len() - 1_000_000;
    let line = text[..at].matches('\n').count() as u64 + 1;
    text.replace_range(at..at + 1, "x");
    std::fs::write(&path, &text).unwrap();
    let error = read::<()>(&path, &ReadOptions::default()).err().unwrap();
    assert_eq!(error.line(), Some(line), "{error}");
}

#[test]
fn endless_line_is_refused() {
    let error = read_text::<()>("a.el", &" ".repeat(5 << 20), &ReadOptions::default()).err().unwrap();
    assert!(error.to_string().contains("a.el:1:1: the line is longer"), "{error}");
}
