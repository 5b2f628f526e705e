//! The chart of the README: the sum of a tree with one fork per node, by each library.
//!
//! The only input is the JSON of the bench `fork_join`, so equal results give equal bytes. The example `chart` writes
//! the chart, and a test compares the stored files with the drawing.

use std::fmt::Write as _;

use serde_json::Value;

use crate::stats::median;

/// The colour theme of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark text on a white page.
    Light,
    /// Light text on a dark page.
    Dark,
}

struct Colours {
    page: &'static str,
    text: &'static str,
    muted: &'static str,
    grid: &'static str,
    ours: [&'static str; 2],
    peers: [&'static str; 2],
}

impl Theme {
    /// Both themes.
    pub const ALL: [Theme; 2] = [Theme::Light, Theme::Dark];

    /// Returns the path of the file, relative to the folder of the documentation.
    pub fn file(self) -> &'static str {
        match self {
            Theme::Light => "tree-sum-light.svg",
            Theme::Dark => "tree-sum-dark.svg",
        }
    }

    fn colours(self) -> Colours {
        match self {
            Theme::Light => Colours {
                page: "#ffffff",
                text: "#1f2328",
                muted: "#59636e",
                grid: "#d1d9e0",
                ours: ["#0969da", "#80b4ee"],
                peers: ["#6e7781", "#b6bdc5"],
            },
            Theme::Dark => Colours {
                page: "#0d1117",
                text: "#e6edf3",
                muted: "#9198a1",
                grid: "#30363d",
                ours: ["#58a6ff", "#2f5f9e"],
                peers: ["#9198a1", "#545d68"],
            },
        }
    }
}

/// The workloads, and the heading of each.
const PANELS: [(&str, &str); 2] = [("tree-1k", "A tree of 1,000 nodes"), ("tree-10m", "A tree of 10,000,000 nodes")];
/// The rows: the name of a peer in the results and in the versions of the JSON.
const ROWS: [(&str, Option<&str>); 5] = [
    ("plain", None),
    ("anabranch", Some("anabranch")),
    ("forte", Some("forte")),
    ("chili", Some("chili")),
    ("rayon", Some("rayon")),
];
const THREADS: [u64; 2] = [1, 2];

const WIDTH: f64 = 830.0;
const NAMES: f64 = 148.0;
const PLOT: f64 = 290.0;
const BETWEEN: f64 = 54.0;
const TOP: f64 = 92.0;
const BAR: f64 = 16.0;
const ROW: f64 = 44.0;
const FONT: &str = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";

/// Draws the chart.
///
/// # Errors
/// Returns the missing workload, peer or field if the results are incomplete.
pub fn draw(results: &Value, theme: Theme) -> Result<String, String> {
    let colours = theme.colours();
    let height = TOP + ROW * ROWS.len() as f64 + 74.0;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="{FONT}" role="img" aria-labelledby="title">"#
    );
    let _ = writeln!(svg, r#"<title id="title">{}</title>"#, description(results)?);
    let _ = writeln!(svg, r#"<rect width="{WIDTH}" height="{height}" rx="6" fill="{}"/>"#, colours.page);
    text(&mut svg, (12.0, 28.0), "start", (17.0, colours.text, true), "Sum of a binary tree, a fork at each node");
    text(&mut svg, (12.0, 49.0), "start", (13.0, colours.muted, false), "Nanoseconds a node: less is better");
    legend(&mut svg, &colours);

    for (row, (peer, version)) in ROWS.iter().enumerate() {
        let middle = TOP + ROW * (row as f64 + 0.5) + 4.5;
        let label = match version {
            None => "plain recursion".to_owned(),
            Some(name) => format!("{peer} {}", string(results, &["versions", name])?),
        };
        text(&mut svg, (NAMES - 8.0, middle), "end", (13.0, colours.text, *peer == "anabranch"), &label);
    }
    for (index, (workload, title)) in PANELS.iter().enumerate() {
        let left = NAMES + index as f64 * (PLOT + BETWEEN);
        panel(&mut svg, results, workload, title, left, &colours)?;
    }
    text(&mut svg, (12.0, height - 12.0), "start", (12.0, colours.muted, false), &machine(results)?);
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// Draws one workload: its axis, and a bar for each peer and number of threads.
fn panel(
    svg: &mut String,
    results: &Value,
    workload: &str,
    title: &str,
    left: f64,
    colours: &Colours,
) -> Result<(), String> {
    let bottom = TOP + ROW * ROWS.len() as f64;
    let mut values = Vec::new();
    for (row, (peer, _)) in ROWS.iter().enumerate() {
        for (which, threads) in THREADS.iter().enumerate() {
            if *peer == "plain" && *threads != 1 {
                continue;
            }
            values.push((row, which, peer, value(results, workload, peer, *threads)?));
        }
    }
    let most = values.iter().map(|(_, _, _, value)| *value).fold(0.0, f64::max);
    let step = if most <= 10.0 { 2.0 } else { 5.0 };
    let ticks = (most / step).ceil() as usize;
    // Leaves space for the figure at the end of the longest bar.
    let scale = (PLOT - 34.0) / (ticks as f64 * step).max(most);

    text(svg, (left, TOP - 12.0), "start", (13.0, colours.text, true), title);
    for tick in 0..=ticks {
        let x = left + tick as f64 * step * scale;
        let _ = writeln!(
            svg,
            r#"<line x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{bottom}" stroke="{}" stroke-width="1"/>"#,
            colours.grid
        );
        text(svg, (x, bottom + 17.0), "middle", (12.0, colours.muted, false), &format!("{}", tick as f64 * step));
    }
    let middle = left + ticks as f64 * step * scale / 2.0;
    text(svg, (middle, bottom + 34.0), "middle", (12.0, colours.muted, false), "ns a node");
    for (row, which, peer, value) in values {
        let alone = *peer == "plain";
        let first = TOP + ROW * row as f64 + (ROW - if alone { BAR } else { 2.0 * BAR + 2.0 }) / 2.0;
        let y = first + which as f64 * (BAR + 2.0);
        let fill = if *peer == "anabranch" { colours.ours[which] } else { colours.peers[which] };
        let width = value * scale;
        let _ =
            writeln!(svg, r#"<rect x="{left:.1}" y="{y:.1}" width="{width:.1}" height="{BAR}" rx="2" fill="{fill}"/>"#);
        let digits = if value >= 9.995 { 1 } else { 2 };
        let figure = format!("{value:.digits$}");
        let x = left + width + 5.0;
        // The grid lines end at the figure.
        let room = 8.0 * figure.len() as f64;
        let _ = writeln!(
            svg,
            r#"<rect x="{:.1}" y="{y:.1}" width="{room}" height="{BAR}" fill="{}"/>"#,
            x - 2.0,
            colours.page
        );
        text(svg, (x, y + BAR - 4.0), "start", (12.0, colours.text, *peer == "anabranch"), &figure);
    }
    Ok(())
}

fn legend(svg: &mut String, colours: &Colours) {
    for (which, label) in ["1 thread", "2 threads"].iter().enumerate() {
        let x = WIDTH - 184.0 + which as f64 * 88.0;
        let _ =
            writeln!(svg, r#"<rect x="{x}" y="18" width="12" height="12" rx="2" fill="{}"/>"#, colours.peers[which]);
        text(svg, (x + 18.0, 28.5), "start", (13.0, colours.text, false), label);
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, (size, fill, is_bold): (f64, &str, bool), content: &str) {
    let weight = if is_bold { " font-weight=\"600\"" } else { "" };
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        svg,
        r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" fill="{fill}" text-anchor="{anchor}"{weight}>{content}</text>"#
    );
}

/// Returns the text for screen readers.
fn description(results: &Value) -> Result<String, String> {
    let mut description =
        String::from("Nanoseconds a node of a tree sum with a fork at each node, with one thread and with two.");
    for (workload, title) in PANELS {
        let _ = write!(description, " {title}:");
        for (index, (peer, _)) in ROWS.iter().enumerate() {
            let one = value(results, workload, peer, 1)?;
            let between = if index == 0 { "" } else { ";" };
            let _ = match *peer {
                "plain" => write!(description, "{between} plain recursion {one:.2}"),
                _ => write!(description, "{between} {peer} {one:.2} and {:.2}", value(results, workload, peer, 2)?),
            };
        }
        description.push('.');
    }
    Ok(description)
}

/// Returns the machine and the versions of the measurement.
fn machine(results: &Value) -> Result<String, String> {
    let cpus = results["machine"]["cpus"].as_u64().ok_or("no machine.cpus")?;
    let cpu = string(results, &["machine", "cpu"])?.replace("(R)", "").replace("(TM)", "");
    let kernel = string(results, &["machine", "kernel"])?;
    let compiler: Vec<&str> = string(results, &["versions", "rustc"])?.split(' ').take(2).collect();
    let rounds = results["workloads"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|one| PANELS.iter().any(|(name, _)| one["name"] == *name))
        .filter_map(|one| one["rounds"].as_u64())
        .min()
        .ok_or("no rounds")?;
    let kernel = kernel.split('-').next().unwrap_or(kernel);
    Ok(format!("{cpu}, {cpus} cores, {kernel}, {}. Medians of {rounds} rounds.", compiler.join(" ")))
}

/// Returns the median of a peer's samples.
fn value(results: &Value, workload: &str, peer: &str, threads: u64) -> Result<f64, String> {
    let missing = || format!("no samples of {peer} in {workload} with {threads} threads");
    let entry = results["workloads"].as_array().into_iter().flatten().find(|entry| entry["name"] == workload);
    let series = entry.and_then(|entry| {
        let mut series = entry["series"].as_array()?.iter();
        series.find(|series| series["peer"] == peer && series["threads"] == threads)
    });
    let samples = series.and_then(|series| series["samples"].as_array()).ok_or_else(missing)?;
    let values: Vec<f64> = samples.iter().filter_map(|sample| sample["value"].as_f64()).collect();
    median(&values).ok_or_else(missing)
}

fn string<'a>(results: &'a Value, path: &[&str]) -> Result<&'a str, String> {
    let value = path.iter().fold(results, |value, name| &value[*name]);
    value.as_str().ok_or_else(|| format!("no {}", path.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::{fs, path::Path};

    fn docs() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"))
    }

    fn results() -> Value {
        serde_json::from_slice(&fs::read(docs().join("results/fork_join.json")).unwrap()).unwrap()
    }

    #[test]
    fn kept_charts_are_what_is_drawn() {
        for theme in Theme::ALL {
            let kept = fs::read_to_string(docs().join(theme.file())).unwrap();
            let help = "`cargo run -p anabranch-bench --example chart` draws it";
            assert!(kept == draw(&results(), theme).unwrap(), "{} is out of date: {help}", theme.file());
        }
    }

    #[test]
    fn chart_shows_medians_versions_and_processor() {
        let mut results = results();
        results["versions"]["chili"] = json!("7.8.9");
        results["machine"]["cpu"] = json!("A <Fast> Processor");
        let series = &mut results["workloads"][0]["series"][0];
        assert_eq!((&series["peer"], &series["threads"]), (&json!("plain"), &json!(1)));
        series["samples"] = json!([{ "value": 1.0 }, { "value": 4.5 }, { "value": 9.0 }]);
        let chart = draw(&results, Theme::Light).unwrap();
        for text in [">4.50</text>", ">chili 7.8.9</text>", ">A &lt;Fast> Processor, 2 cores", "plain recursion 4.50"] {
            assert!(chart.contains(text), "{text} in {chart}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut lacking = results();
        lacking["workloads"][0]["series"][0]["peer"] = json!("somebody else");
        let error = draw(&lacking, Theme::Dark).unwrap_err();
        assert_eq!(error, "no samples of plain in tree-1k with 1 threads");
        let mut lacking = results();
        lacking["versions"]["rayon"].take();
        assert_eq!(draw(&lacking, Theme::Dark).unwrap_err(), "no versions.rayon");
    }
}
