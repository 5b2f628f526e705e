//! Why a pool could not be built.

use anabranch::pool::BuildError;
use std::{error::Error, fmt, io};

/// Why a pool could not be built.
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: ErrorKind,
}

#[derive(Debug)]
enum ErrorKind {
    GlobalPoolAlreadyInitialized,
    CurrentThreadAlreadyInPool,
    IOError(io::Error),
}

const GLOBAL_POOL_ALREADY_INITIALIZED: &str = "The global thread pool has already been initialized.";
const CURRENT_THREAD_ALREADY_IN_POOL: &str = "The current thread is already part of another thread pool.";

impl From<BuildError> for ThreadPoolBuildError {
    fn from(error: BuildError) -> Self {
        let kind = match error {
            BuildError::DefaultExists => ErrorKind::GlobalPoolAlreadyInitialized,
            BuildError::CurrentThreadInPool => ErrorKind::CurrentThreadAlreadyInPool,
            BuildError::Spawn(error) => ErrorKind::IOError(error),
            // The layer sets a valid number of threads, and its start handler does not panic.
            other => ErrorKind::IOError(io::Error::other(other.to_string())),
        };
        Self { kind }
    }
}

impl Error for ThreadPoolBuildError {
    #[allow(deprecated)]
    fn description(&self) -> &str {
        match &self.kind {
            ErrorKind::GlobalPoolAlreadyInitialized => GLOBAL_POOL_ALREADY_INITIALIZED,
            ErrorKind::CurrentThreadAlreadyInPool => CURRENT_THREAD_ALREADY_IN_POOL,
            ErrorKind::IOError(error) => error.description(),
        }
    }

    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ErrorKind::GlobalPoolAlreadyInitialized | ErrorKind::CurrentThreadAlreadyInPool => None,
            ErrorKind::IOError(error) => Some(error),
        }
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::GlobalPoolAlreadyInitialized => GLOBAL_POOL_ALREADY_INITIALIZED.fmt(f),
            ErrorKind::CurrentThreadAlreadyInPool => CURRENT_THREAD_ALREADY_IN_POOL.fmt(f),
            ErrorKind::IOError(error) => error.fmt(f),
        }
    }
}
