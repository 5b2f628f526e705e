//! The text of skeletons, which a C++ compiler builds for the host, and what the writer refuses.
//!
//! The skeletons have kernels in WGSL here. Without a C++ compiler their test is skipped. That of kernels is in
//! `anabranch-kernel-macros`.

mod refused;

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anabranch_kernel_ir::{CudaBuffer, write_cuda};

use crate::gpu::operations::{COMPACT, HISTOGRAM, MAP, MAP_FOUR, REDUCE, REDUCE_FOUR, SCAN, SCATTER};
use crate::gpu::pipeline::Skeleton;
use crate::gpu::skeleton;
use crate::gpu::sort::SORT;

/// The lanes of a block.
const LANES: u32 = 4;
/// The binding of the numbers that the kernels read.
const INPUTS: u32 = 9;

/// A skeleton with kernels, and the contents of its buffers.
struct Program {
    skeleton: &'static Skeleton,
    /// The placeholders, and what stands for them.
    kernels: Vec<(&'static str, &'static str)>,
    /// The words of each buffer, by its binding.
    buffers: Vec<(u32, Vec<u32>)>,
    /// The entry points, the blocks, and the words of the skeleton.
    dispatches: Vec<(usize, u32, Vec<u32>)>,
    /// Checks the words of the buffers after the dispatches.
    check: Check,
}

type Check = Box<dyn Fn(&[Vec<u32>])>;

/// Returns a function that runs a program and prints its buffers, in a namespace of its own.
fn text_of(program: &Program, number: usize) -> String {
    let mut wgsl = program.skeleton.text.to_owned();
    for (placeholder, kernel) in &program.kernels {
        assert!(wgsl.contains(placeholder), "{placeholder}");
        wgsl = wgsl.replace(placeholder, kernel);
    }
    writeln!(wgsl, "@group(0) @binding({INPUTS}) var<storage, read> inputs: array<u32>;").unwrap();
    let mut module = skeleton::parse(&wgsl, LANES);
    module.entry_points.iter_mut().for_each(|entry| entry.workgroup_size = [LANES, 1, 1]);
    let source = write_cuda(&module).unwrap();
    assert!(source.buffers.iter().all(|buffer| buffer.stride == 4));
    let own = source.text.replace("extern \"C\" ", "");
    let mut text = format!("namespace program{number} {{\n{own}\nvoid run_all() {{\n");
    let list = |words: &[u32]| words.iter().map(|word| format!("{word}u, ")).collect::<String>();
    for (binding, words) in &program.buffers {
        writeln!(text, "std::vector<u32> b{binding}{{{}}};", list(words)).unwrap();
    }
    let argument = |buffer: &CudaBuffer| format!("Any{{b{0}.data()}}, (u32)b{0}.size(), ", buffer.binding);
    let arguments: String = source.buffers.iter().map(argument).collect();
    for (entry, blocks, words) in &program.dispatches {
        let words = list(words);
        writeln!(text, "run({blocks}, {LANES}, [&] {{ entry{entry}({arguments}Array<u32, 32>{{{{{words}}}}}); }});")
            .unwrap();
    }
    for (binding, _) in &program.buffers {
        writeln!(text, "for (u32 word : b{binding}) printf(\"%u \", word);\nputchar('\\n');").unwrap();
    }
    text + "}\n}\n"
}

