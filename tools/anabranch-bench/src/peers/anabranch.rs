//! anabranch, in the two ways in which a program uses it: inside a pool that it built, and from a plain thread with the
//! default pool.

use super::Peer;

/// `anabranch::join` inside `Pool::install`.
pub struct Installed;

impl Peer for Installed {
    type Cx<'a> = ();
    type Pool = anabranch::Pool;

    fn pool(threads: usize) -> anabranch::Pool {
        anabranch::Pool::builder().threads(threads).build().expect("a pool can be built")
    }

    fn enter<R, F>(pool: &anabranch::Pool, f: F) -> R
    where
        R: Send,
        F: for<'c> FnOnce(&Self::Cx<'c>) -> R + Send,
    {
        pool.install(|| f(&()))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(_cx: &(), a: A, b: B) -> (RA, RB)
    where
        A: for<'c> FnOnce(&Self::Cx<'c>) -> RA + Send,
        B: for<'c> FnOnce(&Self::Cx<'c>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        anabranch::join(|| a(&()), || b(&()))
    }
}

/// `anabranch::join` from a plain thread, on the default pool of any size.
pub struct Outside;

impl Peer for Outside {
    type Cx<'a> = ();
    type Pool = ();

    /// Builds nothing: the default pool chooses its number of threads.
    fn pool(_threads: usize) {}

    fn enter<R, F>(_pool: &(), f: F) -> R
    where
        R: Send,
        F: for<'c> FnOnce(&Self::Cx<'c>) -> R + Send,
    {
        f(&())
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(_cx: &(), a: A, b: B) -> (RA, RB)
    where
        A: for<'c> FnOnce(&Self::Cx<'c>) -> RA + Send,
        B: for<'c> FnOnce(&Self::Cx<'c>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        anabranch::join(|| a(&()), || b(&()))
    }
}
