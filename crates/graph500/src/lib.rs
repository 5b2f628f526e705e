//! Graph500.
