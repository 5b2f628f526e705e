//! A compile error points at the token that is wrong, and its text says what to write instead.
//!
//! `protocols` has the expected errors of `proto!`, `library` those of the crate `anabranch`, and `kernels` those of
//! `#[kernel]`. `TRYBUILD=overwrite` writes them anew; review the difference.

#[test]
fn errors_point_at_wrong_token() {
    let mistakes = trybuild::TestCases::new();
    mistakes.compile_fail("tests/protocols/*.rs");
    mistakes.compile_fail("tests/library/*.rs");
    mistakes.compile_fail("tests/kernels/*.rs");
}
