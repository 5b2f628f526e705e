//! What a run reports: the table, the specification's lines, the JSON file.

use std::collections::HashMap;
use std::path::Path;

use crate::common::{Ended, anabranch, end, succeed};
use serde_json::Value;

/// The table and the `key: value` lines of standard output.
fn parts(ended: &Ended) -> (&str, HashMap<&str, &str>) {
    let (table, lines) = ended.stdout.split_once("\n\n").expect("a blank line between table and lines");
    assert!(ended.stdout.ends_with('\n') && !lines.contains("\n\n"), "{ended:?}");
    let lines = lines.lines().map(|line| {
        let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("no `key: value`: {line:?}"));
        (key.trim(), value.trim())
    });
    (table, lines.collect())
}

/// The value of the table's row.
fn row<'a>(table: &'a str, name: &str) -> &'a str {
    let found = table.lines().find_map(|line| line.trim_start().strip_prefix(name));
    found.unwrap_or_else(|| panic!("no row {name:?} in\n{table}")).trim()
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the file is there");
    assert!(text.ends_with("}\n"), "it is whole");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Both were printed from the same f64; the lines end at the nanosecond, the third place of a count or the whole edge a
/// second.
fn close(text: &str, value: &Value, what: &str) {
    let (printed, written): (f64, f64) = (text.parse().unwrap(), value.as_f64().unwrap());
    let step = if what.contains("nedge") {
        1e-3
    } else if what.ends_with("TEPS") {
        1.0
    } else {
        1e-9
    };
    assert!((printed - written).abs() <= 0.5 * step + 1e-12 * written.abs(), "{what}: {printed} and {written}");
}

/// The line of that name, whatever stands before the name.
fn line<'a>(lines: &HashMap<&'a str, &'a str>, name: &str) -> &'a str {
    let found = lines.iter().find(|(key, _)| key.split_whitespace().last() == Some(name));
    found.unwrap_or_else(|| panic!("no {name} in {lines:?}")).1
}

#[test]
fn json_agrees_with_printed_lines() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    let ended = succeed(&[
        "graph500",
        "--scale",
        "10",
        "--edge-factor",
        "8",
        "--roots",
        "16",
        "--seed",
        "7",
        "--threads",
        "2",
        "--json",
        path.to_str().unwrap(),
    ]);
    let (table, lines) = parts(&ended);
    let json = json(&path);

    assert_eq!(lines["SCALE"], "10");
    assert_eq!(lines["edgefactor"], "8");
    assert_eq!(lines["NBFS"], "16");
    assert_eq!(lines["num_mpi_processes"], "1");
    close(lines["graph_generation"], &json["generation_seconds"], "generation");
    close(lines["construction_time"], &json["construction_seconds"], "construction");
    for (group, object) in [("time", "time"), ("nedge", "nedge"), ("validate", "validation")] {
        for field in ["min", "first_quartile", "median", "third_quartile", "max", "mean", "stddev"] {
            let name = format!("{}_{group}", field.replace('_', ""));
            close(line(&lines, &name), &json[object][field], &name);
        }
    }
    for field in ["min", "first_quartile", "median", "third_quartile", "max"] {
        let name = format!("{}_TEPS", field.replace('_', ""));
        close(line(&lines, &name), &json["teps"][field], &name);
    }
    for field in ["harmonic_mean", "harmonic_stddev"] {
        let name = format!("{field}_TEPS");
        close(line(&lines, &name), &json["teps"][field], &name);
    }

    assert_eq!(json["schema"], 1);
    assert_eq!(json["settings"]["scale"], 10);
    assert_eq!(json["settings"]["edge_factor"], 8);
    assert_eq!(json["settings"]["threads"], 2);
    assert_eq!(json["settings"]["roots"], 16);
    assert_eq!(json["settings"]["bfs"], "direction");
    assert_eq!(json["settings"]["seed"], 7);
    assert_eq!(json["graph"]["vertices"], 1024);
    assert_eq!(json["graph"]["edge_tuples"], 8192);
    assert_eq!(json["validated"], true);
    assert!(json["memory"]["planned_bytes"].as_u64().unwrap() > 0);
    assert!(json["machine"]["cpus"].as_u64().unwrap() >= 1);
    assert!(json["version"]["rustc"].as_str().unwrap().starts_with("rustc 1."));
    let date = json["date"].as_str().unwrap();
    assert!(date.len() == 20 && date.starts_with("20") && date.ends_with('Z'), "{date}");

    let searches = json["searches"].as_array().unwrap();
    assert_eq!(searches.len(), 16);
    let keys: std::collections::HashSet<_> = searches.iter().map(|search| search["key"].as_u64().unwrap()).collect();
    assert_eq!(keys.len(), 16, "each search has a key of its own");
    assert!(keys.iter().all(|key| *key < 1024));
    for search in searches {
        let rate = search["edges"].as_f64().unwrap() / search["seconds"].as_f64().unwrap();
        close(&rate.to_string(), &search["teps"], "a search's rate");
        assert!(search["validation_seconds"].as_f64().unwrap() > 0.0);
        assert!((1..=1024).contains(&search["reached"].as_u64().unwrap()));
    }

    assert!(row(table, "Graph500").contains("scale 10, edge factor 8"));
    assert_eq!(row(table, "graph"), "1,024 vertices, 8,192 edge tuples");
    assert_eq!(row(table, "threads"), "2");
    assert_eq!(row(table, "searches"), "16");
    for protocol in ["official", "warm"] {
        let row = row(table, protocol);
        assert!(row.starts_with("harmonic mean ") && row.contains("TEPS, "), "{row}");
    }
    let warm =
        searches.iter().map(|search| search["edges"].as_f64().unwrap() / search["warm_seconds"].as_f64().unwrap());
    let harmonic_mean = 16.0 / warm.map(f64::recip).sum::<f64>();
    close(&harmonic_mean.to_string(), &json["warm"]["teps"]["harmonic_mean"], "the harmonic mean of warm searches");
    assert!(row(table, "validation").starts_with("all 16 valid, mean "));
}

