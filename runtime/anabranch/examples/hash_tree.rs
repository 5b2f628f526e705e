//! One digest for a whole tree of files, independent of the order in which they are found and read.
//!
//! ```text
//! cargo run --release --example hash_tree -- src docs
//! ```
//!
//! Three kinds of concurrency, nested, on one pool:
//! - the trees of the command line are a parallel map ([`anabranch::par_map`]), without fibers;
//! - in each tree, fibers walk the directories ([`Cx::scope`]). Then at most a fixed number of files are open at a time
//!   ([`Cx::map_concurrent`]). This part has a limit, and a deadline or a cancellation would take effect here;
//! - plain recursion with [`anabranch::join`] hashes each file. BLAKE3 is a tree, so its halves can be hashed
//!   independently, and the digest of a file is the one that `b3sum` prints.
//!
//! The digest of a tree is that of its list of files, sorted by path: `DIGEST  PATH` and a NUL byte for each.

use anabranch::{Cancelled, Cx, Pool, fiber::Spawner, prelude::*};
use blake3::{
    Hash, Hasher,
    hazmat::{ChainingValue, HasherExt, Mode, left_subtree_len, merge_subtrees_non_root, merge_subtrees_root},
};
use std::{
    fs::{self, File},
    io,
    os::unix::{ffi::OsStrExt, fs::FileExt},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Mutex,
    time::Instant,
};

const USAGE: &str = "\
usage: hash_tree [--open N] [PATH...]
  Prints a digest for each tree (the working directory, without a path), reading N files (64) at a time.
  Symbolic links are not followed. Whatever cannot be read gets a line, and makes the command fail in the end.";

/// The size of a part that is read and hashed at once. It only has to be worth a system call.
const LEAF: u64 = 64 << 10;

