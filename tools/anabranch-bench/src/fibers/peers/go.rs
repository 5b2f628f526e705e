//! Go: a program in `go/`, built by the installed toolchain. Each sample is a run of it, which prints its figures.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use super::{Done, Peer};
use crate::fibers::programs::alarms::Alarms;
use crate::fibers::programs::crowd::Crowd;
use crate::machine::Versions;

/// Goroutines.
pub struct Go;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Builds the program into `folder`, and returns the version of Go.
///
/// # Errors
/// Returns why there is no program.
fn build(folder: &Path) -> Result<String, String> {
    let program = folder.join("go-fibers");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
    let mut compile = Command::new("go");
    // Uses the installed toolchain, and downloads nothing.
    compile.args(["build", "-o"]).arg(&program).arg(".").current_dir(source).env("GOTOOLCHAIN", "local");
    output(&mut compile)?;
    let version = output(Command::new("go").args(["env", "GOVERSION"]))?;
    PROGRAM.set(program).map_err(|_| "the program was built twice".to_owned())?;
    Ok(version.trim().trim_start_matches("go").to_owned())
}

/// Builds the program into `folder` if `go` is one of the peers, and adds its version to `versions`. Without a program
/// `go` is no peer.
pub fn prepare<K: Copy + PartialEq>(peers: &mut Vec<K>, go: K, versions: Versions, folder: &str) -> Versions {
    if !peers.contains(&go) {
        return versions;
    }
    match build(Path::new(folder)) {
        Ok(version) => versions.with("go", &version),
        Err(reason) => {
            println!("Without Go: {reason}");
            peers.retain(|peer| *peer != go);
            versions
        }
    }
}

/// Returns the program, once it was built.
///
/// # Panics
/// Panics if it was not.
pub fn program() -> &'static Path {
    PROGRAM.get().expect("Go takes part only where its program was built")
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs the program with `threads` threads.
fn run(threads: usize, what: &str, numbers: &[u64]) -> Done {
    let mut command = Command::new(program());
    command.env("GOMAXPROCS", threads.to_string()).arg(what).args(numbers.iter().map(u64::to_string));
    let text = output(&mut command).unwrap_or_else(|error| panic!("go: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("go printed {text}: {error}"))
}

impl Peer for Go {
    type Pool = usize;

    fn pool(threads: usize) -> usize {
        threads
    }

    fn yields(threads: &usize, fibers: u64, times: u64) -> Done {
        run(*threads, "yields", &[fibers, times])
    }

    fn spawn(threads: &usize, count: u64) -> Done {
        run(*threads, "spawn", &[count])
    }

    fn fib(threads: &usize, n: u32) -> Done {
        run(*threads, "fib", &[u64::from(n)])
    }

    fn asleep(threads: &usize, crowd: &Arc<Crowd>) {
        crowd.was_seen(run(*threads, "asleep", &[crowd.count(), crowd.nap().as_millis() as u64]));
    }

    fn alarms(threads: &usize, alarms: &Arc<Alarms>) {
        let arguments = [alarms.len(), alarms.lead().as_micros() as u64, alarms.spread().as_micros() as u64];
        alarms.were_heard(run(*threads, "alarms", &arguments));
    }

    fn lock(threads: &usize, fibers: u64, times: u64) -> Done {
        run(*threads, "lock", &[fibers, times])
    }
}
