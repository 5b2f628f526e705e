//! Shows the machine code of a step of a conversation: a send, and a receive of a message that has been sent.
//!
//! ```text
//! cargo run --release -p anabranch-bench --example show_pipes
//! ```
//!
//! It disassembles itself with `objdump`. It fails if a send has more than one atomic exchange, or a receive any locked
//! operation, before the calls for rare cases: to wake a waiter, to wait, to leave.

fn main() -> std::process::ExitCode {
    match linux::show() {
        Ok(text) => {
            print!("{text}");
            std::process::ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            std::process::ExitCode::FAILURE
        }
    }
}

mod linux {
    use std::env;
    use std::hint::black_box;
    use std::process::Command;

    use anabranch::channel::Closed;
    use anabranch::proto;
    use anabranch::proto::EndpointTryRecvError;

    proto! { pub ping_pong {
        Ping: send { ping(u64) -> Pong }
        Pong: recv { pong(u64) -> Ping, quit -> ! }
    }}

    use ping_pong::{client, server};

    #[inline(never)]
    fn sending(end: client::Ping, number: u64) -> Result<client::Pong, Closed> {
        end.ping(number)
    }

    #[inline(never)]
    fn receiving(end: server::Ping) -> Result<server::PingMessage, EndpointTryRecvError<server::Ping>> {
        end.try_recv()
    }

    pub fn show() -> Result<String, String> {
        // This instantiates both functions.
        let (client, server) = ping_pong::pipe();
        let waiting = sending(black_box(client), black_box(1));
        let heard = receiving(black_box(server)).map_err(|error| error.to_string())?;
        drop(black_box((waiting, heard)));

        let program = env::current_exe().map_err(|error| error.to_string())?;
        let mut objdump = Command::new("objdump");
        let output = objdump.args(["-d", "-C", "--no-show-raw-insn"]).arg(program).output();
        let listing =
            String::from_utf8_lossy(&output.map_err(|error| format!("objdump: {error}"))?.stdout).into_owned();
        let (sending, receiving) = (function(&listing, "sending")?, function(&listing, "receiving")?);
        let locking = |text: &str| {
            let locks = |line: &&str| line.contains("lock ") || line.contains("xchg   %r") && line.contains('(');
            text.lines().filter(locks).count()
        };
        let counts = (locking(&sending), locking(&receiving));
        let text = format!("{sending}\n{receiving}\nthat lock: {} to send, {} to receive\n", counts.0, counts.1);
        if cfg!(target_arch = "x86_64") && counts != (1, 0) { Err(text) } else { Ok(text) }
    }

    /// Returns the lines of a function, without addresses except those of jump targets.
    fn function(listing: &str, name: &str) -> Result<String, String> {
        let head = format!("<show_pipes::linux::{name}>:");
        let lines = listing.lines().skip_while(|line| !line.contains(&head)).take_while(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        if lines.is_empty() {
            return Err(format!("`{name}` is not in the program"));
        }
        Ok(lines.join("\n") + "\n")
    }
}
