//! The kernels on graphs from files: results, files, refusals.

use std::path::Path;

use crate::common::{refused, run, succeed};
use serde_json::Value;

const KERNELS: [&[&str]; 10] = [
    &["bfs", "--source", "70"],
    &["sssp", "--source", "70"],
    &["bfs", "--source", "70", "--target", "1000"],
    &["sssp", "--source", "70", "--target", "1000"],
    &["cc"],
    &["scc"],
    &["kcore"],
    &["pagerank"],
    &["triangles"],
    &["bc", "--sources", "70,90"],
];

/// Writes `text` to a file of `directory`, and returns its path.
fn file(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A directed triangle 70, 80, 90 and an edge from it to 1000.
fn sparse(directory: &Path) -> String {
    file(directory, "sparse.txt", "# sparse labels\n70 80\n80 90\n90 70\n90 1000\n")
}

#[test]
fn every_kernel_verifies_and_reports_as_json() {
    let directory = tempfile::tempdir().unwrap();
    let path = sparse(directory.path());
    for kernel in KERNELS {
        for threads in ["1", "2", "5"] {
            let options = ["--verify", "--trials", "3", "--threads", threads, "--json", "-"];
            let ended = succeed(&[kernel, &[&path], &options].concat());
            let json: Value = serde_json::from_str(&ended.stdout).expect("nothing but JSON");
            assert_eq!(json["schema"], 1);
            assert_eq!(json["command"], kernel[0]);
            assert_eq!(json["verified"], true);
            assert_eq!(json["graph"]["vertices"], 4);
            assert_eq!(json["threads"].to_string(), threads);
            assert_eq!(json["trials"]["seconds"].as_array().unwrap().len(), 3);
            assert!(ended.stderr.contains("median") && ended.stderr.contains("valid"), "{ended:?}");
        }
    }
}

#[test]
fn values_have_labels_of_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = sparse(directory.path());
    let values = |args: &[&str]| succeed(&[args, &[&path, "--output", "-"]].concat()).stdout;
    assert_eq!(values(&["bfs", "--source", "80"]), "70 90 2\n80 80 0\n90 80 1\n1000 90 2\n");
    assert_eq!(values(&["bfs", "--source", "1000"]), "70 -1 -1\n80 -1 -1\n90 -1 -1\n1000 1000 0\n");
    assert_eq!(values(&["sssp", "--source", "1000"]), "70 inf\n80 inf\n90 inf\n1000 0\n");
    assert_eq!(values(&["cc"]), "70 70\n80 70\n90 70\n1000 70\n");
    assert_eq!(values(&["cc", "--undirected"]), "70 70\n80 70\n90 70\n1000 70\n");
    assert_eq!(values(&["scc"]), "70 70\n80 70\n90 70\n1000 1000\n");
    assert_eq!(values(&["kcore"]), "70 2\n80 2\n90 2\n1000 1\n");
    assert_eq!(values(&["pagerank"]).lines().count(), 4);
    assert!(values(&["bc", "--sources", "70"]).ends_with("\n1000 0\n"));
    let path = file(directory.path(), "path.el", "0 1\n1 2\n");
    let centrality =
        |args: &[&str]| succeed(&[&["bc", &path, "--undirected", "--verify", "--output", "-"], args].concat()).stdout;
    assert_eq!(centrality(&[]), "0 0\n1 1\n2 0\n");
    assert_eq!(centrality(&["--scale", "pairs", "--sources", "0,2,1,1"]), "0 0\n1 1\n2 0\n");
    assert_eq!(centrality(&["--scale", "gap"]), "0 0.5\n1 1\n2 0.5\n");
    refused(&run(&["bc", &path, "--scale", "x"]), 2, &["--scale", "give one of normalized"]);
}

#[test]
fn arrays_have_one_record_per_vertex() {
    let directory = tempfile::tempdir().unwrap();
    let path = sparse(directory.path());
    let array = directory.path().join("levels.npy");
    succeed(&["bfs", &path, "--source", "80", "--output", array.to_str().unwrap()]);
    let bytes = std::fs::read(array).unwrap();
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00"));
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let records: Vec<_> = bytes[start..].chunks(20).collect();
    assert_eq!(records.len(), 4);
    assert_eq!(
        records[3],
        [1000i64.to_le_bytes(), 90i64.to_le_bytes()].concat().iter().copied().chain([2, 0, 0, 0]).collect::<Vec<u8>>()
    );
}

