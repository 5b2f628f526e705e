//! The public interface, against plain sequential answers.

mod files;
