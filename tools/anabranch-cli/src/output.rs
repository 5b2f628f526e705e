//! The destination of results: standard output, or a file that appears complete or not at all.
//!
//! The file is opened *before* the run, so that an unwritable path is reported at once and not an hour later. The text
//! goes to a temporary file in the same directory. That file is synced and renamed over the old one. So a reader sees
//! the old text or the new one, never a part. Until the rename the old file is not touched. Anything that is not a
//! regular file (`/dev/null`, a named pipe) is written directly, because a rename would replace the device.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::exit::Failure;
use crate::signals::Signals;

/// Writes `text` to standard output.
pub fn to_stdout(text: &str) -> Result<(), Failure> {
    stdout_with(|out| out.write_all(text.as_bytes()))
}

fn stdout_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    write(&mut out).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedOutput,
        _ => Failure::Run(format!("cannot write to standard output: {error}")),
    })
}

/// The destination of a result.
pub enum Target {
    /// Standard output, `-`.
    Stdout,
    /// A device or a pipe.
    Direct { path: PathBuf, file: File },
    /// A regular file, existing or not.
    Replace { path: PathBuf, temporary: NamedTempFile },
}

impl Target {
    /// Opens `path` for a later write. While the target lives, a signal that ends the program removes its temporary
    /// file.
    pub fn open(path: &Path, signals: &Signals) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Target::Stdout);
        }
        let refuse = |why: String| Failure::Run(format!("cannot write {}: {why}", path.display()));
        // Links are followed: this replaces the file that the link names, not the link.
        let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(refuse(error.to_string())),
        };
        if before.as_ref().is_some_and(fs::Metadata::is_dir) || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(refuse("it is a directory; name a file in it".to_owned()));
        }
        if let Some(metadata) = &before {
            if metadata.permissions().readonly() {
                return Err(refuse("it is read-only; make it writable or name another file".to_owned()));
            }
            // Opened for writing even if it will be replaced, so that a file without write permission is not replaced.
            let file = OpenOptions::new().append(true).open(path).map_err(|error| refuse(error.to_string()))?;
            if !metadata.is_file() {
                return Ok(Target::Direct { path: path.clone(), file });
            }
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let temporary = signals
            .remove_on_exit(|| create(directory, before.as_ref()).map(|file| (file.path().to_owned(), file)))
            .map_err(|error| {
                refuse(if directory.is_dir() {
                    format!("no file can be created in {}: {}", directory.display(), bare(&error))
                } else {
                    format!("there is no directory {}; create it or name another file", directory.display())
                })
            })?;
        Ok(Target::Replace { path: path.clone(), temporary })
    }

    /// Returns whether the results go to standard output, which then contains nothing else.
    pub fn is_stdout(&self) -> bool {
        matches!(self, Target::Stdout)
    }

    /// Writes `text`, and gives the file its name.
    pub fn write(self, text: &str) -> Result<(), Failure> {
        self.write_with(|out| out.write_all(text.as_bytes()))
    }

    /// Lets `write` write a text of any length, and gives the file its name.
    pub fn write_with(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let (path, result) = match self {
            Target::Stdout => return stdout_with(write),
            Target::Direct { path, mut file } => (path, write(&mut file)),
            Target::Replace { path, mut temporary } => {
                let written = write(&mut temporary).and_then(|()| temporary.as_file().sync_all());
                let result = written.and_then(|()| temporary.persist(&path).map(drop).map_err(|error| error.error));
                (path, result)
            }
        };
        result.map_err(|error| Failure::Run(format!("cannot write {}: {}", path.display(), bare(&error))))
    }
}

/// Creates a temporary file with the permissions of the file that it will replace, or of any new file.
pub fn create(directory: &Path, before: Option<&fs::Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".anabranch-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(directory)?;
    if let Some(metadata) = before {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    Ok(file)
}

/// Returns the system's text of an error, without the name of the temporary file, which the caller did not choose.
pub fn bare(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" at path ").next().unwrap_or_default().to_owned()
}
