//! The handshake of both sides: their protocol and their side.
//!
//! | bytes | what | |
//! |---|---|---|
//! | 9 | `anabranch` | so that a stranger is known by its first wrong byte |
//! | 1 | the format of all that follows | [`FORMAT`] |
//! | 1 | the side | 0: the client, 1: the server |
//! | 4 | the version of the protocol | the least byte first |
//! | 8 | its hash | the same |
//! | 1 | the length of its name | |
//! | | its name | UTF-8 |
//!
//! Both sides send it at once and then receive. It is short enough for any stream to take, and two servers, which would
//! both wait, find the error.
//!
//! The hash is FNV-1a of the protocol's source text, in a form without spaces. It does not cover the contents of types,
//! hence the version. Parameters would all be `T` in it, so the macro refuses a protocol with parameters.

use crate::proto::wire::{
    codec::Script,
    error::{FORMAT, WireError},
};

pub(crate) const MAGIC: &[u8; 9] = b"anabranch";

/// The bytes before the name.
pub(crate) const FIXED: usize = MAGIC.len() + 1 + 1 + 4 + 8 + 1;

/// Returns the handshake of this side.
pub(crate) fn written<P: Script>(is_client: bool) -> Vec<u8> {
    const { assert!(P::NAME.len() <= u8::MAX as usize, "the name of a protocol has 255 bytes at most") };
    let mut hello = MAGIC.to_vec();
    hello.extend([FORMAT, u8::from(!is_client)]);
    hello.extend(P::VERSION.to_le_bytes());
    hello.extend(P::HASH.to_le_bytes());
    hello.push(P::NAME.len() as u8);
    hello.extend(P::NAME.as_bytes());
    hello
}

/// Returns the length of the other side's handshake, once enough bytes have arrived. Fails as soon as the bytes cannot
/// be a handshake.
pub(crate) fn length(began: &[u8]) -> Result<Option<usize>, WireError> {
    let magic = began.len().min(MAGIC.len());
    if began[..magic] != MAGIC[..magic] {
        return Err(WireError::Stranger(began[..magic].to_vec()));
    }
    if let Some(&format) = began.get(MAGIC.len())
        && format != FORMAT
    {
        return Err(WireError::Format(format));
    }
    Ok(began.get(FIXED - 1).map(|&name| FIXED + usize::from(name)))
}

/// Checks that the other side, which sent this handshake, has the same protocol and is the other side of it.
pub(crate) fn check<P: Script>(hello: &[u8], is_client: bool) -> Result<(), WireError> {
    let mut at = MAGIC.len() + 1;
    let mut next = |count: usize| {
        at += count;
        &hello[at - count..at]
    };
    let side = next(1)[0];
    let version = u32::from_le_bytes(next(4).try_into().expect("four bytes"));
    let hash = u64::from_le_bytes(next(8).try_into().expect("eight bytes"));
    let name = String::from_utf8_lossy(&hello[FIXED..]);
    if name != P::NAME {
        return Err(WireError::OtherProtocol { ours: P::NAME, theirs: name.into_owned() });
    }
    if version != P::VERSION {
        return Err(WireError::OtherVersion { protocol: P::NAME, ours: P::VERSION, theirs: version });
    }
    if hash != P::HASH {
        return Err(WireError::OtherText { protocol: P::NAME });
    }
    if side != u8::from(is_client) {
        return Err(WireError::SameSide(if is_client { "client" } else { "server" }));
    }
    Ok(())
}
