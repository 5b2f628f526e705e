//! Runs the real binary. Whatever it does, a test ends: after [`LIMIT`] it is killed and the test fails.

pub mod sample;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Far longer than any run takes, also on a machine that is slow and loaded.
pub const LIMIT: Duration = Duration::from_secs(300);

/// How a run ended and what it said.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The command with these arguments and nothing from the tests' own environment that it listens to.
pub fn anabranch(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anabranch"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("ANABRANCH_NUM_THREADS").env_remove("NO_COLOR");
    command
}

/// Runs it to its end.
pub fn run(args: &[&str]) -> Ended {
    end(anabranch(args).spawn().expect("the binary starts"))
}

/// Runs it to its end and expects all to be well.
pub fn succeed(args: &[&str]) -> Ended {
    let ended = run(args);
    assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
    ended
}

/// Waits for the end of what is running.
pub fn end(mut child: Child) -> Ended {
    let stdout = child.stdout.take().map(|from| thread::spawn(|| read(from)));
    let stderr = child.stderr.take().map(|from| thread::spawn(|| read(from)));
    let status = wait(&mut child);
    let text = |reader: Option<thread::JoinHandle<String>>| reader.map_or_else(String::new, |r| r.join().unwrap());
    Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// Waits, but not for ever.
pub fn wait(child: &mut Child) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status;
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            panic!("it has not ended after {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until `reached` holds, but not for ever.
pub fn until(what: &str, mut reached: impl FnMut() -> bool) {
    let start = Instant::now();
    while !reached() {
        assert!(start.elapsed() < LIMIT, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn read(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).expect("a pipe can be read");
    String::from_utf8(bytes).expect("it speaks UTF-8")
}

/// Expects a refusal: this status, nothing on standard output, and one line that has all these words.
pub fn refused(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    assert_eq!(ended.stdout, "", "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    assert!(ended.stderr.starts_with("anabranch: ") && ended.stderr.ends_with('\n'), "{ended:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "{word:?} is missing: {ended:?}");
    }
}
