//! Lines of edges: two vertices and perhaps a weight.
//!
//! All text formats have such lines. They differ in their [`Rules`]. Empty lines are ignored.

use super::blocks::Text;
use super::error::{Fault, ReadErrorKind};
use super::observer::Watch;
use super::scan::{Misread, Scanner};
use crate::Weight;

/// The third column of a line.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Third {
    /// There is none.
    None,
    /// A weight.
    Weight,
    /// A weight or nothing. Further columns are ignored.
    Any,
}

/// What the lines of a format are like.
pub(crate) struct Rules {
    pub(crate) third: Third,
    /// The first bytes of lines that are ignored.
    pub(crate) comments: &'static [u8],
    /// The word before the vertices.
    pub(crate) word: Option<&'static [u8]>,
    /// The number of the first vertex.
    pub(crate) first: u64,
    /// The number of vertices according to the header.
    pub(crate) num_vertices: Option<u64>,
}

impl Rules {
    /// Returns the rules of `.el` and `.wel`.
    pub(crate) fn edge_list(third: Third) -> Rules {
        Rules { third, comments: b"#%", word: None, first: 0, num_vertices: None }
    }
}

/// The edges of a block of a file. `L` is the type of labels.
pub(crate) struct Block<L, W> {
    pub(crate) edges: Vec<(L, L, W)>,
    /// The largest label.
    pub(crate) largest: u64,
}

/// A type of labels: `u32` for vertices, and `u64` for labels that are translated.
pub(crate) trait Label: Copy + Send + Sync {
    /// The largest label.
    const LARGEST: u64;
    fn new(label: u64) -> Self;
}

impl Label for u32 {
    // The number of vertices has 32 bits too.
    const LARGEST: u64 = u32::MAX as u64 - 1;
    #[inline]
    fn new(label: u64) -> u32 {
        label as u32
    }
}

impl Label for u64 {
    const LARGEST: u64 = u64::MAX;
    #[inline]
    fn new(label: u64) -> u64 {
        label
    }
}

/// Reads the edges of a text. Vertices are numbered from 0.
pub(crate) fn read<L: Label, W: Weight>(
    text: Text,
    rules: &Rules,
    watch: &Watch<'_>,
) -> Result<Vec<Block<L, W>>, Fault> {
    text.parse(|bytes| parse(bytes, rules), watch)
}

fn parse<L: Label, W: Weight>(bytes: &[u8], rules: &Rules) -> Result<Block<L, W>, Misread> {
    // The shortest line has four bytes.
    let mut edges = Vec::with_capacity(bytes.len() / 4 + 1);
    let mut largest = 0;
    let mut scanner = Scanner::new(bytes);
    while scanner.next_entry(|byte| rules.comments.contains(&byte)) {
        if let Some(word) = rules.word {
            let at = scanner.position();
            if scanner.word() != word {
                return Err(scanner.expected_at(at, &format!("'{}'", word.escape_ascii())));
            }
        }
        let from = vertex::<L>(&mut scanner, rules)?;
        let to = vertex::<L>(&mut scanner, rules)?;
        largest = from.max(to).max(largest);
        edges.push((L::new(from), L::new(to), last_columns(&mut scanner, rules)?));
    }
    edges.shrink_to_fit();
    Ok(Block { edges, largest })
}

#[inline]
fn vertex<L: Label>(scanner: &mut Scanner<'_>, rules: &Rules) -> Result<u64, Misread> {
    let at = scanner.position();
    let label = scanner.number("a vertex")?;
    let vertex = label.wrapping_sub(rules.first);
    if label < rules.first || vertex > L::LARGEST || rules.num_vertices.is_some_and(|number| vertex >= number) {
        return Err(no_vertex(scanner, at, label, rules));
    }
    Ok(vertex)
}

#[cold]
fn no_vertex(scanner: &Scanner<'_>, at: usize, label: u64, rules: &Rules) -> Misread {
    let most = u32::MAX;
    match rules.num_vertices {
        _ if label < rules.first => scanner.expected_at(at, &format!("a vertex from {}", rules.first)),
        Some(number) => scanner.expected_at(at, &format!("a vertex, of which the header promises {number}")),
        None => {
            let message = format!("the vertex {label} is too large: a graph has at most {most}; compact the labels");
            scanner.fault_at(at, ReadErrorKind::TooLarge, message)
        }
    }
}

/// Reads the columns after the vertices.
#[inline]
fn last_columns<W: Weight>(scanner: &mut Scanner<'_>, rules: &Rules) -> Result<W, Misread> {
    let weight = match rules.third {
        Third::Any if !W::IS_WEIGHTED || scanner.is_at_end_of_line() => W::ONE,
        Third::None => W::ONE,
        Third::Weight | Third::Any => {
            let at = scanner.position();
            let weight = W::parse(scanner.word());
            weight.map_err(|expected| scanner.expected_at(at, &format!("a weight, {expected}")))?
        }
    };
    if rules.third == Third::Any {
        scanner.skip_line();
    } else if !scanner.is_at_end_of_line() {
        let at = scanner.position();
        let hint =
            if rules.third == Third::None { " (if there are weights, give the format that has them)" } else { "" };
        return Err(scanner.expected_at(at, &format!("the end of the line{hint}")));
    }
    Ok(weight)
}
