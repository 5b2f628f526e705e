//! Text formats with headers, and compressed files.

use super::{Directory, arcs, read_text};
use anabranch_graph::{Format, ReadErrorKind, ReadOptions, Weight, read};
use std::io::Write;

/// Returns the message about a file with an error.
fn refused<W: Weight>(name: &str, text: &str) -> String {
    read_text::<W>(name, text, &ReadOptions::default()).err().unwrap_or_else(|| panic!("{text:?}")).to_string()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn matrix_market_general_and_symmetric() {
    let text = "%%MatrixMarket matrix coordinate integer general\n% a comment\n\n4 4 3\n1 2 5\n3 1 7\n% more\n2 2 1\n";
    let input = read_text::<u32>("a.mtx", text, &ReadOptions::default()).unwrap();
    assert_eq!((input.graph.num_vertices(), input.graph.is_directed()), (4, true));
    assert_eq!(arcs(&input.graph), [(0, 1, 5), (2, 0, 7)]);
    assert_eq!((input.labels.label(0), input.labels.vertex(4)), (1, Some(3)));

    let text = "%%matrixmarket MATRIX Coordinate pattern Symmetric\n2 2 1\n2 1\n";
    let input = read_text::<()>("a.mtx", text, &ReadOptions::default()).unwrap();
    assert_eq!((arcs(&input.graph), input.graph.is_directed()), (vec![(0, 1, ()), (1, 0, ())], false));

    let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 -1.5e0\n";
    assert_eq!(arcs(&read_text("a.mtx", text, &ReadOptions::default()).unwrap().graph), [(0, 1, -1.5f32)]);
}

#[test]
fn malformed_matrix_market() {
    let banner = "%%MatrixMarket matrix coordinate pattern general\n";
    for (text, words) in [
        ("", "a.mtx:1:1: expected a line '%%MatrixMarket"),
        ("hello\n", "found 'hello"),
        ("%%MatrixMarket vector coordinate real general\n", "'vector' is not supported"),
        ("%%MatrixMarket matrix array real general\n", "'array' is not supported, only coordinate"),
        ("%%MatrixMarket matrix coordinate complex general\n", "'complex'"),
        ("%%MatrixMarket matrix coordinate real hermitian\n", "'hermitian'"),
        (banner, "is missing"),
        (&format!("{banner}2 x 1\n"), "a.mtx:2:3: expected the number of columns"),
        (&format!("{banner}%\n2 3 1\n"), "a.mtx:3:1: the matrix has 2 rows and 3 columns"),
        (&format!("{banner}2 2 1\n0 1\n"), "a.mtx:3:1: expected a vertex from 1, found '0'"),
        (&format!("{banner}2 2 1\n1 3\n"), "a.mtx:3:3: expected a vertex, of which the header promises 2, found '3'"),
        (&format!("{banner}2 2 1\n1 2 5\n"), "a.mtx:3:5: expected the end of the line"),
        (&format!("{banner}2 2 2\n1 2\n"), "promises 2 edges, but there are 1"),
        (&format!("{banner}1152921504606846976 1152921504606846976 1\n1 2\n"), "too many for 1 edges"),
        (&format!("{banner}2 2 1152921504606846976\n1 2\n"), "but there are 1"),
    ] {
        assert!(refused::<()>("a.mtx", text).contains(words), "{words}: {}", refused::<()>("a.mtx", text));
    }
}

#[test]
fn dimacs() {
    let text = "c a comment\np sp 4 3\na 1 2 10\nc\na 2 4 7\na 4 2 7\n";
    let input = read_text::<u32>("a.gr", text, &ReadOptions::default()).unwrap();
    assert_eq!((input.graph.num_vertices(), arcs(&input.graph)), (4, vec![(0, 1, 10), (1, 3, 7), (3, 1, 7)]));
    assert_eq!(input.labels.label(3), 4);
    let mut options = ReadOptions::default();
    options.compact = true;
    let input = read_text::<u32>("a.gr", text, &options).unwrap();
    assert_eq!((input.graph.num_vertices(), input.labels.label(2)), (3, 4));

    for (text, words) in [
        ("", "'p sp VERTICES ARCS' is missing"),
        ("a 1 2 3\n", "a.gr:1:1: expected the line 'p sp"),
        ("p max 4 1\n", "expected the line"),
        ("p sp 4\n", "a.gr:1:7: expected the number of arcs"),
        ("p sp 4 1\ne 1 2 3\n", "a.gr:2:1: expected 'a', found 'e'"),
        ("p sp 4 1\na 1 2\n", "a.gr:2:6: expected a weight"),
        ("p sp 4 1\na 1 5 2\n", "the header promises 4"),
        ("p sp 1152921504606846976 1\na 1 5 2\n", "too many"),
    ] {
        assert!(refused::<u32>("a.gr", text).contains(words), "{words}: {}", refused::<u32>("a.gr", text));
    }
}

#[test]
fn snap() {
    let text = "# Directed graph: x.txt\n# FromNodeId\tToNodeId\n1000\t7\n7\t99999999999\n";
    let input = read_text::<()>("a.txt", text, &ReadOptions::default()).unwrap();
    assert_eq!(arcs(&input.graph), [(0, 2, ()), (1, 0, ())]);
    assert_eq!([0, 1, 2].map(|vertex| input.labels.label(vertex)), [7, 1000, 99_999_999_999]);

    let text = "18446744073709551615 13835058055282163712\n13835058055282163712 7\n";
    let input = read_text::<()>("a.txt", text, &ReadOptions::default()).unwrap();
    assert_eq!(arcs(&input.graph), [(1, 0, ()), (2, 1, ())]);
    assert_eq!([0, 1, 2].map(|vertex| input.labels.label(vertex)), [7, 13_835_058_055_282_163_712, u64::MAX]);
    assert_eq!(input.labels.vertex(u64::MAX), Some(2));
    assert!(
        refused::<()>("a.txt", "1 18446744073709551616\n").contains("a.txt:1:3: expected a vertex, a whole number up")
    );

    let input =
        read_text::<u32>("a.snap", "# Undirected graph: x\n1 2 5 1234\n2 3\n", &ReadOptions::default()).unwrap();
    assert!(!input.graph.is_directed());
    assert_eq!(arcs(&input.graph), [(0, 1, 5), (1, 0, 5), (1, 2, 1), (2, 1, 1)]);
    assert!(refused::<u32>("a.txt", "1 2 x\n").contains("a.txt:1:5: expected a weight"));
}

#[test]
fn compressed_files_are_recognized_by_their_bytes() {
    let mut text = String::new();
    for vertex in 0..60_000u32 {
        text += &format!("{vertex} {}\n", vertex.wrapping_mul(2_654_435_761) % 60_000);
    }
    let (head, tail) = text.as_bytes().split_at(333_333);
    let directory = Directory::new();
    let mut options = ReadOptions::default();
    options.format = Some(Format::EdgeList);
    let read = |contents: &[u8]| read::<()>(directory.file("a", contents), &options).map(|input| arcs(&input.graph));
    let plain = read(text.as_bytes()).unwrap();
    for compress in [gzip, zstd] {
        assert_eq!(read(&compress(text.as_bytes())).unwrap(), plain);
        assert_eq!(read(&[compress(head), compress(tail)].concat()).unwrap(), plain, "two members");
        let mut bytes = compress(text.as_bytes());
        let error = read(&bytes[..bytes.len() / 2]).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Io, "{error}");
        let middle = bytes.len() / 2;
        bytes[middle..middle + 8].fill(0xff);
        read(&bytes).unwrap_err();
        let error = read(&compress(&[text.as_bytes(), b"1 x\n"].concat())).unwrap_err();
        assert_eq!((error.line(), error.column()), (Some(60_001), Some(3)), "{error}");
    }
}

