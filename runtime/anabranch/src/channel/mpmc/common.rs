//! Methods of both ends, and `Debug` for types without anything to show.

/// The methods of both ends.
macro_rules! common {
    ($end:ident) => {
        impl<T> $end<T> {
            /// Closes the channel for all its ends: values sent before can still be received, and nothing can be sent
            /// any more.
            ///
            /// ```
            /// let (sender, receiver) = anabranch::channel::unbounded();
            /// sender.try_send(1).unwrap();
            /// receiver.close();
            /// assert!(sender.is_closed() && sender.try_send(2).is_err());
            /// assert_eq!(receiver.drain().collect::<Vec<_>>(), [1]);
            /// ```
            pub fn close(&self) {
                self.channel.close();
            }

            /// Returns whether the channel is closed. There may still be something to receive.
            pub fn is_closed(&self) -> bool {
                self.channel.is_closed()
            }

            /// Returns how many values were sent and not received yet. In a [rendezvous](crate::channel::rendezvous)
            /// that is 0.
            pub fn len(&self) -> usize {
                self.channel.len()
            }

            /// Returns whether [`len`](Self::len) is 0. If the channel is also closed, nothing more can be received.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the number of senders, without weak ones.
            pub fn sender_count(&self) -> usize {
                self.channel.sender_count()
            }

            /// Returns the number of weak senders. While other threads create or drop ends, the number may be
            /// inaccurate.
            pub fn weak_sender_count(&self) -> usize {
                $crate::channel::mpmc::shared::Channel::weak_sender_count(&self.channel)
            }

            /// Returns the number of receivers.
            pub fn receiver_count(&self) -> usize {
                self.channel.receiver_count()
            }

            /// Returns the capacity, or `None` if it is unlimited.
            pub fn capacity(&self) -> Option<usize> {
                self.channel.capacity()
            }

            /// Returns whether both are ends of the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.channel, &other.channel)
            }
        }

        impl<T> fmt::Debug for $end<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = f.debug_struct(stringify!($end));
                shown.field("len", &self.len()).field("capacity", &self.capacity());
                shown.field("is_closed", &self.is_closed()).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use common;

/// `Debug` for types without anything to show.
macro_rules! opaque {
    ($($name:ident $(<$a:lifetime>)?),*) => {$(
        impl<T> fmt::Debug for $name<$($a,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
pub(super) use opaque;
