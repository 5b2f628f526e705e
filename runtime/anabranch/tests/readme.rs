//! The README of the package is that of the repository, with its links seen from the folder of the package.

use std::fs;

/// The links of a text that are relative, from the folder of a crate.
fn from_the_package(text: &str) -> String {
    let mut moved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(end) =
        ["](", "src=\"", "srcset=\""].iter().filter_map(|mark| Some(rest.find(mark)? + mark.len())).min()
    {
        let (before, target) = rest.split_at(end);
        moved.push_str(before);
        if !target.starts_with("http") && !target.starts_with('#') {
            moved.push_str("../../");
        }
        rest = target;
    }
    moved + rest
}

#[test]
fn package_readme_matches_repository_readme() {
    let package = env!("CARGO_MANIFEST_DIR");
    let read = |path: &str| fs::read_to_string(format!("{package}/{path}")).unwrap();
    assert!(
        read("README.md") == from_the_package(&read("../../README.md")),
        "README.md and runtime/anabranch/README.md differ in more than `../../` before relative links"
    );
}

#[test]
fn links_of_readme_exist() {
    let package = env!("CARGO_MANIFEST_DIR");
    let readme = fs::read_to_string(format!("{package}/README.md")).unwrap();
    let targets: Vec<&str> =
        readme.match_indices("../../").map(|(at, _)| readme[at..].split([')', '"', '#']).next().unwrap()).collect();
    assert!(targets.len() >= 10, "{targets:?}");
    for target in targets {
        assert!(fs::exists(format!("{package}/{target}")).unwrap(), "{target}");
    }
}