#[test]
fn padding_and_skippable_frames_are_skipped() {
    let directory = Directory::new();
    let text = b"0 1\n1 2\n";
    let read = |name: &str, contents: &[u8]| {
        read::<()>(directory.file(name, contents), &ReadOptions::default()).map(|input| arcs(&input.graph))
    };
    let skippable = |kind: u8, contents: &[u8]| {
        [&[0x50 | kind, 0x2a, 0x4d, 0x18], &(contents.len() as u32).to_le_bytes()[..], contents].concat()
    };
    let expected = [(0, 1, ()), (1, 2, ())];
    let long = vec![7; 200_000];
    for (before, after) in [
        (skippable(0, b"abcd"), vec![]),
        (vec![], skippable(14, b"seektabl")),
        ([skippable(15, b""), skippable(3, &long)].concat(), [skippable(0, &long), vec![0; 9]].concat()),
    ] {
        assert_eq!(read("a.el.zst", &[before, zstd(text), after].concat()).unwrap(), expected);
    }
    for zeros in [1, 3, 511, 300_000] {
        assert_eq!(read("a.el.gz", &[gzip(text), vec![0; zeros]].concat()).unwrap(), expected);
        let two = [gzip(b"0 1\n"), vec![0; zeros], gzip(b"1 2\n")].concat();
        assert_eq!(read("a.el.gz", &two).unwrap(), expected);
    }
    let garbage = read("a.el.gz", &[gzip(text), b"garbage".to_vec()].concat()).unwrap_err();
    assert!(garbage.to_string().contains("the compressed data are damaged"), "{garbage}");
    let mut cut = skippable(0, b"abcd");
    cut.pop();
    assert_eq!(read("a.el.zst", &[zstd(text), cut].concat()).unwrap_err().kind(), ReadErrorKind::Io);
}

