//! std: `mpsc`, between threads.

use std::sync::mpsc;

use super::ROOM;

/// `channel`.
pub struct Unbounded;

/// `sync_channel`.
pub struct Bounded;

between_threads!(Unbounded: mpsc::Sender<u64>, mpsc::Receiver<u64>, mpsc::channel());
between_threads!(Bounded: mpsc::SyncSender<u64>, mpsc::Receiver<u64>, mpsc::sync_channel(ROOM));
