//! What is shown while it runs.

use crate::common::{anabranch, end, succeed};

/// Long enough to be shown, several times over, by a program built as this test is.
const LONG: &[&str] = if cfg!(debug_assertions) {
    &["graph500", "--scale", "15", "--roots", "32"]
} else {
    &["graph500", "--scale", "18", "--roots", "16"]
};

#[test]
fn memory_is_reported_first() {
    let ended = succeed(&["graph500", "--scale", "8"]);
    let first = ended.stderr.lines().next().unwrap();
    assert!(first.starts_with("anabranch: memory: ") && first.contains(" at the peak, "), "{first}");
}

#[test]
fn log_gets_few_plain_lines() {
    let ended = succeed(LONG);
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("anabranch: ")), "{lines:?}");
    assert!(!ended.stderr.contains(['\u{1b}', '\r']), "{lines:?}");
    // The beginning and the end of each of five phases, the short ones only on a busy machine. There it has others as
    // well, every ten seconds, and warnings of the pool.
    for end in [": begun", ": done in "] {
        assert!((1..=5).contains(&lines.iter().filter(|line| line.contains(end)).count()), "{lines:?}");
    }
    assert!(lines.iter().any(|line| line.contains("validation: done in ")), "{lines:?}");
    for begun in lines.iter().filter_map(|line| line.strip_suffix(": begun")) {
        assert!(lines.iter().any(|line| line.starts_with(&format!("{begun}: done in "))), "{begun} never ends");
    }
}

#[test]
fn colours_are_not_forced_on_a_log() {
    let mut command = anabranch(LONG);
    let ended = end(command.env("CLICOLOR_FORCE", "1").spawn().unwrap());
    assert!(!ended.stderr.contains('\u{1b}') && !ended.stdout.contains('\u{1b}'), "{ended:?}");
}

#[cfg(target_os = "linux")]
mod terminal {
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::process::Stdio;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};

    use crate::common::{anabranch, wait};

    /// Runs it on a terminal of that width and gives all that was written there.
    fn on_terminal(args: &[&str], columns: u16, environment: &[(&str, &str)]) -> String {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs: OwnedFd = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        tcsetwinsize(&theirs, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let mut command = anabranch(args);
        command.env("TERM", "xterm").envs(environment.iter().copied());
        command.stdout(Stdio::from(theirs.try_clone().unwrap())).stderr(Stdio::from(theirs));
        let mut child = command.spawn().unwrap();
        drop(command); // Its ends of the terminal: reading ends when the last one closes.
        let reader = std::thread::spawn(move || {
            let (mut from, mut bytes, mut part) = (File::from(ours), Vec::new(), [0; 4096]);
            while let Ok(count @ 1..) = from.read(&mut part) {
                bytes.extend_from_slice(&part[..count]);
            }
            bytes
        });
        assert!(wait(&mut child).success());
        String::from_utf8(reader.join().unwrap()).unwrap()
    }

    #[test]
    fn terminal_gets_bars() {
        let text = on_terminal(super::LONG, 80, &[("NO_COLOR", "")]);
        assert!(text.contains("validation") && text.contains('%') && text.contains("=>"), "{text:?}");
        assert!(text.contains("\u{1b}["), "the bars are drawn over: {text:?}");
        assert!(!text.contains(": begun"), "and no lines besides: {text:?}");
    }

    #[test]
    fn no_color_is_honoured() {
        let text = on_terminal(super::LONG, 80, &[("NO_COLOR", "1")]);
        assert!(text.contains("=>"), "the bars are there: {text:?}");
        assert!(!has_colours(&text), "{text:?}");
        assert!(has_colours(&on_terminal(super::LONG, 80, &[])), "which would be coloured without it");
    }

    /// Whether anything like ESC [ 32 m is there; what moves the cursor ends in another letter.
    fn has_colours(text: &str) -> bool {
        let is_part = |c: char| c.is_ascii_digit() || c == ';';
        text.split("\u{1b}[").skip(1).any(|sequence| sequence.trim_start_matches(is_part).starts_with('m'))
    }

    #[test]
    fn dumb_terminal_gets_lines() {
        let text = on_terminal(super::LONG, 80, &[("TERM", "dumb")]);
        assert!(text.contains("validation: done in ") && !text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn short_runs_draw_nothing() {
        // What is short is for the clock to say, and on a loaded machine any run may be long, but not each of them.
        let draws = || on_terminal(&["graph500", "--scale", "8", "--roots", "1"], 80, &[]).contains(['\u{1b}', '>']);
        assert!((0..30).any(|_| !draws()));
    }

    #[test]
    fn table_fits_narrow_terminal() {
        let text = on_terminal(&["graph500", "--scale", "8", "--roots", "1"], 50, &[]);
        let table: Vec<_> = text.lines().skip_while(|line| !line.contains("Graph500")).collect();
        let table: Vec<_> = table.iter().take_while(|line| !line.trim().is_empty()).collect();
        assert!(table.len() > 10, "{text:?}");
        assert!(table.iter().all(|line| line.trim_end().chars().count() <= 50), "{table:?}");
    }
}
