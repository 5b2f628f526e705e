//! The examples run on small inputs, print the expected output, and report errors with a reason.

#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
mod iterators;
mod programs;
#[cfg(feature = "net")]
mod sockets;

#[cfg(all(feature = "net", feature = "serde"))]
use common::{LONG, watchdog};
use programs::{Example, Output, is_listed};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};
#[cfg(all(feature = "net", feature = "serde"))]
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
};

/// The examples that need no feature.
const PLAIN: [&str; 12] = [
    "conversations",
    "disk_usage",
    "happy_eyeballs",
    "hash_tree",
    "k_nucleotide",
    "losses",
    "mandelbrot",
    "n_body",
    "par_module",
    "philosophers",
    "proof_of_work",
    "word_count",
];

/// Returns the names of the examples that the features of this build allow.
fn all() -> impl Iterator<Item = &'static str> {
    let sockets = if cfg!(feature = "net") { &["echo", "http"][..] } else { &[] };
    PLAIN
        .into_iter()
        .chain(cfg!(all(feature = "net", feature = "serde")).then_some("bank"))
        .chain(sockets.iter().copied())
}

/// For the time limits of programs that end by themselves: the watchdog's is shorter.
const ENDLESS: &str = "3600";

#[test]
fn each_example_prints_usage() {
    for name in all() {
        let help = Example::new(name).run(["--help"]);
        help.assert_success();
        assert!(help.stdout.starts_with(&format!("usage: {name}")), "{help:?}");
        let error = Example::new(name).run(["--nonsense"]);
        assert_eq!(error.code, Some(2), "{error:?}");
        assert!(error.stderr.contains("nonsense") && error.stderr.contains("usage:"), "{error:?}");
    }
}

#[test]
fn readme_lists_all_examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut there: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("main.rs").is_file() || path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    there.sort();
    assert!(all().all(|name| there.iter().any(|other| other == name)));
    assert_eq!(there.len(), 15, "what there is with all features: {there:?}");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    for name in &there {
        assert!(is_listed(&readme, name), "{name} is not in the README of the examples");
    }
}

/// A folder that is empty.
fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn digest(output: &Output) -> &str {
    output.stdout.split_whitespace().next().unwrap_or_default()
}

#[test]
fn hash_tree_digest_is_that_of_sorted_list() {
    let root = fresh("hash_tree");
    fs::create_dir_all(root.join("a/b/c")).unwrap();
    let mut list = blake3::Hasher::new();
    // Lengths around those of leaves and of chunks, and a file big enough for many forks.
    let lengths = [("a/b/c/leaf", 64 << 10), ("a/b/x", (64 << 10) + 1), ("a/z", 1_000_000), ("empty", 0), ("q", 1025)];
    for (seed, (path, length)) in lengths.into_iter().enumerate() {
        let bytes: Vec<u8> = (0..length).map(|i| (i * 7 + i / 251 + seed) as u8).collect();
        fs::write(root.join(path), &bytes).unwrap();
        list.update(format!("{}  {path}\0", blake3::hash(&bytes)).as_bytes());
    }
    for threads in [1, 4] {
        let output = Example::new("hash_tree").threads(threads).run([root.as_os_str()]);
        output.assert_success();
        assert_eq!(digest(&output), list.finalize().to_hex().as_str());
        assert!(output.stdout.contains("(5 files, 1132098 bytes)") && output.stdout.contains("MB/s"), "{output:?}");
    }
    // The same tree twice, under another limit: fork-join around the fibers.
    let output = Example::new("hash_tree").run(["--open", "1", root.to_str().unwrap(), root.to_str().unwrap()]);
    output.assert_success();
    assert_eq!(output.stdout.matches(list.finalize().to_hex().as_str()).count(), 2);
}

