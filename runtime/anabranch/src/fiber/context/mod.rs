//! The context switch: a function runs on a stack of its own, can suspend in the middle, and is resumed later.
//!
//! Everything happens on one thread: only the thread that made a context resumes it. (A started fiber does not move:
//! the addresses of thread-locals are kept in registers across calls, and values on the stack need not be `Send`.)
//!
//! Under shuttle a thread is itself a coroutine, and leaving it saves whatever stack it is on. So a thread that is left
//! on a fiber's stack continues there, and this switch needs no substitute.
//!
//! Two modules have the same interface. `native` is our own switch, for the processors for which it is written.
//! `portable` is the switch of corosensei, for all other processors, for Windows, and for the sanitizers, which have to
//! be notified of every switch (`--cfg anabranch_portable_switch`).

#[cfg(all(target_arch = "x86_64", unix, not(anabranch_portable_switch)))]
#[path = "native.rs"]
mod switch;
#[cfg(all(any(unix, windows), any(not(all(target_arch = "x86_64", unix)), anabranch_portable_switch)))]
#[path = "portable.rs"]
mod switch;
#[cfg(not(any(unix, windows)))]
#[path = "unsupported.rs"]
mod switch;

#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", not(any(anabranch_portable_switch, shuttle, miri)))),
    path = "no_called_from.rs"
)]
mod called_from;

pub(crate) use called_from::call_from;
pub(crate) use switch::{Context, Exit, GOES_ACROSS, prepare_switch, prepare_switch_to};

/// The word that the function receives when it continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resume {
    Continue,
    /// The function should return, so that the stack can be given back. Only sent to a function that is between two
    /// pieces of work.
    End,
}

/// Why the function was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// In the middle of something.
    Suspended,
    /// Between two pieces of work, or for good.
    Idle,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fiber::stack::pool::{StackConfig, StackPool};
    use std::{backtrace::Backtrace, cell::Cell, rc::Rc};

    fn in_context(body: impl FnOnce(&Exit) + 'static, check: impl FnOnce(&mut Context)) {
        let mut pool = StackPool::new(StackConfig::default()).unwrap();
        let mut context = Context::new(pool.take().unwrap(), body);
        check(&mut context);
        pool.give_back(context.into_stack());
    }

    #[test]
    fn context_resumes_where_it_suspended() {
        #[inline(never)]
        fn leave(exit: &Exit, depth: u32, left: Left) -> (Resume, f64) {
            // Registers of all kinds are in use around the switch.
            let (a, b, c) = (f64::from(depth) * 0.5, depth * 3, depth ^ 5);
            let resume = if depth == 0 { exit.suspend(left) } else { leave(exit, depth - 1, left).0 };
            (resume, a + f64::from(b) + f64::from(c))
        }
        let steps = Rc::new(Cell::new(0));
        let seen = Rc::clone(&steps);
        let body = move |exit: &Exit| {
            for depth in 0..10 {
                let (resume, sum) = leave(exit, depth, Left::Suspended);
                assert_eq!((resume, sum), (Resume::Continue, f64::from(depth) * 3.5 + f64::from(depth ^ 5)));
                seen.set(seen.get() + 1);
            }
            assert_eq!(leave(exit, 3, Left::Idle).0, Resume::End);
            seen.set(100);
        };
        in_context(body, |context| {
            for step in 0..10 {
                assert_eq!((context.resume(), steps.get()), (Left::Suspended, step));
            }
            assert_eq!((context.resume(), steps.get()), (Left::Idle, 10));
        });
        assert_eq!(steps.get(), 100);
    }

    #[test]
    fn returned_function_ends_context() {
        in_context(
            |exit| assert_eq!(exit.suspend(Left::Suspended), Resume::Continue),
            |context| {
                assert_eq!(context.resume(), Left::Suspended);
                assert_eq!(context.resume(), Left::Idle);
            },
        );
    }

    #[test]
    fn unstarted_function_is_dropped() {
        let kept = Rc::new(());
        let held = Rc::clone(&kept);
        in_context(move |_| drop(held), |_| assert_eq!(Rc::strong_count(&kept), 2));
        assert_eq!(Rc::strong_count(&kept), 1);
    }

    #[test]
    fn contexts_interleave_and_catch_their_panics() {
        let mut pool = StackPool::new(StackConfig::default()).unwrap();
        let mut contexts: Vec<_> = (0..3)
            .map(|number: u64| {
                Context::new(pool.take().unwrap(), move |exit| {
                    for round in 0..4 {
                        let caught = std::panic::catch_unwind(|| {
                            if round % 2 == 1 {
                                std::panic::resume_unwind(Box::new(number * 10 + round));
                            }
                        });
                        assert_eq!(
                            caught.err().map(|panic| *panic.downcast::<u64>().unwrap()),
                            (round % 2 == 1).then_some(number * 10 + round)
                        );
                        exit.suspend(Left::Suspended);
                    }
                })
            })
            .collect();
        for _ in 0..4 {
            contexts.iter_mut().for_each(|context| assert_eq!(context.resume(), Left::Suspended));
        }
        contexts.into_iter().for_each(|mut context| {
            assert_eq!(context.resume(), Left::Idle);
            pool.give_back(context.into_stack());
        });
    }

    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(any(anabranch_portable_switch, shuttle, miri))))]
    #[test]
    fn stack_of_suspended_function_is_found_from_outside() {
        #[inline(never)]
        fn wait_in_the_depth(exit: &Exit, depth: u32) -> u32 {
            let more = if depth == 0 {
                exit.suspend(Left::Suspended);
                0
            } else {
                wait_in_the_depth(exit, depth - 1)
            };
            more + std::hint::black_box(depth)
        }
        let exit = Rc::new(Cell::new(std::ptr::null::<Exit>()));
        let shown = Rc::clone(&exit);
        let body = move |exit: &Exit| {
            shown.set(exit);
            assert_eq!(wait_in_the_depth(exit, 3), 6);
            assert_eq!(wait_in_the_depth(exit, 0), 0);
        };
        in_context(body, |context| {
            for depth in [4, 1] {
                assert_eq!(context.resume(), Left::Suspended);
                for _ in 0..2 {
                    let mut trace = None;
                    // SAFETY: the function has left, and its exit is on its stack.
                    assert!(unsafe { call_from(&*exit.get(), &mut || trace = Some(Backtrace::force_capture())) });
                    let trace = trace.unwrap().to_string();
                    assert_eq!(trace.matches("wait_in_the_depth").count(), depth, "{trace}");
                    assert!(!trace.contains("test::run_test"), "{trace}");
                }
            }
            assert_eq!(context.resume(), Left::Idle);
        });
    }

    #[test]
    fn backtrace_ends_at_bottom_of_context() {
        let body = |exit: &Exit| {
            let trace = Backtrace::force_capture().to_string();
            assert!(trace.contains("backtrace_ends_at_bottom"), "{trace}");
            assert!(trace.lines().count() < 200, "{trace}");
            exit.suspend(Left::Idle);
        };
        in_context(body, |context| assert_eq!(context.resume(), Left::Idle));
    }
}
