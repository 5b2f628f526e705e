//! Makes `sys` of the runtime take its atomics, locks, threads and clock from `anabranch-sim`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=sim");
    // The runtime has features, all of which are off here.
    println!("cargo::rustc-check-cfg=cfg(feature, values(any()))");
}
