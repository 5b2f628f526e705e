//! Counts the substrings of a DNA sequence: the task `k-nucleotide` of the Benchmarks Game.
//!
//! ```text
//! cargo run --release --example k_nucleotide -- --fasta 2500000 > dna.txt
//! cargo run --release --example k_nucleotide < dna.txt
//! ```
//!
//! The input is a FASTA file; the sequence `THREE` is counted. There are a few lengths of substrings. The loop over the
//! lengths is parallel, and so is the loop over the sequence within it. The inner one folds into hash tables, of which
//! it makes about as many as other threads take pieces, rather than one for each piece of a fixed size.

use anabranch::prelude::*;
use std::{
    collections::HashMap,
    fmt::Write as _,
    hash::{BuildHasherDefault, Hasher},
    io::{self, BufWriter, Read, Write},
    process::ExitCode,
    time::Instant,
};

const USAGE: &str = "\
usage: k_nucleotide [--plain | --pipes]
       k_nucleotide --fasta N
  Reads a FASTA file from the standard input, and prints how often some substrings occur in its sequence THREE; with
  --plain on one thread, by plain iterators, and with --pipes by a fiber for each length of substrings, to which a pipe
  of `proto!` brings the sequence. --fasta writes the input of size N, of which THREE has 5 N letters.";

/// The substrings that are counted one by one.
const SUBSTRINGS: [&str; 5] = ["GGT", "GGTA", "GGTATT", "GGTATTTTAATT", "GGTATTTTAATTTATAGT"];

/// The letters of a piece. The outermost fork of a loop over pieces is worth a thread's while.
const PIECE: usize = 1 << 14;

fn main() -> ExitCode {
    let task = match options() {
        Ok(Some(task)) => task,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("k_nucleotide: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let result = match task {
        Task::Fasta(size) => write_fasta(size, &mut BufWriter::new(io::stdout().lock())),
        Task::Count(report) => count_stdin(report),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("k_nucleotide: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count_stdin(report: fn(&[u8]) -> String) -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let start = Instant::now();
    let text = sequence(&input, b"THREE").ok_or_else(|| io::Error::other("the input has no sequence THREE"))?;
    let report = report(text);
    eprintln!("{:.0} ms after the input was read", start.elapsed().as_secs_f64() * 1e3);
    io::stdout().write_all(report.as_bytes())
}

/// Returns the lines of the sequence called `name`.
fn sequence<'a>(input: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (_, text) = input.split(|byte| *byte == b'>').find_map(|entry| {
        let end = entry.iter().position(|byte| *byte == b'\n')?;
        let (head, text) = entry.split_at(end);
        (head.split(|byte| *byte == b' ').next() == Some(name)).then_some((head, text))
    })?;
    Some(text)
}

/// Counts in parallel, and returns what the task prints.
fn report(text: &[u8]) -> String {
    let codes: Vec<u8> = text.par_iter().filter(|byte| **byte != b'\n').map(|byte| code(*byte)).collect();
    // The long ones take the longest.
    let lengths = [18, 12, 6, 4, 3, 2, 1];
    let counts: Vec<Counts> = lengths
        .into_par_iter()
        .map(|length| {
            let frames = codes.len().saturating_sub(length - 1);
            (0..frames.div_ceil(PIECE))
                .into_par_iter()
                .fold(Counts::default, |counts, piece| {
                    let start = piece * PIECE;
                    let end = (start + PIECE).min(frames) + length - 1;
                    count(counts, &codes[start..end], length)
                })
                .reduce(Counts::default, merge)
        })
        .collect();
    print(&lengths, &counts, codes.len())
}

mod plain {
    use super::*;

    /// Counts on one thread, and returns what the task prints.
    pub fn report(text: &[u8]) -> String {
        let codes: Vec<u8> = text.iter().filter(|byte| **byte != b'\n').map(|byte| code(*byte)).collect();
        let lengths = [18, 12, 6, 4, 3, 2, 1];
        let counts: Vec<Counts> = lengths.iter().map(|length| count(Counts::default(), &codes, *length)).collect();
        print(&lengths, &counts, codes.len())
    }
}

mod pipes {
    use super::*;
    use anabranch::{Cx, channel::RecvError, proto};
    use std::sync::Arc;

