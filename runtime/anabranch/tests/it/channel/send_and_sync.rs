//! Which channel types are `Send` and `Sync`, by the kind of their values.
//!
//! RUSTSEC-2026-0221 is a type of event-listener that was `Send` and `Sync` for all values. kanal 33 is the same bug
//! at the ends of a channel. Each type is checked for each kind of value.

use anabranch::channel::{
    self, Closed, ClosedError, Permit, Receive, Receiver, ReceiverSet, Select, SendError, Sender, TrySendError,
    WeakSender, bounded, broadcast, oneshot, spsc, watch,
};
use std::{cell::Cell, marker::PhantomData, rc::Rc, sync::MutexGuard};

/// Whether a type is `Send`, and whether it is `Sync`: an inherent function comes before one of a trait, where its
/// bounds hold.
struct Asked<T: ?Sized>(PhantomData<T>);

trait Otherwise {
    fn is_send(&self) -> bool {
        false
    }

    fn is_sync(&self) -> bool {
        false
    }
}

impl<T: ?Sized> Otherwise for Asked<T> {}

impl<T: ?Sized + Send> Asked<T> {
    fn is_send(&self) -> bool {
        true
    }
}

impl<T: ?Sized + Sync> Asked<T> {
    fn is_sync(&self) -> bool {
        true
    }
}

/// The type of a value that cannot be named.
fn like<T: ?Sized>(_: &T) -> Asked<T> {
    Asked(PhantomData)
}

/// Of one type.
macro_rules! crosses {
    ($type:ty) => {{
        let asked = Asked::<$type>(PhantomData);
        (asked.is_send(), asked.is_sync())
    }};
}

/// Both, neither; the other two are `(true, false)` and `(false, true)`.
const BOTH: (bool, bool) = (true, true);
const NEITHER: (bool, bool) = (false, false);

