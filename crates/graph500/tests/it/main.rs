//! The tests of the library.

mod common;
mod corpus;
mod properties;
mod run;
mod validation;
