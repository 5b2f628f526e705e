//! Matrix Market coordinate files: a square matrix, whose entries are the edges from their rows to their columns.
//!
//! Format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design", 1996. A banner,
//! comments, a line with the numbers of rows, columns and entries, and a line per entry. Indices begin at 1.

use super::WeightType;
use super::blocks::Text;
use super::edge_list::{Rules, Third};
use super::error::{Fault, ReadErrorKind};
use super::scan::{Scanner, excerpt};

/// The contents of a header.
pub(crate) struct Header {
    pub(crate) rules: Rules,
    pub(crate) num_entries: u64,
    pub(crate) is_symmetric: bool,
}

/// Takes the banner. Returns the type of weights.
pub(crate) fn weight_type(text: &mut Text) -> Result<WeightType, Fault> {
    banner(&text.line()?).map(|(weights, _)| weights).map_err(|fault| fault.at(1, 1))
}

/// Takes the header.
pub(crate) fn header(text: &mut Text) -> Result<Header, Fault> {
    let (weights, is_symmetric) = banner(&text.line()?).map_err(|fault| fault.at(1, 1))?;
    let line = loop {
        let line = text.line()?;
        if line.is_empty() {
            return Err(Fault::malformed("the line with the numbers of rows, columns and entries is missing"));
        }
        if !matches!(line.trim_ascii().first(), None | Some(b'%')) {
            break line;
        }
    };
    let mut scanner = Scanner::new(&line);
    let mut size = |what: &str| scanner.number(what).map_err(|misread| text.locate(misread));
    let (rows, columns) = (size("the number of rows")?, size("the number of columns")?);
    let num_entries = size("the number of entries")?;
    if rows != columns {
        let message = format!("the matrix has {rows} rows and {columns} columns; only a square one is a graph");
        return Err(Fault::new(ReadErrorKind::Unsupported, message).at(text.lines(), 1));
    }
    let third = if weights == WeightType::None { Third::None } else { Third::Weight };
    let rules = Rules { third, comments: b"%", word: None, first: 1, num_vertices: Some(rows) };
    Ok(Header { rules, num_entries, is_symmetric })
}

/// Returns the type of weights, and whether an entry stands for two.
fn banner(line: &[u8]) -> Result<(WeightType, bool), Fault> {
    let line = line.to_ascii_lowercase();
    let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let [b"%%matrixmarket", object, format, field, symmetry] = words[..] else {
        let message = "expected a line '%%MatrixMarket matrix coordinate FIELD SYMMETRY'";
        return Err(Fault::malformed(format!("{message}, found '{}'", excerpt(&line))));
    };
    let unsupported = |what: &str, word: &[u8], expected: &str| {
        let message = format!("the {what} '{}' is not supported, only {expected}", excerpt(word));
        Fault::new(ReadErrorKind::Unsupported, message)
    };
    if object != b"matrix" {
        return Err(unsupported("object", object, "matrix"));
    }
    if format != b"coordinate" {
        return Err(unsupported("format", format, "coordinate"));
    }
    let weights = match field {
        b"pattern" => WeightType::None,
        b"integer" => WeightType::Whole,
        b"real" | b"double" => WeightType::Real,
        _ => return Err(unsupported("field", field, "pattern, integer and real")),
    };
    match symmetry {
        b"general" => Ok((weights, false)),
        b"symmetric" => Ok((weights, true)),
        _ => Err(unsupported("symmetry", symmetry, "general and symmetric")),
    }
}