#[test]
fn hash_tree_skips_what_is_not_a_file() {
    let root = fresh("hash_tree_empty");
    let output = Example::new("hash_tree").run([root.as_os_str()]);
    output.assert_success();
    assert!(output.stderr.contains("hash_tree_empty: no files"), "{output:?}");
    let nothing = digest(&output).to_owned();

    symlink(&root, root.join("round")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
    let output = Example::new("hash_tree").run([root.as_os_str()]);
    output.assert_success();
    assert!(output.stderr.contains("round: a symbolic link, not followed"), "{output:?}");
    assert!(output.stderr.contains("pipe: not a file, left out"), "{output:?}");
    assert_eq!(digest(&output), nothing);
}

#[test]
fn hash_tree_reports_unreadable_tree() {
    let root = fresh("hash_tree_unreadable");
    let missing = root.join("missing");
    Example::new("hash_tree").run([missing.as_os_str()]).assert_failure("missing: No such file");

    fs::write(root.join("open"), "text").unwrap();
    let locked = root.join("locked");
    fs::write(&locked, "text").unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let output = Example::new("hash_tree").run([root.as_os_str()]);
    // A privileged user can read this too.
    if fs::read(&locked).is_ok() {
        output.assert_success();
    } else {
        output.assert_failure("locked: Permission denied");
        assert!(output.stdout.contains("(1 files, 4 bytes)"), "{output:?}");
    }
}

#[test]
fn happy_eyeballs_returns_first_greeting() {
    let output = Example::new("happy_eyeballs").run(["--delay", "20", "--seconds", ENDLESS]);
    output.assert_success();
    let place = |text| output.stdout.find(text).unwrap_or_else(|| panic!("{text:?} is missing: {output:?}"));
    assert!(
        ["refusing begins", "silent begins", "greeting begins", "silent is given up"].map(place).is_sorted(),
        "{output:?}"
    );
    // At once, as a rule, and later where the system takes its time.
    assert!(["refusing fails", "refusing is given up"].iter().any(|end| output.stdout.contains(end)), "{output:?}");
    assert!(output.stdout.ends_with("greeting has won: \"hello\"\n"), "{output:?}");
    Example::new("happy_eyeballs").run(["--dead", "--seconds", "1"]).assert_failure("the time was up");
}

#[test]
fn philosophers_eat_or_report_starvation() {
    let dine = |threads, seconds| {
        let output =
            Example::new("philosophers").threads(threads).run(["--guests", "3", "--meals", "50", "--seconds", seconds]);
        let (naive, ordered) = output.stdout.split_once("the lower number first:").unwrap();
        assert!(naive.contains("0 meals, and then the time was up\n  3 of 3 forks are free"), "{output:?}");
        assert!(ordered.contains("3 of 3 forks are free"), "{output:?}");
        let is_seen = |seat| {
            let next = (seat + 1) % 3;
            let name = format!("philosopher {seat}, who has fork {seat} and wants fork {next}");
            naive.contains(&format!("{name}: waits for Mutex::lock at"))
        };
        output.code == Some(0) && (0..3).all(is_seen) && ordered.contains("150 meals in")
    };
    // The first dinner takes all its time, so that is short where the machine is quick.
    assert!([1, 3].into_iter().all(|threads| ["1", "10", "100"].into_iter().any(|seconds| dine(threads, seconds))));
}

#[test]
fn proof_of_work_is_valid() {
    for threads in [1, 3] {
        let output = Example::new("proof_of_work").threads(threads).run(["--bits", "9", "--seconds", ENDLESS, "text"]);
        output.assert_success();
        let (hash, text) = output.stdout.lines().last().unwrap().split_once("  ").unwrap();
        assert_eq!(blake3::hash(text.as_bytes()).to_hex().as_str(), hash);
        assert!(hash.starts_with("00") && hash.as_bytes()[2] < b'8' && text.starts_with("text"), "{output:?}");
    }
}

#[test]
fn proof_of_work_search_can_be_stopped() {
    for threads in [1, 3] {
        let search = || Example::new("proof_of_work").threads(threads);
        search().run(["--bits", "64", "--seconds", "1"]).assert_failure("nothing found, and the time was up");
        // Its standard input ends at once.
        search().run(["--bits", "64", "--interactive"]).assert_failure("interrupted");
    }
}

#[test]
#[cfg(all(feature = "net", feature = "serde"))]
fn bank_and_customer_run_in_two_processes() {
    let lines = "the first password was wrong\nthere are 0 in the account\ngot 70\nwanted 60, and there are 30\n";
    for threads in [1, 3] {
        let output = Example::new("bank").threads(threads).run(["--seconds", ENDLESS]);
        output.assert_success();
        assert_eq!(output.stdout, format!("{lines}the bank closes: 1 customers were served\n"), "{output:?}");
    }
    watchdog(LONG, || {
        let mut bank = Example::new("bank").spawn(["serve", "--seconds", ENDLESS]);
        let mut said = BufReader::new(bank.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        // A peer of another protocol, and one that hangs up; the bank continues.
        for says in [&b"GET / HTTP/1.1\r\n\r\n"[..], b""] {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(says).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            // The bank sends its handshake and hangs up, perhaps with unread bytes.
            let _ = stream.read_to_end(&mut Vec::new());
        }
        Example::new("bank").run(["call", &address, "--seconds", ENDLESS]).assert_success();
        let again = Example::new("bank").run(["call", &address, "--seconds", ENDLESS]);
        again.assert_success();
        assert!(again.stdout.contains("there are 30 in the account"), "{again:?}");
        drop(bank.stdin.take());
        assert!(bank.wait().unwrap().success());
        let (mut rest, mut errors) = (String::new(), String::new());
        said.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("2 customers were served"), "{rest:?}");
        bank.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(errors.contains("it began with \"GET / HTT\""), "{errors:?}");
        assert!(errors.contains("the stream ended before the conversation did"), "{errors:?}");
        // A server of another protocol, and one that is absent.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let stranger = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.write_all(b"220 mail\r\n").unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let output = Example::new("bank").run(["call", &address, "--seconds", ENDLESS]);
        stranger.join().unwrap();
        output.assert_failure("does not speak a protocol of `proto!`");
        Example::new("bank").run(["call", &address]).assert_failure("cannot reach the bank");
        Example::new("bank").run(["call", "192.0.2.1:80"]).assert_failure("loopback");
    });
}

#[test]
fn conversations_end() {
    for threads in [1, 3] {
        let output = Example::new("conversations").threads(threads).run([] as [&str; 0]);
        output.assert_success();
        for line in [
            "yay, I got 50",
            "there are no 60 left",
            "once: hello",
            "again and again: 5050",
            "100000 bytes, no more than 4 blocks",
            "a meeting on Monday: all 100 have done it",
            "a meeting on Sunday: no, it is Sunday",
            "a meeting on Sunday: nobody has done it",
            "Cleo has heard 9 lines",
            "the name Ann was taken",
        ] {
            assert!(output.stdout.contains(line), "{line:?} is missing: {output:?}");
        }
        let output = Example::new("conversations").run(["bank"]);
        output.assert_success();
        assert!(output.stdout.starts_with("bank:") && !output.stdout.contains("chat"), "{output:?}");
    }
}
