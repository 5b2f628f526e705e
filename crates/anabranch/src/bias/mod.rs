//! Bias: a thread that uses something alone does so without read-modify-writes.

#[expect(clippy::module_inception, reason = "the bias itself, beside what is biased")]
pub(crate) mod bias;
pub(crate) mod lock;
pub(crate) mod pair;
pub(crate) mod policy;
