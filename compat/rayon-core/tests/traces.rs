//! Places in traces are those of the program, and not of the drop-in.

use rayon::prelude::*;
use std::{env, fs, path::PathBuf, process::Command};

const FILE: &str = "ANABRANCH_TRACE";

fn sorted(numbers: &mut [u32]) {
    if numbers.len() > 8 {
        let (left, right) = numbers.split_at_mut(8);
        rayon::join(|| left.sort_unstable(), || sorted(right));
    }
}

#[test]
fn forks_and_calls_have_places_in_the_program() {
    if env::var_os(FILE).is_some() {
        sorted(&mut [7; 64]);
        let doubled: Vec<u32> = (0..1000u32).into_par_iter().map(|number| 2 * number).collect();
        assert_eq!(doubled[7], 14);
        return;
    }
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("places.trace");
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "--test-threads=1", "forks_and_calls_have_places_in_the_program"]);
    // One thread that measures work publishes each fork.
    command.env(FILE, &file).env("ANABRANCH_TRACE_WORK_SPAN", "1").env("RAYON_NUM_THREADS", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    // The labels and the names of files are texts in the trace.
    let trace = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
    assert!(trace.contains("traces::sorted"), "{trace}");
    assert!(trace.contains("a loop in traces::forks_and_calls_have_places_in_the_program"), "{trace}");
    assert!(!trace.contains("join.rs") && !trace.contains("global.rs"), "{trace}");
}
