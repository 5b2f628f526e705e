//! What fibers run on: stacks, the switch between them, and what happens when one overflows.
//!
//! `stack_error <- mappings <- slab <- stack`, `overflow <- stack`.

#[cfg(test)]
mod child;
pub(crate) mod context;
mod mappings;
pub(crate) mod overflow;
mod slab;
pub(crate) mod stack;
mod stack_error;
