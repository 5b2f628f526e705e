//! UDP sockets.

use crate::{
    cx::Cx,
    net::{
        addr::{ToSocketAddrs, first_of, lookup_host},
        datagram::datagrams,
        io::Io,
        transfer::done,
    },
    reactor::readiness::Direction,
    wait::suspend::WaitReason,
};
use std::{
    io,
    net::{self, SocketAddr},
};

/// A UDP socket.
///
/// All methods take `&self`, so any number of fibers may receive from one socket. Each datagram goes to one of them.
///
/// ```
/// use anabranch::net::UdpSocket;
///
/// anabranch::run(|cx| -> std::io::Result<()> {
///     let server = UdpSocket::bind(cx, "127.0.0.1:0")?;
///     let client = UdpSocket::bind(cx, "127.0.0.1:0")?;
///     client.send_to(cx, b"ping", server.local_addr()?)?;
///     let mut buffer = [0; 16];
///     let (len, sender) = server.recv_from(cx, &mut buffer)?;
///     assert_eq!((&buffer[..len], sender), (&b"ping"[..], client.local_addr()?));
///     Ok(())
/// }).unwrap();
/// ```
pub struct UdpSocket {
    io: Io<net::UdpSocket>,
}

datagrams!(UdpSocket, net::UdpSocket, "UdpSocket::recv", "UdpSocket::send");

impl UdpSocket {
    /// Creates a socket that is bound to the first of the addresses for which that is possible.
    ///
    /// # Errors
    /// Returns the errors of the system and of [`lookup_host`](crate::net::lookup_host).
    #[track_caller]
    pub fn bind(cx: &Cx<'_>, address: impl ToSocketAddrs) -> io::Result<Self> {
        first_of(cx, address, |address| Self::from_std(net::UdpSocket::bind(address)?))
    }

    /// Connects the socket to the first of the addresses for which that is possible: from then on it receives datagrams
    /// from that address alone.
    ///
    /// # Errors
    /// Returns the errors of the system and of [`lookup_host`](crate::net::lookup_host).
    #[track_caller]
    pub fn connect(&self, cx: &Cx<'_>, address: impl ToSocketAddrs) -> io::Result<()> {
        first_of(cx, address, |address| self.io.get().connect(address))
    }

    /// Sends a datagram to the first of the addresses, and returns the number of bytes sent.
    ///
    /// # Errors
    /// Returns the errors of [`send`](Self::send), and the errors of [`lookup_host`](crate::net::lookup_host).
    #[track_caller]
    pub fn send_to(&self, cx: &Cx<'_>, bytes: &[u8], address: impl ToSocketAddrs) -> io::Result<usize> {
        let reason = WaitReason::new(&"UdpSocket::send_to");
        let address = lookup_host(cx, address)?.first().copied().ok_or(io::ErrorKind::InvalidInput)?;
        self.io.perform(cx, Direction::Write, reason, |system| Ok(done(system.send_to(bytes, address)?)))
    }

    /// Sends a datagram if there is room for it now.
    ///
    /// # Errors
    /// Returns the errors of [`try_send`](Self::try_send).
    pub fn try_send_to(&self, bytes: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.io.try_once(Direction::Write, |system| Ok(done(system.send_to(bytes, address)?)))
    }

    /// Like [`send_to`](Self::send_to), for async code. The future may be dropped at any time.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub async fn send_to_async(&self, bytes: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.io.perform_async(Direction::Write, |system| Ok(done(system.send_to(bytes, address)?))).await
    }

    /// Receives a datagram, and returns its length and its sender, but leaves it in the queue.
    ///
    /// # Errors
    /// Returns the errors of [`recv`](Self::recv).
    #[track_caller]
    pub fn peek_from(&self, cx: &Cx<'_>, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let reason = WaitReason::new(&"UdpSocket::peek_from");
        self.io.perform(cx, Direction::Read, reason, |system| Ok(done(system.peek_from(buffer)?)))
    }

    /// Receives a datagram, and returns its length and its sender. Bytes that do not fit into `buffer` are lost.
    ///
    /// # Errors
    /// Returns the errors of [`recv`](Self::recv).
    #[track_caller]
    pub fn recv_from(&self, cx: &Cx<'_>, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let reason = WaitReason::new(&"UdpSocket::recv_from");
        self.io.perform(cx, Direction::Read, reason, |system| Ok(done(system.recv_from(buffer)?)))
    }

    /// Receives a datagram if there is one now, and returns its length and its sender.
    ///
    /// # Errors
    /// Returns the errors of [`try_recv`](Self::try_recv).
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.try_once(Direction::Read, |system| Ok(done(system.recv_from(buffer)?)))
    }

    /// Like [`recv_from`](Self::recv_from), for async code. The future may be dropped at any time.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub async fn recv_from_async(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.perform_async(Direction::Read, |system| Ok(done(system.recv_from(buffer)?))).await
    }

    /// Returns the address of this side.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }

    /// Returns the address that the socket is connected to.
    ///
    /// # Errors
    /// Returns the errors of the system: there may be none.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().peer_addr()
    }

    /// Returns whether it may send to broadcast addresses.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.io.get().broadcast()
    }

    /// Sets whether it may send to broadcast addresses.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.io.get().set_broadcast(broadcast)
    }

    /// Returns the time to live of the packets that it sends.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.get().ttl()
    }

    /// Sets the time to live of the packets that it sends.
    ///
    /// # Errors
    /// Returns the errors of the system.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.get().set_ttl(ttl)
    }
}
