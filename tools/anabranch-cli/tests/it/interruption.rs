//! Signals and readers that go away.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{anabranch, end, until, wait};

/// Small, and much too long for a test that would wait for its end.
const ENDLESS: &[&str] = &["graph500", "--scale", "16", "--roots", "20000"];

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Starts it with a file that is there already, sends the signal when `line` has been said, and looks at all that is
/// left.
fn interrupted(args: &[&str], line: &str, name: &str, code: i32) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    std::fs::write(&path, "before").unwrap();
    let mut child = anabranch(&[args, &["--json", path.to_str().unwrap()]].concat()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains(line) {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "it ended before {line:?}: {said}");
    }
    assert_eq!(names(directory.path()).len(), 2, "the temporary file is there before the run");
    signal(&child, name);
    let ended = wait(&mut child);
    assert_eq!(ended.code(), Some(code), "{said}");
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(said.lines().filter(|line| line.contains("interrupted")).count(), 1, "{said}");
    assert!(said.ends_with("anabranch: interrupted\n") && !said.contains("panic"), "{said}");
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "", "no results of half a run");
    assert_eq!(names(directory.path()), ["run.json"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before", "the old file is untouched");
}

#[test]
fn ctrl_c_while_it_searches() {
    interrupted(ENDLESS, "validation: begun", "INT", 130);
}

#[test]
fn terminated_while_it_searches() {
    interrupted(ENDLESS, "validation: begun", "TERM", 143);
}

#[test]
fn hang_up_ends_run() {
    interrupted(ENDLESS, "validation: begun", "HUP", 129);
}

#[test]
fn ctrl_c_while_it_generates() {
    interrupted(&["graph500", "--scale", "20"], " at the peak", "INT", 130);
}

#[test]
fn second_ctrl_c_ends_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    let mut child = anabranch(&[ENDLESS, &["--json", path.to_str().unwrap()]].concat()).spawn().unwrap();
    until("its file is there", || !names(directory.path()).is_empty());
    for _ in 0..20 {
        signal(&child, "INT");
        thread::sleep(Duration::from_millis(1));
        if child.try_wait().unwrap().is_some() {
            break;
        }
    }
    let ended = end(child);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn ignored_signal_stays_ignored() {
    // As `nohup` and a shell's background jobs have it.
    let shell = format!("trap '' INT; exec {} graph500 --scale 16 --roots 20000", env!("CARGO_BIN_EXE_anabranch"));
    let mut command = Command::new("sh");
    command.args(["-c", &shell]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("validation: begun") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
    }
    if cfg!(target_os = "linux") {
        signal(&child, "INT");
        thread::sleep(Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none(), "it went on");
    }
    signal(&child, "TERM");
    assert_eq!(wait(&mut child).code(), Some(143));
}

#[test]
fn closed_pipe_ends_quietly() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    for args in [
        &["graph500", "--scale", "8", "--json", path.to_str().unwrap()][..],
        &["graph500", "--scale", "8", "--json", "-"],
        &["graph500", "--help"],
        &["--version"],
    ] {
        // The reader has gone away before the first line.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = anabranch(args).stdout(writer).spawn().unwrap();
        let ended = end(child);
        assert_eq!(ended.code, Some(141), "{args:?}: {ended:?}");
        assert!(!ended.stderr.contains("panic") && !ended.stderr.contains("RUST_BACKTRACE"), "{ended:?}");
        assert!(!ended.stderr.to_lowercase().contains("broken pipe"), "{ended:?}");
    }
    assert!(path.exists(), "the reader of standard output did not cost the file");
}

#[test]
fn a_pipe_to_head() {
    let shell = format!("{} graph500 --scale 8 | head -1", env!("CARGO_BIN_EXE_anabranch"));
    let child = Command::new("sh").args(["-c", &shell]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ended = end(child);
    assert!(ended.stdout.contains("scale 8") && ended.stdout.lines().count() == 1, "{ended:?}");
    assert!(!ended.stderr.contains("panic"), "{ended:?}");
}

#[test]
fn closed_stderr_does_not_stop_run() {
    let mut child = anabranch(&["graph500", "--scale", "15", "--roots", "24"]).spawn().unwrap();
    drop(child.stderr.take());
    let ended = end(child);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("harmonic mean"));
}
