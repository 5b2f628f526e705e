//! What the runtime needs of the operating system and of the standard library, in one place, so that the model checker
//! can stand in for it.

pub(crate) mod barrier;
pub(crate) mod parker;
pub(crate) mod sync;
