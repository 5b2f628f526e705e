//! What the compiler says about the mistakes that are made most, pinned text by text.
//!
//! `TRYBUILD=overwrite` writes the texts anew, to be read before they are kept.

#[test]
fn mistakes_are_told_in_words_to_act_on() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
