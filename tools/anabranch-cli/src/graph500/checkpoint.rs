//! The option `--checkpoint`: a file with the tuples and the graph, which this run reads or writes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use graph500::{Built, Observer, Spec};

use crate::exit::Failure;
use crate::output::Target;
use crate::signals::Signals;

/// The action to take on the file.
pub enum Checkpoint {
    Read { path: PathBuf, file: File, len: u64 },
    Write(Target),
}

impl Checkpoint {
    /// Opens an existing file, or a temporary one for a new checkpoint.
    pub fn open(path: &Path, signals: &Signals) -> Result<Checkpoint, Failure> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => {
                let file = File::open(path).map_err(|error| refused(path, &error.to_string()))?;
                Ok(Checkpoint::Read { path: path.to_owned(), file, len: metadata.len() })
            }
            Ok(metadata) if metadata.is_dir() => Err(refused(path, "it is a directory")),
            _ if path.as_os_str() == "-" => Err(refused(path, "it cannot be a stream")),
            _ => Target::open(path, signals).map(Checkpoint::Write),
        }
    }

    /// Returns whether this run starts at kernel 2.
    pub fn is_read(&self) -> bool {
        matches!(self, Checkpoint::Read { .. })
    }

    /// Reads the tuples and the graph, or makes and writes them.
    pub fn built(self, spec: &Spec, observer: &dyn Observer) -> Result<Built, Failure> {
        match self {
            Checkpoint::Read { path, mut file, len } => {
                Built::read_checkpoint(&mut file, len, spec).map_err(|error| refused(&path, &error.to_string()))
            }
            Checkpoint::Write(target) => {
                let built = Built::generate(spec, graph500::Techniques::default(), observer).map_err(super::failed)?;
                target.write_with(|out| {
                    let mut out = BufWriter::new(out);
                    built.write_checkpoint(&mut out)?;
                    out.flush()
                })?;
                Ok(built)
            }
        }
    }
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::Run(format!("cannot use the checkpoint {}: {why}; delete it or name another file", path.display()))
}
