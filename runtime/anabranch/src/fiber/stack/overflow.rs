//! Reports which fiber has overflowed its stack.
//!
//! A stack that overflows runs into the guard below it, and the system sends SIGSEGV (SIGBUS on some systems). The
//! handler of the standard library knows only the guards of threads. It would treat the fault as a wild pointer, and
//! the process would die without a message. So the first stack installs a handler of this crate. The handler checks
//! which fiber the faulting thread runs. If the address is in the guard of that fiber, it names the fiber and aborts.
//! Every other fault goes to the handler that was installed before, as if this handler did not exist.
//!
//! The handler runs on the thread's alternate stack, because the thread's own stack has no room left. It does only what
//! is async-signal-safe. It reads a thread-local that needs no initialisation, fills a buffer on its stack, and calls
//! `write` and `abort`, or `sigaction` and `raise`.
//!
//! Ordering: the handler runs on the thread that wrote the data it reads. So only the compiler must not reorder the
//! accesses: the release fence in [`set_current`] pairs with the acquire fence in [`handle`].

use crate::{fiber::stack::alternate, sys::diagnostics};
use std::{
    io, mem,
    ops::Range,
    ptr,
    sync::{
        Once, OnceLock,
        atomic::{AtomicPtr, Ordering, compiler_fence},
    },
};

/// The handler's record of a fiber.
#[derive(Debug)]
pub(crate) struct Guarded {
    guard: Range<usize>,
    stack_size: usize,
    name: Option<ptr::NonNull<str>>,
}

impl Guarded {
    /// Creates the record of a fiber on a stack of `stack_size` bytes above `guard`. The name must stay in place for as
    /// long as the fiber is the [current](set_current) one.
    pub(crate) fn new(guard: Range<usize>, stack_size: usize, name: Option<&str>) -> Self {
        Self { guard, stack_size, name: name.map(ptr::NonNull::from) }
    }

    /// Sets another name, which must stay in place for as long as the fiber is current. This is not called while the
    /// fiber is the current one.
    pub(crate) fn set_name(&mut self, name: Option<&str>) {
        self.name = name.map(ptr::NonNull::from);
    }
}

thread_local! {
    /// The fiber that this thread runs, or null.
    static CURRENT: AtomicPtr<Guarded> = const { AtomicPtr::new(ptr::null_mut()) };
}

/// Sets the fiber that this thread runs from now on, or null. Returns the previous one.
///
/// # Safety
/// `fiber`, and the name in it, stay valid and unchanged until this is called again on this thread, or until the thread
/// ends.
#[inline]
pub(crate) unsafe fn set_current(fiber: *const Guarded) -> *const Guarded {
    CURRENT.with(|current| {
        let before = current.load(Ordering::Relaxed);
        compiler_fence(Ordering::Release);
        current.store(fiber.cast_mut(), Ordering::Relaxed);
        before
    })
}

/// Returns the lowest address of the stack of the fiber that this thread runs. Returns `None` on the thread's own
/// stack.
pub(crate) fn current_floor() -> Option<usize> {
    // SAFETY: the caller of `set_current` keeps the fiber valid until the next call on this thread.
    CURRENT.with(|current| unsafe { current.load(Ordering::Relaxed).as_ref() }).map(|fiber| fiber.guard.end)
}

/// The signals by which systems report an access to a guard.
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// The previous actions for these signals. They are set just after [`install`] has replaced them by [`handle`].
static PREVIOUS: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];

/// Installs the handler, once per process.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
            // SAFETY: a `sigaction` of zeros is valid. `handle` has the signature that SA_SIGINFO requires, and is
            // async-signal-safe.
            unsafe {
                let mut before: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, ptr::null(), &raw mut before);
                // The previous handler may depend on its mask, and on whether system calls restart.
                let mut ours = before;
                ours.sa_sigaction = handle as *const () as usize;
                ours.sa_flags =
                    libc::SA_SIGINFO | libc::SA_ONSTACK | before.sa_flags & (libc::SA_NODEFER | libc::SA_RESTART);
                if libc::sigaction(signal, &raw const ours, &raw mut before) == 0 {
                    let _ = previous.set(before);
                }
            }
        }
    });
}

