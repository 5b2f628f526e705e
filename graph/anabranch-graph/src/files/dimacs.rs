//! `.gr` files of the ninth DIMACS challenge (shortest paths): comments `c`, one line `p sp VERTICES ARCS`, and a line
//! `a FROM TO WEIGHT` per arc. Vertices begin at 1.

use super::blocks::Text;
use super::edge_list::{Rules, Third};
use super::error::Fault;
use super::scan::Scanner;

/// Takes the header. Returns the rules of the other lines, and their number.
pub(crate) fn header(text: &mut Text) -> Result<(Rules, u64), Fault> {
    let line = loop {
        let line = text.line()?;
        if line.is_empty() {
            return Err(Fault::malformed("the line 'p sp VERTICES ARCS' is missing"));
        }
        if !matches!(line.trim_ascii().first(), None | Some(b'c')) {
            break line;
        }
    };
    let mut scanner = Scanner::new(&line);
    if (scanner.word(), scanner.word()) != (b"p", b"sp") {
        return Err(text.locate(scanner.expected_at(0, "the line 'p sp VERTICES ARCS' before the arcs")));
    }
    let mut count = |what: &str| scanner.number(what).map_err(|misread| text.locate(misread));
    let (num_vertices, num_arcs) = (count("the number of vertices")?, count("the number of arcs")?);
    let third = Third::Weight;
    let rules = Rules { third, comments: b"c", word: Some(b"a"), first: 1, num_vertices: Some(num_vertices) };
    Ok((rules, num_arcs))
}
