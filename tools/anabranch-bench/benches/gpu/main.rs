//! Kernels on a GPU, compared with WGSL by hand: `cargo bench -p anabranch-bench --features gpu --bench gpu -- --help`.
//!
//! The program by hand runs with each geometry of a sweep. So the table says how far the plan of the device is from the
//! best of the sweep, and how far the operations are. Both are measured again beside the best. A fiber runs the
//! operations, and the main thread the program by hand. Both wait for each result.

mod hand;
mod wait;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anabranch::{Cx, Pool};
use anabranch_bench::stats::Summary;
use anabranch_kernel::{Device, DeviceVec, Queue, Vector, kernel};
use clap::Parser;

use self::hand::{Geometry, Hand, Program};

/// The factor of saxpy.
const A: f32 = 1.5;

/// The rounds of a lane's loop that the program by hand has at most: llvmpipe ends longer loops.
const MOST_ROUNDS: u32 = 60_000;

#[kernel]
fn saxpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}

/// Compares kernels on the first GPU with WGSL by hand, for 1,000 elements and on.
#[derive(Parser)]
struct Options {
    /// Rounds, in each of which everything is measured once
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The largest number of elements
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1000..=100_000_000))]
    most: u32,
    /// The smallest number of elements
    #[arg(long, default_value_t = 1000)]
    least: u32,
    /// The time of a sample, in milliseconds
    #[arg(long, default_value_t = 20)]
    sample: u64,
    /// Measures only the CPU time of a waiting fiber
    #[arg(long)]
    wait: bool,
    /// Cargo passes it
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let Some(device) = Device::gpus().into_iter().next() else {
        eprintln!("no GPU was found");
        return ExitCode::FAILURE;
    };
    let queue = Queue::open(&device).expect("a GPU that was found can be opened");
    println!("{}, rounds: {}\n", device.name(), options.rounds);
    if !options.wait {
        let mut hand = Hand::open(device.name()).expect("the adapter can be opened again");
        let many = many(&hand);
        println!(
            "| program | elements | kernels | plan by hand | best by hand | its geometry | to best | plan to best \
             | bytes per second of {many} |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for program in Program::ALL {
            let sizes = (3..=8).map(|exponent| 10u32.pow(exponent));
            for n in sizes.filter(|n| (options.least..=options.most).contains(n)) {
                println!("{}", compare(&options, &device, &queue, &mut hand, program, n));
            }
        }
        println!();
    }
    print!("{}", wait::report(&queue, options.rounds));
    ExitCode::SUCCESS
}

/// Measures a program with `n` elements. Returns the row of the table.
fn compare(options: &Options, device: &Device, queue: &Queue, hand: &mut Hand, program: Program, n: u32) -> String {
    let budget = Duration::from_millis(options.sample);
    let many = many(hand);
    let x: Vec<f32> = (0..n).map(|i| (i % 8) as f32).collect();
    let y: Vec<f32> = (0..n).map(|i| (i % 77) as f32).collect();
    let geometries = geometries(device, hand, program, n);
    geometries.iter().for_each(|geometry| hand.compile(program, geometry.lanes));
    let vectors = hand.vectors(&x, &y);
    let launches: Vec<_> = geometries.iter().map(|geometry| hand.launch(program, &vectors, *geometry)).collect();
    let [x, y] = [&x, &y].map(|elements| queue.upload(elements).expect("the vectors fit"));
    let pool = Pool::builder().threads(2).build().expect("a pool can be built");
    let median = |times: &[f64]| Summary::of(times).expect("there are rounds").median;
    // The fastest of many samples is partly the luckiest. So the sweep only chooses a geometry, and other rounds
    // measure it. The first round of each warms up.
    let mut sweep = vec![Vec::new(); launches.len()];
    for _ in 0..=options.rounds {
        for (launch, times) in launches.iter().zip(&mut sweep) {
            times.push(mean(budget, || launch.run()));
        }
    }
    let best = (0..sweep.len()).min_by(|a, b| median(&sweep[*a][1..]).total_cmp(&median(&sweep[*b][1..])));
    let best = best.expect("there are geometries");
    let [mut ours, mut of_plan, mut of_best, mut of_many] = [const { Vec::new() }; 4];
    for round in 0..=options.rounds {
        ours.push(pool.run(|cx| {
            let measured = |cx: &Cx<'_>| mean(budget, || operation(program, cx, queue, &x, &y));
            cx.scope(|s| s.spawn(measured).join(s)).expect("the fiber ends")
        }));
        let row = |cx: &Cx<'_>| mean(budget, || operations(many, program, cx, queue, &x, &y));
        of_many.push(pool.run(row) / f64::from(many));
        // The first one after the others is slower, so they take turns.
        let mut by_hand = [(0, &mut of_plan), (best, &mut of_best)];
        if round % 2 == 1 {
            by_hand.reverse();
        }
        by_hand.into_iter().for_each(|(launch, times)| times.push(mean(budget, || launches[launch].run())));
    }
    let ratio = |times: &[f64]| {
        let ratios: Vec<f64> = of_best[1..].iter().zip(&times[1..]).map(|(best, time)| best / time).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        format!("{:.2} ({least:.2} to {most:.2})", median(&ratios))
    };
    let Geometry { blocks, lanes } = geometries[best];
    let rate = f64::from(n) * program.bytes() / median(&of_many[1..]);
    let of_peak = device.bandwidth().map_or(String::new(), |peak| format!(", {:.2} of the peak", rate / peak as f64));
    format!(
        "| {} | {n} | {:.1} us | {:.1} us | {:.1} us | {blocks} x {lanes} | {} | {} | {:.1} GB{of_peak} |",
        program.name(),
        1e6 * median(&ours[1..]),
        1e6 * median(&of_plan[1..]),
        1e6 * median(&of_best[1..]),
        ratio(&ours),
        ratio(&of_plan),
        rate / 1e9,
    )
}

