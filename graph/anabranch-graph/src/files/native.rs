//! `.ag`: the rows of a graph as they are in memory, so that a program can map the file and use it at once.
//!
//! Layout, little-endian. The header has 64 bytes: the magic bytes, the version, the flags (32 bits each), the numbers
//! of vertices, of arcs, and the label of vertex 0 (64 bits each), 16 zeros, and a checksum of the bytes before. Then
//! the sections follow, each at a multiple of 64: the starts of the outgoing rows, their neighbours, their weights; the
//! starts and the neighbours of the incoming rows of a directed graph; the labels, if they are a table.
//!
//! The checksum is FNV-1a (Fowler, Noll, Vo 1991). It covers the header alone, so opening takes constant time.

use std::io::{self, Write};
use std::sync::Arc;

use anabranch::prelude::*;
use memmap2::Mmap;

use super::error::{Fault, ReadErrorKind};
use super::source::Source;
use super::{Input, binary};
use crate::array::Array;
use crate::rows::Rows;
use crate::weight::sealed::Sealed;
use crate::{Graph, Labels, Weight};

const MAGIC: [u8; 8] = *b"\x89AGraph\n";
const VERSION: u32 = 1;
const HEADER: u64 = 64;
const ALIGNMENT: u64 = 64;
const DIRECTED: u32 = 1;
const LABEL_TABLE: u32 = 2;
/// The weight's code is above the other flags.
const WEIGHT_SHIFT: u32 = 8;

/// The contents of a header.
#[derive(Clone, Copy)]
struct Header {
    is_directed: bool,
    has_table: bool,
    /// The `Weight::CODE` of the weights.
    weight: u32,
    num_vertices: u64,
    num_arcs: u64,
    first_label: u64,
}

impl Header {
    fn of<W: Weight>(graph: &Graph<W>, labels: &Labels) -> Header {
        Header {
            is_directed: graph.is_directed(),
            has_table: labels.parts().is_err(),
            weight: W::CODE,
            num_vertices: graph.num_vertices() as u64,
            num_arcs: graph.num_arcs(),
            first_label: labels.parts().unwrap_or(0),
        }
    }

