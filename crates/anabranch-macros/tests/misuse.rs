//! What is wrong with a protocol is said at the word that is wrong, in words that one can act on.
//!
//! The texts are in `protocols`; `TRYBUILD=overwrite` writes them anew, to be read before they are kept.

#[test]
fn errors_are_at_the_word() {
    trybuild::TestCases::new().compile_fail("tests/protocols/*.rs");
}
