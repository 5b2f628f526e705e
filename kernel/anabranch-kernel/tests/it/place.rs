//! Operations that move elements: compaction, scattering, counting, sorting.

use anabranch_kernel::{Vector, gather, indices, sort_by_key};

use crate::kernels::{bits, cpu, elements, floats, for_all_sizes, is_nan, is_odd, numbers, square, trap};

#[test]
fn compact_keeps_the_order() {
    for_all_sizes(|len| {
        let (numbers, floats) = (numbers(len, 1), floats(len, 2));
        anabranch::run(|cx| {
            let odd = numbers.compact::<is_odd>(cx, &cpu()).unwrap();
            assert_eq!(odd.download(cx).unwrap(), numbers.iter().copied().filter(|x| x % 2 == 1).collect::<Vec<_>>());
            let nan = floats.compact::<is_nan>(cx, &cpu()).unwrap();
            assert_eq!(nan.len(), floats.iter().filter(|x| x.is_nan()).count());
        });
    });
}

#[test]
fn scatter_inverts_gather() {
    for_all_sizes(|len| {
        let values = numbers(len, 1);
        // A permutation: the places in the order of random numbers.
        let (_, places) = sort_by_key(&cpu(), &numbers(len, 2), indices(len)).unwrap();
        let mut target = cpu().zeroed(len).unwrap();
        gather(&values, &places).scatter(&cpu(), &places, &mut target).unwrap();
        assert_eq!(elements(&target), values, "{len}");
    });
}

#[test]
fn scatter_writes_one_of_the_values_for_a_place() {
    for_all_sizes(|len| {
        let pairs: Vec<[u32; 2]> = (0..len as u32).map(|i| [i, i]).collect();
        let places: Vec<u32> = numbers(len, 3).iter().map(|number| number % 7).collect();
        let mut target = cpu().upload(&[[u32::MAX; 2]; 8]).unwrap();
        pairs.scatter(&cpu(), &places, &mut target).unwrap();
        for (place, words) in elements(&target).into_iter().enumerate() {
            let is_written = places.contains(&(place as u32));
            for word in words {
                let is_candidate = places.get(word as usize).is_some_and(|to| *to as usize == place);
                assert_eq!(is_candidate, is_written, "{place}: {word}");
                assert!(is_written || word == u32::MAX);
            }
        }
    });
}

#[test]
fn histogram_counts() {
    for_all_sizes(|len| {
        for bins in [1, 2, 256, 5000] {
            let numbers: Vec<u32> = numbers(len, 1).iter().map(|number| number % bins).collect();
            let mut expected = vec![0; bins as usize];
            numbers.iter().for_each(|number| expected[*number as usize] += 1);
            assert_eq!(elements(&numbers.histogram(&cpu(), bins as usize).unwrap()), expected, "{len} in {bins}");
        }
    });
    assert_eq!(elements(&indices(0).histogram(&cpu(), 0).unwrap()), [0u32; 0]);
}

#[test]
fn sort_is_stable_for_each_kind_of_key() {
    for_all_sizes(|len| {
        let few: Vec<u32> = numbers(len, 1).iter().map(|number| number % 5).collect();
        let signed: Vec<i32> = numbers(len, 2).iter().map(|number| number.cast_signed()).collect();
        let floats = floats(len, 3);
        let mut expected: Vec<u32> = (0..len as u32).collect();

        let (keys, order) = sort_by_key(&cpu(), &few, indices(len)).unwrap();
        expected.sort_by_key(|i: &u32| few[*i as usize]);
        assert_eq!(elements(&order), expected, "{len}");
        assert_eq!(elements(&keys), expected.iter().map(|i| few[*i as usize]).collect::<Vec<_>>());

        expected.sort_unstable();
        expected.sort_by_key(|i| signed[*i as usize]);
        let (_, order) = sort_by_key(&cpu(), &signed, indices(len)).unwrap();
        assert_eq!(elements(&order), expected, "{len}");

        expected.sort_unstable();
        expected.sort_by(|a, b| floats[*a as usize].total_cmp(&floats[*b as usize]));
        let (keys, order) = sort_by_key(&cpu(), &floats, indices(len)).unwrap();
        assert_eq!(elements(&order), expected, "{len}");
        let sorted: Vec<f32> = expected.iter().map(|i| floats[*i as usize]).collect();
        assert_eq!(bits(&elements(&keys)), bits(&sorted));
    });
}

#[test]
fn keys_and_values_can_be_lazy() {
    let (keys, squares) = sort_by_key(&cpu(), square::map((&[3, 1, 2, 1],)), square::map((indices(4),))).unwrap();
    assert_eq!((elements(&keys), elements(&squares)), (vec![1, 1, 4, 9], vec![1, 9, 4, 0]));
}

#[test]
fn numbers_out_of_range_are_traps() {
    for_all_sizes(|len| {
        let mut places = vec![0; len + 1];
        places[len] = 9;
        let text = "index 9 is out of range for 9 elements".to_owned();
        let gathered = gather(&[0u32; 9], &places).collect(&cpu());
        assert_eq!(trap(gathered), ("gather".to_owned(), text.clone()));
        let mut target = cpu().zeroed::<u32>(9).unwrap();
        assert_eq!(trap(places.scatter(&cpu(), &places, &mut target)), ("scatter".to_owned(), text));
        let text = "number 9 has no bin: there are 9".to_owned();
        assert_eq!(trap(places.histogram(&cpu(), 9)), ("histogram".to_owned(), text));
    });
}
