//! Threads that are blocked in foreign calls and wait there for another thread, such as in a lock of std, for a report.

use crate::pool::stack_text;
use std::{backtrace::Backtrace, fmt, fs};

/// See the [module](self).
#[derive(Debug, Clone)]
pub(crate) struct BlockedThread {
    /// The number by which the system and debuggers know the thread.
    pub(crate) number: u32,
    name: String,
    /// The text of its stack.
    stack: Option<String>,
}

impl BlockedThread {
    pub(crate) fn new(number: u32) -> Self {
        let name = fs::read_to_string(format!("/proc/self/task/{number}/comm")).unwrap_or_default();
        Self { number, name: name.trim_end().to_owned(), stack: None }
    }

    pub(crate) fn set_stack(&mut self, stack: &Backtrace) {
        self.stack = Some(stack_text::text(stack));
    }
}

/// Writes a line for the threads that have the same stack, and the stack.
pub(super) fn write(f: &mut fmt::Formatter<'_>, threads: &[BlockedThread]) -> fmt::Result {
    let mut rest: Vec<&BlockedThread> = threads.iter().collect();
    while let Some(first) = rest.first().copied() {
        let (alike, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|thread| thread.stack == first.stack);
        let names: Vec<_> = alike.iter().map(|thread| format!("`{}` ({})", thread.name, thread.number)).collect();
        match names.len() {
            1 => write!(f, "  thread {}: waits", names[0])?,
            count => write!(f, "  {count} threads {}: each waits", names.join(", "))?,
        }
        writeln!(f, " for another thread in a foreign call, such as a lock of std")?;
        if let Some(stack) = &first.stack {
            write!(f, "    stack:\n{stack}")?;
        }
        rest = others;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BlockedThread, write};
    use std::fmt;

    #[test]
    fn threads_with_same_stack_are_on_one_line() {
        struct All(Vec<BlockedThread>);
        impl fmt::Display for All {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(f, &self.0)
            }
        }
        let thread = |number, name: &str, stack: Option<&str>| BlockedThread {
            number,
            name: name.into(),
            stack: stack.map(Into::into),
        };
        let all = [(1, "a", Some("x\n")), (2, "b", None), (3, "c", Some("x\n"))].map(|(n, name, s)| thread(n, name, s));
        let text = "  2 threads `a` (1), `c` (3): each waits for another thread in a foreign call, such as a lock of std\n    \
                    stack:\nx\n  thread `b` (2): waits for another thread in a foreign call, such as a lock of std\n";
        assert_eq!(All(all.into()).to_string(), text);
    }
}
