//! Runs the examples as programs, with arguments, under a watchdog.

use crate::common::LONG;
use std::{
    ffi::OsStr,
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant, SystemTime},
};

/// An example that is to be run.
pub struct Example {
    command: Command,
}

/// What a run has come to.
#[derive(Debug)]
pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Example {
    pub fn new(name: &str) -> Self {
        Self { command: Command::new(folder().join(name)) }
    }

    /// In a pool of so many threads.
    pub fn threads(mut self, threads: usize) -> Self {
        self.command.env("ANABRANCH_NUM_THREADS", threads.to_string());
        self
    }

    /// Where no more than this many files may be open.
    #[cfg(feature = "net")]
    pub fn with_open_files(self, limit: u32) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")]).arg(self.command.get_program());
        Self { command }
    }

    pub fn spawn<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Child {
        let command = self.command.args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs it without any input. Whatever takes too long is ended, and the test fails.
    pub fn run<A: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = A>) -> Output {
        self.run_with_input(arguments, "")
    }

    /// Runs it with this text as its standard input.
    pub fn run_with_input<A: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = A>, input: &str) -> Output {
        let mut child = self.spawn(arguments);
        let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
        // The program may end without reading it.
        thread::spawn(move || stdin.write_all(input.as_bytes()));
        let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let stdout = thread::spawn(move || read(&mut stdout));
        let stderr = thread::spawn(move || read(&mut stderr));
        let start = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if start.elapsed() > LONG => break None,
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        if status.is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let [stdout, stderr] = [stdout, stderr].map(|thread| thread.join().unwrap());
        let Some(status) = status else { panic!("not over after {LONG:?}; it said:\n{stdout}{stderr}") };
        Output { code: status.code(), stdout, stderr }
    }
}

impl Output {
    #[track_caller]
    pub fn assert_success(&self) {
        assert_eq!(self.code, Some(0), "{self:?}");
    }

    #[track_caller]
    pub fn assert_failure(&self, why: &str) {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert!(self.stderr.contains(why), "{why:?} is not the reason: {self:?}");
    }
}

/// Whether a table has a row that begins with the example's link.
pub fn is_listed(readme: &str, name: &str) -> bool {
    readme.lines().any(|line| line.starts_with(&format!("| [{name}](")))
}

fn read(from: &mut impl Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}

/// Where cargo has put the examples. It builds them for a plain `cargo test`, but not for `cargo test --test
/// examples`, so what is not there, or older than the sources, is built here.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // target/[triple/]profile/deps/examples-hash, and target/tmp.
        let profile = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let folder = profile.join("examples");
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = ["src", "examples"].into_iter().filter_map(|part| newest(&manifest.join(part))).max();
        let oldest = crate::all().map(|name| changed(&folder.join(name))).min().unwrap();
        if oldest < sources {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--quiet", "--examples", "--target-dir"]).arg(target);
            for (feature, is_on) in [("net", cfg!(feature = "net")), ("serde", cfg!(feature = "serde"))] {
                if is_on {
                    cargo.args(["--features", feature]);
                }
            }
            cargo.arg("--manifest-path").arg(manifest.join("Cargo.toml"));
            let name = profile.file_name().unwrap();
            cargo.arg("--profile").arg(if name == "debug" { OsStr::new("dev") } else { name });
            if profile.parent() != Some(target) {
                cargo.arg("--target").arg(profile.parent().unwrap().file_name().unwrap());
            }
            assert!(cargo.status().unwrap().success(), "the examples have to be built: {cargo:?}");
        }
        folder
    })
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// When the newest file below was changed.
fn newest(path: &Path) -> Option<SystemTime> {
    match fs::read_dir(path) {
        Ok(entries) => entries.filter_map(|entry| newest(&entry.unwrap().path())).max(),
        Err(_) => changed(path),
    }
}
