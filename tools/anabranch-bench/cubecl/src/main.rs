//! Saxpy and a sum in cubecl and in anabranch-kernel, on the same device. Both use wgpu, and wait for each result.
//!
//! cubecl leaves the geometry to its user, so the program tries some, and takes the best.

mod ours;
mod theirs;

use std::hint::black_box;
use std::time::{Duration, Instant};

use anabranch_kernel::Device;

const A: f32 = 1.5;

/// The rounds of a lane's loop that cubecl's programs have at most: llvmpipe ends longer loops, and reports no error.
const MOST_ROUNDS: u32 = 60_000;

const SAMPLE: Duration = Duration::from_millis(20);

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(5, |rounds| rounds.parse().expect("a number of rounds"));
    let device = Device::gpus().into_iter().next().expect("there is a GPU");
    println!("{}, rounds: {rounds}\n", device.name());
    println!("| program | elements | kernels | cubecl | its geometry | cubecl / kernels |\n|---|---|---|---|---|---|");
    let pool = anabranch::Pool::builder().threads(2).build().expect("a pool can be built");
    for n in (3..=7).map(|exponent| 10usize.pow(exponent)) {
        let x: Vec<f32> = (0..n).map(|i| (i % 8) as f32).collect();
        let y: Vec<f32> = (0..n).map(|i| (i % 77) as f32).collect();
        let (ours, theirs) = (ours::Ours::new(&device, &x, &y).expect("it fits"), theirs::Theirs::new(&x, &y));
        let sums = [pool.run(|cx| ours.sum(cx).expect("no kernel traps")), theirs.sum(32, 64)];
        assert!((sums[0] - sums[1]).abs() < 1e-3 * sums[0], "the sums differ: {sums:?}");
        for program in ["saxpy", "sum"] {
            let is_saxpy = program == "saxpy";
            let geometries: Vec<(u32, u32)> = [64, 256]
                .into_iter()
                .flat_map(|lanes: u32| {
                    [1, 2, 8, 32, 512, 60_000].map(|cubes| (cubes.min((n as u32).div_ceil(lanes)), lanes))
                })
                .filter(|(cubes, lanes)| n as u32 / (cubes * lanes) <= MOST_ROUNDS)
                .collect();
            let run = |(cubes, lanes): (u32, u32)| {
                mean(|| match is_saxpy {
                    true => theirs.saxpy(A, cubes, lanes),
                    false => _ = black_box(theirs.sum(cubes, lanes)),
                })
            };
            // The sweep only chooses a geometry, and other rounds measure it. The first round of each compiles.
            let sweep: Vec<f64> = geometries
                .iter()
                .map(|geometry| median((0..=rounds).map(|_| run(*geometry)).skip(1).collect()))
                .collect();
            let best = (0..sweep.len()).min_by(|a, b| sweep[*a].total_cmp(&sweep[*b])).expect("there are geometries");
            let [mut of_ours, mut of_theirs] = [const { Vec::new() }; 2];
            for _ in 0..=rounds {
                of_ours.push(pool.run(|cx| {
                    mean(|| match is_saxpy {
                        true => ours.saxpy(A, cx).expect("no kernel traps"),
                        false => _ = black_box(ours.sum(cx).expect("no kernel traps")),
                    })
                }));
                of_theirs.push(run(geometries[best]));
            }
            let ratios: Vec<f64> =
                of_theirs[1..].iter().zip(&of_ours[1..]).map(|(theirs, ours)| theirs / ours).collect();
            let (least, most) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(a, b), r| (a.min(*r), b.max(*r)));
            let (cubes, lanes) = geometries[best];
            println!(
                "| {program} | {n} | {:.1} us | {:.1} us | {cubes} x {lanes} | {:.2} ({least:.2} to {most:.2}) |",
                1e6 * median(of_ours[1..].to_vec()),
                1e6 * median(of_theirs[1..].to_vec()),
                median(ratios),
            );
        }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Calls `f` for a while, and returns the mean time of a call.
fn mean(mut f: impl FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0u32);
    while calls == 0 || start.elapsed() < SAMPLE {
        f();
        calls += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}
