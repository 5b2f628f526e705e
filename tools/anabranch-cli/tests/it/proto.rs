//! `anabranch proto` shows the protocols of a file, and says what is wrong with them and where.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::{fs, str};

const BANK: &str = "
mod accounts {
    /// What one does at a counter.
    anabranch::proto! { pub bank {
        Login: send { login(name: String) -> Response }
        Response: recv { ok -> Connected, invalid -> Login }
        Connected: send { deposit(u64) -> Connected, quit -> ! }
    }}
}
anabranch::proto! { ask { Question: send<T> { ask(Vec<T>) -> ! } } }
";

fn show(name: &str, text: &str, more: &[&str]) -> Output {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, text).unwrap();
    Command::new(env!("CARGO_BIN_EXE_anabranch")).arg("proto").arg(file).args(more).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

#[test]
fn diagrams_and_code() {
    let output = show("both.rs", BANK, &[]);
    assert!(output.status.success(), "{output:?}");
    // Lines are broken where they are long.
    let all = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "[*] --> Login",
        "Connected --> Connected : deposit(u64)",
        "Connected --> [*] : quit",
        "Question --> [*] : ask(Vec#lt;T#gt;)",
        "pub fn login( self, name: String, ) -> Result<Response, anabranch::channel::Closed> {",
        "There is room for 16 messages; a send waits while there is no room.",
        "pub enum ConnectedMessage",
    ] {
        assert!(all.contains(part), "{part:?} is missing in\n{all}");
    }
    assert!(!all.contains("::core"), "{all}");
}

#[test]
fn only_a_part() {
    let output = show("diagram.rs", BANK, &["--diagram", "--name", "ask"]);
    assert!(output.status.success(), "{output:?}");
    let all = text(&output.stdout);
    assert!(all.starts_with("```mermaid\nstateDiagram-v2") && !all.contains("Login") && !all.contains("pub"), "{all}");
    let output = show("code.rs", BANK, &["--expansion", "--name", "bank"]);
    assert!(text(&output.stdout).contains("pub mod bank {"), "{output:?}");
}

#[test]
fn errors_name_file_and_position() {
    let output = show("wrong.rs", &BANK.replace("invalid -> Login", "invalid -> Logn"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("wrong.rs:6:54: there is no state `Logn`; did you mean `Login`?"),
        "{output:?}"
    );
    let output = show("none.rs", "fn main() {}", &[]);
    assert!(text(&output.stderr).contains("no `proto! { .. }` in it"), "{output:?}");
    let output = show("other.rs", BANK, &["--name", "shop"]);
    assert!(text(&output.stderr).contains("no protocol `shop` in it"), "{output:?}");
    let output = show("no_rust.rs", "fn main() {", &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("no_rust.rs is not Rust: "), "{output:?}");
}

#[test]
fn errors_of_other_protocols_are_ignored() {
    let wrong = BANK.replace("invalid -> Login", "invalid -> Logn");
    let output = show("another_wrong.rs", &wrong, &["--name", "ask"]);
    assert!(output.status.success() && text(&output.stdout).contains("Question"), "{output:?}");
    let output = show("this_wrong.rs", &wrong, &["--name", "bank"]);
    assert!(text(&output.stderr).contains("there is no state `Logn`"), "{output:?}");
}

/// After a change: `anabranch proto runtime/anabranch/examples/conversations/bank.rs --diagram`.
#[test]
fn diagram_in_docs_matches_example() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = fs::read_to_string(here.join("runtime/anabranch/examples/conversations/bank.rs")).unwrap();
    let output = show("bank.rs", &source, &["--diagram"]);
    let docs = fs::read_to_string(here.join("docs/PROTOCOLS.md")).unwrap();
    assert!(output.status.success() && docs.contains(text(&output.stdout)), "{output:?}");
}