    proto! { counting {
        Letters: send { piece(std::sync::Arc<Vec<u8>>) -> Letters, end -> Counted }
        Counted: recv { counts(crate::Counts) -> ! }
    }}

    /// Counts with a fiber for each length, as the program of 2012 does, and returns what the task prints.
    pub fn report(text: &[u8]) -> String {
        let lengths = [18, 12, 6, 4, 3, 2, 1];
        let (counts, letters) = anabranch::run(|cx| serve(cx, text, &lengths)).expect("the fibers answer");
        print(&lengths, &counts, letters)
    }

    fn serve(cx: &Cx<'_>, text: &[u8], lengths: &[usize]) -> Result<(Vec<Counts>, usize), RecvError> {
        cx.scope(|s| {
            let start = |length: &usize| {
                let (client, server) = counting::pipe();
                let length = *length;
                s.spawn(move |cx| count_pieces(cx, server, length).is_ok());
                client
            };
            let mut pipes: Vec<counting::client::Letters> = lengths.iter().map(start).collect();
            let (mut pieces, mut letters) = (0, 0);
            for piece in text.chunks(PIECE) {
                let codes: Vec<u8> = piece.iter().filter(|byte| **byte != b'\n').map(|byte| code(*byte)).collect();
                letters += codes.len();
                pieces += 1;
                let codes = Arc::new(codes);
                let sent = pipes.into_iter().map(|pipe| pipe.piece(cx, Arc::clone(&codes)));
                pipes = sent.collect::<Result<_, _>>()?;
            }
            let answers = pipes.into_iter().map(|pipe| {
                let counting::client::CountedMessage::Counts(counts, _) = pipe.end(cx)?.recv(cx)?;
                Ok(counts)
            });
            let counts = answers.collect::<Result<_, RecvError>>()?;
            let (all, each) = ((pieces + 2) * lengths.len(), letters / pieces.max(1));
            eprintln!("{all} messages, of {each} bytes for each piece");
            Ok((counts, letters))
        })
    }

    /// Counts the substrings of a length in pieces that follow each other.
    fn count_pieces(
        cx: &Cx<'_>,
        mut letters: counting::server::Letters,
        length: usize,
    ) -> Result<counting::Done, RecvError> {
        let (mut counts, mut rest) = (Counts::default(), Vec::new());
        loop {
            match letters.recv(cx)? {
                counting::server::LettersMessage::Piece(piece, next) => {
                    rest.extend_from_slice(&piece);
                    counts = count(counts, &rest, length);
                    rest.drain(..rest.len().saturating_sub(length - 1));
                    letters = next;
                }
                counting::server::LettersMessage::End(result) => {
                    return Ok(result.counts(counts)?);
                }
            }
        }
    }
}

/// How often each substring occurs. The key of a substring has two bits for each letter.
type Counts = HashMap<u64, u32, BuildHasherDefault<KeyHasher>>;

/// Spreads the bits of a key. std's tables use the highest bits and the lowest ones.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        // The low bits come from the last letters alone, which suffices.
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Counts the substrings of a length, at each position of `codes`.
fn count(mut counts: Counts, codes: &[u8], length: usize) -> Counts {
    let mask = (1 << (2 * length)) - 1;
    let mut key = 0;
    for (index, code) in codes.iter().enumerate() {
        key = (key << 2 | u64::from(*code)) & mask;
        if index + 1 >= length {
            add(&mut counts, key, 1);
        }
    }
    counts
}

fn merge(mut a: Counts, mut b: Counts) -> Counts {
    if a.len() < b.len() {
        std::mem::swap(&mut a, &mut b);
    }
    for (key, count) in b {
        add(&mut a, key, count);
    }
    a
}

/// Adds to the count of a key. It is quicker than `entry` for keys that are there, and nearly all of them are.
fn add(counts: &mut Counts, key: u64, more: u32) {
    match counts.get_mut(&key) {
        Some(count) => *count += more,
        None => drop(counts.insert(key, more)),
    }
}

