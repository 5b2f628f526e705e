//! Adds up the space that directories take on the disk, as `du -s` does.
//!
//! ```text
//! cargo run --release --example disk_usage -- target
//! ```
//!
//! [`walk_tree`](anabranch::iter::walk_tree) visits the directories in parallel. Each visit lists a directory, and the
//! lists are reduced to one summary. Nobody knows the shape of the tree in advance, and nobody has to.

use anabranch::{iter::walk_tree, prelude::*};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

const USAGE: &str = "\
usage: disk_usage [--plain] [PATH...]
  Prints the space that each tree (the working directory, without a path) takes on the disk, in KiB, with the number of
  its files and directories; with --plain on one thread, by recursion. Symbolic links are not followed. A file with
  several hard links counts once. Whatever cannot be read gets a line, and makes the command fail in the end.";

fn main() -> ExitCode {
    let (roots, is_plain) = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("disk_usage: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let mut is_whole = true;
    for root in roots {
        let usage = if is_plain { plain::usage(&root) } else { usage(&root) }.finish();
        let (kib, files, directories) = (usage.blocks.div_ceil(2), usage.files, usage.directories);
        println!("{kib}\t{}\t({files} files, {directories} directories)", root.display());
        for error in &usage.errors {
            eprintln!("disk_usage: {error}");
        }
        is_whole &= usage.errors.is_empty();
    }
    eprintln!("{:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the usage of a tree.
fn usage(root: &Path) -> Usage {
    walk_tree(Entry::read(root.to_owned()), Entry::children).map(|entry| entry.own).reduce(Usage::default, Usage::merge)
}

mod plain {
    use super::*;

    pub fn usage(root: &Path) -> Usage {
        fn visit(entry: Entry) -> Usage {
            let children = entry.children();
            children.into_iter().map(visit).fold(entry.own, Usage::merge)
        }
        visit(Entry::read(root.to_owned()))
    }
}

/// A directory with the entries that it contains, or a single file.
struct Entry {
    /// The usage of the directory itself, and of the files in it.
    own: Usage,
    directories: Vec<PathBuf>,
}

impl Entry {
    fn read(path: PathBuf) -> Self {
        let mut entry = Self { own: Usage::default(), directories: Vec::new() };
        match fs::symlink_metadata(&path) {
            Ok(data) => {
                entry.own.add(&data);
                if data.is_dir() {
                    entry.list(&path);
                }
            }
            Err(error) => entry.own.errors.push(format!("{}: {error}", path.display())),
        }
        entry
    }

    fn list(&mut self, path: &Path) {
        let listed = fs::read_dir(path).and_then(|entries| {
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    self.directories.push(entry.path());
                    continue;
                }
                match entry.metadata() {
                    Ok(data) => self.own.add(&data),
                    Err(error) => self.own.errors.push(format!("{}: {error}", entry.path().display())),
                }
            }
            Ok(())
        });
        if let Err(error) = listed {
            self.own.errors.push(format!("{}: {error}", path.display()));
        }
    }

    /// Reads the directories in this one.
    fn children(&self) -> Vec<Self> {
        self.directories.iter().cloned().map(Self::read).collect()
    }
}

/// The usage of a part of a tree.
#[derive(Default)]
struct Usage {
    /// The blocks of 512 bytes.
    blocks: u64,
    files: u64,
    directories: u64,
    /// The files with several links, which may be found again: device, number, and blocks.
    linked: Vec<(u64, u64, u64)>,
    errors: Vec<String>,
}

impl Usage {
    fn add(&mut self, data: &fs::Metadata) {
        if data.is_dir() {
            self.directories += 1;
        } else if data.nlink() > 1 {
            self.linked.push((data.dev(), data.ino(), data.blocks()));
            return;
        } else {
            self.files += 1;
        }
        self.blocks += data.blocks();
    }

    fn merge(mut self, mut other: Self) -> Self {
        self.blocks += other.blocks;
        self.files += other.files;
        self.directories += other.directories;
        self.linked.append(&mut other.linked);
        self.errors.append(&mut other.errors);
        self
    }

    /// Counts each file with several links once, and sorts the errors.
    fn finish(mut self) -> Self {
        self.linked.par_sort_unstable();
        self.linked.dedup();
        self.files += self.linked.len() as u64;
        self.blocks += self.linked.iter().map(|(_, _, blocks)| blocks).sum::<u64>();
        self.errors.sort();
        self
    }
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<(Vec<PathBuf>, bool)>, lexopt::Error> {
    use lexopt::prelude::*;
    let (mut roots, mut is_plain) = (Vec::new(), false);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(path) => roots.push(path.into()),
            Long("plain") => is_plain = true,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if roots.is_empty() {
        roots.push(".".into());
    }
    Ok(Some((roots, is_plain)))
}