    fn encode(&self) -> [u8; HEADER as usize] {
        let flags = if self.is_directed { DIRECTED } else { 0 } | if self.has_table { LABEL_TABLE } else { 0 };
        let mut bytes = [0; HEADER as usize];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&(flags | self.weight << WEIGHT_SHIFT).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.num_vertices.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.num_arcs.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.first_label.to_le_bytes());
        let checksum = checksum(&bytes[..56]);
        bytes[56..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Header, Fault> {
        let Some(bytes) = bytes.first_chunk::<{ HEADER as usize }>().filter(|bytes| bytes[..8] == MAGIC) else {
            return Err(Fault::malformed("this is no graph file of anabranch; write one with 'anabranch convert'"));
        };
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let (version, flags) = (word(8) as u32, (word(8) >> 32) as u32);
        if word(56) != checksum(&bytes[..56]) {
            return Err(Fault::malformed("the header is damaged; copy or convert the file again"));
        }
        let header = Header {
            is_directed: flags & DIRECTED != 0,
            has_table: flags & LABEL_TABLE != 0,
            weight: flags >> WEIGHT_SHIFT,
            num_vertices: word(16),
            num_arcs: word(24),
            first_label: word(32),
        };
        if version != VERSION || header.encode() != *bytes || header.weight > f64::CODE {
            let message = format!("the version {version} of the file is not supported; convert the graph again");
            return Err(Fault::new(ReadErrorKind::Unsupported, message));
        }
        if header.num_vertices >= u64::from(u32::MAX) || header.num_arcs >= 1 << 58 {
            return Err(Fault::new(ReadErrorKind::TooLarge, "the header says more vertices or arcs than a graph has"));
        }
        Ok(header)
    }

    /// Returns the sizes of the sections in bytes.
    fn sections(&self) -> [u64; 6] {
        let (starts, arcs) = ((self.num_vertices + 1) * 8, self.num_arcs * 4);
        let incoming = u64::from(self.is_directed);
        let weights = arcs * u64::from(words_per_weight(self.weight));
        [starts, arcs, weights, starts * incoming, arcs * incoming, self.num_vertices * 8 * u64::from(self.has_table)]
    }

    /// Returns the offsets of the sections, and the length of the file.
    fn offsets(&self) -> ([u64; 6], u64) {
        let mut at = HEADER;
        let offsets = self.sections().map(|size| {
            let offset = at;
            at += size.next_multiple_of(ALIGNMENT);
            offset
        });
        (offsets, at)
    }

    fn check_len(&self, len: u64) -> Result<(), Fault> {
        let expected = self.offsets().1;
        if len == expected {
            return Ok(());
        }
        Err(Fault::malformed(format!("the file has {len} bytes, but its header means {expected}; copy it again")))
    }

    fn labels(&self, table: Array<u64>) -> Labels {
        if self.has_table { Labels::from_table(table) } else { Labels::starting_at(self.first_label) }
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns the code of the weights in a file that begins with `bytes`.
pub(crate) fn weight_code(bytes: &[u8]) -> Result<u32, Fault> {
    Header::decode(bytes).map(|header| header.weight)
}

/// Opens a mapped file in constant time, if its weights are of type `W` or there are none to read.
pub(crate) fn open<W: Weight>(map: &Arc<Mmap>) -> Result<Input<W>, Fault> {
    let header = Header::decode(map)?;
    header.check_len(map.len() as u64)?;
    let offsets = header.offsets().0;
    let none = || Fault::malformed("the file is too large for this system");
    let words = |section: usize, len: u64| Array::<u64>::mapped(map, offsets[section], len).ok_or_else(none);
    let halves = |section: usize, len: u64| Array::<u32>::mapped(map, offsets[section], len).ok_or_else(none);
    let num_starts = header.num_vertices + 1;
    let weights = if header.weight == W::CODE {
        Array::mapped(map, offsets[2], header.num_arcs).ok_or_else(none)?
    } else {
        let words = halves(2, header.num_arcs * u64::from(words_per_weight(header.weight)))?;
        convert_weights(&words, header.weight, header.num_arcs)?.into()
    };
    let outgoing = Rows { starts: words(0, num_starts)?, neighbours: halves(1, header.num_arcs)?, weights };
    let incoming = match header.is_directed {
        false => None,
        true => Some(Rows::unweighted(words(3, num_starts)?, halves(4, header.num_arcs)?)),
    };
    let labels = header.labels(words(5, if header.has_table { header.num_vertices } else { 0 })?);
    Ok(Input { graph: Graph::from_rows(outgoing, incoming), labels })
}

/// Reads and verifies a file. Copies all of it.
pub(crate) fn read<W: Weight>(source: &mut Source) -> Result<Input<W>, Fault> {
    let len = source.len()?;
    let reader = source.reader();
    let mut head = [0; HEADER as usize];
    reader.read_exact(&mut head)?;
    let header = Header::decode(&head)?;
    len.map_or(Ok(()), |len| header.check_len(len))?;
    let sizes = header.sections();
    let mut padded = |section: usize| -> Result<Vec<u32>, Fault> {
        let mut words = binary::words::<u32>(reader, sizes[section].next_multiple_of(ALIGNMENT) / 4)?;
        words.truncate(sizes[section] as usize / 4);
        Ok(words)
    };
    let join = |halves: Vec<u32>| -> Vec<u64> {
        halves.par_chunks(2).map(|pair| u64::from(pair[1]) << 32 | u64::from(pair[0])).collect()
    };
    let (starts, neighbours) = (join(padded(0)?), padded(1)?);
    let weights = convert_weights(&padded(2)?, header.weight, header.num_arcs)?;
    let outgoing = Rows { starts: starts.into(), neighbours: neighbours.into(), weights: weights.into() };
    let (starts, neighbours) = (join(padded(3)?), padded(4)?);
    let incoming = header.is_directed.then(|| Rows::unweighted(starts.into(), neighbours.into()));
    let table = join(padded(5)?);
    if !table.is_sorted_by(|a, b| a < b) {
        return Err(Fault::malformed("the labels do not ascend; convert the graph again"));
    }
    let graph = Graph::from_rows(outgoing, incoming);
    graph.verify().map_err(|damage| Fault::malformed(damage.to_string()))?;
    Ok(Input { graph, labels: header.labels(table.into()) })
}

/// Returns the words of 32 bits that a weight with this code has in a file.
fn words_per_weight(code: u32) -> u32 {
    match code {
        0 => 0,
        1 | 2 => 1,
        _ => 2,
    }
}

/// Returns the weights in the `words` of a file, which may be of another type. Linear time.
fn convert_weights<W: Weight>(words: &[u32], code: u32, num_arcs: u64) -> Result<Vec<W>, Fault> {
    let real: fn(u64) -> f64 = match code {
        1 => |bits| bits as f64,
        2 => |bits| f32::from_bits(bits as u32).into(),
        _ => f64::from_bits,
    };
    let bits = |word: &[u32]| word.iter().rev().fold(0, |bits, &word| bits << 32 | u64::from(word));
    let weights = || words.par_chunks(words_per_weight(code) as usize).map(bits);
    match W::CODE {
        _ if code == <()>::CODE || !W::IS_WEIGHTED => Ok(vec![W::ONE; num_arcs as usize]),
        _ if code == W::CODE => Ok(weights().map(W::from_bits).collect()),
        3 => Ok(weights().map(|bits| W::from_bits(real(bits).to_bits())).collect()),
        2 if code == u32::CODE => Ok(weights().map(|bits| W::from_bits((bits as f32).to_bits().into())).collect()),
        _ => Err(Fault::new(ReadErrorKind::Unsupported, "the weights are real numbers; read the graph with f64")),
    }
}

/// Writes a graph.
pub(crate) fn write<W: Weight>(graph: &Graph<W>, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&Header::of(graph, labels).encode())?;
    let (outgoing, incoming) = graph.rows();
    section(out, &outgoing.starts, u64::to_le_bytes)?;
    section(out, &outgoing.neighbours, u32::to_le_bytes)?;
    if W::IS_WEIGHTED {
        match size_of::<W>() {
            8 => section(out, &outgoing.weights, |weight: W| weight.to_bits().to_le_bytes())?,
            _ => section(out, &outgoing.weights, |weight: W| (weight.to_bits() as u32).to_le_bytes())?,
        }
    }
    if let Some(incoming) = incoming {
        section(out, &incoming.starts, u64::to_le_bytes)?;
        section(out, &incoming.neighbours, u32::to_le_bytes)?;
    }
    match labels.parts() {
        Ok(_) => Ok(()),
        Err(table) => section(out, table, u64::to_le_bytes),
    }
}

/// Writes elements, and zeros up to the next section.
fn section<T: Copy, const N: usize>(out: &mut dyn Write, elements: &[T], bytes: fn(T) -> [u8; N]) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(N << 13);
    for block in elements.chunks(1 << 13) {
        buffer.clear();
        buffer.extend(block.iter().flat_map(|&element| bytes(element)));
        out.write_all(&buffer)?;
    }
    let len = (elements.len() * N) as u64;
    out.write_all(&[0; ALIGNMENT as usize][..(len.next_multiple_of(ALIGNMENT) - len) as usize])
}
