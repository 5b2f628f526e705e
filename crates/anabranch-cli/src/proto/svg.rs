//! Protocols as a picture: one SVG document with all requested protocols, one below the other.
//!
//! The colour and the shape of a state show which side sends. The client's states are blue and have round corners. The
//! server's are orange and have pointed sides. Colours follow the reader's preference for light or dark, on a
//! background of their own.

use std::fmt::Write as _;

use anabranch_proto::Protocol;

use super::layout::{Edge, Extent, Layout, Path, Point, lay_out};

/// The width of a letter of the fixed-width font: that of the widest of the named fonts.
const LETTER: f64 = 7.9;
const LINE: f64 = 17.0;
/// The margin around the picture, and between pictures.
const MARGIN: f64 = 24.0;
/// The width of the loop of a message that leads back to its own state, and its height.
const LOOP: f64 = 30.0;
const LOOP_HEIGHT: f64 = 30.0;
/// The length of an arrowhead.
const HEAD: f64 = 9.0;
/// The width of the points at the sides of the server's states.
const POINT: f64 = 12.0;
/// The length at which labels are broken.
const LETTERS_A_LINE: usize = 30;

const STYLE: &str = "
    .ground { fill: #ffffff } text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1b1f24 }
    .name { font-weight: bold; font-size: 15px } .state text { font-weight: bold }
    .client > .box { fill: #cfe3ff; stroke: #2b62b3 } .server > .box { fill: #ffe2bd; stroke: #b3641b } .box { stroke-width: 1.6 }
    .message path { fill: none; stroke: #57606a; stroke-width: 1.4 } .message .head, .dot { fill: #57606a; stroke: none }
    .ring { fill: none; stroke: #57606a; stroke-width: 1.4 }
    @media (prefers-color-scheme: dark) {
        .ground { fill: #14181d } text { fill: #e6edf3 }
        .client > .box { fill: #173a6b; stroke: #7fb0f5 } .server > .box { fill: #6b3d0c; stroke: #f0b070 }
        .message path, .ring { stroke: #9aa4af } .message .head, .dot { fill: #9aa4af }
    }
";

/// Returns the document.
pub fn document(protocols: &[Protocol]) -> String {
    let mut body = String::new();
    let (mut width, mut y) = (0.0_f64, MARGIN);
    for protocol in protocols {
        let (picture, size) = picture(protocol);
        let _ = writeln!(body, "<g class=\"protocol\" transform=\"translate({MARGIN} {y})\">\n{picture}</g>");
        width = width.max(size.x);
        y += size.y + MARGIN * 1.5;
    }
    let (legend, size) = legend();
    let _ = writeln!(body, "<g class=\"legend\" transform=\"translate({MARGIN} {y})\">\n{legend}</g>");
    let (width, height) = (width.max(size.x) + 2.0 * MARGIN, y + size.y + MARGIN);
    let names: Vec<String> = protocols.iter().map(Protocol::name).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n",
        escaped(&names.join(", "))
    )
}

/// Draws one protocol, with its name above. Returns its size too.
fn picture(protocol: &Protocol) -> (String, Point) {
    let states: Vec<_> = protocol.states().collect();
    let messages: Vec<_> = protocol.messages().collect();
    let loops_of =
        |state: usize| messages.iter().filter(move |message| message.from == state && message.to == Some(state));
    let dot = Extent { left: 8.0, right: 8.0, height: 16.0, ports: 0.0 };
    // The first node is the start. The states follow, then an end for each last message.
    let mut nodes = vec![dot];
    for (number, state) in states.iter().enumerate() {
        let touching = messages.iter().filter(|message| {
            message.to != Some(message.from) && (message.from == number || message.to == Some(number))
        });
        let half = (state.name.chars().count() as f64 * LETTER / 2.0 + 20.0).max(8.0 * touching.count() as f64);
        let texts = loops_of(number).map(|message| size_of(&broken(&message.text)).x + LOOP + 6.0);
        let height = loops_of(number).map(|message| (broken(&message.text).len() as f64 * LINE).max(LOOP_HEIGHT));
        nodes.push(Extent {
            left: half,
            right: half + texts.fold(0.0, f64::max),
            height: height.sum::<f64>().max(36.0),
            ports: half - 18.0,
        });
    }
    let mut edges = vec![Edge { from: 0, to: 1, label: Extent::default() }];
    let mut texts = vec![Vec::new()];
    for message in messages.iter().filter(|message| message.to != Some(message.from)) {
        let text = broken(&message.text);
        let Point { x, y } = size_of(&text);
        let label = Extent { left: x / 2.0, right: x / 2.0, height: y, ports: 0.0 };
        let to = message.to.map_or(nodes.len(), |state| state + 1);
        if message.to.is_none() {
            nodes.push(dot);
        }
        edges.push(Edge { from: message.from + 1, to, label });
        texts.push(text);
    }

    let layout = lay_out(&nodes, &edges);
    let name = protocol.name();
    let mut text =
        format!("<text class=\"name\" x=\"0\" y=\"12\">{}</text>\n<g transform=\"translate(0 30)\">\n", escaped(&name));
    for (paths, (at, lines)) in layout.paths.iter().zip(layout.labels.iter().zip(&texts)) {
        text += &message(paths, *at, lines);
    }
    begin(&mut text, layout.nodes[0]);
    for (number, state) in states.iter().enumerate() {
        let (at, extent) = (layout.nodes[number + 1], nodes[number + 1]);
        text += &box_of(&state.name, state.is_clients, at, extent.left, extent.height);
        let mut y = at.y - extent.height / 2.0;
        for message in loops_of(number) {
            let lines = broken(&message.text);
            let height = (lines.len() as f64 * LINE).max(LOOP_HEIGHT);
            let middle = Point { x: at.x + extent.left, y: y + height / 2.0 };
            let pointed = if state.is_clients { 0.0 } else { POINT / (extent.height / 2.0) };
            text += &loop_of(middle, |y| at.x + extent.left - (y - at.y).abs() * pointed, &lines);
            y += height;
        }
    }
    for at in &layout.nodes[states.len() + 1..] {
        end(&mut text, *at);
    }
    text += "</g>\n";
    let Layout { width, height, .. } = layout;
    (text, Point { x: width.max(name.chars().count() as f64 * LETTER * 1.2), y: height + 30.0 })
}

fn legend() -> (String, Point) {
    let mut text = String::new();
    let mut x = 0.0;
    for (what, is_clients) in [("the client speaks", true), ("the server speaks", false)] {
        let half = what.len() as f64 * LETTER / 2.0 + 20.0;
        text +=
            &box_of(what, is_clients, Point { x: x + half, y: 15.0 }, half, 30.0).replace("class=\"state ", "class=\"");
        x += 2.0 * half + 20.0;
    }
    for (what, draw) in [("begins", begin as fn(&mut String, Point)), ("ends", end)] {
        draw(&mut text, Point { x: x + 8.0, y: 15.0 });
        words(&mut text, &[what.to_owned()], Point { x: x + 22.0, y: 15.0 }, "start");
        x += 22.0 + what.len() as f64 * LETTER + 20.0;
    }
    (text, Point { x: x - 20.0, y: 30.0 })
}

fn begin(text: &mut String, at: Point) {
    let _ = writeln!(text, "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"7\"/>", at.x, at.y);
}

fn end(text: &mut String, at: Point) {
    let Point { x, y } = at;
    let _ = writeln!(text, "<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7.3\"/>");
    let _ = writeln!(text, "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>");
}

/// Draws a state. `half` of its width goes to either side.
fn box_of(name: &str, is_clients: bool, at: Point, half: f64, height: f64) -> String {
    let Point { x, y } = at;
    let (left, right, top, bottom) = (x - half, x + half, y - height / 2.0, y + height / 2.0);
    let mut text = format!("<g class=\"state {}\">", if is_clients { "client" } else { "server" });
    let _ = if is_clients {
        let width = 2.0 * half;
        write!(
            text,
            "<rect class=\"box\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"10\"/>"
        )
    } else {
        let (inner_left, inner_right) = (left + POINT, right - POINT);
        write!(
            text,
            "<polygon class=\"box\" points=\"{left:.1},{y:.1} {inner_left:.1},{top:.1} {inner_right:.1},{top:.1} \
             {right:.1},{y:.1} {inner_right:.1},{bottom:.1} {inner_left:.1},{bottom:.1}\"/>"
        )
    };
    words(&mut text, &[name.to_owned()], at, "middle");
    text + "</g>\n"
}

/// Draws a message from one state to another: its line, up to its label and from there on, and the label.
fn message([before, after]: &[Path; 2], at: Point, lines: &[String]) -> String {
    let mut after = after.clone();
    let last = after.len() - 1;
    let above = if last > 0 { after[last - 1].1 } else { at };
    let back = if above.y > after[last].1.y { HEAD } else { -HEAD };
    // The line is straight at the arrowhead.
    after[last].0.y += back;
    let drawn = if lines.is_empty() {
        // Without a label the two paths form one line.
        line(before.iter().chain(&after))
    } else {
        line(before) + &line(&after)
    };
    let mut text = format!("<g class=\"message\"><path d=\"{}\"/>", drawn.trim_end());
    head(&mut text, after[last].1, Point { x: 0.0, y: back });
    words(&mut text, lines, at, "middle");
    text + "</g>\n"
}

fn line<'a>(path: impl IntoIterator<Item = &'a (Point, Point)>) -> String {
    let mut text = String::new();
    let mut last: Option<Point> = None;
    for (from, to) in path {
        let _ = match last {
            None => write!(text, "M{:.1} {:.1}", from.x, from.y),
            Some(last) => {
                let middle = f64::midpoint(last.y, from.y);
                write!(text, "C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}", last.x, from.x, from.x, from.y)
            }
        };
        let _ = write!(text, "L{:.1} {:.1} ", to.x, to.y);
        last = Some(*to);
    }
    text
}

/// Draws an arrowhead at `tip`, whose base is at the offset `back` from it.
fn head(text: &mut String, tip: Point, back: Point) {
    let (x, y) = (tip.x + back.x, tip.y + back.y);
    let (dx, dy) = (back.y * 0.45, back.x * 0.45);
    let _ = write!(
        text,
        "<path class=\"head\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}Z\"/>",
        tip.x,
        tip.y,
        x + dx,
        y + dy,
        x - dx,
        y - dy
    );
}

/// Draws a message that leads back to its own state: a loop at the right border of the state.
fn loop_of(at: Point, border: impl Fn(f64) -> f64, lines: &[String]) -> String {
    let Point { x, y } = at;
    let mut text = String::from("<g class=\"message\">");
    let (top, bottom, far) = (y - 8.0, y + 8.0, x + LOOP);
    let (begin, tip) = (border(top), Point { x: border(bottom - 1.0), y: bottom - 1.0 });
    let _ = write!(
        text,
        "<path d=\"M{begin:.1} {top:.1}C{far:.1} {:.1} {far:.1} {:.1} {:.1} {bottom:.1}\"/>",
        top - 4.0,
        bottom + 4.0,
        tip.x + 8.0
    );
    head(&mut text, tip, Point { x: HEAD, y: 2.0 });
    words(&mut text, lines, Point { x: far, y }, "start");
    text + "</g>\n"
}

/// Draws lines of text, centred vertically at a point.
fn words(text: &mut String, lines: &[String], at: Point, anchor: &str) {
    for (number, line) in lines.iter().enumerate() {
        let y = at.y + 4.5 + (number as f64 - (lines.len() - 1) as f64 / 2.0) * LINE;
        let _ = write!(text, "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", at.x, escaped(line));
    }
}

/// Breaks a text into lines of suitable length, at commas.
fn broken(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in text.split_inclusive(", ") {
        let line = lines.last_mut().expect("there always is one");
        if !line.is_empty() && line.chars().count() + part.trim_end().chars().count() > LETTERS_A_LINE {
            lines.push(part.to_owned());
        } else {
            line.push_str(part);
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

fn size_of(lines: &[String]) -> Point {
    let letters = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    Point { x: letters as f64 * LETTER + 8.0, y: lines.len() as f64 * LINE + 4.0 }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_are_broken_at_commas() {
        let lines = broken("enter(name: String, hearing::client::Hear)");
        assert_eq!(lines, ["enter(name: String,", "hearing::client::Hear)"]);
        assert_eq!(broken("login(String, String)"), ["login(String, String)"]);
        assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
