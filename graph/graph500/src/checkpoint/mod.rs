//! Checkpoints: the tuples and the graph of kernel 1 in a file, so that a later run starts at kernel 2.
//!
//! Layout, little-endian. The header: the magic bytes, the version, the scale (32 bits each), the edge factor, the
//! seed, the number of arcs, the seconds of generation and of construction, and the length of each array (64 bits
//! each). Then the arrays: ranks, labels, bases, rows, neighbours, first neighbours, both ends of each tuple. Last,
//! XXH64 of all bytes before.
//!
//! **Trust.** A reader allocates only what a graph of the expected problem takes, and only if the file is as long as
//! its header says. After the checksum it checks every reference in the arrays ([`verify`]). So even a forged file can
//! make searches wrong, which their validation finds, but cannot make them read outside an array.

mod error;
mod items;
mod verify;

use std::hash::Hasher as _;
use std::io::{self, Read, Write};

use twox_hash::XxHash64;

pub use error::CheckpointError;
use items::Item;

use crate::construct::{NarrowEdges, first_labels};
use crate::graph::{Graph, Row};
use crate::memory::{Zeroable, zeroed};
use crate::{Built, Spec};

const MAGIC: [u8; 8] = *b"\x89AG500\r\n";
const VERSION: u32 = 2;
const ARRAYS: usize = 7;
const HEADER: usize = 8 + 2 * 4 + (5 + ARRAYS) * 8;
/// Bytes that are encoded or decoded at once.
const BUFFER: usize = 1 << 20;

/// The problem and the lengths of the arrays.
struct Header {
    spec: [u64; 3],
    num_arcs: u64,
    seconds: [f64; 2],
    lens: [u64; ARRAYS],
}

impl Header {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((self.spec[0] as u32).to_le_bytes());
        let words = self.spec[1..].iter().copied().chain([self.num_arcs]);
        words.chain(self.seconds.map(f64::to_bits)).chain(self.lens).for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes
    }

    fn decode(bytes: &[u8; HEADER]) -> Result<Header, CheckpointError> {
        if bytes[..8] != MAGIC {
            return Err(CheckpointError::NotACheckpoint);
        }
        let version = u32::get(&bytes[8..12]);
        if version != VERSION {
            return Err(CheckpointError::Version { version });
        }
        let word = |index: usize| u64::get(&bytes[16 + index * 8..][..8]);
        Ok(Header {
            spec: [u32::get(&bytes[12..16]).into(), word(0), word(1)],
            num_arcs: word(2),
            seconds: [word(3), word(4)].map(f64::from_bits),
            lens: std::array::from_fn(|index| word(5 + index)),
        })
    }

    /// Checks that the lengths are those of a graph of `spec`. Returns the length of the file.
    fn check(&self, spec: &Spec) -> Result<u64, CheckpointError> {
        let [ranks, labels, bases, rows, neighbours, first, ends] = self.lens;
        let arcs = 2 * spec.num_edges();
        let are_possible = ends == arcs
            && ranks <= spec.num_vertices()
            && rows <= ranks
            && (labels, bases, first) == (rows + 1, rows.div_ceil(64), rows)
            && neighbours <= arcs
            && self.num_arcs <= neighbours
            && self.seconds.iter().all(|&seconds| (0.0..1e12).contains(&seconds));
        if !are_possible {
            return Err(CheckpointError::Damaged { what: "the header" });
        }
        let sizes = [u32::SIZE, u32::SIZE, u64::SIZE, Row::SIZE, u32::SIZE, u32::SIZE, u32::SIZE];
        let arrays: u64 = self.lens.iter().zip(sizes).map(|(&len, size)| len * size as u64).sum();
        Ok(HEADER as u64 + arrays + 8)
    }
}

