//! Counts the words of texts, and prints the most frequent ones.
//!
//! ```text
//! cargo run --release --example word_count -- README.md docs/*.md
//! ```
//!
//! A text is cut between words wherever another thread takes work, however long its lines are. A thread folds its words
//! into a table of its own, and the tables are merged.

use anabranch::prelude::*;
use std::{
    collections::HashMap,
    fs,
    io::{self, Read},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};

const USAGE: &str = "\
usage: word_count [--top N] [--plain] [FILE...]
  Prints the numbers of lines, words and bytes of the files (of the standard input, without a file), and the N (10) most
  frequent words; with --plain on one thread, by plain iterators.";

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("word_count: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut texts = Vec::new();
    let mut is_whole = true;
    for file in &options.files {
        match fs::read_to_string(file) {
            Ok(text) => texts.push(text),
            Err(error) => {
                eprintln!("word_count: {}: {error}", file.display());
                is_whole = false;
            }
        }
    }
    if options.files.is_empty() {
        let mut text = String::new();
        if let Err(error) = io::stdin().lock().read_to_string(&mut text) {
            eprintln!("word_count: standard input: {error}");
            return ExitCode::FAILURE;
        }
        texts.push(text);
    }
    let start = Instant::now();
    let (lines, counts) = if options.is_plain { plain::count(&texts) } else { count(&texts) };
    let took = start.elapsed();

    let (words, bytes): (usize, usize) = (counts.values().sum(), texts.iter().map(String::len).sum());
    println!("{lines} lines, {words} words, {bytes} bytes, {} different words", counts.len());
    for (word, count) in most_frequent(counts, options.top) {
        println!("{count:8} {word}");
    }
    eprintln!("{:.1} ms", took.as_secs_f64() * 1e3);
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

type Counts<'a> = HashMap<&'a str, usize>;

/// Returns the number of lines, and how often each word occurs.
fn count(texts: &[String]) -> (usize, Counts<'_>) {
    anabranch::join(
        || texts.par_iter().flat_map(|text| text.par_lines()).count(),
        || {
            texts
                .par_iter()
                .flat_map(|text| text.par_split_whitespace())
                .fold(Counts::new, add)
                .reduce(Counts::new, merge)
        },
    )
}

mod plain {
    use super::*;

    pub fn count(texts: &[String]) -> (usize, Counts<'_>) {
        let lines = texts.iter().flat_map(|text| text.lines()).count();
        let words = texts.iter().flat_map(|text| text.split_whitespace());
        (lines, words.fold(Counts::new(), add))
    }
}

fn add<'a>(mut counts: Counts<'a>, word: &'a str) -> Counts<'a> {
    *counts.entry(word).or_insert(0) += 1;
    counts
}

fn merge<'a>(mut a: Counts<'a>, mut b: Counts<'a>) -> Counts<'a> {
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    for (word, count) in b {
        *a.entry(word).or_insert(0) += count;
    }
    a
}

/// Returns the `top` most frequent words, in the order of the alphabet where they are equally frequent.
fn most_frequent(counts: Counts<'_>, top: usize) -> Vec<(&str, usize)> {
    let mut all: Vec<(&str, usize)> = counts.into_iter().collect();
    all.sort_unstable_by(|(word, count), (other_word, other)| other.cmp(count).then(word.cmp(other_word)));
    all.truncate(top);
    all
}

struct Options {
    files: Vec<PathBuf>,
    top: usize,
    is_plain: bool,
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { files: Vec::new(), top: 10, is_plain: false };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(file) => options.files.push(file.into()),
            Long("top") => options.top = parser.value()?.parse()?,
            Long("plain") => options.is_plain = true,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}
