//! Cargo allows `links` only for a package with a build script. Nothing is linked: the key keeps a second copy of this
//! crate out of a program, which would have a second pool.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
