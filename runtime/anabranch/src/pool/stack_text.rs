//! The text of a stack in a report: without the functions that capture it, and without the functions below the fiber's.

use std::{backtrace::Backtrace, fmt};

/// The function that stands between those that capture and those of the fiber.
const FIRST: &str = "context::called_from::below";
/// The function that captures the stack on which it is.
const FIRST_HERE: &str = "stack_trace::capture_here";
/// The handler of a signal that captures the stack below it, and the names of the system's function between the two.
const HANDLER: &str = "capture_on_signal";
const TRAMPOLINE: [&str; 2] = ["<unknown>", "__restore_rt"];
/// The function that runs fibers, and the function of std that runs a thread.
const LAST: [&str; 2] = ["serve_fibers", "__rust_begin_short_backtrace"];

/// Writes a stack, indented.
pub(super) fn write(f: &mut fmt::Formatter<'_>, stack: &Backtrace, is_one_of_several: bool) -> fmt::Result {
    writeln!(f, "    {}", if is_one_of_several { "the stack of one of them:" } else { "stack:" })?;
    f.write_str(&text(stack))
}

/// Returns the lines of a stack, indented.
pub(super) fn text(stack: &Backtrace) -> String {
    shown(&stack.to_string()).iter().fold(String::new(), |text, line| text + "    " + line + "\n")
}

/// Returns the lines of a stack that are shown. Each function has a line that begins with its number, and perhaps
/// another one with its place. If the lines look otherwise, all of them are shown.
fn shown(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let function =
        |line: &&str| line.trim_start().split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    let names = |line: &&str, name: &str| function(line) && line.contains(name);
    let after = |line: usize| Some(line + 1 + lines[line + 1..].iter().position(function)?);
    let first = lines.iter().position(|line| [FIRST, FIRST_HERE, HANDLER].iter().any(|name| names(line, name)));
    let is_handler = first.is_some_and(|first| names(&lines[first], HANDLER));
    let is_trampoline = |line: &usize| is_handler && TRAMPOLINE.iter().any(|name| names(&lines[*line], name));
    let first = first.and_then(after).map(|first| Some(first).filter(is_trampoline).and_then(after).unwrap_or(first));
    let first = first.unwrap_or(0);
    let is_last = |line: &&str| LAST.iter().any(|name| names(line, name));
    let last = lines[first..].iter().position(is_last).map_or(lines.len(), |last| first + last);
    lines[first..last].to_vec()
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn functions_of_runtime_are_left_out() {
        let stack = "   0: anabranch::fiber::stack_trace::capture\n             at ./src/a.rs:1:2\n   \
                     1: anabranch::fiber::context::called_from::below\n             at ./src/b.rs:1:2\n   \
                     2: program::wait\n             at ./src/main.rs:3:4\n  13: program::main\n  \
                     14: anabranch::fiber::scheduler::<impl X>::serve_fibers\n             at ./src/c.rs:5:6\n";
        let lines = ["   2: program::wait", "             at ./src/main.rs:3:4", "  13: program::main"];
        assert_eq!(shown(stack), lines);
    }

    #[test]
    fn handler_of_signal_and_start_of_thread_are_left_out() {
        let stack = "   0: capture_on_signal\n             at ./src/a.rs:1:2\n   1: <unknown>\n   2: program::wait\n   \
                     3: <unknown>\n   4: std::sys::backtrace::__rust_begin_short_backtrace\n   5: clone3\n";
        assert_eq!(shown(stack), ["   2: program::wait", "   3: <unknown>"]);
    }

    #[test]
    fn unknown_text_is_shown_whole() {
        for text in ["", "unsupported backtrace", "   0: <unknown>\n   1: <unknown>", "  7: called_from::below"] {
            assert_eq!(shown(text), text.lines().collect::<Vec<_>>());
        }
    }
}