#[test]
fn weights_of_file_are_lengths() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "weights.wel", "0 1 5\n0 2 1\n2 1 3\n");
    let values = |args: &[&str]| succeed(&[args, &[&path, "--verify", "--output", "-"]].concat()).stdout;
    assert_eq!(values(&["sssp", "--source", "0"]), "0 0\n1 4\n2 1\n");
    assert_eq!(values(&["sssp", "--source", "0", "--delta", "2", "--weights", "real"]), "0 0\n1 4\n2 1\n");
    let fractions = file(directory.path(), "fractions.wel", "0 1 0.5\n1 2 0.25\n");
    refused(&run(&["sssp", &fractions, "--source", "0"]), 1, &["fractions.wel:1:", "whole number"]);
    assert_eq!(
        succeed(&["sssp", &fractions, "--source", "0", "--weights", "real", "--output", "-"]).stdout,
        "0 0\n1 0.5\n2 0.75\n"
    );
    let large = file(directory.path(), "large.wel", "0 1 16777217\n1 2 0.1\n2 3 0.2\n");
    assert_eq!(
        succeed(&["sssp", &large, "--source", "0", "--weights", "real", "--verify", "--output", "-"]).stdout,
        "0 0\n1 16777217\n2 16777217.1\n3 16777217.3\n"
    );
    assert_eq!(
        succeed(&["sssp", &large, "--source", "0", "--weights", "single", "--verify", "--output", "-"]).stdout,
        "0 0\n1 16777216\n2 16777216\n3 16777216\n"
    );
    let negative = file(directory.path(), "negative.wel", "0 1 -0.5\n");
    refused(&run(&["sssp", &negative, "--source", "0", "--weights", "real"]), 1, &["from 0 to 1 has the weight -0.5"]);
}

#[test]
fn path_to_target_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), "roads.wel", "7 8 5\n8 9 5\n7 9 20\n9 3 1\n");
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&succeed(&[args, &[&path, "--json", "-"]].concat()).stdout).unwrap()
    };
    let shortest = json(&["sssp", "--source", "7", "--target", "3"]);
    assert_eq!(shortest["result"]["path"], serde_json::json!([7, 8, 9, 3]));
    assert_eq!(shortest["result"]["length"], 11);
    let fewest = json(&["bfs", "--source", "7", "--target", "3"]);
    assert_eq!(fewest["result"]["path"], serde_json::json!([7, 9, 3]));
    assert_eq!(fewest["result"]["vertices_in_level"], serde_json::json!([1, 2, 1]));
    assert_eq!(json(&["bfs", "--source", "7", "--target", "7"])["result"]["path"], serde_json::json!([7]));
    assert_eq!(json(&["sssp", "--source", "3", "--target", "7"])["result"]["path"], Value::Null);
    let printed = |args: &[&str]| succeed(&[args, &[&path]].concat()).stdout;
    assert!(printed(&["sssp", "--source", "7", "--target", "3"]).contains("length 11: 7, 8, 9, 3"));
    assert!(printed(&["bfs", "--source", "7", "--target", "3"]).contains("2 edges: 7, 9, 3"));
    assert!(printed(&["bfs", "--source", "3", "--target", "7"]).contains("7 is not reached"));
    refused(&run(&["bfs", &path, "--source", "7", "--target", "70"]), 1, &["no vertex 70"]);
    let long = (0..100).map(|vertex| format!("{vertex} {}\n", vertex + 1)).collect::<String>();
    let long = file(directory.path(), "long.el", &long);
    let table = succeed(&["bfs", &long, "--source", "0", "--target", "100"]).stdout;
    assert!(table.contains("18, 19, .. 100"), "{table}");
}

