//! The problem to generate: scale, edge factor, seed.

use std::fmt;

/// The size of a Graph500 problem and its seed.
///
/// ```
/// use graph500::Spec;
/// let spec = Spec::new(20, 16, 1)?;
/// assert_eq!(spec.num_vertices(), 1 << 20);
/// assert_eq!(spec.num_edges(), 16 << 20);
/// assert!(Spec::new(0, 16, 1).is_err());
/// # Ok::<(), graph500::SpecError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    scale: u32,
    edge_factor: u64,
    seed: u64,
}

impl Spec {
    /// The largest scale.
    pub const MAX_SCALE: u32 = 40;

    /// Creates a problem of 2^`scale` vertices and `edge_factor` times as many edge tuples. The benchmark's edge factor
    /// is 16.
    ///
    /// # Errors
    /// Fails if the scale is not in 1..=40, the edge factor is 0, or their product exceeds 2^48 tuples.
    pub fn new(scale: u32, edge_factor: u64, seed: u64) -> Result<Spec, SpecError> {
        if !(1..=Self::MAX_SCALE).contains(&scale) {
            return Err(SpecError::Scale { scale });
        }
        if edge_factor == 0 {
            return Err(SpecError::EdgeFactor);
        }
        if edge_factor > (1 << 48) >> scale {
            return Err(SpecError::TooManyEdges { scale, edge_factor });
        }
        Ok(Spec { scale, edge_factor, seed })
    }

    /// Returns the binary logarithm of the number of vertices.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Returns the edge tuples per vertex.
    pub fn edge_factor(&self) -> u64 {
        self.edge_factor
    }

    /// Returns the seed of the generator and of the choice of search keys.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns 2^scale.
    pub fn num_vertices(&self) -> u64 {
        1 << self.scale
    }

    /// Returns the edge factor times 2^scale.
    pub fn num_edges(&self) -> u64 {
        self.edge_factor << self.scale
    }
}

/// Why a [`Spec`] is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// The scale is outside 1..=40.
    Scale {
        /// The requested scale.
        scale: u32,
    },
    /// The edge factor is zero.
    EdgeFactor,
    /// There would be more than 2^48 tuples.
    TooManyEdges {
        /// The requested scale.
        scale: u32,
        /// The requested edge factor.
        edge_factor: u64,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SpecError::Scale { scale } => {
                write!(f, "scale {scale} is out of range: choose one from 1 to {}", Spec::MAX_SCALE)
            }
            SpecError::EdgeFactor => {
                f.write_str("edge factor 0 makes no edges: choose at least 1, the benchmark's is 16")
            }
            SpecError::TooManyEdges { scale, edge_factor } => write!(
                f,
                "scale {scale} with edge factor {edge_factor} is more than 2^48 edges: choose an edge factor of at most {}",
                (1u64 << 48) >> scale
            ),
        }
    }
}

impl std::error::Error for SpecError {}