fn print(lengths: &[usize], counts: &[Counts], letters: usize) -> String {
    let of_length = |length: usize| &counts[lengths.iter().position(|other| *other == length).expect("it is counted")];
    let mut text = String::new();
    for length in [1, 2] {
        let mut all: Vec<(u32, String)> =
            of_length(length).iter().map(|(key, count)| (*count, letters_of(*key, length))).collect();
        all.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.cmp(y)));
        let frames = letters.saturating_sub(length - 1) as f64;
        for (count, substring) in all {
            let _ = writeln!(text, "{substring} {:.3}", f64::from(count) * 100.0 / frames);
        }
        text.push('\n');
    }
    for substring in SUBSTRINGS {
        let key = substring.bytes().fold(0, |key, letter| key << 2 | u64::from(code(letter)));
        let _ = writeln!(text, "{}\t{substring}", of_length(substring.len()).get(&key).unwrap_or(&0));
    }
    text
}

/// Returns the two bits of a letter, in either case: A 0, C 1, T 2, G 3.
fn code(letter: u8) -> u8 {
    letter >> 1 & 3
}

fn letters_of(key: u64, length: usize) -> String {
    (0..length).rev().map(|place| char::from(b"ACTG"[(key >> (2 * place) & 3) as usize])).collect()
}

/// Writes the output of the Benchmarks Game's task `fasta`.
fn write_fasta(size: usize, to: &mut impl Write) -> io::Result<()> {
    const ALU: &[u8] =
        b"GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGGTCAGGAGTTCGAGACCAGCCTGGCC\
        AACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGGCGTGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATCGC\
        TTGAACCCGGGAGGCGGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA";
    const CODES: [(u8, f64); 15] = [
        (b'a', 0.27),
        (b'c', 0.12),
        (b'g', 0.12),
        (b't', 0.27),
        (b'B', 0.02),
        (b'D', 0.02),
        (b'H', 0.02),
        (b'K', 0.02),
        (b'M', 0.02),
        (b'N', 0.02),
        (b'R', 0.02),
        (b'S', 0.02),
        (b'V', 0.02),
        (b'W', 0.02),
        (b'Y', 0.02),
    ];
    const HOMO_SAPIENS: [(u8, f64); 4] = [
        (b'a', 0.302_954_942_668_0),
        (b'c', 0.197_988_300_492_1),
        (b'g', 0.197_547_347_320_0),
        (b't', 0.301_509_409_519_8),
    ];
    let mut seed = 42;
    to.write_all(b">ONE Homo sapiens alu\n")?;
    write_lines(to, &mut ALU.iter().copied().cycle(), 2 * size)?;
    to.write_all(b">TWO IUB ambiguity codes\n")?;
    write_lines(to, &mut random_letters(&CODES, &mut seed), 3 * size)?;
    to.write_all(b">THREE Homo sapiens frequency\n")?;
    write_lines(to, &mut random_letters(&HOMO_SAPIENS, &mut seed), 5 * size)?;
    to.flush()
}

/// Returns letters of the given frequencies, by the linear congruential generator that the task prescribes.
fn random_letters<'a>(frequencies: &'a [(u8, f64)], seed: &'a mut u32) -> impl Iterator<Item = u8> + 'a {
    const MODULUS: u32 = 139_968;
    std::iter::repeat_with(move || {
        *seed = (*seed * 3_877 + 29_573) % MODULUS;
        let mut left = f64::from(*seed) / f64::from(MODULUS);
        let found = frequencies.iter().find(|(_, frequency)| {
            left -= frequency;
            left < 0.0
        });
        found.or(frequencies.last()).map_or(b'N', |(letter, _)| *letter)
    })
}

fn write_lines(to: &mut impl Write, letters: &mut impl Iterator<Item = u8>, mut length: usize) -> io::Result<()> {
    while length > 0 {
        let line: Vec<u8> = letters.take(length.min(60)).chain([b'\n']).collect();
        to.write_all(&line)?;
        length -= line.len() - 1;
    }
    Ok(())
}

enum Task {
    Count(fn(&[u8]) -> String),
    Fasta(usize),
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Task>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut task = Task::Count(report);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("plain") => task = Task::Count(plain::report),
            Long("pipes") => task = Task::Count(pipes::report),
            Long("fasta") => task = Task::Fasta(parser.value()?.parse()?),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(task))
}
