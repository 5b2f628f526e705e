//! `anabranch plan`.

use crate::common::{refused, run, succeed};

#[test]
fn plan_has_numbers_and_reason() {
    let ended = succeed(&["plan", "--n", "10000", "--device", "h100"]);
    let words = ["NVIDIA H100 SXM", "80.0 GiB", "3350 GB/s", "157 blocks of 64 lanes", "313 / 132 = 2", "of 3.7%."];
    for words in words {
        assert!(ended.stdout.contains(words), "{words}: {ended:?}");
    }
    assert_eq!(ended.stderr, "");
}

#[test]
fn plan_for_this_machine_is_the_default() {
    let ended = succeed(&["plan", "--n", "1000000"]);
    assert!(ended.stdout.contains("this processor") && ended.stdout.contains("unknown"), "{ended:?}");
    assert_eq!(ended.stdout, succeed(&["plan", "--n", "1000000", "--device", "THIS"]).stdout);
}

#[test]
fn plan_for_a_described_device_is_that_of_the_known_one() {
    let described = succeed(&["plan", "--n", "10000", "--device", "cores=14,warps=48,lanes=32"]).stdout;
    let known = succeed(&["plan", "--n", "10000", "--device", "c2050"]).stdout;
    let reason = |text: &str| text.split("\n\n").nth(1).expect("a reason").to_owned();
    assert!(reason(&described).contains("313 / 14 = 22"), "{described}");
    assert_eq!(reason(&described), reason(&known));
}

#[test]
fn plan_as_json() {
    let ended = succeed(&["plan", "--n", "18446744073709551615", "--device", "rtx4090", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let plan = &json["plan"];
    assert_eq!((&json["schema"], &json["device"]["cores"]), (&1.into(), &128.into()));
    assert_eq!(
        (&plan["elements"], &plan["blocks"], &plan["lanes_per_block"], &plan["waves"]),
        (&u64::MAX.into(), &256.into(), &768.into(), &32.into())
    );
    assert_eq!((&plan["rule"], &plan["occupancy"]), (&"stride".into(), &1.0.into()));
    assert!(ended.stderr.contains("256 blocks"), "{ended:?}");

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("plan.json");
    let ended = succeed(&["plan", "--n", "0", "--device", "mi300x", "--json", file.to_str().unwrap()]);
    assert!(ended.stdout.contains("nothing is launched"), "{ended:?}");
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).expect("JSON");
    assert_eq!((&json["plan"]["blocks"], &json["plan"]["rule"]), (&0.into(), &"empty".into()));
}

#[test]
fn unknown_devices_and_bad_numbers_are_refused() {
    let ended = run(&["plan", "--n", "1", "--device", "h1000"]);
    refused(&ended, 2, &["--device", "'h1000'", "this, auto, h100, h200, a100, v100, rtx4090, c2050, mi300x, max1550"]);
    let ended = run(&["plan", "--n", "1", "--device", "cores=14,lanes=32"]);
    refused(&ended, 2, &["--device", "describes no device: warps is missing"]);
    for bad in ["-1", "x", "1.5", "18446744073709551616"] {
        refused(&run(&["plan", "--n", bad]), 2, &["--n", &format!("'{bad}'"), "whole number from 0"]);
    }
    refused(&run(&["plan"]), 2, &["required", "--n"]);
}
