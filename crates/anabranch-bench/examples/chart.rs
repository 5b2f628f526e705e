//! Draws the charts of the README from the results of the bench `fork_join`:
//!
//! ```text
//! cargo run -p anabranch-bench --example chart [RESULTS.json [FOLDER]]
//! ```
//! Without arguments it reads `docs/results/fork_join.json` and writes to `docs`.
#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use anabranch_bench::chart::{Theme, draw};
    use std::{env, fs, path::Path};

    let mut arguments = env::args().skip(1);
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let results = arguments.next().unwrap_or_else(|| format!("{docs}/results/fork_join.json"));
    let folder = arguments.next().unwrap_or_else(|| docs.to_owned());
    let results = serde_json::from_slice(&fs::read(results)?)?;
    for theme in Theme::ALL {
        fs::write(Path::new(&folder).join(theme.file()), draw(&results, theme)?)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
