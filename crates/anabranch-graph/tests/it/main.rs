//! The public interface, against plain sequential answers.

mod construction;
mod files;
