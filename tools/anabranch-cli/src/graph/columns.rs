//! The values of all vertices, as text or as an array of NumPy.
//!
//! The text has one line per vertex: its label and its values, separated by blanks.
//!
//! The array has one record per vertex with the same fields. Source: NumPy Enhancement Proposal 1, *A Simple File
//! Format for NumPy Arrays*, version 1.0: a magic number, the version, the length of the header, the header, the
//! records. The header is a Python dictionary, padded with blanks such that the records start at a multiple of 64.

use std::io::{self, Write};
use std::path::Path;

use anabranch_graph::Labels;
use anabranch_graph::kernels::UNREACHED;

/// The values of all vertices under one name.
pub enum Column {
    /// Vertices, which become labels, or -1 for an unreached one.
    Vertices(Vec<u32>),
    /// Small counts, or -1 for an unreached vertex.
    Counts(Vec<u32>),
    /// Whole numbers; the greatest stands for an unreached vertex, `inf` in text.
    Whole(Vec<u64>),
    /// Numbers with 32 bits.
    Single(Vec<f32>),
    /// Numbers with 64 bits.
    Double(Vec<f64>),
}

/// The values of all vertices.
pub type Columns = Vec<(&'static str, Column)>;

impl Column {
    /// The type of an element, as NumPy writes it.
    fn code(&self) -> &'static str {
        match self {
            Column::Vertices(_) => "<i8",
            Column::Counts(_) => "<i4",
            Column::Whole(_) => "<u8",
            Column::Single(_) => "<f4",
            Column::Double(_) => "<f8",
        }
    }

    fn write_text(&self, vertex: usize, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Column::Vertices(values) if values[vertex] == UNREACHED => write!(out, " -1"),
            Column::Vertices(values) => write!(out, " {}", labels.label(values[vertex])),
            Column::Counts(values) => write!(out, " {}", values[vertex] as i32),
            Column::Whole(values) if values[vertex] == u64::MAX => write!(out, " inf"),
            Column::Whole(values) => write!(out, " {}", values[vertex]),
            Column::Single(values) => write!(out, " {}", values[vertex]),
            Column::Double(values) => write!(out, " {}", values[vertex]),
        }
    }

    fn write_binary(&self, vertex: usize, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Column::Vertices(values) if values[vertex] == UNREACHED => out.write_all(&(-1i64).to_le_bytes()),
            Column::Vertices(values) => out.write_all(&signed(labels.label(values[vertex]))?.to_le_bytes()),
            Column::Counts(values) => out.write_all(&values[vertex].to_le_bytes()),
            Column::Whole(values) => out.write_all(&values[vertex].to_le_bytes()),
            Column::Single(values) => out.write_all(&values[vertex].to_le_bytes()),
            Column::Double(values) => out.write_all(&values[vertex].to_le_bytes()),
        }
    }
}

fn signed(label: u64) -> io::Result<i64> {
    i64::try_from(label)
        .map_err(|_| io::Error::other(format!("the label {label} does not fit into 64 bits with a sign; write text")))
}

/// Returns whether `path` names an array of NumPy.
pub fn is_array(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// Writes the columns of `num_vertices` as text.
pub fn write_text(columns: &Columns, num_vertices: usize, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut io::BufWriter::new(out);
    for vertex in 0..num_vertices {
        write!(out, "{}", labels.label(vertex as u32))?;
        columns.iter().try_for_each(|(_, column)| column.write_text(vertex, labels, out))?;
        writeln!(out)?;
    }
    out.flush()
}

/// Writes the columns of `num_vertices` as an array of NumPy.
pub fn write_array(columns: &Columns, num_vertices: usize, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut io::BufWriter::new(out);
    out.write_all(&array_header(columns, num_vertices))?;
    for vertex in 0..num_vertices {
        out.write_all(&signed(labels.label(vertex as u32))?.to_le_bytes())?;
        columns.iter().try_for_each(|(_, column)| column.write_binary(vertex, labels, out))?;
    }
    out.flush()
}

/// Returns everything before the first record.
fn array_header(columns: &Columns, num_vertices: usize) -> Vec<u8> {
    const PREFIX: usize = 10;
    let fields: String = columns.iter().map(|(name, column)| format!(", ('{name}', '{}')", column.code())).collect();
    let text =
        format!("{{'descr': [('vertex', '<i8'){fields}], 'fortran_order': False, 'shape': ({num_vertices},), }}");
    let length = (PREFIX + text.len() + 1).next_multiple_of(64) - PREFIX;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header.resize(PREFIX + length - 1, b' ');
    header.push(b'\n');
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_header_is_padded_to_64_bytes() {
        let columns = vec![("parent", Column::Vertices(vec![0])), ("level", Column::Counts(vec![0]))];
        for num_vertices in [0, 1, 12_345_678] {
            let header = array_header(&columns, num_vertices);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(usize::from(u16::from_le_bytes([header[8], header[9]])), header.len() - 10);
            assert!(header.starts_with(b"\x93NUMPY\x01\x00") && header.ends_with(b"\n"));
            let text = String::from_utf8(header[10..].to_vec()).unwrap();
            let expected = format!(
                "{{'descr': [('vertex', '<i8'), ('parent', '<i8'), ('level', '<i4')], 'fortran_order': False, \
                 'shape': ({num_vertices},), }}"
            );
            assert_eq!(text.trim_end(), expected);
        }
    }

    #[test]
    fn values_are_written_in_both_forms() {
        let columns = vec![
            ("parent", Column::Vertices(vec![0, UNREACHED])),
            ("level", Column::Counts(vec![0, UNREACHED])),
            ("distance", Column::Whole(vec![7, u64::MAX])),
            ("score", Column::Double(vec![0.5, 1.0])),
        ];
        let labels = Labels::from_one();
        let mut text = Vec::new();
        write_text(&columns, 2, &labels, &mut text).unwrap();
        assert_eq!(text, b"1 1 0 7 0.5\n2 -1 -1 inf 1\n");
        let mut array = Vec::new();
        write_array(&columns, 2, &labels, &mut array).unwrap();
        let records = &array[array_header(&columns, 2).len()..];
        assert_eq!(records.len(), 2 * (8 + 8 + 4 + 8 + 8));
        assert_eq!(records[..16], [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(records[36..56], [[2].as_slice(), &[0; 7], &[255; 12]].concat());
    }
}