fn main() -> ExitCode {
    let (roots, open) = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("hash_tree: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // The hash is computed on the stacks of fibers, and takes up to a megabyte there without compiler optimisations.
    // Only touched pages take memory.
    if let Err(error) = Pool::builder().fiber_stack_size(2 << 20).build_default() {
        eprintln!("hash_tree: {error}");
        return ExitCode::FAILURE;
    }
    let start = Instant::now();
    let trees = roots.par_iter().map(|root| anabranch::run(|cx| hash_tree(cx, root, open))).collect::<Vec<_>>();
    let took = start.elapsed();

    let (mut bytes, mut is_whole) = (0, true);
    for (root, tree) in roots.iter().zip(trees) {
        let Ok(tree) = tree else { unreachable!("nobody cancels") };
        for remark in &tree.remarks {
            eprintln!("hash_tree: {remark}");
        }
        println!("{}  {} ({} files, {} bytes)", tree.digest, root.display(), tree.files, tree.bytes);
        bytes += tree.bytes;
        is_whole &= tree.is_whole;
    }
    println!("{:.0} MB/s", bytes as f64 / 1e6 / took.as_secs_f64());
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Tree {
    digest: Hash,
    files: usize,
    bytes: u64,
    /// The files that were skipped, and why.
    remarks: Vec<String>,
    /// Whether no file was skipped because of an error.
    is_whole: bool,
}

fn hash_tree(cx: &Cx<'_>, root: &Path, open: usize) -> Result<Tree, Cancelled> {
    let found = Mutex::new(Found::default());
    match fs::metadata(root) {
        Ok(data) if data.is_dir() => cx.scope(|s| walk(s.spawner(), &found, root.to_owned())),
        Ok(_) => found.lock().unwrap().files.push(root.to_owned()),
        Err(error) => found.lock().unwrap().fail(root, &error),
    }
    let mut found = found.into_inner().unwrap();
    if found.files.is_empty() && !found.has_failed {
        found.remarks.push(format!("{}: no files", root.display()));
    }
    found.files.sort();
    // The results are in the order of the items, so in that of the paths. A file that cannot be read is an ordinary
    // result.
    let hashes = cx.map_concurrent(open, &found.files, |_, path| Ok::<_, Cancelled>(hash_file(path)))?;

    let (mut list, mut files, mut bytes) = (Hasher::new(), 0, 0);
    for (path, hash) in std::mem::take(&mut found.files).iter().zip(hashes) {
        match hash {
            Ok((hash, length)) => {
                let name = path.strip_prefix(root).unwrap_or(path).as_os_str().as_bytes();
                list.update(hash.to_hex().as_bytes()).update(b"  ").update(name).update(b"\0");
                files += 1;
                bytes += length;
            }
            Err(error) => found.fail(path, &error),
        }
    }
    found.remarks.sort();
    Ok(Tree { digest: list.finalize(), files, bytes, remarks: found.remarks, is_whole: !found.has_failed })
}

#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    remarks: Vec<String>,
    has_failed: bool,
}

impl Found {
    fn fail(&mut self, path: &Path, error: &io::Error) {
        self.has_failed = true;
        self.remarks.push(format!("{}: {error}", path.display()));
    }
}

/// Lists a directory here, and each subdirectory on a separate fiber. The scope ends with the last of them.
fn walk<'scope>(spawner: Spawner<'scope, '_>, found: &'scope Mutex<Found>, directory: PathBuf) {
    let mut here = Found::default();
    match fs::read_dir(&directory) {
        Ok(entries) => {
            for entry in entries {
                match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                    Ok((path, kind)) if kind.is_dir() => {
                        spawner.spawn(move |_| walk(spawner, found, path));
                    }
                    Ok((path, kind)) if kind.is_file() => here.files.push(path),
                    Ok((path, kind)) if kind.is_symlink() => {
                        here.remarks.push(format!("{}: a symbolic link, not followed", path.display()));
                    }
                    // Opening a named pipe would wait for a writer.
                    Ok((path, _)) => here.remarks.push(format!("{}: not a file, left out", path.display())),
                    Err(error) => here.fail(&directory, &error),
                }
            }
        }
        Err(error) => here.fail(&directory, &error),
    }
    // A lock of the standard library suffices: no fiber waits for anything else while it holds the lock.
    let mut found = found.lock().unwrap();
    found.files.append(&mut here.files);
    found.remarks.append(&mut here.remarks);
    found.has_failed |= here.has_failed;
}

/// Returns the digest of the file's contents when it is opened, and its length.
fn hash_file(path: &Path) -> io::Result<(Hash, u64)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length <= LEAF {
        return Ok((blake3::hash(&read(&file, 0, length)?), length));
    }
    let (left, right) = halves(&file, 0, length)?;
    Ok((merge_subtrees_root(&left, &right, Mode::Hash), length))
}

fn halves(file: &File, offset: u64, length: u64) -> io::Result<(ChainingValue, ChainingValue)> {
    let left = left_subtree_len(length);
    let (left, right) =
        anabranch::join(|| hash_part(file, offset, left), || hash_part(file, offset + left, length - left));
    Ok((left?, right?))
}

fn hash_part(file: &File, offset: u64, length: u64) -> io::Result<ChainingValue> {
    if length <= LEAF {
        let bytes = read(file, offset, length)?;
        return Ok(Hasher::new().set_input_offset(offset).update(&bytes).finalize_non_root());
    }
    let (left, right) = halves(file, offset, length)?;
    Ok(merge_subtrees_non_root(&left, &right, Mode::Hash))
}

fn read(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<(Vec<PathBuf>, usize)>, lexopt::Error> {
    use lexopt::prelude::*;
    let (mut roots, mut open) = (Vec::new(), 64);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(path) => roots.push(path.into()),
            Long("open") => open = parser.value()?.parse()?,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if open == 0 {
        return Err("--open has to be at least 1".into());
    }
    if roots.is_empty() {
        roots.push(".".into());
    }
    Ok(Some((roots, open)))
}
