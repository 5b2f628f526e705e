//! The libraries that the ported programs know.

/// A library.
#[allow(dead_code, reason = "the translations name them")]
pub enum Kind {
    Plain,
    Hand,
    Anabranch,
    Rayon,
}
