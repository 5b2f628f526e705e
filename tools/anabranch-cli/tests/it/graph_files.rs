//! `anabranch convert` and `anabranch graph info`.

use crate::common::{refused, run, succeed};

/// A directory, and the names of files in it.
fn directory() -> (tempfile::TempDir, impl Fn(&str) -> String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    (directory, move |name: &str| path.join(name).to_str().unwrap().to_owned())
}

#[test]
fn convert_there_and_back() {
    let (_directory, inside) = directory();
    let text = "0 1 7\n1 2 9\n4 0 1\n";
    std::fs::write(inside("a.wel"), text).unwrap();
    let mut from = "a.wel".to_owned();
    for to in ["b.ag", "c.wsg", "d.mtx", "e.gr", "f.ag", "g.wel"] {
        let said = succeed(&["convert", &inside(&from), &inside(to)]).stderr;
        assert!(said.contains("5 vertices, 3 edges"), "{said}");
        from = to.to_owned();
    }
    // Numbers of .mtx and .gr begin at 1, and .ag keeps them.
    assert_eq!(std::fs::read_to_string(inside("g.wel")).unwrap(), "1 2 7\n2 3 9\n5 1 1\n");
    let ended = succeed(&["convert", &inside("a.wel"), "-", "--to", "el", "--undirected", "--threads", "2"]);
    assert_eq!(ended.stdout, "0 1\n0 4\n1 0\n1 2\n2 1\n4 0\n");
}

#[test]
fn info_counts_what_is_there() {
    let (_directory, inside) = directory();
    // A path of five vertices, an edge, and an isolated vertex.
    std::fs::write(
        inside("a.mtx"),
        "%%MatrixMarket matrix coordinate real symmetric\n8 8 5\n2 1 1.5\n3 2 2\n4 3 -1\n5 4 1\n7 6 1\n",
    )
    .unwrap();
    let ended = succeed(&["graph", "info", &inside("a.mtx"), "--json", &inside("out.json")]);
    for words in ["undirected", "8, 1 of them isolated", "3, the largest with 5 vertices", "at least 4", "-1 to 2"] {
        assert!(ended.stdout.contains(words), "{words}: {ended:?}");
    }
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(inside("out.json")).unwrap()).unwrap();
    let graph = &json["graph"];
    assert_eq!((&json["schema"], &graph["vertices"], &graph["edges"]), (&1.into(), &8.into(), &5.into()));
    assert_eq!((&graph["degrees"]["max"], &graph["weights"]["min"]), (&2.into(), &(-1.0).into()));
    let ended = succeed(&["graph", "info", &inside("a.mtx"), "--json", "-"]);
    assert!(serde_json::from_str::<serde_json::Value>(&ended.stdout).is_ok() && ended.stderr.contains("components"));
}

#[test]
fn empty_graph_has_info() {
    let (_directory, inside) = directory();
    std::fs::write(inside("a.el"), "# nothing\n").unwrap();
    assert!(succeed(&["graph", "info", &inside("a.el")]).stdout.contains("0, the largest with 0 vertices"));
}

#[test]
fn bad_files_and_names_are_refused() {
    let (_directory, inside) = directory();
    std::fs::write(inside("a.wel"), "0 1 5\n1 2 x\n").unwrap();
    std::fs::write(inside("b.ag"), "before").unwrap();
    refused(&run(&["convert", &inside("a.wel"), &inside("b.ag")]), 1, &["a.wel:2:5: expected a weight", "'x'"]);
    assert_eq!(std::fs::read_to_string(inside("b.ag")).unwrap(), "before");
    refused(&run(&["graph", "info", &inside("b.ag")]), 1, &["b.ag: this is no graph file"]);
    refused(&run(&["graph", "info", &inside("none.el")]), 1, &["none.el: there is no such file"]);
    refused(&run(&["graph", "info", &inside("a.doc")]), 1, &["a.doc: the name does not say the format"]);
    refused(&run(&["convert", &inside("a.wel"), &inside("a.doc")]), 2, &["--to", "el, wel"]);
    refused(&run(&["convert", &inside("a.wel"), &inside("a.el.gz")]), 2, &["does not say the format"]);
    refused(&run(&["convert", &inside("a.wel"), &inside("a.el"), "--from", "doc"]), 2, &["--from", "give one of el"]);
    std::fs::write(inside("c.wel"), "0 1 0.5\n").unwrap();
    let args = ["convert", &inside("c.wel"), &inside("c.gr"), "--weights", "real"];
    refused(&run(&args), 1, &["cannot write", "has no such weights"]);
    assert_eq!(std::fs::read_dir(_directory.path()).unwrap().count(), 3, "no temporary file is left");
}