impl Built {
    /// Writes a checkpoint.
    ///
    /// ```
    /// use graph500::{Built, Spec, Techniques};
    /// let spec = Spec::new(8, 16, 1)?;
    /// let mut file = Vec::new();
    /// Built::generate(&spec, Techniques::default(), &())?.write_checkpoint(&mut file)?;
    /// let built = Built::read_checkpoint(&mut &file[..], file.len() as u64, &spec)?;
    /// assert_eq!(built.spec(), &spec);
    /// assert!(Built::read_checkpoint(&mut &file[..], file.len() as u64, &Spec::new(8, 16, 2)?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the first error of `to`.
    pub fn write_checkpoint(&self, to: &mut dyn Write) -> io::Result<()> {
        let Built { spec, edges, graph, generation_seconds, construction_seconds } = self;
        let Graph { num_arcs, start: _, ranks, labels, bases, rows, neighbours, first, first_labels: _ } = graph;
        let lens =
            [ranks.len(), labels.len(), bases.len(), rows.len(), neighbours.len(), first.len(), edges.words.len()];
        let header = Header {
            spec: [spec.scale().into(), spec.edge_factor(), spec.seed()],
            num_arcs: *num_arcs,
            seconds: [*generation_seconds, *construction_seconds],
            lens: lens.map(|len| len as u64),
        };
        let mut to = Hashed { inner: to, hash: XxHash64::with_seed(0) };
        to.put(&header.encode())?;
        to.put_all(ranks)?;
        to.put_all(labels)?;
        to.put_all(bases)?;
        to.put_all(rows)?;
        to.put_all(neighbours)?;
        to.put_all(first)?;
        to.put_all(&edges.words)?;
        let sum = to.hash.finish();
        to.put(&sum.to_le_bytes())
    }

    /// Reads a checkpoint of `len` bytes, which must be one of `spec`.
    ///
    /// # Errors
    /// Returns what is wrong with the file, or an error of `from`.
    ///
    /// # Complexity
    /// O(N + M). Allocates no more than the problem takes, whatever the file says.
    pub fn read_checkpoint(from: &mut dyn Read, len: u64, spec: &Spec) -> Result<Built, CheckpointError> {
        let mut from = Hashed { inner: from, hash: XxHash64::with_seed(0) };
        let mut header = [0; HEADER];
        if len < HEADER as u64 {
            return Err(CheckpointError::NotACheckpoint);
        }
        from.get(&mut header)?;
        let header = Header::decode(&header)?;
        let expected = [spec.scale().into(), spec.edge_factor(), spec.seed()];
        if header.spec != expected {
            return Err(CheckpointError::OtherProblem { found: header.spec, expected });
        }
        let expected = header.check(spec)?;
        if len != expected {
            return Err(CheckpointError::Length { bytes: len, expected });
        }
        let [ranks, labels, bases, rows, neighbours, first, ends] = header.lens.map(|len| len as usize);
        let mut graph = Graph {
            start: 0,
            num_arcs: header.num_arcs,
            ranks: from.get_all("the vertex order", ranks)?,
            labels: from.get_all("the vertex order", labels)?,
            bases: from.get_all("the row index", bases)?,
            rows: from.get_all("the row index", rows)?,
            neighbours: from.get_all("the adjacency lists", neighbours)?,
            first: from.get_all("the first neighbours", first)?,
            first_labels: Vec::new(),
        };
        let edges = NarrowEdges { words: from.get_all("the edge tuples", ends)? };
        let sum = from.hash.finish();
        let mut found = [0; 8];
        from.get(&mut found)?;
        if u64::from_le_bytes(found) != sum {
            return Err(CheckpointError::Checksum);
        }
        verify::graph(&graph)?;
        verify::edges(&edges, &graph)?;
        graph.first_labels = first_labels(&graph.labels, &graph.first).map_err(CheckpointError::Run)?;
        let [generation_seconds, construction_seconds] = header.seconds;
        Ok(Built { spec: *spec, edges, graph, generation_seconds, construction_seconds })
    }
}

/// A stream, and the checksum of the bytes that have passed.
struct Hashed<'a, S: ?Sized> {
    inner: &'a mut S,
    hash: XxHash64,
}

impl Hashed<'_, dyn Write + '_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.write(bytes);
        self.inner.write_all(bytes)
    }

    fn put_all<T: Item>(&mut self, items: &[T]) -> io::Result<()> {
        let mut buffer = Vec::with_capacity(BUFFER);
        for items in items.chunks(BUFFER / T::SIZE) {
            buffer.clear();
            items.iter().for_each(|item| item.put(&mut buffer));
            self.put(&buffer)?;
        }
        Ok(())
    }
}

impl Hashed<'_, dyn Read + '_> {
    fn get(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.hash.write(bytes);
        Ok(())
    }

    fn get_all<T: Item + Zeroable>(&mut self, what: &'static str, len: usize) -> Result<Vec<T>, CheckpointError> {
        let mut items = zeroed::<T>(what, len).map_err(|error| CheckpointError::Run(error.into()))?;
        let mut buffer = vec![0; BUFFER / T::SIZE * T::SIZE];
        for items in items.chunks_mut(BUFFER / T::SIZE) {
            let bytes = &mut buffer[..items.len() * T::SIZE];
            self.get(bytes)?;
            items.iter_mut().zip(bytes.chunks_exact(T::SIZE)).for_each(|(item, bytes)| *item = T::get(bytes));
        }
        Ok(items)
    }
}
