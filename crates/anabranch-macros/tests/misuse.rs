//! What is said about a mistake is said at the word that is wrong, in words that one can act on.
//!
//! The texts are in `protocols`, and in `library` those of the crate `anabranch`; `TRYBUILD=overwrite` writes them
//! anew, to be read before they are kept.

#[test]
fn errors_are_at_the_word() {
    let mistakes = trybuild::TestCases::new();
    mistakes.compile_fail("tests/protocols/*.rs");
    mistakes.compile_fail("tests/library/*.rs");
}
