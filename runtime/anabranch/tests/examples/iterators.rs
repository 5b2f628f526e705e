//! The examples of parallel iterators: they agree with their plain versions, and with an independent computation.

use crate::{
    fresh,
    programs::{Example, Output},
};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::Path,
};

/// Runs an example plainly and with 1 and 4 threads, and returns the common output.
#[track_caller]
fn agreed(name: &str, arguments: &[&str], input: &str) -> Output {
    let with = |more: &[&str]| arguments.iter().chain(more).map(|argument| (*argument).to_owned()).collect::<Vec<_>>();
    let plain = Example::new(name).run_with_input(with(&["--plain"]), input);
    plain.assert_success();
    for threads in [1, 4] {
        let parallel = Example::new(name).threads(threads).run_with_input(with(&[]), input);
        parallel.assert_success();
        assert_eq!(parallel.stdout, plain.stdout, "{name} with {threads} threads");
    }
    plain
}

#[test]
fn k_nucleotide_counts_substrings() {
    let fasta = Example::new("k_nucleotide").run(["--fasta", "5000"]);
    fasta.assert_success();
    let (_, three) = fasta.stdout.split_once(">THREE Homo sapiens frequency\n").unwrap();
    let sequence = three.replace('\n', "").to_uppercase();
    assert_eq!(sequence.len(), 25_000);
    assert!(fasta.stdout.starts_with(">ONE Homo sapiens alu\nGGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGG"), "{fasta:?}");
    let count =
        |substring: &str| sequence.as_bytes().windows(substring.len()).filter(|w| *w == substring.as_bytes()).count();
    let output = agreed("k_nucleotide", &[], &fasta.stdout);
    let piped = Example::new("k_nucleotide").threads(2).run_with_input(["--pipes"], &fasta.stdout);
    piped.assert_success();
    assert_eq!(piped.stdout, output.stdout, "over pipes");
    for substring in ["GGT", "GGTA", "GGTATT", "GGTATTTTAATT", "GGTATTTTAATTTATAGT"] {
        assert!(output.stdout.contains(&format!("{}\t{substring}\n", count(substring))), "{substring}: {output:?}");
    }
    let mut pairs = BTreeMap::new();
    for pair in sequence.as_bytes().windows(2) {
        *pairs.entry(std::str::from_utf8(pair).unwrap()).or_insert(0) += 1;
    }
    for (pair, count) in pairs {
        let share = f64::from(count) * 100.0 / 24_999.0;
        assert!(output.stdout.contains(&format!("\n{pair} {share:.3}\n")), "{pair}: {output:?}");
    }
    assert!(output.stdout.starts_with("A "), "the most frequent letter comes first: {output:?}");
    Example::new("k_nucleotide").run([] as [&str; 0]).assert_failure("no sequence THREE");
    agreed("k_nucleotide", &[], ">THREE\nGG\nT\n");
}

#[test]
fn mandelbrot_set_is_symmetric() {
    let folder = fresh("mandelbrot");
    let draw = |name: &str, more: &[&str]| {
        let file = folder.join(name);
        let arguments = ["--size", "203", "--output", file.to_str().unwrap()];
        Example::new("mandelbrot").threads(4).run(arguments.iter().chain(more)).assert_success();
        fs::read(file).unwrap()
    };
    let (picture, plain) = (draw("parallel", &[]), draw("plain", &["--plain"]));
    assert!(picture == plain);
    let bits = picture.strip_prefix(b"P4\n203 203\n").unwrap();
    let rows: Vec<&[u8]> = bits.chunks(26).collect();
    assert_eq!(rows.len(), 203);
    let is_set = |x: usize, y: usize| rows[y][x / 8] >> (7 - x % 8) & 1 == 1;
    // The row of -i is the first one, so that of i would be the one after the last.
    for y in 1..102 {
        let differences = (0..203).filter(|x| is_set(*x, y) != is_set(*x, 203 - y)).count();
        assert!(differences < 4, "row {y}: {differences}");
    }
    // The origin is in the set, the corners and what is right of the picture are not.
    assert!(is_set(152, 101) && !is_set(0, 0) && !is_set(202, 202));
    assert!(rows.iter().all(|row| row[25] & 0b1_1111 == 0));
    let black = bits.iter().map(|byte| byte.count_ones()).sum::<u32>();
    let area = f64::from(black) * 4.0 / (203.0 * 203.0);
    assert!((1.4..1.8).contains(&area), "the area of the set is 1.507, and 50 steps leave some more: {area}");
}

