//! `--checkpoint`: a second run starts at kernel 2, and no damaged file is used.

use std::fs;
use std::path::Path;

use crate::common::{refused, run, succeed};
use serde_json::Value;

fn arguments<'a>(path: &'a str, scale: &'a str) -> [&'a str; 7] {
    ["graph500", "--scale", scale, "--json", "-", "--checkpoint", path]
}

fn files(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

#[test]
fn second_run_starts_at_kernel_2() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph");
    let path = path.to_str().unwrap();
    let json = |ended: crate::common::Ended| serde_json::from_str::<Value>(&ended.stdout).unwrap();
    let first = json(succeed(&arguments(path, "9")));
    assert_eq!(files(directory.path()), 1, "no temporary file is left");
    let ended = succeed(&arguments(path, "9"));
    assert!(ended.stderr.contains(" checkpoint "), "{ended:?}");
    let second = json(ended);
    assert_eq!((&first["from_checkpoint"], &second["from_checkpoint"]), (&false.into(), &true.into()));
    assert_eq!(first["construction_seconds"], second["construction_seconds"]);
    let facts = |json: &Value| {
        let searches = json["searches"].as_array().unwrap().iter();
        searches.map(|s| ["key", "edges", "reached", "depth"].map(|field| s[field].clone())).collect::<Vec<_>>()
    };
    assert_eq!(facts(&first), facts(&second));
}

#[test]
fn unusable_files_are_refused_and_stay() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("graph");
    let path = file.to_str().unwrap();
    succeed(&arguments(path, "8"));
    let whole = fs::read(&file).unwrap();
    let is_refused = |bytes: &[u8], scale: &str, words: &str| {
        fs::write(&file, bytes).unwrap();
        let ended = run(&arguments(path, scale));
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let last = ended.stderr.lines().last().unwrap();
        assert!(last.starts_with("anabranch: cannot use the checkpoint ") && last.contains(words), "{ended:?}");
        assert_eq!(fs::read(&file).unwrap(), bytes);
    };
    is_refused(&whole, "9", "it is of scale 8, edge factor 16 and seed 1, and this run of scale 9");
    is_refused(&whole[..whole.len() - 5], "8", " bytes instead of ");
    is_refused(b"something else", "8", "it is not a Graph500 checkpoint");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 16;
    is_refused(&damaged, "8", "the checksum does not match");
    refused(&run(&arguments(directory.path().to_str().unwrap(), "8")), 1, &["cannot use the checkpoint", "directory"]);
    refused(&run(&arguments("/no/such/graph", "8")), 1, &["/no/such", "there is no directory"]);
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_is_an_error_and_leaves_nothing() {
    let ended = run(&arguments("/dev/full", "8"));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("cannot write /dev/full: No space left"), "{ended:?}");

    // A limit of the size of files stands for a full disk with a regular file.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph");
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" graph500 --scale 10 --checkpoint \"$1\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_anabranch"), path.to_str().unwrap()]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot write ") && stderr.contains("File too large"), "{stderr}");
    assert_eq!(files(directory.path()), 0, "neither the checkpoint nor a temporary file");
}
