//! Addresses, and the resolution of names.

use crate::cx::Cx;
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
};

/// The target that a socket can be bound or connected to: addresses, or a name and a port that are resolved to
/// addresses.
///
/// Like `std::net::ToSocketAddrs`, but resolving a name suspends the fiber instead of blocking its thread. Only the
/// types listed below implement it.
#[allow(private_bounds, reason = "sealed")]
pub trait ToSocketAddrs: Target {}

pub(crate) trait Target {
    /// Returns the addresses, or the name and port to resolve.
    fn target(&self) -> io::Result<Addresses<'_>>;
}

pub(crate) enum Addresses<'a> {
    Known(Vec<SocketAddr>),
    Name(&'a str, u16),
}

/// Returns the addresses of `target`.
///
/// The system resolves names with functions that block, so this runs them on a thread for blocking calls. A cancelled
/// wait leaves that call running.
///
/// # Errors
/// Returns the errors of the system, `InvalidInput` if a string has no port, and an error for which
/// [`is_cancelled`](crate::net::is_cancelled) holds if the scope is cancelled.
///
/// ```
/// use anabranch::net::lookup_host;
///
/// let addresses = anabranch::run(|cx| lookup_host(cx, "localhost:80")).unwrap();
/// assert!(addresses.iter().all(|address| address.ip().is_loopback() && address.port() == 80));
/// ```
#[track_caller]
pub fn lookup_host(cx: &Cx<'_>, target: impl ToSocketAddrs) -> io::Result<Vec<SocketAddr>> {
    cx.checkpoint()?;
    match target.target()? {
        Addresses::Known(addresses) => Ok(addresses),
        Addresses::Name(name, port) => super::resolve::resolve(cx, name, port),
    }
}

/// Calls `attempt` with one address after the other, until it succeeds or the scope is cancelled.
pub(super) fn first_of<R>(
    cx: &Cx<'_>,
    target: impl ToSocketAddrs,
    mut attempt: impl FnMut(SocketAddr) -> io::Result<R>,
) -> io::Result<R> {
    let mut last = None;
    for address in lookup_host(cx, target)? {
        match attempt(address) {
            Ok(result) => return Ok(result),
            Err(error) if super::is_cancelled(&error) => return Err(error),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the name has no address")))
}

fn of_text(text: &str) -> io::Result<Addresses<'_>> {
    if let Ok(address) = text.parse() {
        return Ok(Addresses::Known(vec![address]));
    }
    let parts = text.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?)));
    let error = || io::Error::new(io::ErrorKind::InvalidInput, format!("{text:?} is not a name and a port"));
    parts.map(|(name, port)| Addresses::Name(name, port)).ok_or_else(error)
}

fn of_name(name: &str, port: u16) -> Addresses<'_> {
    match name.parse::<IpAddr>() {
        Ok(address) => Addresses::Known(vec![(address, port).into()]),
        Err(_) => Addresses::Name(name, port),
    }
}

macro_rules! targets {
    ($($(#[$attribute:meta])* [$($generics:tt)*] $type:ty: |$this:ident| $target:expr;)*) => {
        $(
            $(#[$attribute])*
            impl<$($generics)*> ToSocketAddrs for $type {}

            impl<$($generics)*> Target for $type {
                fn target(&self) -> io::Result<Addresses<'_>> {
                    let $this = self;
                    $target
                }
            }
        )*
    };
}

targets! {
    [] SocketAddr: |this| Ok(Addresses::Known(vec![*this]));
    [] SocketAddrV4: |this| Ok(Addresses::Known(vec![(*this).into()]));
    [] SocketAddrV6: |this| Ok(Addresses::Known(vec![(*this).into()]));
    [] (IpAddr, u16): |this| Ok(Addresses::Known(vec![(*this).into()]));
    [] (Ipv4Addr, u16): |this| Ok(Addresses::Known(vec![(*this).into()]));
    [] (Ipv6Addr, u16): |this| Ok(Addresses::Known(vec![(*this).into()]));
    [] [SocketAddr]: |this| Ok(Addresses::Known(this.to_vec()));
    [const N: usize] [SocketAddr; N]: |this| Ok(Addresses::Known(this.to_vec()));
    [] Vec<SocketAddr>: |this| Ok(Addresses::Known(this.clone()));
    /// A name or an address, a colon, and a port.
    [] str: |this| of_text(this);
    /// A name or an address, a colon, and a port.
    [] String: |this| of_text(this);
    /// A name or an address, and a port.
    [] (&str, u16): |this| Ok(of_name(this.0, this.1));
    /// A name or an address, and a port.
    [] (String, u16): |this| Ok(of_name(&this.0, this.1));
    [T: ToSocketAddrs + ?Sized] &T: |this| (**this).target();
}