#[test]
fn probe_detects_send_and_sync() {
    assert_eq!(crosses!(u8), BOTH);
    assert_eq!(crosses!(Cell<u8>), (true, false));
    assert_eq!(crosses!(MutexGuard<'static, u8>), (false, true));
    assert_eq!(crosses!(Rc<u8>), NEITHER);
    assert_eq!((like(&Rc::new(1)).is_send(), like(&1).is_send()), (false, true));
}

/// Values that one end has and then the other: all depends on whether they can be sent.
macro_rules! handed_on {
    ($value:ty, $is_send:expr) => {{
        let ends = if $is_send { BOTH } else { NEITHER };
        assert_eq!(crosses!(Sender<$value>), ends);
        assert_eq!(crosses!(WeakSender<$value>), ends);
        assert_eq!(crosses!(Receiver<$value>), ends);
        assert_eq!(crosses!(Permit<'static, $value>), ends);
        assert_eq!(crosses!(spsc::Sender<$value>), ends);
        assert_eq!(crosses!(spsc::Receiver<$value>), ends);
        assert_eq!(crosses!(spsc::Permit<'static, $value>), ends);
        assert_eq!(crosses!(oneshot::Sender<$value>), ends);
        assert_eq!(crosses!(oneshot::Receiver<$value>), ends);
        assert_eq!(crosses!(ReceiverSet<Receiver<$value>>), ends);
        assert_eq!(crosses!(ReceiverSet<spsc::Receiver<$value>>), ends);
        assert_eq!(crosses!(ReceiverSet<oneshot::Receiver<$value>>), ends);

        // An operation belongs to one fiber or thread: it may move to another thread, but not be shared.
        let operations = [
            crosses!(channel::Receiving<'static, $value>),
            crosses!(channel::Reserving<'static, $value>),
            crosses!(spsc::Receiving<'static, $value>),
            crosses!(spsc::Sending<'static, $value>),
            crosses!(oneshot::Receiving<'static, $value>),
            crosses!(channel::SetReceiving<'static, Receiver<$value>>),
            crosses!(Select<channel::Receiving<'static, $value>>),
            crosses!(Select<spsc::Receiving<'static, $value>>),
            crosses!(Select<spsc::Sending<'static, $value>>),
        ];
        assert_eq!(operations, [($is_send, false); 9]);
        assert_eq!(crosses!(channel::Sending<'static, $value>).0, $is_send);
        assert_eq!(crosses!(Select<channel::Sending<'static, $value>>).0, $is_send);
    }};
}

/// Values that all receivers look at: they have to be such that they can be sent *and* looked at by several.
macro_rules! looked_at {
    ($value:ty, $is_both:expr) => {{
        let ends = if $is_both { BOTH } else { NEITHER };
        assert_eq!(crosses!(watch::Sender<$value>), ends);
        assert_eq!(crosses!(watch::WeakSender<$value>), ends);
        assert_eq!(crosses!(watch::Receiver<$value>), ends);
        assert_eq!(crosses!(broadcast::Sender<$value>), ends);
        assert_eq!(crosses!(broadcast::WeakSender<$value>), ends);
        assert_eq!(crosses!(broadcast::Receiver<$value>), ends);
        assert_eq!(crosses!(ReceiverSet<watch::Receiver<$value>>), ends);
        assert_eq!(crosses!(ReceiverSet<broadcast::Receiver<$value>>), ends);
        assert_eq!(crosses!(watch::Receiving<'static, $value>), ($is_both, false));
        assert_eq!(crosses!(broadcast::Receiving<'static, $value>), ($is_both, false));
        assert_eq!(crosses!(channel::SetReceiving<'static, watch::Receiver<$value>>), ($is_both, false));
    }};
}

#[test]
fn rustsec_2026_0221_ends_and_operations_are_send_as_their_values() {
    handed_on!(u8, true);
    handed_on!(Cell<u8>, true);
    handed_on!(MutexGuard<'static, u8>, false);
    handed_on!(Rc<u8>, false);
    looked_at!(u8, true);
    looked_at!(Cell<u8>, false);
    looked_at!(MutexGuard<'static, u8>, false);
    looked_at!(Rc<u8>, false);
}

/// A value that comes back is the sender's own again.
#[test]
fn errors_are_send_as_their_values() {
    assert_eq!(crosses!((ClosedError<u8>, SendError<u8>, TrySendError<u8>)), BOTH);
    assert_eq!(crosses!(ClosedError<Cell<u8>>), (true, false));
    assert_eq!(crosses!(SendError<Rc<u8>>), NEITHER);
    assert_eq!(crosses!(SendError<Rc<u8>>), NEITHER);
    assert_eq!(crosses!(TrySendError<MutexGuard<'static, u8>>), (false, true));
}

/// Whether a future can be sent.
macro_rules! can_be_sent {
    ($future:expr) => {{
        let future = $future;
        like(&future).is_send()
    }};
}

/// The futures of one channel, each with whether it can be sent.
macro_rules! futures {
    ($value:expr) => {{
        let (sender, receiver) = bounded(1);
        let (mut inlet, mut outlet) = spsc::bounded(1);
        let (_reply, mut answer) = oneshot::channel();
        let (_settings, mut settings) = watch::channel($value);
        let (_events, mut events) = broadcast::channel(1);
        let mut set = ReceiverSet::from_iter([receiver.clone()]);
        let mut select = Select::from_iter([receiver.receiving()]);
        let (mut many, mut batch) = (Vec::new(), std::collections::VecDeque::from([$value]));
        // Of a type, before it is known from the first value.
        fn of_one_type<T>(
            _: &Sender<T>,
            _: &spsc::Sender<T>,
            _: &oneshot::Receiver<T>,
            _: &broadcast::Receiver<T>,
            _: T,
        ) {
        }
        of_one_type(&sender, &inlet, &answer, &events, $value);
        [
            can_be_sent!(sender.sending($value).into_future()),
            can_be_sent!(sender.reserving().into_future()),
            can_be_sent!(receiver.receiving().into_future()),
            can_be_sent!(receiver.recv_many_async(&mut many, 2)),
            can_be_sent!(inlet.sending($value).into_future()),
            can_be_sent!(inlet.send_all_async(&mut batch)),
            can_be_sent!(inlet.reserving().into_future()),
            can_be_sent!(outlet.receiving().into_future()),
            can_be_sent!(answer.receiving().into_future()),
            can_be_sent!(settings.receiving().into_future()),
            can_be_sent!(events.receiving().into_future()),
            can_be_sent!(set.receiving().into_future()),
            can_be_sent!(select.wait_async()),
        ]
    }};
}

#[test]
fn futures_are_send_as_their_values() {
    assert_eq!(futures!(1_u8), [true; 13]);
    assert_eq!(futures!(Rc::new(1)), [false; 13]);
    // Those that look at a value with others must not, if it is one that not several may look at.
    let looking = [9, 10];
    let expected = std::array::from_fn(|index| !looking.contains(&index));
    assert_eq!(futures!(Cell::new(1)), expected);
}

/// The item that a set receives. The trait is sealed, so other crates cannot implement it against these rules.
#[test]
fn set_item_is_that_of_its_members() {
    fn item<R: Receive<Item = Rc<u8>>>(set: &mut ReceiverSet<R>) -> Option<Result<Rc<u8>, Closed>> {
        set.try_recv().ok().map(|(_, received)| received)
    }
    let (sender, receiver) = bounded(1);
    let mut set = ReceiverSet::from_iter([receiver]);
    sender.try_send(Rc::new(7)).unwrap();
    assert_eq!(item(&mut set), Some(Ok(Rc::new(7))));
}
