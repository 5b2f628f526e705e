//! The errors of a protocol, reported together.

use proc_macro2::Span;
use syn::{Error, Result};

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn add(&mut self, span: Span, text: String) {
        let error = Error::new(span, text);
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the errors, if there are any.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.0.take().map_or(Ok(()), Err)
    }
}
