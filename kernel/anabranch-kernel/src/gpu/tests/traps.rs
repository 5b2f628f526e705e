//! Errors of kernels.

use super::*;

fn trap(result: Result<Vec<u32>, Error>) -> (String, String, Option<u32>) {
    match result {
        Err(Error::Trap(trap)) => (trap.kernel().to_owned(), trap.what().to_owned(), trap.line()),
        other => panic!("no trap: {other:?}"),
    }
}

#[test]
fn a_division_by_zero_is_an_error_with_kernel_and_line() {
    let Some(queue) = queue() else { return };
    let (a, b) = (queue.upload(&[6, 8, 9]).unwrap(), queue.upload(&[2, 0, 3]).unwrap());
    let quotients = queue.collect(mapped(kernels().divide, [&a, &b])).unwrap();
    assert_eq!(trap(download(&quotients)), ("divide".to_owned(), "division by zero".to_owned(), Some(7)));
    let c = queue.upload(&[2, 4, 3]).unwrap();
    let quotients = queue.collect(mapped(kernels().divide, [&a, &c])).unwrap();
    assert_eq!(download(&quotients).unwrap(), [3, 2, 3]);
    let (a, b) = (queue.upload(&[1 << 31]).unwrap(), queue.upload(&[u32::MAX]).unwrap());
    let quotients = queue.collect(mapped(kernels().divide_i32, [&a, &b])).unwrap();
    assert_eq!(trap(download(&quotients)).0, "divide_i32");
}

#[test]
fn an_index_out_of_range_is_an_error() {
    let Some(queue) = queue() else { return };
    let (indices, values) = (queue.upload(&[0, 2, 3]).unwrap(), queue.upload(&[10, 20, 30]).unwrap());
    let at = kernels().at;
    let run_at = |values: &Buffer| {
        let mut graph = Graph::default();
        let args = vec![
            Node::Buffer { buffer: graph.buffer(&indices), words: 1 },
            Node::Whole { buffer: graph.buffer(values), words: 1 },
        ];
        let root = Node::Call { name: at.name, program: at.program, args };
        download(&queue.collect(Inputs { graph, roots: [root], words: [1], len: 3 }).unwrap())
    };
    assert_eq!(trap(run_at(&values)), ("at".to_owned(), "index out of range".to_owned(), Some(9)));
    assert_eq!(trap(run_at(&queue.upload(&[]).unwrap())).0, "at");
    assert_eq!(run_at(&queue.upload(&[1, 2, 3, 4]).unwrap()).unwrap(), [1, 3, 4]);
}

#[test]
fn gather_scatter_segments_and_histogram_check_their_numbers() {
    let Some(queue) = queue() else { return };
    let (values, numbers) = (queue.upload(&[1, 2, 3]).unwrap(), queue.upload(&[2, 3, 0]).unwrap());
    let gather = |values: &Buffer| {
        let mut graph = Graph::default();
        let index = Box::new(Node::Buffer { buffer: graph.buffer(&numbers), words: 1 });
        let root = Node::Gather { buffer: graph.buffer(values), words: 1, index };
        download(&queue.collect(Inputs { graph, roots: [root], words: [1], len: 3 }).unwrap())
    };
    assert_eq!(trap(gather(&values)), ("gather".to_owned(), "index out of range".to_owned(), None));
    assert_eq!(trap(gather(&queue.upload(&[]).unwrap())).0, "gather");
    for len in [0, 3] {
        let mut target = queue.zeroed(len).unwrap();
        queue.scatter(of_two(&values, &numbers), &mut target).unwrap();
        assert_eq!(trap(download(&target)).0, "scatter");
    }
    for bins in [0, 3] {
        assert_eq!(trap(download(&queue.histogram(of(&numbers), bins).unwrap())).0, "histogram");
    }
    for offsets in [[0, 2, 1], [0, 1, 4], [u32::MAX, 0, 1]] {
        let ends = queue.upload(&offsets).unwrap();
        let mut graph = Graph::default();
        let args = vec![Node::Segments { offsets: graph.buffer(&ends), buffer: graph.buffer(&values), words: 1 }];
        let root = Node::Call { name: "sum", program: kernels().sum.program, args };
        let sums = queue.collect(Inputs { graph, roots: [root], words: [1], len: 2 }).unwrap();
        assert_eq!(trap(download(&sums)).0, "segments");
    }
}

#[test]
fn results_that_depend_on_a_trap_are_errors_and_others_are_not() {
    let Some(queue) = queue() else { return };
    let (a, zero) = (queue.upload(&[5, 5]).unwrap(), queue.upload(&[1, 0]).unwrap());
    let bad = queue.collect(mapped(kernels().divide, [&a, &zero])).unwrap();
    let worse = queue.collect(mapped(kernels().add, [&bad, &a])).unwrap();
    assert_eq!(trap(download(&worse)).0, "divide");
    assert_eq!(trap(run(|cx| queue.reduce(of(&worse), kernels().add, &[0])?.wait(cx))).0, "divide");
    let error = run(|cx| queue.compact(cx, of(&bad), kernels().odd)).unwrap_err();
    assert!(matches!(error, Error::Trap(_)));
    assert_eq!(download(&a).unwrap(), [5, 5]);
}

#[test]
fn a_trap_is_found_after_many_operations_that_can_trap() {
    let Some(queue) = queue() else { return };
    let ones = queue.upload(&[1, 1]).unwrap();
    for first in [[1, 1], [1, 0]] {
        let first = queue.upload(&first).unwrap();
        let mut vec = queue.collect(mapped(kernels().divide, [&ones, &first])).unwrap();
        for _ in 0..3 * super::traps_limit() {
            vec = queue.collect(mapped(kernels().divide, [&vec, &ones])).unwrap();
            assert!(vec.written.traps.slots().len() <= super::traps_limit());
        }
        let result = download(&vec);
        if download(&first).unwrap()[1] == 1 {
            assert_eq!(result.unwrap(), [1, 1]);
            // Known to be clean, the slots are forgotten.
            let next = queue.collect(mapped(kernels().add, [&vec, &ones])).unwrap();
            assert!(next.written.traps.slots().is_empty());
        } else {
            assert_eq!(trap(result).0, "divide");
        }
    }
}
