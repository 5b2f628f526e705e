//! The compiler that built this program, and the libraries that this program is linked with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

/// A temporary folder of this process.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes an empty folder.
    ///
    /// # Panics
    /// Panics if there is no room for it.
    pub fn new(name: &str) -> Folder {
        let path = env::temp_dir().join(format!("anabranch-{name}-{}", process::id()));
        fs::create_dir_all(&path).expect("there is room for a source file");
        Folder(path)
    }

    /// Returns the file that [`Library::rustc`] makes.
    pub fn output(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.out"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed stays among the system's temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A library that this program is linked with.
#[derive(Debug)]
pub struct Library {
    name: &'static str,
    file: PathBuf,
}

impl Library {
    /// Finds a library beside this program: its latest build with which `text` compiles.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn find(folder: &Folder, name: &'static str, text: &str) -> Library {
        let program = env::current_exe().expect("a program knows where it is");
        // Beside a bench or a test, and in the folder next to an example or below that of a program.
        let folders =
            [".", "../deps", "deps"].map(|place| program.parent().expect("a program is in a folder").join(place));
        let is_it = |path: &Path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
        };
        let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_it(path)).collect();
        found.sort_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
        let libraries = found.into_iter().rev().map(|file| Library { name, file });
        let fits = |library: &Library| {
            let mut command = library.rustc(folder, "fits", text, &["--crate-type=lib", "--emit=metadata"]);
            command.output().is_ok_and(|output| output.status.success())
        };
        libraries.into_iter().find(fits).unwrap_or_else(|| {
            panic!("the library {name} is not beside this program: run the program where cargo has built it")
        })
    }

    /// Returns the command that compiles `text` with this library.
    ///
    /// # Panics
    /// Panics if the source file cannot be written.
    pub fn rustc(&self, folder: &Folder, name: &str, text: &str, options: &[&str]) -> Command {
        let file = folder.0.join(format!("{name}.rs"));
        fs::write(&file, text).expect("a source file can be written");
        let dependencies = self.file.parent().expect("a library is in a folder");
        let mut command = Command::new(env!("RUSTC_OF_BENCH"));
        command.arg("--edition=2024").args(options).arg(file).arg("-o").arg(folder.output(name));
        command.arg("-L").arg(format!("dependency={}", dependencies.display()));
        command.arg("--extern").arg(format!("{}={}", self.name, self.file.display()));
        command
    }
}
