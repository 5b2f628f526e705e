//! Coming from rayon: what is the same here, what has another name, and what differs.
//!
//! Change `use rayon::prelude::*` to `use anabranch::prelude::*`. The parallel iterators have the traits and the
//! methods of rayon 1.12, with the same names and arguments.
//! ```
//! use anabranch::prelude::*;                                      // was: use rayon::prelude::*;
//!
//! let words = ["to", "be", "or", "not", "to", "be"];
//! let long = words.par_iter().filter(|word| word.len() > 2);
//! let mut sorted: Vec<String> = long.map(|word| word.to_uppercase()).collect();
//! sorted.par_extend(words.par_iter().map(|word| word.to_string()));
//! sorted.par_sort_unstable();
//! assert_eq!(sorted, ["NOT", "be", "be", "not", "or", "to", "to"]);
//! ```
//!
//! Crates that stay on rayon can share the pool. Two lines in the application's `Cargo.toml` put all of them on it: see
//! [Put your application on one pool](https://github.com/anabranch/anabranch/blob/main/docs/ONE_POOL.md).
//!
//! # Parallel iterators
//! *The same* means the same names and arguments. The last column lists the differences.
//!
//! | rayon | anabranch | |
//! |---|---|---|
//! | `rayon::prelude` | [`prelude`](crate::prelude) | |
//! | `rayon::iter` | [`iter`](crate::iter) | |
//! | `rayon::{array, collections, option, range, result, slice, string, vec}` | modules of [`iter`](crate::iter) | |
//! | `rayon::range_inclusive`, `rayon::str` | `iter::range`, `iter::string` | |
//! | `ParallelIterator` | [`ParallelIterator`] | `Item` and `opt_len` are in [`Drive`] |
//! | `IndexedParallelIterator` | [`IndexedParallelIterator`] | `len` is in [`DriveIndexed`], which is in the prelude |
//! | `IntoParallelIterator`, `IntoParallelRefIterator`, `IntoParallelRefMutIterator` | the same | |
//! | `FromParallelIterator`, `ParallelExtend` | the same | also for `imbl::Vector`, with the feature `imbl` |
//! | `ParallelBridge`, `par_bridge` | the same | takes items in batches, also [in order](#additions) |
//! | `ParallelDrainFull`, `ParallelDrainRange`, `par_drain` | the same | |
//! | `ParallelSlice`, `ParallelSliceMut`: `par_windows`, `par_chunks`, `par_split_mut`, .. | the same | |
//! | `par_sort`, `par_sort_by_key`, `par_sort_unstable`, .. | the same | also methods of `ParallelSliceMut` |
//! | `ParallelString`: `par_chars`, `par_lines`, `par_split`, .. | the same | |
//! | slices, `Vec`, `Box<[T]>`, arrays, `Option`, `Result`, tuples, collections of std | the same | |
//! | `imbl::Vector`, by imbl's feature `rayon` | with the feature `imbl` | also by value; not `par_iter_mut` |
//! | ranges of integers and of `char` | the same | all are [indexed](#additions) |
//! | `iter::{empty, once, repeat, repeat_n, split, walk_tree, ..}` | the same | |
//! | `map`, `filter`, `flat_map`, `fold`, `zip`, `chunks`, and all other adapters | the same | |
//! | `for_each`, `reduce`, `collect`, `find_first`, and all other consuming methods | the same | |
//! | `find`, `position` (deprecated) | `find_any`, `position_any` | |
//! | `with_min_len`, `with_max_len` | the same | [rarely needed](#where-a-loop-is-cut) |
//! | `iter::Either` | the same | |
//! | `iter::plumbing` | [`iter::plumbing`](crate::iter::plumbing) | [other traits](#a-parallel-iterator-of-your-own) |
//!
//! [`ParallelIterator`]: crate::iter::ParallelIterator
//! [`IndexedParallelIterator`]: crate::iter::IndexedParallelIterator
//! [`ParallelExtend`]: crate::iter::ParallelExtend
//! [`Drive`]: crate::iter::plumbing::Drive
//! [`DriveIndexed`]: crate::iter::plumbing::DriveIndexed
//!
//! ## Sources
//! ```
//! use anabranch::iter::{empty, once, repeat, repeat_n, split, walk_tree, walk_tree_postfix, walk_tree_prefix};
//! use anabranch::prelude::*;
//! use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
//!
//! // Slices, vectors and arrays: by reference, by mutable reference, by value.
//! let mut items = vec![3, 1, 2];
//! items.par_iter_mut().for_each(|item| *item += 1);
//! assert_eq!(items.par_iter().sum::<i32>(), 9);
//! assert_eq!(items[1..].par_iter().max(), Some(&3));
//! assert_eq!(items.clone().into_boxed_slice().into_par_iter().min(), Some(2));
//! assert_eq!([1, 2, 3].into_par_iter().sum::<i32>() + items.into_par_iter().sum::<i32>(), 15);
//!
//! // Ranges.
//! assert_eq!((0..10u32).into_par_iter().len() + (0..=9i128).into_par_iter().count(), 20);
//! assert_eq!(('a'..='e').into_par_iter().collect::<String>(), "abcde");
//!
//! // Options, results, tuples.
//! assert_eq!(Some(1).into_par_iter().chain(Ok::<_, ()>(2)).sum::<i32>(), 3);
//! assert_eq!((vec![1, 2], [3, 4], 5..7).into_par_iter().map(|(a, b, c)| a * b * c).sum::<i32>(), 63);
//!
//! // The collections of std.
//! let mut map: HashMap<i32, i32> = [(1, 2), (3, 4)].into_par_iter().collect();
//! map.par_iter_mut().for_each(|(key, value)| *value += *key);
//! assert_eq!(map.par_iter().map(|(_, value)| *value).sum::<i32>(), 10);
//! let mut set: HashSet<i32> = map.into_par_iter().map(|(key, _)| key).collect();
//! assert_eq!(BTreeSet::from([1, 2]).into_par_iter().sum::<i32>(), 3);
//! assert_eq!(BTreeMap::from([(1, 2), (3, 4)]).par_iter().count(), 2);
//! assert_eq!(LinkedList::from([1, 2]).into_par_iter().sum::<i32>(), 3);
//! let (mut heap, mut deque) = (BinaryHeap::from([1, 2]), VecDeque::from([1, 2, 3]));
//! assert_eq!(heap.par_iter().sum::<i32>() + deque.par_iter().sum::<i32>(), 9);
//!
//! // Draining.
//! assert_eq!(set.par_drain().chain(heap.par_drain()).chain(deque.par_drain(1..)).sum::<i32>(), 12);
//! assert_eq!(vec![1, 2, 3].par_drain(..2).sum::<i32>(), 3);
//! assert_eq!(String::from("abc").par_drain(1..).collect::<String>(), "bc");
//!
//! // Functions.
//! assert_eq!(once(1).chain(repeat_n(2, 3)).chain(repeat(3).take(2)).chain(empty()).sum::<i32>(), 13);
//! let halve = |n: u32| if n > 1 { (n / 2, Some(n - n / 2)) } else { (n, None) };
//! assert_eq!(split(10, halve).count(), 10);
//! let children = |node: &u32| if *node < 4 { vec![2 * node, 2 * node + 1] } else { vec![] };
//! assert_eq!(walk_tree(1, children).sum::<u32>(), 28);
//! assert_eq!(walk_tree_prefix(1, children).collect::<Vec<_>>(), [1, 2, 4, 5, 3, 6, 7]);
//! assert_eq!(walk_tree_postfix(1, children).collect::<Vec<_>>(), [4, 5, 2, 6, 7, 3, 1]);
//!
//! // Plain iterators.
//! assert_eq!("7\n8".lines().par_bridge().map(|line| line.parse::<i32>().unwrap()).sum::<i32>(), 15);
//! ```
//!
//! ## Slices, sorts and strings
//! ```
//! use anabranch::prelude::*;
//!
//! let mut items = [5, 3, 4, 1, 2];
//! assert_eq!(items.par_windows(2).filter(|pair| pair[0] < pair[1]).count(), 2);
//! assert_eq!(items.par_array_windows().filter(|[a, b]| a < b).count(), 2);
//! assert_eq!(items.par_chunks(2).len() + items.par_rchunks(2).len(), 6);
//! assert_eq!(items.par_chunks_exact(2).remainder(), [2]);
//! assert_eq!(items.par_rchunks_exact(2).remainder(), [5]);
//! assert_eq!(items.par_chunk_by(|a, b| a > b).count(), 3);
//! assert_eq!(items.par_split(|item| *item == 4).map(<[_]>::len).collect::<Vec<_>>(), [2, 2]);
//! assert_eq!(items.par_split_inclusive(|item| *item == 4).map(<[_]>::len).collect::<Vec<_>>(), [3, 2]);
//!
//! items.par_chunks_mut(2).for_each(|chunk| chunk[0] += 1);
//! items.par_chunks_exact_mut(2).for_each(|chunk| chunk[0] += 1);
//! items.par_rchunks_mut(2).for_each(|chunk| chunk.reverse());
//! items.par_rchunks_exact_mut(2).for_each(|chunk| chunk.reverse());
//! items.par_chunk_by_mut(|a, b| a < b).for_each(|chunk| chunk.sort());
//! items.par_split_mut(|item| *item == 1).for_each(|part| part.sort());
//! items.par_split_inclusive_mut(|item| *item == 1).for_each(|part| part.sort());
//!
//! items.par_sort();
//! items.par_sort_by(|a, b| b.cmp(a));
//! items.par_sort_by_key(|item| item % 3);
//! items.par_sort_by_cached_key(|item| item.to_string());
//! items.par_sort_unstable();
//! items.par_sort_unstable_by(|a, b| b.cmp(a));
//! items.par_sort_unstable_by_key(|item| -*item);
//! assert_eq!(items, [7, 6, 3, 3, 1]);
//!
//! let text = "to be\nor not";
//! assert_eq!(text.par_chars().filter(|c| *c == 'o').count(), 3);
//! assert_eq!(text.par_char_indices().find_first(|(_, c)| *c == 'b'), Some((3, 'b')));
//! assert_eq!(text.par_bytes().count() + text.par_encode_utf16().count(), 24);
//! assert_eq!(text.par_split(' ').collect::<Vec<_>>(), ["to", "be\nor", "not"]);
//! assert_eq!(text.par_split_inclusive(['e', 'n']).collect::<Vec<_>>(), ["to be", "\nor n", "ot"]);
//! assert_eq!(text.par_split_terminator('t').collect::<Vec<_>>(), ["", "o be\nor no"]);
//! assert_eq!(text.par_lines().count() + text.par_split_whitespace().count(), 6);
//! assert_eq!(text.par_split_ascii_whitespace().map(str::len).max(), Some(3));
//! assert_eq!(text.par_matches(char::is_whitespace).count(), 3);
//! assert_eq!(text.par_match_indices('n').map(|(index, _)| index).sum::<usize>(), 9);
//! ```
//!
//! ## Adapters of all parallel iterators
//! ```
//! use anabranch::prelude::*;
//!
//! let items = [1, 2, 3, 4];
//! let iter = || items.par_iter().copied();
//!
//! // One item for each.
//! assert_eq!(items.par_iter().cloned().map(|item| item * 2).sum::<i32>(), 20);
//! assert_eq!(iter().map_with(10, |ten, item| item * *ten).sum::<i32>(), 100);
//! assert_eq!(iter().map_init(|| 10, |ten, item| item * *ten).sum::<i32>(), 100);
//! assert_eq!(iter().inspect(|item| assert!(*item < 5)).update(|item| *item += 1).sum::<i32>(), 14);
//! assert_eq!(iter().panic_fuse().sum::<i32>(), 10);
//!
//! // Fewer or more items.
//! assert_eq!(iter().filter(|item| item % 2 == 0).sum::<i32>(), 6);
//! assert_eq!(iter().filter_map(|item| (item % 2 == 0).then_some(item * 10)).sum::<i32>(), 60);
//! assert_eq!(iter().flat_map(|item| 0..item).sum::<i32>(), 10);
//! assert_eq!(iter().flat_map_iter(|item| 0..item).sum::<i32>(), 10);
//! assert_eq!(iter().map(|item| vec![item; 2]).flatten().sum::<i32>(), 20);
//! assert_eq!(iter().map(|item| [item; 2]).flatten_iter().sum::<i32>(), 20);
//! assert_eq!(iter().chain([5]).intersperse(0).collect::<Vec<_>>(), [1, 0, 2, 0, 3, 0, 4, 0, 5]);
//! assert_eq!(iter().take_any(2).count() + iter().skip_any(1).count(), 5);
//! assert!(iter().take_any_while(|item| *item < 3).all(|item| item < 3));
//! assert!(iter().skip_any_while(|item| *item < 4).any(|item| item == 4));
//! assert_eq!(iter().map(Some).while_some().sum::<i32>(), 10);
//!
//! // Folds.
//! let add = |sum: i32, item| sum + item;
//! let checked_add = |sum: i32, item| sum.checked_add(item);
//! assert_eq!(iter().fold(|| 0, add).sum::<i32>(), 10);
//! assert_eq!(iter().fold_with(0, add).sum::<i32>(), 10);
//! assert_eq!(iter().try_fold(|| 0, checked_add).try_reduce(|| 0, checked_add), Some(10));
//! assert_eq!(iter().try_fold_with(0, checked_add).try_reduce_with(checked_add), Some(Some(10)));
//! ```
//!
//! ## Adapters of indexed parallel iterators
//! ```
//! use anabranch::prelude::*;
//!
//! let items = [1, 2, 3, 4];
//! let iter = || items.par_iter().copied();
//!
//! assert_eq!(iter().zip([10, 20]).map(|(a, b)| a * b).sum::<i32>(), 50);
//! assert_eq!(iter().zip_eq(iter()).map(|(a, b)| a * b).sum::<i32>(), 30);
//! assert_eq!(iter().interleave([9]).collect::<Vec<_>>(), [1, 9, 2, 3, 4]);
//! assert_eq!(iter().interleave_shortest([9]).collect::<Vec<_>>(), [1, 9, 2]);
//! assert_eq!(iter().enumerate().map(|(index, _)| index).sum::<usize>(), 6);
//! assert_eq!(iter().rev().skip(1).take(2).collect::<Vec<_>>(), [3, 2]);
//! assert_eq!(iter().step_by(3).collect::<Vec<_>>(), [1, 4]);
//! assert_eq!(iter().chunks(3).collect::<Vec<_>>(), [vec![1, 2, 3], vec![4]]);
//! assert_eq!(iter().fold_chunks(3, || 0, |sum, item| sum + item).collect::<Vec<i32>>(), [6, 4]);
//! assert_eq!(iter().fold_chunks_with(3, 0, |sum, item| sum + item).collect::<Vec<i32>>(), [6, 4]);
//! assert_eq!(iter().positions(|item| item > 2).collect::<Vec<_>>(), [2, 3]);
//! assert_eq!(iter().with_min_len(2).with_max_len(3).sum::<i32>(), 10);
//! assert_eq!(iter().by_exponential_blocks().sum::<i32>(), 10);
//! assert_eq!(iter().by_uniform_blocks(3).sum::<i32>(), 10);
//! assert_eq!(iter().len(), 4);
//! ```
//!
//! ## Ends
//! ```
//! use anabranch::iter::Either;
//! use anabranch::prelude::*;
//! use std::cmp::Ordering;
//!
//! let items = [1, 2, 3, 4];
//! let iter = || items.par_iter().copied();
//!
//! iter().for_each(|item| assert!(item < 5));
//! iter().for_each_with(5, |five, item| assert!(item < *five));
//! iter().for_each_init(|| 5, |five, item| assert!(item < *five));
//! assert_eq!(iter().try_for_each(|item| if item < 5 { Ok(()) } else { Err(item) }), Ok(()));
//! assert_eq!(iter().try_for_each_with(5, |five, item| (item < *five).then_some(())), Some(()));
//! assert_eq!(iter().try_for_each_init(|| 4, |four, item| (item < *four).then_some(())), None);
//!
//! assert_eq!((iter().count(), iter().sum::<i32>(), iter().product::<i32>()), (4, 10, 24));
//! assert_eq!(iter().reduce(|| 0, |a, b| a + b), 10);
//! assert_eq!(iter().reduce_with(|a, b| a + b), Some(10));
//! assert_eq!(iter().map(Some).try_reduce(|| 0, i32::checked_add), Some(10));
//! assert_eq!(iter().map(Some).try_reduce_with(i32::checked_add), Some(Some(10)));
//! assert_eq!((iter().min(), iter().max()), (Some(1), Some(4)));
//! assert_eq!((iter().min_by(|a, b| b.cmp(a)), iter().max_by(|a, b| b.cmp(a))), (Some(4), Some(1)));
//! assert_eq!((iter().min_by_key(|item| -item), iter().max_by_key(|item| -item)), (Some(4), Some(1)));
//!
//! let is_even = |item: &i32| item % 2 == 0;
//! let half = |item: i32| (item % 2 == 0).then_some(item / 2);
//! assert!(iter().find_any(is_even).is_some() && iter().find_map_any(half).is_some());
//! assert_eq!((iter().find_first(is_even), iter().find_last(is_even)), (Some(2), Some(4)));
//! assert_eq!((iter().find_map_first(half), iter().find_map_last(half)), (Some(1), Some(2)));
//! assert_eq!((iter().any(|item| item > 3), iter().all(|item| item > 3)), (true, false));
//! assert!(iter().position_any(|item| item > 1).is_some());
//! assert_eq!(iter().position_first(|item| item > 1), Some(1));
//! assert_eq!(iter().position_last(|item| item > 1), Some(3));
//!
//! assert_eq!(iter().cmp([1, 3]), Ordering::Less);
//! assert_eq!(iter().partial_cmp([1, 2]), Some(Ordering::Greater));
//! assert!(iter().eq(items) && iter().ne([1]));
//! assert!(iter().lt([2]) && iter().le([2]) && iter().gt([1]) && iter().ge([1]));
//!
//! assert_eq!(iter().collect::<Box<[i32]>>()[..], items);
//! assert_eq!(iter().map(Some).collect::<Option<Vec<_>>>(), Some(items.to_vec()));
//! assert_eq!(iter().collect_vec_list().into_iter().flatten().count(), 4);
//! assert_eq!(iter().map(|item| (item, -item)).unzip::<_, _, Vec<_>, Vec<_>>().1, [-1, -2, -3, -4]);
//! assert_eq!(iter().partition::<Vec<_>, Vec<_>, _>(is_even), (vec![2, 4], vec![1, 3]));
//! let halves = |item: i32| half(item).map_or(Either::Left(item), Either::Right);
//! assert_eq!(iter().partition_map::<Vec<_>, Vec<_>, _, _, _>(halves), (vec![1, 3], vec![1, 2]));
//!
//! let any = |backwards| if backwards { Either::Left(iter().rev()) } else { Either::Right(iter()) };
//! assert_eq!((any(true).position_any(|item| item == 1), any(false).len()), (Some(3), 4));
//!
//! let (mut left, mut right) = (vec![], vec![]);
//! iter().collect_into_vec(&mut left);
//! iter().zip(iter().rev()).unzip_into_vecs(&mut left, &mut right);
//! right.par_extend(&left);
//! assert_eq!(right, [4, 3, 2, 1, 1, 2, 3, 4]);
//! ```
//!
//! # Pools
//! | rayon | anabranch | |
//! |---|---|---|
//! | `join(a, b)` | [`join`] | if `a` panics before `b` has begun, `b` does not run |
//! | `join_context(a, b)`, `FnContext` | [`join_context`], [`FnContext`] | `migrated` of `a` is always `false` |
//! | `scope(\|s\| s.spawn(\|s\| ..))` | [`scope`] | a task takes no argument; nested tasks capture `s` |
//! | `s.spawn_broadcast(\|s, context\| ..)` | [`Scope::spawn_broadcast`] | takes `\|index\| ..` |
//! | `in_place_scope` | [`scope`] | its body always runs on the calling thread, and need not be `Send` |
//! | `scope_fifo`, `in_place_scope_fifo` | [`scope`] | the order of the tasks is not specified |
//! | `spawn(f)` | [`execute`]; [`spawn`] | `execute` takes `\|\| ..`; `spawn` takes `\|cx\| ..`, and returns a handle |
//! | `spawn_fifo(f)` | [`execute`] | a thread runs its newest task first |
//! | `broadcast(f)`, `spawn_broadcast(f)` | [`pool::broadcast`], [`pool::spawn_broadcast`] | `f` takes the index of the thread |
//! | `ThreadPool` | [`Pool`] | its drop waits for what was spawned, and cancels fibers |
//! | `drop(pool)` | [`Pool::shutdown_background`] | does not wait |
//! | `pool.install(f)` | [`Pool::install`], [`Pool::call`] | `install` runs `f` on the calling thread, `call` as in rayon |
//! | `pool.join(a, b)`, `pool.scope(f)` | `pool.install(\|\| join(a, b))`, `pool.install(\|\| scope(f))` | |
//! | `pool.in_place_scope(f)` | [`Pool::in_place_scope`] | |
//! | `pool.spawn(f)` | [`Pool::execute`], [`Pool::spawn`] | as without a pool |
//! | `pool.broadcast(f)`, `pool.spawn_broadcast(f)` | [`Pool::broadcast`], [`Pool::spawn_broadcast`] | `f` takes the index |
//! | the global pool | [`Pool::default_pool`] | a `Pool` like any other |
//! | `ThreadPoolBuilder::new()` | [`Pool::builder`] | |
//! | `num_threads`, `stack_size`, `thread_name` | [`threads`], [`stack_size`], [`thread_name`] | |
//! | `start_handler`, `exit_handler` | [`on_start`], [`on_exit`] | |
//! | `panic_handler` | [`on_panic`] | without a handler a panic of a task does not end the process |
//! | `use_current_thread` | [`use_current_thread`] | |
//! | `build`, `build_global` | [`build`], [`build_default`] | `build` waits for the start handlers |
//! | `spawn_handler(f).build()`, `.build_global()` | [`build_with(f)`], [`build_default_with(f)`] | |
//! | `build_scoped` | [`build_with`][`build_with(f)`] in a [`std::thread::scope`] | |
//! | `ThreadBuilder` | [`pool::ThreadBuilder`] | `name` is a `&str` |
//! | `ThreadPoolBuildError` | [`pool::BuildError`] | |
//! | `current_num_threads()`, `pool.current_num_threads()` | [`pool::current_num_threads`], [`Pool::num_threads`] | |
//! | `max_num_threads()` | [`Pool::MAX_THREADS`] | 4,095 |
//! | `current_thread_index()`, `pool.current_thread_index()` | [`pool::current_thread_index`], [`Pool::current_thread_index`] | constant in a job, but not in a thread |
//! | `yield_now`, `yield_local` | [`pool::run_pending`], [`pool::run_pending_local`] | return `Some(true)` for `Executed`; [`Cx::yield_now`] is for fibers |
//! | `current_thread_has_pending_tasks()` | [`pool::has_pending`] | |
//! | | [`pool::in_pool`], [`pool::current_pool_id`], [`Pool::id`] | additions: in which pool a thread is |
//! | `RAYON_NUM_THREADS` | `ANABRANCH_NUM_THREADS` | |
//!
//! [`pool::broadcast`]: crate::pool::broadcast()
//! [`build`]: crate::Builder::build
//! [`build_default`]: crate::Builder::build_default
//! [`build_default_with(f)`]: crate::Builder::build_default_with
//! [`build_with(f)`]: crate::Builder::build_with
//! [`pool::BuildError`]: crate::pool::BuildError
//! [`pool::current_num_threads`]: crate::pool::current_num_threads
//! [`pool::current_pool_id`]: crate::pool::current_pool_id
//! [`pool::current_thread_index`]: crate::pool::current_thread_index
//! [`Cx::yield_now`]: crate::Cx::yield_now
//! [`execute`]: crate::execute
//! [`FnContext`]: crate::FnContext
//! [`pool::has_pending`]: crate::pool::has_pending
//! [`pool::in_pool`]: crate::pool::in_pool
//! [`join`]: crate::join
//! [`join_context`]: crate::join_context
//! [`on_exit`]: crate::Builder::on_exit
//! [`on_panic`]: crate::Builder::on_panic
//! [`on_start`]: crate::Builder::on_start
//! [`Pool`]: crate::Pool
//! [`Pool::broadcast`]: crate::Pool::broadcast
//! [`Pool::builder`]: crate::Pool::builder
//! [`Pool::call`]: crate::Pool::call
//! [`Pool::current_thread_index`]: crate::Pool::current_thread_index
//! [`Pool::default_pool`]: crate::Pool::default_pool
//! [`Pool::execute`]: crate::Pool::execute
//! [`Pool::id`]: crate::Pool::id
//! [`Pool::in_place_scope`]: crate::Pool::in_place_scope
//! [`Pool::install`]: crate::Pool::install
//! [`Pool::MAX_THREADS`]: crate::Pool::MAX_THREADS
//! [`Pool::num_threads`]: crate::Pool::num_threads
//! [`Pool::shutdown_background`]: crate::Pool::shutdown_background
//! [`Pool::spawn`]: crate::Pool::spawn
//! [`Pool::spawn_broadcast`]: crate::Pool::spawn_broadcast
//! [`pool::run_pending`]: crate::pool::run_pending
//! [`pool::run_pending_local`]: crate::pool::run_pending_local
//! [`scope`]: crate::scope
//! [`Scope::spawn_broadcast`]: crate::Scope::spawn_broadcast
//! [`spawn`]: crate::spawn
//! [`pool::spawn_broadcast`]: crate::pool::spawn_broadcast
//! [`stack_size`]: crate::Builder::stack_size
//! [`thread_name`]: crate::Builder::thread_name
//! [`pool::ThreadBuilder`]: crate::pool::ThreadBuilder
//! [`threads`]: crate::Builder::threads
//! [`use_current_thread`]: crate::Builder::use_current_thread
//!
//! The settings of a pool, its threads, and its shutdown:
//! ```
//! use anabranch::{Pool, prelude::*};
//! use std::{sync::mpsc, thread};
//!
//! Pool::builder().threads(2).build_default()?;                    // was: build_global
//! assert!(Pool::builder().build_default_with(|thread| Ok(drop(thread))).is_err());
//! assert_eq!(anabranch::pool::current_num_threads(), Pool::default_pool().num_threads());
//! let pool = Pool::builder()
//!     .threads(3)
//!     .stack_size(4 << 20)
//!     .thread_name(|index| format!("worker {index}"))
//!     .on_start(|index| assert!(index < 3))
//!     .on_exit(|index| assert!(index < 3))
//!     .on_panic(|_| eprintln!("a panic that reaches no caller"))
//!     .build()?;
//! assert!(pool.num_threads() == 3 && Pool::MAX_THREADS == 4_095);
//! assert_eq!(pool.install(|| (0..10).into_par_iter().sum::<i32>()), 45);
//!
//! let caller = thread::current().id();
//! assert_eq!(pool.install(|| thread::current().id()), caller);
//! assert_ne!(pool.call(|| thread::current().id()), caller);       // was: install
//! assert_eq!(pool.install(anabranch::pool::current_pool_id), Some(pool.id()));
//! assert!(pool.install(anabranch::pool::in_pool) && !anabranch::pool::in_pool());
//! assert!(pool.install(anabranch::pool::current_thread_index).is_some_and(|index| index < 3));
//! assert_eq!(pool.current_thread_index(), None);
//!
//! let names = thread::scope(|s| {                                 // was: build_scoped
//!     let pool = Pool::builder().threads(2).build_with(|thread| { // was: spawn_handler
//!         assert_eq!((thread.name(), thread.stack_size()), (&*format!("anabranch-{}", thread.index()), None));
//!         thread::Builder::new().name("own".into()).spawn_scoped(s, || thread.run()).map(drop)
//!     })?;
//!     let name = |_| thread::current().name().map(str::to_owned);
//!     Ok::<_, anabranch::pool::BuildError>(pool.broadcast(name))
//! })?;
//! assert_eq!(names, [Some("own".to_owned()), Some("own".to_owned())]);
//!
//! let (sender, receiver) = mpsc::channel();
//! pool.execute(move || sender.send(6 * 7).unwrap());              // was: spawn
//! pool.shutdown_background();                                     // was: drop
//! assert_eq!(receiver.recv(), Ok(42));
//!
//! thread::spawn(|| {
//!     let pool = Pool::builder().threads(1).use_current_thread().build()?;
//!     let (sender, receiver) = mpsc::channel();
//!     pool.execute(move || sender.send(anabranch::pool::current_thread_index()).unwrap());
//!     while let Err(mpsc::TryRecvError::Empty) = receiver.try_recv() {
//!         anabranch::pool::run_pending();                         // was: yield_now
//!     }
//!     Ok::<_, anabranch::pool::BuildError>(())
//! })
//! .join()
//! .unwrap()?;
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//!
//! Work that runs in a pool:
//! ```
//! use anabranch::Pool;
//! use std::sync::{Mutex, mpsc};
//!
//! let pool = Pool::builder().threads(3).build()?;
//! assert_eq!(pool.install(|| anabranch::join(|| 1, || 2)), (1, 2));
//! let (has_moved, _) = pool.install(|| anabranch::join_context(|a| a.migrated(), |b| b.migrated()));
//! assert!(!has_moved);
//!
//! let log = Mutex::new(vec![]);
//! anabranch::scope(|s| {
//!     s.spawn(|| {
//!         log.lock().unwrap().push("outer");
//!         s.spawn(|| log.lock().unwrap().push("inner"));          // was: |s| s.spawn(|_| ..)
//!     });
//! });
//! assert_eq!(log.into_inner().unwrap(), ["outer", "inner"]);
//!
//! let (sender, receiver) = mpsc::channel();
//! pool.in_place_scope(|s| {
//!     s.spawn(|| sender.send(1).unwrap());
//!     s.spawn_broadcast(|index| sender.send(10 * index).unwrap());
//!     assert_eq!(receiver.iter().take(4).sum::<usize>(), 1 + 10 + 20);
//! });
//!
//! assert_eq!(pool.broadcast(|index| index), [0, 1, 2]);
//! assert_eq!(pool.install(|| anabranch::pool::broadcast(|index| index)), [0, 1, 2]);
//! let (of_method, of_function) = (sender.clone(), sender.clone());
//! pool.spawn_broadcast(move |index| of_method.send(index).unwrap());
//! pool.install(|| anabranch::pool::spawn_broadcast(move |index| of_function.send(index).unwrap()));
//! pool.install(|| anabranch::execute(move || sender.send(4).unwrap()));   // was: spawn
//! assert_eq!(receiver.iter().sum::<usize>(), 2 * (1 + 2) + 4);
//!
//! let handle = pool.spawn(|_| 6 * 7);
//! assert_eq!(pool.run(|cx| handle.join(cx)).unwrap(), 42);
//! let handle = anabranch::spawn(|cx| cx.yield_now());
//! anabranch::run(|cx| handle.join(cx)).unwrap();
//! assert_eq!((anabranch::pool::has_pending(), anabranch::pool::run_pending_local()), (None, None));
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//!
//! # Where a loop is cut
//! rayon cuts a loop into pieces in advance, and further when a piece is stolen. Here a loop is cut only where another
//! thread takes work. This has these consequences:
//! - [`fold`](crate::iter::ParallelIterator::fold) yields about one accumulator for each piece that a thread took. A
//!   loop that no other thread joins yields one.
//! - `map_init`, `map_with` and the like make about one state for each piece.
//! - [`reduce`](crate::iter::ParallelIterator::reduce) calls `identity` only if there are no items. rayon calls it for
//!   each piece.
//! - [`with_min_len`](crate::iter::IndexedParallelIterator::with_min_len) and
//!   [`with_max_len`](crate::iter::IndexedParallelIterator::with_max_len) hold as in rayon. Most loops do not become
//!   faster with them. A minimum helps where each piece has a cost of its own, a maximum where the costs of items
//!   differ greatly.
//!
//! ```
//! use anabranch::prelude::*;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! let (identities, zero) = (AtomicU32::new(0), || 0u64);
//! let identity = || {
//!     identities.fetch_add(1, Ordering::Relaxed);
//!     0
//! };
//! let sums = (0..1_000u64).into_par_iter().with_min_len(1_000).fold(zero, |sum, item| sum + item);
//! assert_eq!(sums.collect::<Vec<_>>(), [499_500]);                // one piece, as there are no two of 1,000 items
//! assert_eq!((0..1_000u64).into_par_iter().reduce(identity, |a, b| a + b), 499_500);
//! assert_eq!(identities.into_inner(), 0);
//! ```
//!
//! # A parallel iterator of your own
//! Implement [`Drive`] of [`iter::plumbing`](crate::iter::plumbing), not `ParallelIterator`: all types that implement
//! it have the methods of [`ParallelIterator`]. For a known number of items also implement [`DriveIndexed`]. There is
//! one kind of consumer, so `drive` replaces `drive_unindexed`, and there is no `with_producer`. The module has an
//! example of an adapter. Bounds such as `I: ParallelIterator<Item = u32>` are as before.
//! ```
//! use anabranch::iter::plumbing::{Consumer, Drive, Progress};
//! use anabranch::prelude::*;
//!
//! /// Iterates over the squares below n².
//! struct Squares(u32);
//!
//! impl Drive for Squares {
//!     type Item = u32;
//!
//!     fn drive<C: Consumer<u32>>(self, to: &C, folder: C::Folder, at: C::Position) -> Progress<C::Folder, C::Result> {
//!         (0..self.0).into_par_iter().map(|i| i * i).drive(to, folder, at)
//!     }
//! }
//!
//! fn total(items: impl ParallelIterator<Item = u32>) -> u32 {
//!     items.sum()
//! }
//!
//! fn dot_product<A, B>(a: A, b: B) -> u32
//! where
//!     A: IntoParallelIterator<Item = u32, Iter: IndexedParallelIterator>,
//!     B: IntoParallelIterator<Item = u32, Iter: IndexedParallelIterator>,
//! {
//!     a.into_par_iter().zip(b).map(|(a, b)| a * b).sum()
//! }
//!
//! assert_eq!(total(Squares(4).filter(|square| square % 2 == 1)), 10);
//! assert_eq!(dot_product(vec![1, 2], [3, 4]), 11);
//! assert_eq!((0..5u32).into_par_iter().opt_len(), Some(5));       // a method of `Drive`
//! ```
//!
//! # Additions
//! - [`deterministic`](crate::iter::ParallelIterator::deterministic) makes floating-point results the same in each run.
//! - [`cancelled_by`](crate::iter::ParallelIterator::cancelled_by) ends a loop when a scope is cancelled, or at its
//!   deadline.
//! - [`progress`](crate::iter::ParallelIterator::progress) reports how many items have been consumed.
//! - [`take_while`](crate::iter::ParallelIterator::take_while) and
//!   [`skip_while`](crate::iter::ParallelIterator::skip_while) work as in [`Iterator`], in the order of the sequence.
//! - [`dedup`](crate::iter::ParallelIterator::dedup) and [`dedup_by_key`](crate::iter::ParallelIterator::dedup_by_key)
//!   drop repeated neighbours.
//! - [`prefix_scan`](crate::iter::ParallelIterator::prefix_scan) returns prefix sums and the like.
//! - [`par_bridge_ordered`](crate::iter::ParallelBridge::par_bridge_ordered) keeps the order of a plain iterator.
//!   [`max_batch`](crate::iter::IterBridge::max_batch) lets a thread take several items at once.
//! - Ranges of `u64`, `i64`, `u128` and `i128` are indexed too. Methods that need the length panic if `usize` cannot
//!   hold it.
//!
//! ```
//! use anabranch::prelude::*;
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! let items = [1, 1, 2, 9, 2];
//! let iter = || items.par_iter().copied();
//!
//! let sum = || (0..10_000u64).into_par_iter().map(|i| 1.0 / (i + 1) as f64).deterministic().sum::<f64>();
//! assert_eq!(sum().to_bits(), sum().to_bits());
//! let sum = anabranch::run(|cx| iter().cancelled_by(cx).sum::<Result<i32, _>>());
//! assert_eq!(sum, Ok(15));
//!
//! let done = AtomicUsize::new(0);
//! iter().progress(|items| _ = done.fetch_add(items, Ordering::Relaxed)).for_each(drop);
//! assert_eq!(done.into_inner(), 5);
//!
//! assert_eq!(iter().take_while(|item| *item < 5).collect::<Vec<_>>(), [1, 1, 2]);
//! assert_eq!(iter().skip_while(|item| *item < 5).collect::<Vec<_>>(), [9, 2]);
//! assert_eq!(iter().dedup().collect::<Vec<_>>(), [1, 2, 9, 2]);
//! assert_eq!(iter().dedup_by_key(|item| *item < 5).count(), 3);
//! assert_eq!(iter().prefix_scan(|a, b| a + b), [1, 2, 4, 13, 15]);
//!
//! assert_eq!("b a c".split(' ').par_bridge_ordered().collect::<Vec<_>>(), ["b", "a", "c"]);
//! assert_eq!("b a c".split(' ').par_bridge().max_batch(1).ordered().collect::<String>(), "bac");
//! assert_eq!((0..10u64).into_par_iter().len() + (0..=9i128).into_par_iter().len(), 20);
//! assert_eq!((0..1u64 << 40).into_par_iter().rev().position_first(|i| i % 7 == 0), Some(1));
//! ```
//!
//! # Grain size
//! A fork that no thread takes costs one to two nanoseconds, so recursive code forks at every level.
//! ```
//! fn quicksort<T: Ord + Send>(items: &mut [T]) {
//!     if items.len() <= 1 {
//!         return;
//!     }
//!     let pivot = items.len() - 1;
//!     let mut middle = 0;
//!     for i in 0..pivot {
//!         if items[i] <= items[pivot] {
//!             items.swap(i, middle);
//!             middle += 1;
//!         }
//!     }
//!     items.swap(middle, pivot);
//!     let (left, right) = items.split_at_mut(middle);
//!     anabranch::join(|| quicksort(left), || quicksort(&mut right[1..]));
//! }
//!
//! let mut items = vec![5, 3, 9, 1, 7];
//! quicksort(&mut items);
//! assert_eq!(items, [1, 3, 5, 7, 9]);
//! ```
//!
//! # Locks across a join
//! A waiting rayon worker runs any job of the pool. If that job needs a lock that the waiting code holds, the thread
//! deadlocks. Here a thread that waits in a `join` runs only work that descends from the awaited closure, and answers
//! [broadcasts](crate::Pool::broadcast). A sequential run would take the same locks in the same order.
//! ```
//! use anabranch::prelude::*;
//! use std::sync::Mutex;
//!
//! let log = Mutex::new(Vec::new());
//! (0..100u32).into_par_iter().for_each(|i| {
//!     let mut log = log.lock().unwrap();                          // held across the join below
//!     let (a, b) = anabranch::join(|| i, || i + 1);
//!     log.push(a + b);
//! });
//! assert_eq!(log.into_inner().unwrap().len(), 100);
//! ```
//!
//! # Blocking calls
//! On Linux the pool finds threads that block in foreign calls. When all of them are blocked, a spare thread goes on:
//! at once if they wait for other threads, and after a second if they sleep or wait for a device. So the halves of a
//! `join` may wait for each other at a channel of `std`, even in a pool of one thread:
//! ```
//! # #[cfg(target_os = "linux")] {
//! use std::sync::mpsc;
//!
//! let pool = anabranch::Pool::builder().threads(1).build()?;
//! let (sender, receiver) = mpsc::channel();
//! let (got, sent) = pool.install(|| anabranch::join(move || receiver.recv(), move || sender.send(7)));
//! assert_eq!((got, sent), (Ok(7), Ok(())));
//! # }
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//! On other systems the pool knows only of waits with a [`Cx`](crate::Cx), so this program would hang. See
//! [`hazards`](super::hazards).
//!
//! # Threads
//! A call from outside a pool runs on the calling thread, which becomes a *guest* of the pool until the call returns.
//! So the call sees the caller's thread-locals, and [`Builder::stack_size`](crate::Builder::stack_size) does not apply
//! to it. In a pool of T threads at most T threads work at a time, guests included.
