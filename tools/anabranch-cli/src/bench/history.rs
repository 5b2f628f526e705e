//! The results of many runs in one directory, a file for each.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::exit::Failure;
use crate::output::{bare, create};
use crate::signals::Signals;

/// A new file in a directory, under a name that no file has yet.
pub struct Addition {
    directory: PathBuf,
    temporary: NamedTempFile,
}

impl Addition {
    /// Creates the directory if there is none, and opens a file for a later write. While the addition lives, a signal
    /// that ends the program removes its temporary file.
    pub fn open(directory: &Path, signals: &Signals) -> Result<Self, Failure> {
        let refuse =
            |error: io::Error| Failure::Run(format!("cannot write to {}: {}", directory.display(), bare(&error)));
        fs::create_dir_all(directory).map_err(refuse)?;
        let temporary = signals
            .remove_on_exit(|| create(directory, None).map(|file| (file.path().to_owned(), file)))
            .map_err(refuse)?;
        Ok(Addition { directory: directory.to_owned(), temporary })
    }

    /// Writes `text`, and gives the file the name `stem`.json, or `stem`-2.json and so on if that exists. Returns the
    /// path.
    pub fn write(mut self, stem: &str, text: &str) -> Result<PathBuf, Failure> {
        let refuse =
            |path: &Path, error: &io::Error| Failure::Run(format!("cannot write {}: {}", path.display(), bare(error)));
        let written = self.temporary.write_all(text.as_bytes()).and_then(|()| self.temporary.as_file().sync_all());
        written.map_err(|error| refuse(&self.directory, &error))?;
        for number in 1u64.. {
            let name = if number == 1 { format!("{stem}.json") } else { format!("{stem}-{number}.json") };
            let path = self.directory.join(name);
            match self.temporary.persist_noclobber(&path) {
                Ok(_) => return Ok(path),
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => self.temporary = error.file,
                Err(error) => return Err(refuse(&path, &error.error)),
            }
        }
        unreachable!("some number is free")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_never_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let names: Vec<String> = (1..=3)
            .map(|run| {
                let addition = Addition::open(directory.path(), &Signals::default()).unwrap();
                let path = addition.write("date-commit", &format!("run {run}")).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), format!("run {run}"));
                path.file_name().unwrap().to_string_lossy().into_owned()
            })
            .collect();
        assert_eq!(names, ["date-commit.json", "date-commit-2.json", "date-commit-3.json"]);
        assert_eq!(fs::read_to_string(directory.path().join(&names[0])).unwrap(), "run 1");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3, "no temporary file is left");
    }
}
