//! Bias: a thread that is the only user of an object needs no read-modify-writes.

#[expect(clippy::module_inception, reason = "the bias itself, beside what is biased")]
pub(crate) mod bias;
pub(crate) mod pair;
