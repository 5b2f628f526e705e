//! Writes graphs to files.

use std::io::{self, Write};

use super::{Format, native};
use crate::weight::sealed::Sealed;
use crate::{Graph, Labels, Weight};

/// Bytes of text written at a time.
const BLOCK: usize = 1 << 16;

/// Writes a graph in a format, without compression.
///
/// Edge lists have the labels of the vertices. Formats whose vertices are numbers without gaps lose the labels. Formats
/// without weights lose the weights; the others have the weight 1 for a graph without weights. An undirected graph has
/// each edge twice in `.el`, `.wel`, `.txt` and `.gr`.
///
/// ```
/// use anabranch_graph::{Format, Graph, Labels, write};
/// let mut text = Vec::new();
/// write(&Graph::directed([(0, 1), (2, 1)]), &Labels::identity(), Format::EdgeList, &mut text)?;
/// assert_eq!(text, b"0 1\n2 1\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of `out`, and [`InvalidInput`](io::ErrorKind::InvalidInput) if the format does not have such
/// weights.
pub fn write<W: Weight>(graph: &Graph<W>, labels: &Labels, format: Format, out: &mut dyn Write) -> io::Result<()> {
    let from_one = Labels::from_one();
    match format {
        Format::Native => native::write(graph, labels, out),
        Format::Gap | Format::WeightedGap => write_gap(graph, format == Format::WeightedGap, out),
        Format::EdgeList => lines(graph, labels, b"", false, out),
        Format::WeightedEdgeList => lines(graph, labels, b"", true, out),
        Format::Snap => {
            let kind = if graph.is_directed() { "Directed" } else { "Undirected" };
            writeln!(out, "# {kind} graph")?;
            lines(graph, labels, b"", W::IS_WEIGHTED, out)
        }
        Format::Dimacs => {
            if W::CODE >= <f32 as Sealed>::CODE {
                return Err(unsupported(format));
            }
            writeln!(out, "p sp {} {}", graph.num_vertices(), graph.num_arcs())?;
            lines(graph, &from_one, b"a ", true, out)
        }
        Format::MatrixMarket => {
            let field = ["pattern", "integer", "real", "real"][W::CODE as usize];
            let symmetry = if graph.is_directed() { "general" } else { "symmetric" };
            writeln!(out, "%%MatrixMarket matrix coordinate {field} {symmetry}")?;
            writeln!(out, "{0} {0} {1}", graph.num_vertices(), graph.num_edges())?;
            let keep = |from, to| graph.is_directed() || from > to;
            arcs(graph, &from_one, b"", W::IS_WEIGHTED, keep, out)
        }
    }
}

fn unsupported(format: Format) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("the format ({format}) has no such weights; choose another"))
}

/// Writes a line for each arc.
fn lines<W: Weight>(
    graph: &Graph<W>,
    labels: &Labels,
    word: &[u8],
    has_weights: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    arcs(graph, labels, word, has_weights, |_, _| true, out)
}

/// Writes a line for each arc for which `keep` holds.
fn arcs<W: Weight>(
    graph: &Graph<W>,
    labels: &Labels,
    word: &[u8],
    has_weights: bool,
    keep: impl Fn(u32, u32) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = Vec::with_capacity(BLOCK + 128);
    for from in 0..graph.num_vertices() as u32 {
        for (&to, &weight) in graph.out_neighbours(from).iter().zip(graph.out_weights(from)) {
            if !keep(from, to) {
                continue;
            }
            text.extend(word);
            write!(text, "{} {}", labels.label(from), labels.label(to))?;
            if has_weights {
                text.push(b' ');
                weight.write(&mut text);
            }
            text.push(b'\n');
            if text.len() >= BLOCK {
                out.write_all(&text)?;
                text.clear();
            }
        }
    }
    out.write_all(&text)
}

/// Writes a serialized graph of GAP. The weights of incoming arcs are looked up in the rows of their sources.
fn write_gap<W: Weight>(graph: &Graph<W>, is_weighted: bool, out: &mut dyn Write) -> io::Result<()> {
    let format = if is_weighted { Format::WeightedGap } else { Format::Gap };
    if is_weighted && W::CODE >= <f32 as Sealed>::CODE {
        return Err(unsupported(format));
    }
    let vertices = 0..graph.num_vertices() as u32;
    let mut buffer = Vec::with_capacity(BLOCK + 128);
    buffer.push(u8::from(graph.is_directed()));
    buffer.extend(graph.num_arcs().to_le_bytes());
    buffer.extend((graph.num_vertices() as u64).to_le_bytes());
    for is_incoming in [false, true].into_iter().take(1 + usize::from(graph.is_directed())) {
        let row = |vertex| if is_incoming { graph.in_neighbours(vertex) } else { graph.out_neighbours(vertex) };
        let mut start = 0u64;
        buffer.extend(start.to_le_bytes());
        for vertex in vertices.clone() {
            start += row(vertex).len() as u64;
            buffer.extend(start.to_le_bytes());
            flush(&mut buffer, out)?;
        }
        for vertex in vertices.clone() {
            for (index, &neighbour) in row(vertex).iter().enumerate() {
                buffer.extend(neighbour.to_le_bytes());
                if is_weighted {
                    let weight = match is_incoming {
                        false => graph.out_weights(vertex).get(index),
                        true => graph
                            .out_neighbours(neighbour)
                            .binary_search(&vertex)
                            .ok()
                            .and_then(|index| graph.out_weights(neighbour).get(index)),
                    };
                    let bits = weight.map_or(1, |weight| if W::IS_WEIGHTED { weight.to_bits() } else { 1 });
                    let bits = i32::try_from(bits).map_err(|_| unsupported(format))?;
                    buffer.extend(bits.to_le_bytes());
                }
                flush(&mut buffer, out)?;
            }
        }
    }
    out.write_all(&buffer)
}

/// Writes the buffer if it is full.
fn flush(buffer: &mut Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    if buffer.len() >= BLOCK {
        out.write_all(buffer)?;
        buffer.clear();
    }
    Ok(())
}
