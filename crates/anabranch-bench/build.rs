//! Hands the versions of the peers and of the compiler to the bench, read from `Cargo.lock` and from `rustc -V`.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

#[path = "src/lock.rs"]
#[allow(dead_code)]
mod lock;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    // A package has a lock file of its own.
    let own = here.join("Cargo.lock");
    let path = if own.exists() { own } else { here.join("../../Cargo.lock") };
    println!("cargo::rerun-if-changed={}", path.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/lock.rs");

    let lock = fs::read_to_string(&path).expect("the workspace, or the package, has a Cargo.lock");
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
        let version = lock::version_of(&lock, dependant, peer)
            .unwrap_or_else(|| panic!("Cargo.lock names no {peer} for {dependant}"));
        let key = peer.to_uppercase().replace('-', "_");
        println!("cargo::rustc-env=VERSION_{key}={version}");
    }

    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    println!("cargo::rustc-env=RUSTC_OF_BENCH={}", PathBuf::from(&rustc).display());
    let output = Command::new(rustc).arg("-V").output().expect("rustc runs");
    println!("cargo::rustc-env=VERSION_RUSTC={}", String::from_utf8_lossy(&output.stdout).trim());
}
