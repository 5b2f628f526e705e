//! Files of every format.

mod binary;
mod formats;
mod native;
mod parts;
mod text;

use anabranch_graph::{Graph, Input, ReadError, ReadOptions, Weight, read};
use std::path::PathBuf;

/// A directory for the files of a test.
struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Directory {
        Directory(tempfile::tempdir().expect("a temporary directory"))
    }

    /// Writes a file.
    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, contents).expect("a file in a new directory");
        path
    }
}

/// Reads a file with these contents.
fn read_text<W: Weight>(name: &str, contents: &str, options: &ReadOptions) -> Result<Input<W>, ReadError> {
    let directory = Directory::new();
    read(directory.file(name, contents), options)
}

/// Returns all outgoing arcs.
fn arcs<W: Weight>(graph: &Graph<W>) -> Vec<(u32, u32, W)> {
    let row = |vertex| {
        let targets = graph.out_neighbours(vertex).iter();
        targets.zip(graph.out_weights(vertex)).map(move |(&to, &weight)| (vertex, to, weight))
    };
    (0..graph.num_vertices() as u32).flat_map(row).collect()
}
