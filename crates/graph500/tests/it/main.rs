//! The tests of the library.

mod common;
mod properties;
mod run;
mod validation;
