//! The tests of the library.

mod checkpoint;
mod common;
mod corpus;
mod distributed;
mod paths;
mod properties;
mod run;
mod validation;
