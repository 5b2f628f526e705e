//! Reports which fiber has overflowed its stack.
//!
//! A stack that overflows runs into the guard below it, and the system sends SIGSEGV (SIGBUS on some). The handler of
//! the standard library knows the guards of threads only; it would take that for a wild pointer, and the process would
//! die without a word. So there is a handler of our own, installed with the first stack. It asks which fiber the
//! faulting thread runs; if the address lies in the guard of that fiber, it names the fiber and aborts. Every other
//! fault goes on to the handler that was there before, as if this one did not exist.
//!
//! The handler runs on the thread's alternate stack (the thread's own has no room left) and does nothing that is not
//! async-signal-safe: it reads a thread-local that needs no initialisation, fills a buffer on its stack, and calls
//! `write` and `abort`, or `sigaction` and `raise`.
//!
//! Ordering: the handler runs on the thread that has written what it reads, so the compiler alone has to be kept from
//! moving things: the release fence in [`set_current`] pairs with the acquire fence in [`handle`].

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

/// What the handler has to know of a fiber.
#[derive(Debug)]
pub(crate) struct Guarded {
    guard: Range<usize>,
    stack_size: usize,
    name: Option<ptr::NonNull<str>>,
}

impl Guarded {
    /// Of a fiber on a stack of `stack_size` bytes above `guard`. The name must stay where it is for as long as the
    /// fiber is the [current](set_current) one.
    pub(crate) fn new(guard: Range<usize>, stack_size: usize, name: Option<&str>) -> Self {
        Self { guard, stack_size, name: name.map(ptr::NonNull::from) }
    }

    /// Sets another name, which must stay where it is for as long as the fiber is current. Not called while this is the
    /// current one.
    pub(crate) fn set_name(&mut self, name: Option<&str>) {
        self.name = name.map(ptr::NonNull::from);
    }
}

thread_local! {
    /// The fiber that this thread runs; null while it runs none.
    static CURRENT: AtomicPtr<Guarded> = const { AtomicPtr::new(ptr::null_mut()) };
}

/// Sets the fiber that this thread runs from now on, null for none. Returns the one before.
///
/// # Safety
/// `fiber`, and the name in it, stay valid and unchanged until this is called again on this thread, or it ends.
#[inline]
pub(crate) unsafe fn set_current(fiber: *const Guarded) -> *const Guarded {
    CURRENT.with(|current| {
        let before = current.load(Ordering::Relaxed);
        compiler_fence(Ordering::Release);
        current.store(fiber.cast_mut(), Ordering::Relaxed);
        before
    })
}

/// The signals by which systems report a guard that was touched.
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// What was done on these signals before, from just after [`install`] has put [`handle`] in its place.
static PREVIOUS: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];

/// Installs the handler, once in a process.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
            // SAFETY: a `sigaction` of zeros is a valid one. `handle` is a handler for SA_SIGINFO and
            // async-signal-safe.
            unsafe {
                let mut before: libc::sigaction = mem::zeroed();
                libc::sigaction(signal, ptr::null(), &raw mut before);
                // The previous handler may count on its mask, and on being restarted or not.
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

/// Makes sure that the handler can run on this thread, on whose own stack a fiber may have left no room. Each thread
/// calls this before it runs fibers.
///
/// # Errors
/// When the system refuses the memory for an alternate stack. Without one an overflow ends the process without a word.
pub(crate) fn ensure_alternate_stack() -> io::Result<()> {
    alternate::ensure()
}

/// The handler.
extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system calls this with a valid `info`. Only a fault has an address; what a process sends (`kill`) has
    // a code that is not positive, or, on BSD and its heirs, one above 65,536.
    let (is_fault, address) = unsafe { ((1..0x1_0000).contains(&(*info).si_code), (*info).si_addr() as usize) };
    let current = CURRENT.try_with(|current| current.load(Ordering::Relaxed)).unwrap_or(ptr::null_mut());
    compiler_fence(Ordering::Acquire);
    // SAFETY: the caller of `set_current` keeps the fiber valid until the next call on this thread, and this thread is
    // the one that the signal has interrupted.
    if let Some(fiber) = unsafe { current.as_ref() }
        && is_fault
        && fiber.guard.contains(&address)
    {
        // SAFETY: the name stays valid as long as the fiber does.
        report(fiber.stack_size, fiber.name.map(|name| unsafe { name.as_ref() }));
    }
    // SAFETY: the arguments are those that the system gave.
    unsafe { pass_on(signal, info, context, is_fault) };
}

/// How much of a fiber's name is shown, in bytes.
const MAX_NAME: usize = 256;

/// Reports which fiber has overflowed a stack of so many bytes, and ends the process. Async-signal-safe.
fn report(stack_size: usize, name: Option<&str>) -> ! {
    const ADVICE: &str = "make it larger with Builder::fiber_stack_size";
    let size = stack_size >> 10;
    match name {
        None => diagnostics::abort(format_args!("the stack of a fiber overflowed ({size} KiB); {ADVICE}")),
        Some(name) => {
            let shown = &name[..name.floor_char_boundary(MAX_NAME)];
            let rest = if shown.len() < name.len() { "..." } else { "" };
            diagnostics::abort(format_args!("the stack of fiber `{shown}{rest}` overflowed ({size} KiB); {ADVICE}"))
        }
    }
}

