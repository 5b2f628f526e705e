//! Sending small packets at once (`TCP_NODELAY`).
//!
//! By default a TCP socket keeps a small packet back until the other side has acknowledged the last one (Nagle's
//! algorithm), which takes up to 40 ms on Linux if the other side has nothing to send. A wire gathers its messages
//! itself, so it gains nothing by that.
//!
//! The stream of a wire has any type, borrowed ones included. So the type is compared at run time, without the bound
//! `'static` that `Any` has.

use std::{any::TypeId, marker::PhantomData, mem, net::TcpStream, ptr};

/// Sets the option if the stream is a `TcpStream`, of std or of this crate.
pub(super) fn set_nodelay<S>(stream: &S) {
    // An error means that the connection has ended, which the next read reports.
    if let Some(stream) = downcast::<S, TcpStream>(stream) {
        let _ = stream.set_nodelay(true);
    }
    #[cfg(all(feature = "net", any(unix, windows), not(any(loom, shuttle))))]
    if let Some(stream) = downcast::<S, crate::net::TcpStream>(stream) {
        let _ = stream.set_nodelay(true);
    }
}

/// A type that has no lifetime parameters.
trait Plain: 'static {}

impl Plain for TcpStream {}

#[cfg(all(feature = "net", any(unix, windows), not(any(loom, shuttle))))]
impl Plain for crate::net::TcpStream {}

fn downcast<S, T: Plain>(value: &S) -> Option<&T> {
    if id::<S>() != TypeId::of::<T>() {
        return None;
    }
    // SAFETY: `S` and `T` are the same type but for lifetimes, and `T` has none, as it is `Plain`.
    Some(unsafe { &*ptr::from_ref(value).cast::<T>() })
}

/// Returns the id of a type, in which each lifetime counts as `'static`.
fn id<S>() -> TypeId {
    trait Named {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<S> Named for PhantomData<S> {
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<S>()
        }
    }
    let named: &dyn Named = &PhantomData::<S>;
    // SAFETY: both types have the same layout. The method accesses no value of `S`, only the id of the type, which does
    // not depend on lifetimes.
    unsafe { mem::transmute::<&dyn Named, &(dyn Named + 'static)>(named) }.id()
}

#[cfg(test)]
mod tests {
    use super::downcast;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn only_the_type_itself_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(downcast::<_, TcpStream>(&&stream).is_none());
        assert!(downcast::<_, TcpStream>(&listener).is_none());
        assert!(downcast::<_, TcpStream>(&Some(&stream)).is_none());
        assert!(downcast::<_, TcpStream>(&stream).is_some());
    }
}