#[test]
fn docs_explain_every_field() {
    fn names(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                found.push(name.clone());
                names(value, found);
            }),
            Value::Array(values) => values.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let page = include_str!("../../../../docs/graph500-json.md");
    let ended = succeed(&["graph500", "--scale", "8", "--sssp", "--json", "-"]);
    let mut found = Vec::new();
    names(&serde_json::from_str(&ended.stdout).unwrap(), &mut found);
    assert!(found.len() > 50);
    for name in found {
        assert!(page.contains(&format!("`{name}`")), "`{name}` is not explained");
    }
}

#[test]
fn shortest_paths_are_in_table_lines_and_json() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    let ended = succeed(&["graph500", "--scale", "9", "--sssp", "--roots", "5", "--json", path.to_str().unwrap()]);
    let (table, lines) = parts(&ended);
    let json = json(&path);
    assert!(row(table, "shortest paths").starts_with("5, harmonic mean "), "{table}");
    assert!(row(table, "path validation").starts_with("all 5 valid, mean "), "{table}");
    for (group, object) in [("time", "time"), ("validate", "validation")] {
        for field in ["min", "first_quartile", "median", "third_quartile", "max", "mean", "stddev"] {
            let name = format!("sssp {}_{group}", field.replace('_', ""));
            close(lines[&*name], &json["sssp"][object][field], &name);
        }
    }
    for field in ["min", "first_quartile", "median", "third_quartile", "max", "harmonic_mean", "harmonic_stddev"] {
        let plain = if field.starts_with("harmonic") { field.to_owned() } else { field.replace('_', "") };
        let name = format!("sssp {plain}_TEPS");
        close(lines[&*name], &json["sssp"]["teps"][field], &name);
    }
    let construction: f64 = lines["construction_time"].parse().unwrap();
    let sum =
        ["/construction_seconds", "/sssp/construction_seconds"].map(|at| json.pointer(at).unwrap().as_f64().unwrap());
    assert!((construction - sum[0] - sum[1]).abs() < 1e-8, "{construction} {sum:?}");
    let pairs = json["searches"].as_array().unwrap().iter().zip(json["sssp"]["searches"].as_array().unwrap());
    for (search, paths) in pairs {
        for field in ["key", "edges", "reached"] {
            assert_eq!(search[field], paths[field]);
        }
    }
}