#[test]
fn summary_lists_as_many_vertices_as_asked() {
    let directory = tempfile::tempdir().unwrap();
    let path = sparse(directory.path());
    for kernel in [&["pagerank"][..], &["kcore"], &["bc"]] {
        let ended = succeed(&[kernel, &[&path, "--top", "2", "--json", "-"]].concat());
        let json: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(json["result"]["highest"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn table_names_results() {
    let directory = tempfile::tempdir().unwrap();
    let path = sparse(directory.path());
    let printed = |kernel: &[&str]| succeed(&[kernel, &[&path]].concat()).stdout;
    let triangles = printed(&["triangles"]);
    assert!(triangles.lines().any(|line| line.split_whitespace().eq(["triangles", "1"])), "{triangles}");
    assert!(triangles.contains("4 vertices, 4 directed edges") && triangles.contains("not verified"), "{triangles}");
    assert!(printed(&["cc"]).contains("4 vertices"));
    assert!(printed(&["bfs", "--source", "70"]).contains("4 vertices in 3 levels"));
}

#[test]
fn bad_arguments_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = sparse(directory.path());
    refused(&run(&["bfs", &path]), 2, &["required", "--source"]);
    refused(&run(&["bfs", "--source", "1"]), 2, &["required", "<FILE>"]);
    refused(&run(&["bfs", &path, "--source", "-1"]), 2, &["-1"]);
    refused(&run(&["cc", &path, "--trials", "0"]), 2, &["--trials", "whole number from 1"]);
    refused(&run(&["cc", &path, "--threads", "0"]), 2, &["--threads", "from 1 to 4095"]);
    refused(&run(&["triangles", &path, "--output", "x"]), 2, &["--output"]);
    refused(&run(&["cc", &path, "--output", "-", "--json", "-"]), 2, &["cannot both be '-'"]);
    for missing in ["0", "71", "18446744073709551615"] {
        refused(&run(&["bfs", &path, "--source", missing]), 1, &["no vertex", missing]);
        refused(&run(&["sssp", &path, "--source", missing]), 1, &["no vertex", missing]);
        refused(&run(&["bc", &path, "--sources", &format!("70,{missing}")]), 1, &["no vertex", missing]);
    }
    refused(&run(&["sssp", &path, "--source", "70", "--delta", "0"]), 1, &["delta must be above 0"]);
    refused(&run(&["pagerank", &path, "--damping", "2"]), 1, &["damping must be from 0 to 1"]);
    refused(&run(&["cc", &path, "--output", "none/x"]), 1, &["none/x", "there is no directory"]);
    for kernel in KERNELS {
        let missing = directory.path().join("missing.el");
        refused(&run(&[kernel, &[missing.to_str().unwrap()]].concat()), 1, &["missing.el", "no such file"]);
        let malformed = file(directory.path(), "malformed.el", "0 1\n2 x\n");
        refused(&run(&[kernel, &[&malformed]].concat()), 1, &["malformed.el:2:"]);
    }
}

#[test]
fn unconverged_ranks_end_with_1() {
    let directory = tempfile::tempdir().unwrap();
    let path = sparse(directory.path());
    let args = ["pagerank", &path, "--iterations", "1", "--verify", "--json", "-"];
    let ended = run(&args);
    assert_eq!(ended.code, Some(1));
    let json: Value = serde_json::from_str(&ended.stdout).expect("the results are written");
    assert_eq!((&json["result"]["converged"], &json["result"]["iterations"]), (&false.into(), &1.into()));
    assert!(ended.stderr.contains(": not converged") && ended.stderr.contains("give more --iterations"), "{ended:?}");

    let seven = "4 1\n1 2\n4 3\n6 3\n7 3\n1 4\n7 4\n2 5\n7 5\n3 6\n5 6\n2 7\n";
    let seven = file(directory.path(), "seven.txt", seven);
    for tolerance in ["1e-4", "1e-6", "1e-7", "1e-14"] {
        let json =
            succeed(&["pagerank", &seven, "--verify", "--tolerance", tolerance, "--iterations", "300", "--json", "-"]);
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(json["result"]["converged"], true);
    }
    refused(&run(&["pagerank", &path, "--dangling", "x"]), 2, &["--dangling", "give one of spread, lost"]);
}

#[cfg(unix)]
#[test]
fn interrupted_trials_end_with_130() {
    use crate::common::{anabranch, end};
    let directory = tempfile::tempdir().unwrap();
    let path = sparse(directory.path());
    let output = directory.path().join("values.txt");
    let child = anabranch(&["cc", &path, "--trials", "1000000", "--output", output.to_str().unwrap()]).spawn().unwrap();
    // The temporary file exists once the signals are handled.
    crate::common::until("the temporary file exists", || std::fs::read_dir(directory.path()).unwrap().count() > 1);
    let sent = std::process::Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    refused(&end(child), 130, &["interrupted"]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no file is left");
}
