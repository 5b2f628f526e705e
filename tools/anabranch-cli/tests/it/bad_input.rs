//! Everything that can be given wrong ends with one line that says what to do, and a status.

use crate::common::{anabranch, end, refused, run};

/// A run of scale 8 with these options besides.
fn small(options: &[&str]) -> crate::common::Ended {
    run(&[&["graph500", "--scale", "8"], options].concat())
}

#[test]
fn scales() {
    for bad in ["0", "60", "41", "-1", "abc", "8.5", "99999999999999999999"] {
        let ended = run(&["graph500", "--scale", bad]);
        refused(&ended, 2, &["--scale", &format!("'{bad}'"), "whole number from 1 to 40"]);
    }
    refused(&run(&["graph500", "--scale"]), 2, &["--scale"]);
    refused(&run(&["graph500"]), 2, &["required", "--scale"]);
    refused(&run(&["graph500", "--scale", "8", "--scale", "9"]), 2, &["multiple times"]);
}

#[test]
fn threads() {
    for bad in ["0", "4096", "1000000", "-2", "two"] {
        refused(&small(&["--threads", bad]), 2, &["--threads", bad, "from 1 to 4095"]);
    }
}

#[test]
fn threads_from_the_environment() {
    for bad in ["0", "x", "5000"] {
        let mut command = anabranch(&["graph500", "--scale", "8"]);
        command.env("ANABRANCH_NUM_THREADS", bad);
        refused(&end(command.spawn().unwrap()), 2, &["ANABRANCH_NUM_THREADS", bad, "from 1 to 4095"]);
    }
}

#[test]
fn other_options() {
    for bad in ["0", "-3", "x", "99999999999"] {
        refused(&small(&["--edge-factor", bad]), 2, &["--edge-factor", bad, "whole number from 1"]);
        refused(&small(&["--roots", bad]), 2, &["--roots", bad, "whole number from 1"]);
    }
    refused(&small(&["--seed", "x"]), 2, &["--seed", "whole number from 0"]);
    refused(&small(&["--bfs", "fast"]), 2, &["--bfs", "'fast'", "sequential, color, direction"]);
    refused(&small(&["--treads", "2"]), 2, &["--treads", "--threads"]);
    refused(&small(&["more"]), 2, &["'more'"]);
    refused(&run(&["graph50"]), 2, &["'graph50'", "graph500"]);
}

#[test]
fn no_subcommand_shows_what_there_is() {
    let ended = run(&[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.starts_with("anabranch: say what to run\n") && ended.stderr.contains("graph500"), "{ended:?}");
}

#[test]
fn too_large_scale_is_refused() {
    // Scale 40 takes hundreds of TiB; what cannot be checked outside Linux is left to the allocator.
    let ended = run(&["graph500", "--scale", "40"]);
    if cfg!(target_os = "linux") {
        refused(&ended, 1, &["scale 40 needs", "TiB of memory", "available; the largest scale that fits is "]);
    } else {
        assert_eq!(ended.code, Some(1), "{ended:?}");
    }
}

#[test]
fn unwritable_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let inside = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();

    refused(&small(&["--json", &inside("none/out.json")]), 1, &["none/out.json", "there is no directory", "create it"]);
    refused(&small(&["--json", &inside(".")]), 1, &["it is a directory; name a file in it"]);
    refused(&small(&["--json", &inside("new/")]), 1, &["it is a directory"]);

    let kept = inside("kept.json");
    std::fs::write(&kept, "before").unwrap();
    refused(&small(&["--json", &inside("kept.json/x")]), 1, &["kept.json/x"]);
    let mut rights = std::fs::metadata(&kept).unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(&kept, rights).unwrap();
    refused(&small(&["--json", &kept]), 1, &["kept.json", "read-only"]);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "before");

    #[cfg(target_os = "linux")]
    refused(&small(&["--json", "/proc/anabranch.json"]), 1, &["/proc/anabranch.json", "no file can be created"]);

    let names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["kept.json"], "nothing else is left behind");
}

#[test]
fn messages_say_which_values_are_allowed() {
    refused(&run(&["bfs", "--source", "x", "a.el"]), 2, &["--source", "'x'", "whole number from 0"]);
    refused(&run(&["pagerank", "--damping", "x", "a.el"]), 2, &["--damping", "'x'", "give a number, such as"]);
    refused(&run(&["pagerank", "--iterations", "1.5", "a.el"]), 2, &["--iterations", "'1.5'", "whole number from 0"]);
    let ended = run(&["sssp", "--source", "1", "--mpi", "a.el"]);
    refused(&ended, 2, &["only `graph500` and `bfs` run over MPI", "sssp --help"]);
    assert!(!ended.stderr.contains("tip:"), "{ended:?}");
}

#[test]
fn refused_run_keeps_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kept.json");
    std::fs::write(&path, "before").unwrap();
    let ended = run(&["graph500", "--scale", "40", "--json", path.to_str().unwrap()]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn non_utf8_arguments_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let no_text = std::ffi::OsStr::from_bytes(b"\xff");
    refused(&end(anabranch(&[]).arg(no_text).spawn().unwrap()), 2, &["--help"]);
    refused(&end(anabranch(&["graph500", "--scale"]).arg(no_text).spawn().unwrap()), 2, &["graph500 --help"]);
    let mut command = anabranch(&["graph500", "--scale", "8"]);
    command.env("ANABRANCH_NUM_THREADS", no_text);
    refused(&end(command.spawn().unwrap()), 2, &["ANABRANCH_NUM_THREADS is not text"]);
}

#[test]
fn output_file_is_checked_before_search() {
    // Refused for its file and not for its memory: nothing has been planned yet, let alone run.
    refused(&run(&["graph500", "--scale", "40", "--json", "/"]), 1, &["it is a directory"]);
}

/// A run of `scale` in a shell that limits the address space to `kib`.
#[cfg(target_os = "linux")]
fn limited(kib: u64, scale: &str) -> crate::common::Ended {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -v $1; exec \"$0\" graph500 --threads 1 --scale $2", env!("CARGO_BIN_EXE_anabranch")]);
    command.args([&kib.to_string(), scale]);
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    end(command.spawn().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn limit_of_the_address_space_is_heard() {
    // 8 GB, of which the process itself takes some. Scale 25 needs 10.4 GiB.
    let ended = limited(8_000_000, "25");
    refused(&ended, 1, &["scale 25 needs", "of memory", "are available", "edge tuples 4.00 GiB + adjacency lists"]);
    assert_eq!(limited(8_000_000, "8").code, Some(0));
}
