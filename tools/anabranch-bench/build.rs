//! Hands the versions of the peers and of the compiler to the bench, read from `Cargo.lock` and from `rustc -V`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "src/lock.rs"]
#[allow(dead_code)]
mod lock;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let path = here.join("../../Cargo.lock");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/lock.rs");
    // Outside of the workspace no file has the versions that were chosen for the program of which this crate is a part.
    let lock = fs::read_to_string(&path).ok();
    if lock.is_some() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    for (dependant, peer) in [
        ("anabranch-bench", "anabranch"),
        ("anabranch-bench", "rayon"),
        ("rayon", "rayon-core"),
        ("anabranch-bench", "chili"),
        ("anabranch-bench", "forte"),
        ("anabranch-bench", "may"),
        ("anabranch-bench", "tokio"),
        ("anabranch-bench", "async-executor"),
        ("anabranch-bench", "parking_lot"),
        ("anabranch-bench", "kanal"),
        ("anabranch-bench", "crossfire"),
        ("anabranch-bench", "crossbeam-channel"),
        ("anabranch-bench", "flume"),
        ("anabranch-bench", "async-channel"),
        ("anabranch-bench", "tokio-stream"),
        ("anabranch-bench", "futures-util"),
    ] {
        let version = lock.as_deref().map(|lock| {
            lock::version_of(lock, dependant, peer)
                .unwrap_or_else(|| panic!("Cargo.lock names no {peer} for {dependant}"))
        });
        let key = peer.to_uppercase().replace('-', "_");
        println!("cargo::rustc-env=VERSION_{key}={}", version.unwrap_or_default());
    }

    let (commit, modified) = source(&here);
    println!("cargo::rustc-env=BENCH_COMMIT={commit}");
    println!("cargo::rustc-env=BENCH_MODIFIED={modified}");

    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    println!("cargo::rustc-env=RUSTC_OF_BENCH={}", PathBuf::from(&rustc).display());
    let output = Command::new(rustc).arg("-V").output().expect("rustc runs");
    println!("cargo::rustc-env=VERSION_RUSTC={}", String::from_utf8_lossy(&output.stdout).trim());
}

/// Returns the commit of the sources, or nothing if it is unknown, and whether the sources were changed since.
fn source(here: &Path) -> (String, bool) {
    // A package names the commit from which it was made.
    let package = fs::read_to_string(here.join(".cargo_vcs_info.json")).unwrap_or_default();
    if let Some((_, rest)) = package.split_once("\"sha1\": \"") {
        return (rest.chars().take_while(char::is_ascii_hexdigit).collect(), package.contains("\"dirty\": true"));
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(here).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // The sources may be in a directory that git ignores, of a repository of something else.
    let is_tracked = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let Some(commit) = git(&["rev-parse", "HEAD"]).filter(|_| is_tracked) else { return (String::new(), false) };
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).map(|path| here.join(path)).filter(|it| it.exists())
        {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    for directory in
        ["runtime/anabranch", "runtime/anabranch-macros", "runtime/anabranch-proto", "tools/anabranch-bench"]
    {
        println!("cargo::rerun-if-changed={}", here.join("../..").join(directory).display());
    }
    let changes = git(&["status", "--porcelain", "--untracked-files=no", "--", "../.."]);
    (commit, changes.is_some_and(|changes| !changes.is_empty()))
}