/// Does what would have been done on the signal if our handler were not there.
///
/// # Safety
/// To be called in a handler for `signal`, with the arguments of the handler.
unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void, is_fault: bool) {
    let Some(previous) = SIGNALS.iter().position(|known| *known == signal).and_then(|index| PREVIOUS[index].get())
    else {
        // `install` is about to say it. The fault happens again until then.
        return;
    };
    match previous.sa_sigaction {
        // What a process sent is ignored, and a fault cannot be: it happens again, without a handler.
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: `previous` is what the system gave for this signal. `raise` is for a signal that does not come
            // again by itself; it is pending until this handler returns.
            unsafe {
                libc::sigaction(signal, previous, ptr::null_mut());
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: with SA_SIGINFO this is what a handler is.
            unsafe { mem::transmute::<usize, Handler>(handler)(signal, info, context) };
        }
        // SAFETY: without it, this.
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
        // SAFETY: none: this is to end the process, by an address that is never mapped.
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
        // SAFETY: `guarded` and the name live longer than this.
        unsafe {
            assert!(set_current(&raw const guarded).is_null());
            fiber.resume(());
            assert_eq!(set_current(ptr::null()), &raw const guarded);
        }
        pool.give_back(fiber.into_stack());
        below.into_iter().for_each(|stack| pool.give_back(stack));
    }

    /// Runs the test of this name in a child.
    fn run(test: &str, case: &str) -> Output {
        child::run(&format!("fiber::stack::overflow::tests::{test}"), case)
    }

    #[track_caller]
    fn assert_says(child: &Output, signals: &[libc::c_int], text: &str) {
        child::assert_killed(child, signals);
        let error = child::error_text(child);
        assert!(error.contains(text), "{error}");
    }

    /// Not a word of fibers.
    #[track_caller]
    fn assert_no_word(child: &Output) {
        let error = child::error_text(child);
        assert!(!error.contains("anabranch: "), "{error}");
    }

    #[test]
    fn a_fiber_that_overflows_its_stack_is_named() {
        const NAME: &str = "a_fiber_that_overflows_its_stack_is_named";
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

    /// What a function compiled by C does whose frame has so many bytes: it writes to the end of the frame, and not to
    /// the pages on the way.
    fn leap<const BYTES: usize>() {
        let here = black_box(0_u8);
        let end = ptr::from_ref(&here).addr() - BYTES;
        // SAFETY: none: this is to end the process.
        unsafe { ptr::with_exposed_provenance_mut::<u8>(end).write_volatile(1) };
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_large_frame_of_c_does_not_reach_another_fiber() {
        let usual = StackConfig::default().guard_size;
        let cases: [(&str, usize, fn()); 3] = [
            ("137", usual, leap::<{ 137 << 10 }>),
            ("250", usual, leap::<{ 250 << 10 }>),
            ("1000", 1 << 20, leap::<{ 1000 << 10 }>),
        ];
        let Some(case) = child::case() else {
            for (case, ..) in cases {
                for case in [case.to_owned(), format!("{case} protected")] {
                    let child = run("a_large_frame_of_c_does_not_reach_another_fiber", &case);
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
    fn a_thread_that_the_library_did_not_start_can_report_an_overflow() {
        extern "C" fn start(_: *mut libc::c_void) -> *mut libc::c_void {
            ensure_alternate_stack().unwrap();
            in_fiber(Some("guest"), false, || _ = recurse(0));
            ptr::null_mut()
        }
        let Some(_) = child::case() else {
            let child = run("a_thread_that_the_library_did_not_start_can_report_an_overflow", "foreign");
            return assert_says(&child, &[libc::SIGABRT], "the stack of fiber `guest` overflowed");
        };
        // SAFETY: `start` is what a thread starts with, and `thread` is there to be written.
        unsafe {
            let mut thread = mem::zeroed();
            assert_eq!(libc::pthread_create(&raw mut thread, ptr::null(), start, ptr::null_mut()), 0);
            libc::pthread_join(thread, ptr::null_mut());
        }
    }

    #[test]
    fn a_thread_that_overflows_its_own_stack_is_reported_by_the_standard_library() {
        const NAME: &str = "a_thread_that_overflows_its_own_stack_is_reported_by_the_standard_library";
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
    fn a_wild_pointer_is_no_overflow() {
        let Some(case) = child::case() else {
            for case in ["in a fiber", "outside", "without a handler"] {
                let child = run("a_wild_pointer_is_no_overflow", case);
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
            // SAFETY: a `sigaction` of zeros is a valid one, and the tests give handlers that fit the flags.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                (action.sa_sigaction, action.sa_flags) = (handler, flags);
                assert_eq!(libc::sigaction(signal, &raw const action, ptr::null_mut()), 0);
            }
        }
    }

    #[test]
    fn the_handler_that_was_there_before_gets_all_other_faults() {
        extern "C" fn plain(signal: libc::c_int) {
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(if FAULTS.contains(&signal) { 41 } else { 1 }) }
        }
        extern "C" fn with_info(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
            // SAFETY: `info` is that of a fault. `_exit` has no preconditions.
            unsafe { libc::_exit(if (*info).si_addr() as usize == 16 && !context.is_null() { 42 } else { 1 }) }
        }
        let Some(case) = child::case() else {
            for (case, code) in [("plain", 41), ("with info", 42)] {
                let child = run("the_handler_that_was_there_before_gets_all_other_faults", case);
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
    fn a_signal_that_somebody_sent_does_what_it_did_before() {
        let Some(case) = child::case() else {
            let name = "a_signal_that_somebody_sent_does_what_it_did_before";
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
