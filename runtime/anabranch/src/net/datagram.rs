//! The common part of UDP sockets and Unix datagram sockets.

/// Defines the methods of both kinds for connected sockets, for a type with a field `io`.
macro_rules! datagrams {
    ($socket:ident, $system:ty, $recv:literal, $send:literal) => {
        impl $socket {
            /// Receives a datagram from the address that the socket is connected to, and returns its length. Bytes that
            /// do not fit into `buffer` are lost.
            ///
            /// # Errors
            /// Returns the errors of the system, and an error for which [`is_cancelled`](crate::net::is_cancelled)
            /// holds if the scope is cancelled.
            #[track_caller]
            pub fn recv(&self, cx: &$crate::Cx<'_>, buffer: &mut [u8]) -> ::std::io::Result<usize> {
                let reason = $crate::wait::suspend::WaitReason::new(&$recv);
                self.io.perform(cx, $crate::reactor::readiness::Direction::Read, reason, |system| {
                    Ok($crate::net::transfer::done(system.recv(buffer)?))
                })
            }

            /// Sends a datagram to the address that the socket is connected to, and returns the number of bytes sent.
            ///
            /// # Errors
            /// Returns the errors of the system, and an error for which [`is_cancelled`](crate::net::is_cancelled)
            /// holds if the scope is cancelled.
            #[track_caller]
            pub fn send(&self, cx: &$crate::Cx<'_>, bytes: &[u8]) -> ::std::io::Result<usize> {
                let reason = $crate::wait::suspend::WaitReason::new(&$send);
                self.io.perform(cx, $crate::reactor::readiness::Direction::Write, reason, |system| {
                    Ok($crate::net::transfer::done($crate::net::transfer::send(system, bytes)?))
                })
            }

            /// Like [`recv`](Self::recv), for async code. The future may be dropped at any time.
            ///
            /// # Errors
            /// Returns the errors of the system.
            pub async fn recv_async(&self, buffer: &mut [u8]) -> ::std::io::Result<usize> {
                self.io
                    .perform_async($crate::reactor::readiness::Direction::Read, |system| {
                        Ok($crate::net::transfer::done(system.recv(buffer)?))
                    })
                    .await
            }

            /// Like [`send`](Self::send), for async code. The future may be dropped at any time.
            ///
            /// # Errors
            /// Returns the errors of the system.
            pub async fn send_async(&self, bytes: &[u8]) -> ::std::io::Result<usize> {
                self.io
                    .perform_async($crate::reactor::readiness::Direction::Write, |system| {
                        Ok($crate::net::transfer::done($crate::net::transfer::send(system, bytes)?))
                    })
                    .await
            }

            /// Receives a datagram if there is one now.
            ///
            /// # Errors
            /// Returns the errors of the system, and `WouldBlock` if there is none.
            pub fn try_recv(&self, buffer: &mut [u8]) -> ::std::io::Result<usize> {
                self.io.try_once($crate::reactor::readiness::Direction::Read, |system| {
                    Ok($crate::net::transfer::done(system.recv(buffer)?))
                })
            }

            /// Sends a datagram if there is room for it now.
            ///
            /// # Errors
            /// Returns the errors of the system, and `WouldBlock` if there is no room.
            pub fn try_send(&self, bytes: &[u8]) -> ::std::io::Result<usize> {
                self.io.try_once($crate::reactor::readiness::Direction::Write, |system| {
                    Ok($crate::net::transfer::done($crate::net::transfer::send(system, bytes)?))
                })
            }

            /// Returns an [operation](crate::Operation) that completes when there is probably a datagram.
            pub fn readable(&self) -> $crate::net::Ready<'_> {
                self.io.ready($crate::reactor::readiness::Direction::Read)
            }

            /// Returns an [operation](crate::Operation) that completes when there is probably room to send.
            pub fn writable(&self) -> $crate::net::Ready<'_> {
                self.io.ready($crate::reactor::readiness::Direction::Write)
            }
        }

        $crate::net::io::conversions!($socket, $system);
    };
}
pub(super) use datagrams;
