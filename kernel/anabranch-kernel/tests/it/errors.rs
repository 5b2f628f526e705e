//! What operations refuse.

use std::time::Duration;

use anabranch::ErrorKind;
use anabranch_kernel::{Device, Error, Queue, Vector, gather, indices, rows, segments, sort_by_key, whole};

use crate::kernels::{cpu, dot, elements, for_all_sizes, is_odd, panic_at, saxpy, square, total, trap};

fn reason<T>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Lengths { reason, .. }) => reason,
        Err(error) => panic!("not about lengths: {error}"),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn panic_in_a_kernel_is_a_trap_with_its_message() {
    for_all_sizes(|len| {
        let last = len as u32;
        let mapped = panic_at::map((indices(len + 1), last)).collect(&cpu());
        assert_eq!(trap(mapped), ("panic_at".to_owned(), format!("bad number {last}")));
        let sum = panic_at::map((indices(len + 1), last)).sum(&cpu());
        assert_eq!(trap(sum).1, format!("bad number {last}"));
        // The pool is as before.
        assert_eq!(elements(&indices(3).collect(&cpu()).unwrap()), [0, 1, 2]);
    });
}

#[test]
fn slices_out_of_range_are_traps() {
    let values = [1, 2, 3];
    let text = |offsets: &[u32]| trap(total::map((segments(offsets, &values),)).collect(&cpu())).1;
    assert_eq!(text(&[0, 4]), "0..4 is no range of 3 values");
    assert_eq!(text(&[0, 2, 1]), "2..1 is no range of 3 values");
    assert_eq!(text(&[u32::MAX, u32::MAX]), "4294967295..4294967295 is no range of 3 values");
}

#[test]
fn unequal_lengths_are_refused() {
    let text = "arguments have 2 and 3 elements: make them equally long, for example by a part of the longer one";
    assert_eq!(reason(saxpy::map((1.0, &[1.0; 2], &[1.0; 3])).collect(&cpu())), text);
    let nested = square::map((panic_at::map((&[1; 2], &[0; 3])),));
    assert_eq!(reason(nested.sum(&cpu())), text);
    let mut target = cpu().zeroed(5).unwrap();
    assert_eq!(reason(indices(2).scatter(&cpu(), &[0; 3], &mut target)), text);
    assert_eq!(elements(&target), [0; 5]);
    assert_eq!(reason(sort_by_key(&cpu(), &[0u32; 2], indices(3))), text);
    assert!(reason(square::map((7,)).collect(&cpu())).contains("pass a vector or `indices(n)`"));
    assert!(reason(indices((1 << 32) + 1).collect(&cpu())).contains("use at most 2^32"));
}

#[test]
fn rows_and_segments_need_lengths_that_fit() {
    let with_width = |width| reason(dot::map((rows(&[1.0; 6], width), whole(&[1.0]))).collect(&cpu()));
    assert_eq!(with_width(4), "6 values are no rows of 4: the width must be at least 1 and divide the length");
    assert_eq!(with_width(0), "6 values are no rows of 0: the width must be at least 1 and divide the length");
    let none: [u32; 0] = [];
    assert!(reason(total::map((segments(&none, &[1]),)).collect(&cpu())).contains("at least one"));
}

#[test]
fn cancelled_waits_are_errors() {
    let vec = cpu().upload(&[1, 2, 3]).unwrap();
    let error = anabranch::run(|cx| {
        cx.timeout(Duration::ZERO, |cx| {
            assert_eq!(vec.download(cx), Err(Error::Cancelled));
            assert_eq!(vec.download_into(cx, &mut [0; 3]), Err(Error::Cancelled));
            assert_eq!(vec.sum(&cpu()).unwrap().wait(cx), Err(Error::Cancelled));
            assert_eq!(vec.compact::<is_odd>(cx, &cpu()).map(|_| ()), Err(Error::Cancelled));
            vec.download(cx)
        })
    });
    assert_eq!(error, Err(Error::TimedOut));
}

#[test]
fn errors_convert_into_those_of_the_runtime() {
    assert_eq!(anabranch::Error::from(Error::Cancelled).kind(), ErrorKind::Cancelled);
    assert_eq!(anabranch::Error::from(Error::TimedOut).kind(), ErrorKind::TimedOut);
    let trap = gather(&[0u32], &[1]).collect(&cpu()).unwrap_err();
    let error = anabranch::Error::from(trap.clone());
    assert_eq!(error.to_string(), "`gather`: index 1 is out of range for 1 elements");
    assert_eq!(error.downcast::<Error>().unwrap(), trap);
}

#[test]
fn descriptions_cannot_be_opened() {
    let error = Queue::open(&Device::known()[0].1).unwrap_err();
    assert!(error.to_string().starts_with("cannot open NVIDIA H100 SXM: "), "{error}");
    assert_eq!(Queue::open(&Device::cpu()).unwrap().device().name(), "this processor");
}

#[test]
fn download_into_checks_the_length() {
    let vec = cpu().upload(&[1, 2, 3]).unwrap();
    let result = anabranch::run(|cx| vec.download_into(cx, &mut [0; 2]));
    assert_eq!(reason(result), "a vector of 3 elements does not fit a target of 2");
}