#[test]
fn n_body_keeps_the_energy() {
    let output = Example::new("n_body").threads(4).run(["--bodies", "200", "--steps", "20"]);
    output.assert_success();
    let energies: Vec<f64> = output
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("energy "))
        .map(|text| text.parse().unwrap())
        .collect();
    assert!((energies[0] - energies[1]).abs() < 0.01 * energies[0].abs(), "{output:?}");
    agreed("n_body", &["--bodies", "200", "--steps", "20"], "");
    agreed("n_body", &["--bodies", "1", "--steps", "1"], "");
}

#[test]
fn word_count_counts_every_word_once() {
    let text: String = (0..20_000_u32)
        .map(|i| {
            format!(
                "w{}{}",
                i * i % 97,
                if i % 11 == 0 {
                    "\n"
                } else if i % 5 == 0 {
                    " \t\u{2003}"
                } else {
                    " "
                }
            )
        })
        .collect();
    let mut words = BTreeMap::new();
    text.split_whitespace().for_each(|word| *words.entry(word).or_insert(0) += 1);
    let output = agreed("word_count", &["--top", "3"], &text);
    let head =
        format!("{} lines, 20000 words, {} bytes, {} different words\n", text.lines().count(), text.len(), words.len());
    assert!(output.stdout.starts_with(&head), "{head}: {output:?}");
    let most = *words.values().max().unwrap();
    let first = words.iter().find(|(_, count)| **count == most).unwrap().0;
    assert_eq!(output.stdout.lines().nth(1), Some(&*format!("{most:8} {first}")));
    assert_eq!(output.stdout.lines().count(), 4);
    agreed("word_count", &[], "");
    // Without a space at all, and without a file.
    agreed("word_count", &[], &"x".repeat(10_000));
    let output = Example::new("word_count").run(["missing"]);
    output.assert_failure("missing: No such file");
}

#[test]
fn disk_usage_counts_each_file_once() {
    let root = fresh("disk_usage");
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    fs::create_dir_all(root.join("empty")).unwrap();
    for (path, length) in [("top", 1), ("a/x", 5_000), ("a/b/y", 100_000), ("a/b/c/z", 12_345)] {
        fs::write(root.join(path), vec![7; length]).unwrap();
    }
    for index in 0..300 {
        fs::write(root.join(format!("a/b/c/{index}")), [1]).unwrap();
    }
    fs::hard_link(root.join("a/b/y"), root.join("again")).unwrap();
    symlink(root.join("a"), root.join("round")).unwrap();
    let blocks = |path: &Path| fs::symlink_metadata(path).unwrap().blocks();
    let mut expected: u64 = ["", "a", "a/b", "a/b/c", "empty", "top", "a/x", "a/b/y", "a/b/c/z", "round"]
        .iter()
        .map(|path| blocks(&root.join(path)))
        .sum();
    expected += (0..300).map(|index| blocks(&root.join(format!("a/b/c/{index}")))).sum::<u64>();
    let output = agreed("disk_usage", &[root.to_str().unwrap()], "");
    let line = format!("{}\t{}\t(305 files, 5 directories)\n", expected.div_ceil(2), root.display());
    assert_eq!(output.stdout, line);
    let file = root.join("a/x");
    let output = agreed("disk_usage", &[file.to_str().unwrap()], "");
    assert!(output.stdout.ends_with("(1 files, 0 directories)\n"), "{output:?}");
    Example::new("disk_usage").run([root.join("missing").as_os_str()]).assert_failure("missing: No such file");
}

#[test]
fn par_module_prints_the_answers_of_2012() {
    for arguments in [&[][..], &["--tasks", "1"], &["--tasks", "64", "--items", "1"]] {
        for threads in [1, 4] {
            let output = Example::new("par_module").threads(threads).run(arguments);
            output.assert_success();
            let expected = "map: the last square is 9999800001\nmapi: the last difference is 9999700002\n\
                alli: each number is its index: true\nany: a square is 1369: true\nfutures: 20 + 22 is 42\n\
                task pool: the answers in order are [0, 1, 4, 9, 16, 25, 36, 49, 64, 81]\n";
            assert_eq!(output.stdout, expected);
        }
    }
}
