//! The model as the page carries it: a description in JSON, and all pieces, moments and lines as numbers of variable
//! length in base64. `script/data.js` reads both, in the same order.
//!
//! A number takes one byte for each 7 bits, the lowest first; the top bit says that another byte follows. Times are
//! differences, so most numbers take one byte or two.

use std::collections::BTreeMap;

use serde::Serialize;

use super::model::{MOMENTS, Model, Moment, MomentKind, Piece, STATES};

#[derive(Serialize)]
struct Description<'a> {
    wall: u64,
    states: &'a [&'a str],
    moments: &'a [&'a str],
    lanes: Vec<LaneDescription<'a>>,
    /// The text of each site and its place: the first site has number 1.
    sites: Vec<(String, String)>,
    fiber_names: &'a BTreeMap<u32, u32>,
    links: usize,
}

#[derive(Serialize)]
struct LaneDescription<'a> {
    name: &'a str,
    role: String,
    states: usize,
    fibers: usize,
    spans: Vec<usize>,
    moments: usize,
}

/// Returns the description.
pub fn description(model: &Model) -> String {
    let lanes = model.lanes.iter().map(|lane| LaneDescription {
        name: &lane.name,
        role: lane.entry.map_or_else(String::new, |(role, pool, worker)| format!("{role} {worker} of pool {pool}")),
        states: lane.states.len(),
        fibers: lane.fibers.len(),
        spans: lane.spans.iter().map(Vec::len).collect(),
        moments: lane.moments.len(),
    });
    let sites = model.places.iter().map(|place| {
        let at = if place.file.is_empty() {
            String::new()
        } else {
            format!("{}:{}:{}", place.file, place.line, place.column)
        };
        (place.to_string(), at)
    });
    let description = Description {
        wall: model.wall,
        states: STATES,
        moments: MOMENTS,
        lanes: lanes.collect(),
        sites: sites.collect(),
        fiber_names: &model.fiber_names,
        links: model.links.len(),
    };
    // Nothing in it can end the element that it is in.
    let text = serde_json::to_string(&description).expect("a description of plain fields can always be written");
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Returns the numbers.
pub fn numbers(model: &Model) -> String {
    let mut bytes = Vec::new();
    for lane in &model.lanes {
        pieces(&mut bytes, &lane.states, |piece| [u32::from(piece.class), piece.subject]);
        for row in std::iter::once(&lane.fibers).chain(&lane.spans) {
            pieces(&mut bytes, row, |piece| [piece.subject, piece.detail]);
        }
        moments(&mut bytes, &lane.moments);
    }
    let mut last = 0;
    for link in &model.links {
        let ((from_lane, from), (to_lane, to)) = (link.from, link.to);
        for number in [from - last, link.kind as u64, from_lane.into(), to_lane.into(), to - from, link.number.into()] {
            push(&mut bytes, number);
        }
        last = from;
    }
    base64(&bytes)
}

/// Writes a row: for each piece the time since the one before, its length, and two numbers.
fn pieces(bytes: &mut Vec<u8>, row: &[Piece], numbers: impl Fn(&Piece) -> [u32; 2]) {
    let mut last = 0;
    for piece in row {
        push(bytes, piece.begin - last);
        push(bytes, piece.length());
        numbers(piece).into_iter().for_each(|number| push(bytes, number.into()));
        last = piece.end;
    }
}

/// Writes moments: for each the time since the one before, its kind, and as many numbers as its kind has.
fn moments(bytes: &mut Vec<u8>, moments: &[Moment]) {
    let mut last = 0;
    for moment in moments {
        push(bytes, moment.time - last);
        push(bytes, moment.kind as u64);
        let count = match moment.kind {
            MomentKind::Steal | MomentKind::Publish | MomentKind::Raid => 3,
            _ => 1,
        };
        moment.numbers[..count].iter().for_each(|&number| push(bytes, number.into()));
        last = moment.time;
    }
}

fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Returns the bytes in base64 (RFC 4648), with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * index) & 63) as usize];
            text.push(if index <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_the_standard() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{7ff}?", "378/")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn numbers_take_a_byte_for_7_bits() {
        let encoded = |number| {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            bytes
        };
        assert_eq!(encoded(0), [0]);
        assert_eq!(encoded(127), [127]);
        assert_eq!(encoded(300), [0xac, 2]);
        assert_eq!(encoded(u64::MAX).len(), 10);
    }
}
