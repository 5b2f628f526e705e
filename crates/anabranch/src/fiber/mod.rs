//! Fibers: what they run on.
//!
//! `stack_error <- slab <- stack`, `last_words <- overflow <- stack`.

#[cfg(test)]
mod child;
pub(crate) mod context;
mod last_words;
pub(crate) mod overflow;
mod slab;
pub(crate) mod stack;
mod stack_error;