/// Runs an operation, and waits for it.
fn operation(program: Program, cx: &Cx<'_>, queue: &Queue, x: &DeviceVec<f32>, y: &DeviceVec<f32>) -> f32 {
    match program {
        Program::Saxpy => {
            let result = saxpy::map(A, x, y).collect(queue).expect("the vectors fit");
            result.wait(cx).expect("no kernel traps");
            0.0
        }
        Program::Sum => x.sum(queue).and_then(|sum| sum.wait(cx)).expect("no kernel traps"),
    }
}

/// Returns the number of operations in a row by which the bytes per second are measured. They hide the time of a wait:
/// it is some 400 us if the interrupt of a GPU wakes a thread of a virtual machine.
fn many(hand: &Hand) -> u32 {
    if hand.is_cpu() { 16 } else { 256 }
}

/// Runs `many` operations, and waits for the last one.
fn operations(many: u32, program: Program, cx: &Cx<'_>, queue: &Queue, x: &DeviceVec<f32>, y: &DeviceVec<f32>) -> f32 {
    match program {
        Program::Saxpy => {
            let results = (0..many).map(|_| saxpy::map(A, x, y).collect(queue).expect("the vectors fit"));
            results.reduce(|_, last| last).expect("there are operations").wait(cx).expect("no kernel traps");
            0.0
        }
        Program::Sum => {
            let sums = (0..many).map(|_| x.sum(queue).expect("the sum is launched"));
            sums.reduce(|_, last| last).expect("there are operations").wait(cx).expect("no kernel traps")
        }
    }
}

/// Returns the geometries of the sweep. The first one is that of the plan, for a map on a GPU with its waves. The
/// operations put a sum of few elements into one block, the largest of the device, since several blocks need a second
/// dispatch.
fn geometries(device: &Device, hand: &Hand, program: Program, n: u32) -> Vec<Geometry> {
    let most_lanes = hand.most_lanes();
    let cores = device.shape().cores;
    let one_block = if hand.is_cpu() { (4 * cores / (cores - 1).max(1)) << 14 } else { 1 << 14 };
    let takes_one_block = program == Program::Sum && n <= one_block;
    let plan = device.plan(if takes_one_block { u64::MAX } else { u64::from(n) });
    let lanes = (plan.lanes_per_block() as u32).min(most_lanes);
    let blocks = match program {
        Program::Sum if takes_one_block => 1,
        Program::Saxpy if !hand.is_cpu() => (plan.blocks() * plan.waves()).min(65_535) as u32,
        _ => plan.blocks() as u32,
    };
    let least = |lanes: u32| n.div_ceil(lanes).div_ceil(MOST_ROUNDS);
    let mut all = vec![Geometry { blocks: blocks.max(least(lanes)), lanes }];
    for lanes in [16, 32, 64, 256, 1024].into_iter().filter(|lanes| *lanes <= most_lanes) {
        let most = n.div_ceil(lanes).min(65_535);
        let powers = (0..=8).map(|exponent| 4u32.pow(exponent)).filter(|blocks| *blocks < most);
        let new = powers.chain([most]).filter(|blocks| *blocks >= least(lanes));
        all.extend(new.map(|blocks| Geometry { blocks, lanes }));
    }
    all
}

/// Calls `f` for about `budget`, and returns the mean time of a call.
fn mean(budget: Duration, mut f: impl FnMut() -> f32) -> f64 {
    let (start, mut calls) = (Instant::now(), 0u32);
    while calls == 0 || start.elapsed() < budget {
        std::hint::black_box(f());
        calls += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}