/// Ensures that the handler can run on this thread, whose own stack may have no room left after an overflow. Each
/// thread calls this before it runs fibers.
///
/// # Errors
/// Fails when the system refuses the memory for an alternate stack. Without one an overflow ends the process without a
/// message.
pub(crate) fn ensure_alternate_stack() -> io::Result<()> {
    alternate::ensure()
}

/// The signal handler.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system calls this with a valid `info`. Only a fault has an address. A signal that a process sends
    // (`kill`) has a code that is not positive, or, on BSD and its descendants, above 65,536.
    let (is_fault, address) = unsafe { ((1..0x1_0000).contains(&(*info).si_code), (*info).si_addr() as usize) };
    let current = CURRENT.try_with(|current| current.load(Ordering::Relaxed)).unwrap_or(ptr::null_mut());
    compiler_fence(Ordering::Acquire);
    // SAFETY: the caller of `set_current` keeps the fiber valid until the next call on this thread, and this thread is
    // the one that the signal has interrupted.
    if let Some(fiber) = unsafe { current.as_ref() }
        && is_fault
        && fiber.guard.contains(&address)
    {
        // SAFETY: the name stays valid as long as the fiber does, which the caller of `set_current` guarantees.
        report(fiber.stack_size, fiber.name.map(|name| unsafe { name.as_ref() }));
    }
    // SAFETY: the system passed these arguments to this handler.
    unsafe { pass_on(signal, info, context, is_fault) };
}

/// The number of bytes of a fiber's name that the report shows.
const MAX_NAME: usize = 256;

/// Reports the fiber that has overflowed a stack of `stack_size` bytes, and ends the process. Async-signal-safe.
fn report(stack_size: usize, name: Option<&str>) -> ! {
    const ADVICE: &str = "make it larger with Builder::fiber_stack_size";
    let size = stack_size >> 10;
    match name {
        None => diagnostics::abort(format_args!("the stack of a fiber overflowed ({size} KiB); {ADVICE}")),
        Some(name) => {
            let is_boundary = |index: &usize| name.is_char_boundary(*index);
            let shown = &name[..(0..=MAX_NAME.min(name.len())).rfind(is_boundary).unwrap_or(0)];
            let rest = if shown.len() < name.len() { "..." } else { "" };
            diagnostics::abort(format_args!("the stack of fiber `{shown}{rest}` overflowed ({size} KiB); {ADVICE}"))
        }
    }
}