#[test]
fn skeletons_do_what_plain_rust_does() {
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("no C++ compiler was found: this test is skipped");
        return;
    }
    let mut programs = vec![map(&MAP), map(&MAP_FOUR), map_with_tables(), compaction(), pass_of_a_sort()];
    // With two blocks a lane goes through the loop of four several times, and some lanes end in it.
    programs.extend([(&REDUCE, 5), (&REDUCE_FOUR, 5), (&REDUCE_FOUR, 2)].map(reduction));
    programs.extend([0, 1].map(scan));
    programs.extend([(101, 0), (100, 77)].map(scatter));
    programs.extend([(6, 5), (2000, 0)].map(histogram));
    let mut text = include_str!("host.hpp").to_owned();
    let mut main = String::new();
    for (number, program) in programs.iter().enumerate() {
        text += &text_of(program, number);
        writeln!(main, "program{number}::run_all();").unwrap();
    }
    writeln!(text, "int main() {{\n{main}}}").unwrap();
    let folder = std::env::temp_dir().join(format!("anabranch-skeletons-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (file, binary) = (folder.join("host.cpp"), folder.join("host"));
    fs::write(&file, text).unwrap();
    let flags = ["-std=c++20", "-ffp-contract=off", "-fno-strict-aliasing", "-pthread", "-w"];
    let compiled = Command::new("c++").args(flags).arg(&file).arg("-o").arg(&binary).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&binary).output().unwrap();
    assert!(output.status.success());
    fs::remove_dir_all(folder).unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let words = |line: &str| line.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let mut lines = output.lines().map(words);
    for program in programs {
        let buffers: Vec<Vec<u32>> = lines.by_ref().take(program.buffers.len()).collect();
        (program.check)(&buffers);
    }
}

/// Returns numbers that look random.
fn numbers() -> Vec<u32> {
    (0..101u32).map(|i| (i.wrapping_add(1).wrapping_mul(0x9e37_79b1) >> 7).wrapping_mul(0x85eb_ca6b)).collect()
}

const LOAD: (&str, &str) =
    ("fn load(i: u32) -> Item { return Item(); }", "fn load(i: u32) -> Item { return Item(inputs[i]); }");

fn map(skeleton: &'static Skeleton) -> Program {
    Program {
        skeleton,
        kernels: vec![LOAD],
        buffers: vec![(2, vec![0; 101]), (INPUTS, numbers())],
        dispatches: vec![(0, 2, vec![101, 2 * LANES])],
        check: Box::new(|buffers| assert_eq!(buffers[0], numbers())),
    }
}

/// Has variables with initial values that are composed of others.
fn map_with_tables() -> Program {
    let load = "
        struct Pair { first: u32, second: array<u32, 2> }
        fn load(i: u32) -> Item {
            var pairs = array<Pair, 2>(Pair(1u, array<u32, 2>(2u, 3u)), Pair());
            var vector = vec3<u32>(vec3(7u));
            pairs[1].second[1] = inputs[i] ^ vector.z;
            return Item(pairs[1].second[1] ^ pairs[0].second[1] ^ 4u);
        }";
    Program { kernels: vec![(LOAD.0, load)], ..map(&MAP) }
}

