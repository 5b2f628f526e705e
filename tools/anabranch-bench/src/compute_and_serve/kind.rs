//! The compared ways to compute and serve in one program.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::bench::Peers;

/// A runtime for timers and sockets with a pool for loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// anabranch: one pool for both. A fiber hands a loop over with `cx.blocking`.
    Anabranch,
    /// tokio and rayon. A task hands a loop over with `spawn_blocking`.
    TokioRayon,
    /// tokio and rayon. A task hands a loop over with `rayon::spawn`, and a oneshot channel returns the result.
    RayonSpawn,
}

impl Kind {
    /// Returns whether a task hands a loop over in a different way than another kind does with the same libraries.
    pub(super) fn differs_when_handed_over(self) -> bool {
        self == Kind::RayonSpawn
    }
}

impl Peers for Kind {
    const ALL: &'static [Kind] = &[
        Kind::Anabranch,
        #[cfg(feature = "peers")]
        Kind::TokioRayon,
        #[cfg(feature = "peers")]
        Kind::RayonSpawn,
    ];

    const BASELINE: Kind = Kind::Anabranch;
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Anabranch => "anabranch",
            Kind::TokioRayon => "tokio+rayon",
            Kind::RayonSpawn => "tokio+rayon-spawn",
        })
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
