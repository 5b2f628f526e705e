//! Devices that are lost, and work that no caller waits for.

use super::*;

#[test]
fn a_lost_device_is_an_error_of_each_operation_and_wait() {
    let Some(device) = device() else { return };
    let queue = GpuQueue::open(&device).unwrap();
    let vec = queue.upload(&numbers(1000)).unwrap();
    let reply = queue.reduce(of(&vec), kernels().add, &[0]).unwrap();
    queue.opened.driver.lose();
    // The first wait may end with the result, which was under way.
    let waited = run(|cx| reply.wait(cx));
    assert!(waited.is_ok() || matches!(waited, Err(Error::Lost { .. })), "{waited:?}");
    let lost = |error: Error| {
        assert!(matches!(error, Error::Lost { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.starts_with("the device is lost: ") && text.ends_with("; open it again"), "{text}");
    };
    lost(queue.upload(&[1]).unwrap_err());
    lost(queue.collect(of(&vec)).unwrap_err());
    lost(download(&vec).unwrap_err());
    // Another queue of the device works.
    let other = GpuQueue::open(&device).unwrap();
    assert_eq!(download(&other.upload(&[7]).unwrap()).unwrap(), [7]);
}

#[test]
fn a_shared_queue_is_the_same_while_it_is_in_use_and_not_lost() {
    let Some(device) = device() else { return };
    let queue = GpuQueue::shared(&device).unwrap();
    assert_ne!(queue, GpuQueue::open(&device).unwrap());
    let vec = queue.upload(&[1, 2]).unwrap();
    drop(queue);
    // The vector keeps its device open.
    assert_eq!(*vec.queue(), GpuQueue::shared(&device).unwrap());
    vec.queue.opened.driver.lose();
    let other = GpuQueue::shared(&device).unwrap();
    assert_ne!(*vec.queue(), other);
    assert_eq!(download(&other.upload(&[7]).unwrap()).unwrap(), [7]);
    let closed = Arc::downgrade(&other.opened);
    drop(other);
    assert!(closed.upgrade().is_none(), "nothing else keeps the device open");
}

#[test]
fn vectors_and_queues_are_dropped_while_work_is_outstanding() {
    let Some(device) = device() else { return };
    for _ in 0..3 {
        let queue = GpuQueue::open(&device).unwrap();
        let vec = queue.upload(&numbers(200_000)).unwrap();
        let opened = Arc::downgrade(&queue.opened);
        let sums = queue.scan(of(&vec), kernels().add, &[0], true).unwrap();
        drop(queue.reduce(of(&sums), kernels().add, &[0]).unwrap());
        drop((vec, sums, queue));
        assert!(opened.upgrade().is_none(), "a device is closed with its last vector");
    }
}

#[test]
fn the_thread_of_a_device_ends_with_its_last_queue() {
    let Some(device) = device() else { return };
    let queue = GpuQueue::open(&device).unwrap();
    let thread_alive = queue.opened.driver.thread_alive();
    let vec = queue.upload(&[1, 2]).unwrap();
    drop(queue);
    assert_eq!(download(&vec).unwrap(), [1, 2]);
    assert!(thread_alive());
    drop(vec);
    assert!(!thread_alive(), "closing a device waits for its thread");
}

#[test]
fn vectors_of_several_queues_do_not_disturb_each_other() {
    let Some(device) = device() else { return };
    let queues = [(); 3].map(|()| GpuQueue::open(&device).unwrap());
    std::thread::scope(|scope| {
        for (number, queue) in (0..).zip(&queues) {
            scope.spawn(move || {
                for round in 0..20 {
                    let vec = queue.upload(&[number, round, 3]).unwrap();
                    let sum = run(|cx| queue.reduce(of(&vec), kernels().add, &[0])?.wait(cx)).unwrap();
                    assert_eq!(sum, [number + round + 3]);
                }
            });
        }
    });
    assert!(queues[0] != queues[1] && queues[0] == queues[0].clone());
}

#[test]
fn memory_is_used_again_with_other_contents() {
    let Some(device) = device() else { return };
    let queue = GpuQueue::open(&device).unwrap();
    for round in 0..50u32 {
        let vec = queue.upload(&[round; 1000]).unwrap();
        let sums = queue.collect(mapped(kernels().add, [&vec, &vec])).unwrap();
        let zeros = queue.zeroed(1000).unwrap();
        assert_eq!(download(&sums).unwrap(), [2 * round; 1000]);
        assert_eq!(download(&zeros).unwrap(), [0; 1000]);
    }
}