/// Performs the previous action of the signal.
///
/// # Safety
/// The caller is a handler for `signal`, and passes the arguments of the handler.
unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void, is_fault: bool) {
    let Some(previous) = SIGNALS.iter().position(|known| *known == signal).and_then(|index| PREVIOUS[index].get())
    else {
        // `install` is about to store the previous action. The fault repeats until then.
        return;
    };
    match previous.sa_sigaction {
        // A signal that a process sent is ignored. A fault cannot be ignored: it repeats, without a handler.
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: `previous` is the action that the system returned for this signal. `raise` is for a signal that
            // does not repeat by itself; it stays pending until this handler returns.
            unsafe {
                libc::sigaction(signal, previous, ptr::null_mut());
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: with SA_SIGINFO the stored address is a function of this type.
            unsafe { mem::transmute::<usize, Handler>(handler)(signal, info, context) };
        }
        // SAFETY: without SA_SIGINFO the stored address is a function of this type.
        handler => unsafe { mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler)(signal) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fiber::stack::{
        child,
        pool::{StackConfig, StackPool},
    };
    use corosensei::Coroutine;
    use std::{hint::black_box, process::Output, thread};

    const FAULTS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

    #[allow(unconditional_recursion, reason = "it is to overflow the stack")]
    fn recurse(n: u64) -> u64 {
        black_box(recurse(black_box(n) + 1)) + 1
    }

    fn touch_nothing() {
        // SAFETY: none. The write goes to an address that is never mapped, and ends the process.
        unsafe { ptr::without_provenance_mut::<u8>(16).write_volatile(1) };
    }

    /// Runs `body` in a fiber, as the scheduler does, above the stacks of others.
    fn in_fiber(name: Option<&str>, without_guard_markers: bool, body: fn()) {
        in_fiber_above(StackConfig::default().guard_size, name, without_guard_markers, body);
    }

    fn in_fiber_above(guard_size: usize, name: Option<&str>, without_guard_markers: bool, body: fn()) {
        let config = StackConfig { stack_size: 96 << 10, guard_size, without_guard_markers, ..StackConfig::default() };
        let mut pool = StackPool::new(config).unwrap();
        let below: [_; 8] = std::array::from_fn(|_| pool.take().unwrap());
        let stack = pool.take().unwrap();
        let guarded = stack.guarded(name);
        let mut fiber = Coroutine::<(), (), (), _>::with_stack(stack, move |_, ()| body());
        // SAFETY: `guarded` and the name outlive this block.
        unsafe {
            assert!(set_current(&raw const guarded).is_null());
            fiber.resume(());
            assert_eq!(set_current(ptr::null()), &raw const guarded);
        }
        pool.give_back(fiber.into_stack());
        below.into_iter().for_each(|stack| pool.give_back(stack));
    }

    /// Runs the test with this name in a child process.
    fn run(test: &str, case: &str) -> Output {
        child::run(&format!("fiber::stack::overflow::tests::{test}"), case)
    }

    #[track_caller]
    fn assert_says(child: &Output, signals: &[libc::c_int], text: &str) {
        child::assert_killed(child, signals);
        let error = child::error_text(child);
        assert!(error.contains(text), "{error}");
    }

    /// Asserts that the child's message does not mention fibers.
    #[track_caller]
    fn assert_no_word(child: &Output) {
        let error = child::error_text(child);
        assert!(!error.contains("anabranch: "), "{error}");
    }

    #[test]
    fn overflow_message_names_fiber() {
        const NAME: &str = "overflow_message_names_fiber";
        let Some(case) = child::case() else {
            for (case, fiber) in
                [("named", "fiber `crawler`"), ("unnamed", "a fiber"), ("protected", "fiber `crawler`")]
            {
                let text = format!("anabranch: the stack of {fiber} overflowed (96 KiB); make it larger with Builder");
                assert_says(&run(NAME, case), &[libc::SIGABRT], &text);
            }
            return;
        };
        ensure_alternate_stack().unwrap();
        in_fiber((case != "unnamed").then_some("crawler"), case == "protected", || _ = recurse(0));
    }

    /// Acts like a function compiled by C with a frame of this many bytes: it writes to the end of the frame, and not
    /// to the pages between.
    fn leap<const BYTES: usize>() {
        let here = black_box(0_u8);
        let end = ptr::from_ref(&here).addr() - BYTES;
        // SAFETY: none. The write is meant to end the process.
        unsafe { ptr::with_exposed_provenance_mut::<u8>(end).write_volatile(1) };
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn large_c_frame_hits_guard() {
        let usual = StackConfig::default().guard_size;
        let cases: [(&str, usize, fn()); 3] = [
            ("137", usual, leap::<{ 137 << 10 }>),
            ("250", usual, leap::<{ 250 << 10 }>),
            ("1000", 1 << 20, leap::<{ 1000 << 10 }>),
        ];
        let Some(case) = child::case() else {
            for (case, ..) in cases {
                for case in [case.to_owned(), format!("{case} protected")] {
                    let child = run("large_c_frame_hits_guard", &case);
                    assert_says(&child, &[libc::SIGABRT], "the stack of fiber `foreign` overflowed");
                }
            }
            return;
        };
        ensure_alternate_stack().unwrap();
        let (size, kind) = case.split_once(' ').unwrap_or((&case, ""));
        let (_, guard_size, leap) = cases.into_iter().find(|(name, ..)| *name == size).unwrap();
        in_fiber_above(guard_size, Some("foreign"), kind == "protected", leap);
    }

    #[test]
    fn overflow_on_foreign_thread_is_reported() {
        extern "C" fn start(_: *mut libc::c_void) -> *mut libc::c_void {
            ensure_alternate_stack().unwrap();
            in_fiber(Some("guest"), false, || _ = recurse(0));
            ptr::null_mut()
        }
        let Some(_) = child::case() else {
            let child = run("overflow_on_foreign_thread_is_reported", "foreign");
            return assert_says(&child, &[libc::SIGABRT], "the stack of fiber `guest` overflowed");
        };
        // SAFETY: `start` has the signature of a thread's start function, and `thread` is live and may be written.
        unsafe {
            let mut thread = mem::zeroed();
            assert_eq!(libc::pthread_create(&raw mut thread, ptr::null(), start, ptr::null_mut()), 0);
            libc::pthread_join(thread, ptr::null_mut());
        }
    }

    #[test]
    fn overflow_of_thread_stack_is_reported_by_std() {
        const NAME: &str = "overflow_of_thread_stack_is_reported_by_std";
        let Some(_) = child::case() else {
            let child = run(NAME, "thread");
            assert_says(&child, &[libc::SIGABRT], "thread 'deep' ");
            assert_says(&child, &[libc::SIGABRT], "has overflowed its stack");
            return assert_no_word(&child);
        };
        in_fiber(Some("before"), false, || ());
        let _ = thread::Builder::new().name("deep".into()).spawn(|| recurse(0)).unwrap().join();
    }

    #[test]
    fn wild_pointer_is_not_reported_as_overflow() {
        let Some(case) = child::case() else {
            for case in ["in a fiber", "outside", "without a handler"] {
                let child = run("wild_pointer_is_not_reported_as_overflow", case);
                child::assert_killed(&child, &FAULTS);
                assert_no_word(&child);
            }
            return;
        };
        if case == "without a handler" {
            set_handler(libc::SIG_DFL, 0);
        }
        in_fiber(Some("before"), false, if case == "in a fiber" { touch_nothing } else { || () });
        touch_nothing();
    }

    fn set_handler(handler: libc::sighandler_t, flags: libc::c_int) {
        for signal in SIGNALS {
            // SAFETY: a `sigaction` of zeros is valid, and the tests pass handlers that match the flags.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                (action.sa_sigaction, action.sa_flags) = (handler, flags);
                assert_eq!(libc::sigaction(signal, &raw const action, ptr::null_mut()), 0);
            }
        }
    }

    #[test]
    fn previous_handler_gets_all_other_faults() {
        extern "C" fn plain(signal: libc::c_int) {
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(if FAULTS.contains(&signal) { 41 } else { 1 }) }
        }
        extern "C" fn with_info(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
            // SAFETY: the system passes the `info` of a fault. `_exit` has no preconditions.
            unsafe { libc::_exit(if (*info).si_addr() as usize == 16 && !context.is_null() { 42 } else { 1 }) }
        }
        let Some(case) = child::case() else {
            for (case, code) in [("plain", 41), ("with info", 42)] {
                let child = run("previous_handler_gets_all_other_faults", case);
                assert_eq!(child.status.code(), Some(code), "{}", child::error_text(&child));
                assert_no_word(&child);
            }
            return;
        };
        match case.as_str() {
            "plain" => set_handler(plain as *const () as usize, libc::SA_ONSTACK),
            _ => set_handler(with_info as *const () as usize, libc::SA_ONSTACK | libc::SA_SIGINFO),
        }
        in_fiber(Some("wild"), false, touch_nothing);
    }

    #[test]
    fn sent_signal_reaches_previous_handler() {
        let Some(case) = child::case() else {
            let name = "sent_signal_reaches_previous_handler";
            child::assert_killed(&run(name, "default"), &[libc::SIGSEGV]);
            return assert_says(&run(name, "ignored"), &[libc::SIGABRT], "the stack of fiber `after` overflowed");
        };
        let send = || {
            install();
            // SAFETY: `raise` has no preconditions.
            unsafe { libc::raise(libc::SIGSEGV) };
        };
        if case == "default" {
            set_handler(libc::SIG_DFL, 0);
            send();
            return;
        }
        set_handler(libc::SIG_IGN, 0);
        send();
        send();
        in_fiber(Some("after"), false, || _ = recurse(0));
    }
}
