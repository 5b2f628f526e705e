//! The events of a console of Windows.

use crate::{cx::Cx, sync::Notify};
use std::{
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};
use windows_sys::{
    Win32::System::Console::{
        CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT, SetConsoleCtrlHandler,
    },
    core::BOOL,
};

/// Ctrl-C and Ctrl-Break.
pub(super) static INTERRUPT: Signal = Signal::new();
/// The window is closed, the user logs off, or the system shuts down.
pub(super) static END: Signal = Signal::new();

/// Whether the handler is installed.
static IS_INSTALLED: Mutex<bool> = Mutex::new(false);

/// A kind of event, and the fibers that wait for one.
pub(super) struct Signal {
    is_used: AtomicBool,
    waits: Notify,
}

impl Signal {
    const fn new() -> Self {
        Self { is_used: AtomicBool::new(false), waits: Notify::new() }
    }

    #[track_caller]
    pub(super) fn wait(&self, cx: &Cx<'_>) -> io::Result<()> {
        install()?;
        self.is_used.store(true, Ordering::Release);
        Ok(self.waits.notified(cx)?)
    }
}

fn install() -> io::Result<()> {
    let mut is_installed = IS_INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_installed {
        // SAFETY: the handler lives as long as the process, and does not unwind.
        if unsafe { SetConsoleCtrlHandler(Some(handle), 1) } == 0 {
            return Err(io::Error::last_os_error());
        }
        *is_installed = true;
    }
    Ok(())
}

/// Called by the system, on a thread of its own for each event.
unsafe extern "system" fn handle(event: u32) -> BOOL {
    let signal = match event {
        CTRL_C_EVENT | CTRL_BREAK_EVENT => &INTERRUPT,
        CTRL_CLOSE_EVENT | CTRL_LOGOFF_EVENT | CTRL_SHUTDOWN_EVENT => &END,
        _ => return 0,
    };
    if !signal.is_used.load(Ordering::Acquire) {
        return 0;
    }
    signal.waits.notify_waiters();
    while event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT {
        // When this returns, the system ends the process at once, and otherwise after some seconds.
        thread::park();
    }
    1
}
