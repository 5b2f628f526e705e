//! Streams and one-shot channels, used through the public functions with a `Cx`: waits that are cancelled.

use super::{
    explore,
    parcel::Parcel,
    thread::{Thread, root, spawn, spawn_below},
};
use crate::channel::{RecvError, SendError, oneshot, spsc};

/// The sender of a stream is cancelled while the receiver makes room. The receiver gets the value if and only if the
/// sender does not get it back.
#[test]
fn models_channel_cx_cancelled_send_returns_or_delivers_value() {
    explore("stream, the sender is cancelled", Some(1), || {
        let root = root();
        let (mut sender, mut receiver) = spsc::bounded(1);
        assert!(sender.try_send(Parcel::new(1)).is_ok());
        let sending = spawn_below(&root, move |cx| match sender.send(cx, Parcel::new(2)) {
            Ok(()) => true,
            Err(SendError::Cancelled(back)) => back.open() != 2,
            Err(SendError::Closed(_)) => panic!("the receiver is there"),
        });
        let cancelling = spawn(move |_| root.cancel());
        let got: Vec<u32> = Thread::new().shielded(|cx| receiver.iter(cx).map(|got| got.unwrap().open()).collect());
        assert_eq!(got, if sending.join().unwrap() { vec![1, 2] } else { vec![1] });
        cancelling.join().unwrap();
    });
}

/// A cancelled receive loses nothing and can be repeated.
#[test]
fn models_channel_cx_cancelled_receive_can_be_repeated() {
    explore("oneshot, received again", Some(2), || {
        let root = root();
        let (sender, mut receiver) = oneshot::channel();
        let sending = spawn(move |_| assert!(sender.send(Parcel::new(1)).is_ok()));
        let receiving = spawn_below(&root, move |cx| (receiver.recv(cx).map(Parcel::open), receiver));
        root.cancel();
        let (got, mut receiver) = receiving.join().unwrap();
        let again = Thread::new().shielded(|cx| receiver.recv(cx).map(Parcel::open));
        assert!(matches!((got, again), (Ok(1), Err(RecvError::Closed)) | (Err(RecvError::Cancelled), Ok(1))));
        sending.join().unwrap();
    });
}
