//! The examples run at small sizes, on the processor and on each GPU that is found, and their results are right.

#![allow(dead_code, reason = "`main` of the examples is not called")]
#![allow(clippy::duplicate_mod, reason = "each example has a copy of what they share")]

use std::time::Duration;

#[path = "../../examples/bfs.rs"]
mod bfs;
#[path = "../../examples/devices.rs"]
mod devices;
#[path = "../../examples/dot.rs"]
mod dot;
#[path = "../../examples/histogram.rs"]
mod histogram;
#[path = "../../examples/mandelbrot.rs"]
mod mandelbrot;
#[path = "../../examples/matrix_product.rs"]
mod matrix_product;
#[path = "../../examples/n_body.rs"]
mod n_body;
#[path = "../../examples/vector_add.rs"]
mod vector_add;

/// Checks the result of each device of a table.
fn check_results(table: &str, is_right: impl Fn(&str) -> bool) {
    let lines: Vec<&str> = table.lines().skip(2).collect();
    assert!(lines.first().is_some_and(|line| line.starts_with("this processor ")), "{table}");
    for line in lines {
        // The name of the device has 32 columns or more, and the time follows.
        let rest = line.get(32..).unwrap_or_default().trim_start();
        let result = rest.split_once("   ").map_or("", |(_, result)| result);
        assert!(is_right(result), "{result}\n{table}");
    }
}

#[test]
fn vector_add_is_right() {
    for len in [1, 10_000] {
        check_results(&vector_add::run(len).unwrap(), |result| result.starts_with("0 wrong sums, "));
    }
}

#[test]
fn dot_is_right() {
    let sum = |len: usize| (0..len).map(|i| (i % 8) as f32 * if i % 16 < 8 { 1.0 } else { -1.0 }).sum::<f32>();
    for len in [1, 15, 100_005] {
        check_results(&dot::run(len).unwrap(), |result| result == sum(len).to_string());
    }
}

#[test]
fn mandelbrot_has_its_area_and_is_symmetric() {
    let side = 128;
    // The set has an area of 1.5066, and some points next to it leave later than the limit.
    let expected = 1.5066 / (2.6 * 2.6) * (side * side) as f64;
    check_results(&mandelbrot::run(side).unwrap(), |result| {
        let points: f64 = result.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0.0);
        (points / expected - 1.0).abs() < 0.05
    });
    let picture = mandelbrot::picture(side).unwrap();
    let pixels = picture.strip_prefix(b"P6\n128 128\n255\n").unwrap();
    assert_eq!(pixels.len(), 3 * side * side);
    let row = |row: usize| &pixels[3 * side * row..][..3 * side];
    let differing = (1..side / 2).filter(|i| row(*i) != row(side - i)).count();
    assert!(differing < side / 8, "{differing} rows differ from their mirror images");
}

#[test]
fn bodies_keep_their_energy() {
    check_results(&n_body::run(200).unwrap(), |result| {
        let numbers: Vec<f32> = result.split(' ').filter_map(|word| word.parse().ok()).collect();
        numbers.len() == 2 && numbers[0] < 0.0 && ((numbers[1] - numbers[0]) / numbers[0]).abs() < 0.01
    });
}

#[test]
fn matrix_product_is_right() {
    for side in [1, 2, 33] {
        check_results(&matrix_product::run(side).unwrap(), |result| result == "0 wrong elements");
    }
}

#[test]
fn bfs_finds_a_valid_tree() {
    for scale in [1, 4, 10] {
        check_results(&bfs::run(scale).unwrap(), |result| {
            // A graph with few edges has no level down, and a larger one has both.
            let has_both = !result.contains(" 0 levels down") && !result.contains(", 0 up");
            result.ends_with(" GTEPS, a valid tree") && (scale < 10 || has_both)
        });
    }
}

#[test]
fn histogram_counts_all_numbers() {
    let text = histogram::run(10_000).unwrap();
    // A line of the drawing begins with two numbers.
    let numbers = |line: &str| -> Option<[u32; 2]> {
        let mut words = line.split_whitespace().map(str::parse);
        Some([words.next()?.ok()?, words.next()?.ok()?])
    };
    let bins: Vec<[u32; 2]> = text.lines().filter_map(numbers).collect();
    let counts = bins.iter().map(|[_, count]| *count);
    assert_eq!((bins.len(), counts.sum::<u32>()), (16, 10_000), "{text}");
}

#[test]
fn devices_share_the_work_within_the_deadline() {
    let text = devices::count_within(Duration::from_secs(3600), 4).unwrap();
    assert!(text.ends_with("6542 primes below 65536\n"), "{text}");
    let late = devices::count_within(Duration::ZERO, 4).unwrap();
    assert!(late.contains("time is up: 0 parts of 4 are done"), "{late}");
}
