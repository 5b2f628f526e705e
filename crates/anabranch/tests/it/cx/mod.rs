//! A `Cx` belongs to one fiber or thread, and waits on the stack of that one only.

mod foreign;
mod over_compute;
mod ownership;