fn reduction((skeleton, blocks): (&'static Skeleton, u32)) -> Program {
    let add = (
        "fn combine(a: Item, b: Item) -> Item { return a; }",
        "fn combine(a: Item, b: Item) -> Item { return Item(a.word + b.word); }",
    );
    let words = vec![101, blocks * LANES, blocks];
    Program {
        skeleton,
        kernels: vec![LOAD, add],
        buffers: vec![(2, vec![0; blocks as usize]), (INPUTS, numbers())],
        dispatches: vec![(0, blocks, words.clone()), (1, 1, words)],
        check: Box::new(|buffers| {
            assert_eq!(buffers[0][0], numbers().into_iter().fold(0, |sum: u32, word| sum.wrapping_add(word)));
        }),
    }
}

fn scan(inclusive: u32) -> Program {
    // The last number that is not 0.
    let last = (
        "fn combine(a: Item, b: Item) -> Item { return a; }",
        "fn combine(a: Item, b: Item) -> Item { if b.word == 0u { return a; } return b; }",
    );
    let inputs: Vec<u32> = numbers().into_iter().map(|word| if word % 3 == 0 { word } else { 0 }).collect();
    let mut expected = inputs.clone();
    for i in 1..expected.len() {
        if expected[i] == 0 {
            expected[i] = expected[i - 1];
        }
    }
    let words = vec![101, 48, 3, inclusive];
    Program {
        skeleton: &SCAN,
        kernels: vec![LOAD, last],
        buffers: vec![(2, vec![0; 3]), (3, vec![7; 101]), (INPUTS, inputs)],
        dispatches: vec![(0, 3, words.clone()), (1, 1, words.clone()), (2, 3, words)],
        check: Box::new(move |buffers| match inclusive {
            1 => assert_eq!(buffers[1], expected),
            _ => assert_eq!((buffers[1][0], &buffers[1][1..]), (0, &expected[..100])),
        }),
    }
}

fn compaction() -> Program {
    let keep = (
        "fn keep(item: Item) -> bool { return false; }",
        "fn keep(item: Item) -> bool { return item.word % 3u == 0u; }",
    );
    let words = vec![101, 40, 3];
    Program {
        skeleton: &COMPACT,
        kernels: vec![LOAD, keep],
        buffers: vec![(2, vec![0; 4]), (3, vec![0; 101]), (INPUTS, numbers())],
        dispatches: vec![(0, 3, words.clone()), (1, 1, words.clone()), (2, 3, words)],
        check: Box::new(|buffers| {
            let kept: Vec<u32> = numbers().into_iter().filter(|word| word % 3 == 0).collect();
            assert_eq!((buffers[0][3] as usize, &buffers[1][..kept.len()]), (kept.len(), &*kept));
        }),
    }
}

fn scatter((length, trap): (usize, u32)) -> Program {
    let place = ("fn place(i: u32) -> u32 { return 0u; }", "fn place(i: u32) -> u32 { return 100u - i; }");
    Program {
        skeleton: &SCATTER,
        kernels: vec![LOAD, place],
        buffers: vec![(0, vec![0]), (2, vec![0; length]), (INPUTS, numbers())],
        dispatches: vec![(0, 2, vec![101, 2 * LANES, length as u32, 77])],
        check: Box::new(move |buffers| {
            assert_eq!(buffers[0], [trap]);
            assert!(buffers[1].iter().eq(numbers().iter().rev().take(length)));
        }),
    }
}

fn histogram((bins, trap): (usize, u32)) -> Program {
    let number = ("fn number(i: u32) -> u32 { return 0u; }", "fn number(i: u32) -> u32 { return inputs[i] % 7u; }");
    Program {
        skeleton: &HISTOGRAM,
        kernels: vec![number],
        buffers: vec![(0, vec![0]), (2, vec![0; bins]), (INPUTS, numbers())],
        dispatches: vec![(0, 2, vec![101, 2 * LANES, bins as u32, 5])],
        check: Box::new(move |buffers| {
            assert_eq!(buffers[0], [trap]);
            let count = |bin| numbers().iter().filter(|word| **word % 7 == bin).count() as u32;
            assert_eq!(buffers[1][..6], [0, 1, 2, 3, 4, 5].map(count));
        }),
    }
}

fn pass_of_a_sort() -> Program {
    let kernels = vec![
        ("fn load_key(i: u32) -> u32 { return 0u; }", "fn load_key(i: u32) -> u32 { return inputs[i]; }"),
        ("fn load_value(i: u32) -> Value { return Value(); }", "fn load_value(i: u32) -> Value { return Value(i); }"),
    ];
    // By the highest four bits, as numbers with sign.
    let words = vec![101, 40, 3, 28, 1];
    Program {
        skeleton: &SORT,
        kernels,
        buffers: vec![(2, vec![0; 48]), (3, vec![0; 101]), (4, vec![0; 101]), (INPUTS, numbers())],
        dispatches: vec![(0, 3, words.clone()), (1, 1, words.clone()), (2, 3, words)],
        check: Box::new(|buffers| {
            let inputs = numbers();
            let mut order: Vec<u32> = (0..101).collect();
            order.sort_by_key(|i| inputs[*i as usize].cast_signed() >> 28);
            assert_eq!(buffers[2], order);
            assert!(buffers[1].iter().eq(order.iter().map(|i| &inputs[*i as usize])));
        }),
    }
}