#[test]
fn json_on_stdout_is_only_output() {
    let ended = succeed(&["graph500", "--scale", "8", "--json", "-"]);
    let json: Value = serde_json::from_str(&ended.stdout).expect("nothing but JSON");
    assert_eq!(json["settings"]["scale"], 8);
    assert!(ended.stderr.contains("harmonic mean") && ended.stderr.contains("\nSCALE: "), "{ended:?}");
}

#[test]
fn old_file_is_replaced_and_keeps_permissions() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    std::fs::write(&path, "before").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let link = directory.path().join("link.json");
        symlink(&path, &link).unwrap();
        succeed(&["graph500", "--scale", "8", "--json", link.to_str().unwrap()]);
        assert!(link.is_symlink(), "the file behind the link is replaced, not the link");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        std::fs::remove_file(link).unwrap();
    }
    succeed(&["graph500", "--scale", "9", "--json", path.to_str().unwrap()]);
    assert_eq!(json(&path)["settings"]["scale"], 9);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn validation_is_skipped_plainly() {
    let ended = succeed(&["graph500", "--scale", "9", "--skip-validation"]);
    let (table, lines) = parts(&ended);
    assert!(row(table, "validation").starts_with("NOT VALIDATED"), "{table}");
    assert!(!table.contains(" valid,"), "{table}");
    assert!(!lines.keys().any(|key| key.contains("validate")), "{lines:?}");

    let ended = succeed(&["graph500", "--scale", "9", "--skip-validation", "--json", "-"]);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["validated"], false);
    assert_eq!(json["settings"]["skip_validation"], true);
    assert!(json["validation"].is_null() && json["searches"][0]["validation_seconds"].is_null());
}

#[test]
fn every_kind_finds_the_same() {
    let found = ["sequential", "color", "direction"].map(|kind| {
        let ended = succeed(&["graph500", "--scale", "10", "--bfs", kind, "--json", "-"]);
        let json: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(json["settings"]["bfs"], kind);
        assert_eq!(json["validated"], true);
        let searches = json["searches"].as_array().unwrap().iter();
        searches.map(|s| (s["key"].clone(), s["edges"].clone(), s["reached"].clone())).collect::<Vec<_>>()
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn missing_searches_are_reported() {
    let ended = succeed(&["graph500", "--scale", "3", "--roots", "64"]);
    let (table, lines) = parts(&ended);
    let searches: usize = lines["NBFS"].parse().unwrap();
    assert!((1..=8).contains(&searches));
    assert!(row(table, "searches").starts_with(&format!("{searches} of 64 ")), "{table}");
}

#[test]
fn numbers_of_threads() {
    for threads in ["1", "2", "5"] {
        let ended = succeed(&["graph500", "--scale", "9", "--threads", threads]);
        assert_eq!(row(parts(&ended).0, "threads"), threads);
    }
    for (value, threads) in [("3", Some("3")), ("", None)] {
        let mut command = anabranch(&["graph500", "--scale", "9"]);
        let ended = end(command.env("ANABRANCH_NUM_THREADS", value).spawn().unwrap());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let printed = row(parts(&ended).0, "threads");
        let machine = std::thread::available_parallelism().unwrap().to_string();
        assert_eq!(printed, threads.unwrap_or(&machine));
    }
}

#[test]
fn help_and_version() {
    let help = succeed(&["graph500", "--help"]).stdout;
    for option in [
        "--scale",
        "--edge-factor",
        "--threads",
        "--roots",
        "--bfs",
        "--seed",
        "--json",
        "--sssp",
        "--checkpoint",
        "--skip-validation",
    ] {
        assert!(help.contains(option), "{option} is missing in\n{help}");
    }
    assert!(succeed(&["--help"]).stdout.contains("graph500"));
    assert_eq!(succeed(&["--version"]).stdout, format!("anabranch {}\n", env!("CARGO_PKG_VERSION")));
}
