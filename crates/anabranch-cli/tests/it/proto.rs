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

/// Where the shape of a state is: left, top, right, bottom.
fn bounds(state: roxmltree::Node<'_, '_>) -> [f64; 4] {
    let shape = state.children().find(|child| child.attribute("class") == Some("box")).unwrap();
    let number = |name: &str| shape.attribute(name).unwrap().parse::<f64>().unwrap();
    let Some(points) = shape.attribute("points") else {
        let (x, y) = (number("x"), number("y"));
        return [x, y, x + number("width"), y + number("height")];
    };
    let points: Vec<(f64, f64)> = points
        .split(' ')
        .map(|point| point.split_once(',').unwrap())
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect();
    let range = |of: fn(&(f64, f64)) -> f64| {
        let all = || points.iter().map(of);
        (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (top, bottom)) = (range(|point| point.0), range(|point| point.1));
    [left, top, right, bottom]
}

/// The picture of each protocol of a file: the names of its states, and what stands at its messages.
fn pictures(svg: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    let of_class = |node: roxmltree::Node<'_, '_>, class: &str| {
        node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    };
    let words = |node: roxmltree::Node<'_, '_>| {
        let texts = node.children().filter(|child| child.has_tag_name("text"));
        texts.map(|text| text.text().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let root = document.root_element();
    assert_eq!(root.descendants().filter(|node| of_class(*node, "legend")).count(), 1);
    root.children()
        .filter(|node| of_class(*node, "protocol"))
        .map(|protocol| {
            let all = |class| protocol.descendants().filter(move |node| of_class(*node, class));
            let boxes: Vec<[f64; 4]> = all("state").map(bounds).collect();
            for (number, one) in boxes.iter().enumerate() {
                for two in &boxes[..number] {
                    let apart = one[2] < two[0] || two[2] < one[0] || one[3] < two[1] || two[3] < one[1];
                    assert!(apart, "{one:?} overlaps {two:?} in\n{svg}");
                }
            }
            assert_eq!(all("client").count() + all("server").count(), boxes.len());
            // The first one leads to where it begins, and says nothing.
            (all("state").map(words).collect(), all("message").map(words).skip(1).collect())
        })
        .collect()
}

#[test]
fn diagrams_show_all_states_and_messages() {
    let text = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
    let output = show("picture.rs", BANK, &["--diagram", "svg"]);
    assert!(output.status.success(), "{output:?}");
    let [(states, messages), (ask_states, asks)] = &pictures(str::from_utf8(&output.stdout).unwrap())[..] else {
        panic!("{output:?}");
    };
    assert_eq!(*states, text(&["Login", "Response", "Connected"]));
    let mut messages = messages.clone();
    messages.sort_unstable();
    assert_eq!(messages, text(&["deposit(u64)", "invalid", "login(name: String)", "ok", "quit"]));
    assert_eq!((ask_states, asks), (&text(&["Question"]), &text(&["ask(Vec<T>)"])));

    let output = show("no_picture.rs", BANK, &["--diagram", "png"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(str::from_utf8(&output.stderr).unwrap().contains("[possible values: mermaid, svg]"), "{output:?}");
}

#[test]
fn diagrams_of_examples_are_valid() {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../anabranch/examples/conversations");
    let mut count = 0;
    for entry in fs::read_dir(examples).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        for tokens in anabranch_proto::find(&source).unwrap() {
            let protocol = anabranch_proto::read(tokens).unwrap();
            let output = show("example.rs", &source, &["--diagram", "svg", "--name", &protocol.name()]);
            let (states, messages) = pictures(str::from_utf8(&output.stdout).unwrap()).pop().unwrap();
            assert!(protocol.states().map(|state| state.name).eq(states));
            assert_eq!(protocol.messages().count(), messages.len(), "{}", protocol.name());
            for message in protocol.messages() {
                assert!(messages.contains(&message.text), "{} is missing in {messages:?}", message.text);
            }
            count += 1;
        }
    }
    assert!(count >= 7, "{count} protocols in the examples");
}

/// After a change: `anabranch proto crates/anabranch/examples/conversations/bank.rs --diagram svg > docs/bank.svg`.
#[test]
fn diagram_in_docs_matches_example() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = fs::read_to_string(here.join("crates/anabranch/examples/conversations/bank.rs")).unwrap();
    let output = show("bank.rs", &source, &["--diagram", "svg"]);
    assert_eq!(str::from_utf8(&output.stdout).unwrap(), fs::read_to_string(here.join("docs/bank.svg")).unwrap());
}