#[test]
fn byte_order_marks_and_other_line_ends() {
    let mark = "\u{feff}";
    let banner = "%%MatrixMarket matrix coordinate pattern general\n";
    for (name, text) in [
        ("a.el", format!("{mark}0 1\n1 2\n")),
        ("a.el", "0 1\r1 2\r".to_owned()),
        ("a.el", format!("{mark}# comment\r0 1\r1 2")),
        ("a.txt", format!("{mark}# Directed graph\r\n0 1\r\n1 2\r\n")),
        ("a.mtx", format!("{mark}{banner}3 3 2\n1 2\n2 3\n")),
        ("a.mtx", format!("  {banner}  % c\n\t% d\n  3 3 2\n % e\n 1 2\n2 3\n")),
        ("a.mtx", format!("{banner}% c\n3 3 2\n1 2\n2 3\n").replace('\n', "\r")),
        ("a.gr", " c comment\n p sp 3 2\n c\na 1 2 1\n a 2 3 1\n".to_owned()),
        ("a.gr", format!("{mark}p sp 3 2\ra 1 2 1\ra 2 3 1\r")),
    ] {
        let input =
            read_text::<()>(name, &text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(arcs(&input.graph), [(0, 1, ()), (1, 2, ())], "{text:?}");
    }
    let undirected = format!("{mark}# Undirected graph\n1 2\n");
    assert!(!read_text::<()>("a.txt", &undirected, &ReadOptions::default()).unwrap().graph.is_directed());
    assert!(refused::<()>("a.el", &format!("{mark}0 1\n1 x\n")).contains("a.el:2:3: "));
    assert!(refused::<()>("a.el", "0 1\r1 2\r3 x\r").contains("a.el:3:3: "));
    // More than a block, so that the lines would be too long.
    let long: String = (0..200_000).map(|vertex| format!("{vertex} {}\r", vertex + 1)).collect();
    assert_eq!(read_text::<()>("a.el", &long, &ReadOptions::default()).unwrap().graph.num_edges(), 200_000);
}

#[test]
fn small_file_cannot_fill_memory() {
    let bomb = gzip(&vec![b'\n'; 1 << 20]).repeat(17);
    assert!(bomb.len() < 1 << 17);
    let directory = Directory::new();
    let path = directory.file("a.el.gz", bomb);
    let error = read::<()>(&path, &ReadOptions::default()).err().unwrap();
    assert!(error.to_string().contains("more than 100 times; decompress the file first"), "{error}");
    let mut options = ReadOptions::default();
    options.max_expansion = 2000;
    assert_eq!(read::<()>(&path, &options).unwrap().graph.num_vertices(), 0);
}
