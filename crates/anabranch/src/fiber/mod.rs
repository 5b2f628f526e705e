//! Fibers: what they run on.
//!
//! `stack_error <- mappings <- slab <- stack`, `last_words <- overflow <- stack`.

#[cfg(test)]
mod child;
#[allow(dead_code, reason = "the scheduler of fibers is the user")]
mod last_words;
#[allow(dead_code, reason = "the scheduler of fibers is the user")]
mod mappings;
#[allow(dead_code, reason = "the scheduler of fibers is the user")]
pub(crate) mod overflow;
#[allow(dead_code, reason = "the scheduler of fibers is the user")]
mod slab;
#[allow(dead_code, reason = "the scheduler of fibers is the user")]
pub(crate) mod stack;
#[allow(dead_code, reason = "the scheduler of fibers is the user")]
mod stack_error;
