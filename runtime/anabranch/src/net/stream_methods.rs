//! The methods of TCP streams and Unix streams, with their documentation. They forward to [`stream`](super::stream).

/// Defines the methods of both kinds of streams, for a type with a field `io`.
macro_rules! stream {
    ($stream:ident, $system:ty, $read:literal, $write:literal, has_no_boundaries: $has_no_boundaries:literal) => {
        impl $crate::net::Stream for $stream {}

        impl $crate::net::stream::Sealed for $stream {
            type System = $system;

            const READ: &'static &'static str = &$read;
            const WRITE: &'static &'static str = &$write;
            const HAS_NO_BOUNDARIES: bool = $has_no_boundaries;

            #[inline]
            fn io(&self) -> &$crate::net::io::Io<$system> {
                &self.io
            }

            fn shut_down(&self, how: ::std::net::Shutdown) -> ::std::io::Result<()> {
                self.shutdown(how)
            }

            #[inline]
            fn reader(system: &$system) -> impl ::std::io::Read + '_ {
                system
            }
        }

        impl $stream {
            /// Reads some bytes into `buffer`, and returns their number. Zero means the end of the stream, or an empty
            /// buffer.
            ///
            /// # Errors
            /// Returns the errors of the system, and an error for which [`is_cancelled`](crate::net::is_cancelled)
            /// holds if the scope is cancelled.
            #[inline]
            #[track_caller]
            pub fn read(&self, cx: &$crate::Cx<'_>, buffer: &mut [u8]) -> ::std::io::Result<usize> {
                $crate::net::stream::read(self, cx, buffer)
            }

            /// Reads some bytes into several buffers, one after the other, and returns their number.
            ///
            /// # Errors
            /// Returns the errors of [`read`](Self::read).
            #[track_caller]
            pub fn read_vectored(
                &self,
                cx: &$crate::Cx<'_>,
                buffers: &mut [::std::io::IoSliceMut<'_>],
            ) -> ::std::io::Result<usize> {
                $crate::net::stream::read_vectored(self, cx, buffers)
            }

            /// Reads exactly as many bytes as `buffer` has.
            ///
            /// # Errors
            /// Returns the errors of [`read`](Self::read), and `UnexpectedEof` if the stream ends before. Bytes that
            /// were read before an error are in `buffer`.
            #[track_caller]
            pub fn read_exact(&self, cx: &$crate::Cx<'_>, buffer: &mut [u8]) -> ::std::io::Result<()> {
                $crate::net::stream::read_exact(self, cx, buffer)
            }

            /// Reads all bytes until the end of the stream, appends them to `bytes`, and returns their number.
            ///
            /// # Errors
            /// Returns the errors of [`read`](Self::read). Bytes that were read before an error are in `bytes`.
            #[track_caller]
            pub fn read_to_end(&self, cx: &$crate::Cx<'_>, bytes: &mut Vec<u8>) -> ::std::io::Result<usize> {
                ::std::io::Read::read_to_end(&mut self.with(cx), bytes)
            }

            /// Reads all bytes until the end of the stream, appends them to `text`, and returns their number.
            ///
            /// # Errors
            /// Returns the errors of [`read`](Self::read), and `InvalidData` if the bytes are not UTF-8.
            #[track_caller]
            pub fn read_to_string(&self, cx: &$crate::Cx<'_>, text: &mut String) -> ::std::io::Result<usize> {
                ::std::io::Read::read_to_string(&mut self.with(cx), text)
            }

            /// Writes some of the bytes, and returns their number.
            ///
            /// # Errors
            /// Returns the errors of [`read`](Self::read). `BrokenPipe` means that the other side has closed the
            /// connection.
            #[inline]
            #[track_caller]
            pub fn write(&self, cx: &$crate::Cx<'_>, bytes: &[u8]) -> ::std::io::Result<usize> {
                $crate::net::stream::write(self, cx, bytes)
            }

            /// Writes some of the bytes of several buffers, one after the other, and returns their number.
            ///
            /// # Errors
            /// Returns the errors of [`write`](Self::write).
            #[track_caller]
            pub fn write_vectored(
                &self,
                cx: &$crate::Cx<'_>,
                buffers: &[::std::io::IoSlice<'_>],
            ) -> ::std::io::Result<usize> {
                $crate::net::stream::write_vectored(self, cx, buffers)
            }

            /// Writes all of the bytes.
            ///
            /// # Errors
            /// Returns the errors of [`write`](Self::write). Some bytes may have been written before an error.
            #[track_caller]
            pub fn write_all(&self, cx: &$crate::Cx<'_>, bytes: &[u8]) -> ::std::io::Result<()> {
                $crate::net::stream::write_all(self, cx, bytes)
            }

            /// Reads the bytes that are available now, without waiting.
            ///
            /// # Errors
            /// Returns the errors of the system, and `WouldBlock` if there is nothing to read.
            pub fn try_read(&self, buffer: &mut [u8]) -> ::std::io::Result<usize> {
                $crate::net::stream::try_read(self, buffer)
            }

            /// Writes as many bytes as there is room for now, without waiting.
            ///
            /// # Errors
            /// Returns the errors of the system, and `WouldBlock` if there is no room.
            pub fn try_write(&self, bytes: &[u8]) -> ::std::io::Result<usize> {
                $crate::net::stream::try_write(self, bytes)
            }

            /// Like [`read`](Self::read), for async code. The future may be dropped at any time.
            ///
            /// # Errors
            /// Returns the errors of the system.
            pub fn read_async(
                &self,
                buffer: &mut [u8],
            ) -> impl ::std::future::Future<Output = ::std::io::Result<usize>> + Send {
                $crate::net::stream::read_async(self, buffer)
            }

            /// Like [`write`](Self::write), for async code. The future may be dropped at any time.
            ///
            /// # Errors
            /// Returns the errors of the system.
            pub fn write_async(
                &self,
                bytes: &[u8],
            ) -> impl ::std::future::Future<Output = ::std::io::Result<usize>> + Send {
                $crate::net::stream::write_async(self, bytes)
            }

            /// Returns an [operation](crate::Operation) that completes when a read probably does not have to wait.
            pub fn readable(&self) -> $crate::net::Ready<'_> {
                self.io.ready($crate::reactor::readiness::Direction::Read)
            }

            /// Returns an [operation](crate::Operation) that completes when a write probably does not have to wait.
            pub fn writable(&self) -> $crate::net::Ready<'_> {
                self.io.ready($crate::reactor::readiness::Direction::Write)
            }

            /// Returns a value that implements `Read` and `Write`, and waits with `cx`. See
            /// [`With`](crate::net::With).
            #[inline]
            pub fn with<'a>(&'a self, cx: &'a $crate::Cx<'a>) -> $crate::net::With<'a, Self> {
                $crate::net::With::new(self, cx)
            }

            /// Returns the two directions of the stream, by reference.
            pub fn split(&self) -> ($crate::net::ReadHalf<'_, Self>, $crate::net::WriteHalf<'_, Self>) {
                $crate::net::half::split(self)
            }

            /// Returns the two directions of the stream, which share it. The half that writes shuts its direction down
            /// when it is dropped, and the stream is closed when both are dropped.
            pub fn into_split(self) -> ($crate::net::OwnedReadHalf<Self>, $crate::net::OwnedWriteHalf<Self>) {
                $crate::net::half::into_split(self)
            }
        }

        impl ::futures_io::AsyncRead for &$stream {
            fn poll_read(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
                buffer: &mut [u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                $crate::net::stream::poll_read(*self, context, buffer)
            }
        }

        /// Closing shuts the direction down.
        impl ::futures_io::AsyncWrite for &$stream {
            fn poll_write(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
                bytes: &[u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                $crate::net::stream::poll_write(*self, context, bytes)
            }

            fn poll_flush(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::std::task::Poll::Ready(Ok(()))
            }

            fn poll_close(
                self: ::std::pin::Pin<&mut Self>,
                _: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::std::task::Poll::Ready(self.shutdown(::std::net::Shutdown::Write))
            }
        }

        /// Of several tasks that poll at a time the last is woken. `read_async` has no such limit.
        impl ::futures_io::AsyncRead for $stream {
            fn poll_read(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
                buffer: &mut [u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                $crate::net::stream::poll_read(&*self, context, buffer)
            }
        }

        /// Closing shuts the direction down. Of several tasks that poll at a time the last is woken.
        impl ::futures_io::AsyncWrite for $stream {
            fn poll_write(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
                bytes: &[u8],
            ) -> ::std::task::Poll<::std::io::Result<usize>> {
                $crate::net::stream::poll_write(&*self, context, bytes)
            }

            fn poll_flush(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::futures_io::AsyncWrite::poll_flush(::std::pin::Pin::new(&mut &*self), context)
            }

            fn poll_close(
                self: ::std::pin::Pin<&mut Self>,
                context: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<::std::io::Result<()>> {
                ::futures_io::AsyncWrite::poll_close(::std::pin::Pin::new(&mut &*self), context)
            }
        }

        $crate::net::io::conversions!($stream, $system);
    };
}
pub(super) use stream;
