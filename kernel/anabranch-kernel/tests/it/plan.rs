//! What holds for each plan.

use anabranch_kernel::{Device, Plan, Rule, Shape};
use proptest::prelude::*;

fn device(cores: u32, lanes: u32, resident_vectors: u32, max_block_vectors: u32) -> Device {
    let shape = Shape { cores, lanes, resident_vectors, max_block_vectors };
    Device::new("a machine", shape).expect("no zero")
}

fn known(name: &str) -> Device {
    name.parse().expect("a known device")
}

/// Checks all promises of [`Plan`] but that on each element.
fn check(device: &Device, n: u64) {
    let (shape, plan) = (device.shape(), device.plan(n));
    let (cores, resident) = (u64::from(shape.cores), u64::from(shape.resident_vectors));
    let (vectors, blocks, size) = (plan.vectors(), plan.blocks(), u64::from(plan.vectors_per_block()));
    let name = format!("{shape:?} {n}: {plan:?}");
    assert_eq!((plan.elements(), plan.is_empty(), blocks == 0), (n, n == 0, n == 0), "{name}");
    assert_eq!(plan.rule() == Rule::Empty, n == 0, "{name}");
    assert_eq!(vectors, n.div_ceil(shape.lanes.into()), "{name}");
    let (least, most) = plan.blocks_per_core();
    assert!(most - least <= 1 && least * cores <= blocks && blocks <= most * cores, "{name}");
    assert!((0.0..=1.0).contains(&plan.occupancy()) && !plan.reason().to_string().is_empty(), "{name}");
    if n == 0 {
        assert_eq!((plan.lanes(), plan.elements_per_lane(), plan.occupancy()), (0, 0, 0.0), "{name}");
        return;
    }
    assert!(if vectors >= cores { least >= 1 } else { size == 1 && blocks == vectors }, "{name}");
    assert!(1 <= size && size <= resident.min(shape.max_block_vectors.into()), "{name}");
    assert!(most * size <= resident, "not all blocks are resident: {name}");
    assert_eq!(plan.lanes(), u128::from(blocks) * u128::from(size) * u128::from(shape.lanes), "{name}");
    // Enough turns for all elements, and not one turn that no lane needs.
    assert!(plan.lanes() * u128::from(plan.elements_per_lane()) >= n.into(), "{name}");
    assert!(plan.lanes() * u128::from(plan.elements_per_lane() - 1) < n.into(), "{name}");
    assert_eq!(plan.elements_per_lane() > 1, vectors > cores * resident, "{name}");
    if vectors >= cores * resident {
        assert_eq!((plan.occupancy(), plan.rule()), (1.0, Rule::Stride), "{name}");
    } else {
        // No block is without elements.
        assert!((blocks - 1) * size < vectors, "{name}");
    }
}

/// Checks that each element belongs to one lane.
fn check_elements(plan: &Plan) {
    let mut owners = vec![0u8; usize::try_from(plan.elements()).unwrap()];
    for lane in 0..u64::try_from(plan.lanes()).unwrap() {
        let elements: Vec<u64> = plan.elements_of(lane).collect();
        assert!(elements.len() as u64 <= plan.elements_per_lane(), "{plan:?}");
        elements.iter().for_each(|&element| owners[element as usize] += 1);
    }
    assert!(owners.iter().all(|&owners| owners == 1), "{plan:?}");
}

fn devices() -> impl Strategy<Value = Device> {
    let part = |most: u32| prop_oneof![1..=most, 1..=4u32];
    let any = (part(1000), part(128), part(100), part(100)).prop_map(|(c, l, r, b)| device(c, l, r, b));
    let huge = prop_oneof![Just(1u32), Just(u32::MAX)];
    let extreme = (huge.clone(), huge.clone(), 1..100u32, huge).prop_map(|(c, l, r, b)| device(c, l, r, b));
    let listed = (0..Device::known().len()).prop_map(|at| Device::known()[at].1.clone());
    prop_oneof![4 => any, 1 => extreme, 2 => listed]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn plans_keep_their_promises(device in devices(), n in prop_oneof![0..100_000u64, 0..1u64 << 32, any::<u64>()]) {
        check(&device, n);
    }

    #[test]
    fn plans_keep_their_promises_at_boundaries(device in devices(), times in 0..200u64, around in 0..5u64) {
        let shape = device.shape();
        let vectors = u128::from(shape.cores) * u128::from(times);
        let n = (vectors * u128::from(shape.lanes) + u128::from(around)).saturating_sub(2);
        check(&device, u64::try_from(n).unwrap_or(u64::MAX));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn each_element_has_one_lane(device in (1..40u32, 1..40u32, 1..20u32, 1..20u32), n in 0..50_000u64) {
        let (cores, lanes, resident, block) = device;
        check_elements(&self::device(cores, lanes, resident, block).plan(n));
    }
}

#[test]
fn ten_thousand_elements_on_h100() {
    let plan = known("h100").plan(10_000);
    assert_eq!((plan.vectors(), plan.blocks(), plan.lanes_per_block(), plan.elements_per_lane()), (313, 157, 64, 1));
    assert_eq!((plan.blocks_per_core(), plan.rule()), ((1, 2), Rule::FillCores));
    // Rounded up, 105 blocks of 96 lanes would leave 27 cores without one.
    assert_eq!(313u64.div_ceil(313u64.div_ceil(132)), 132 - 27);
}

#[test]
fn full_devices_stride() {
    for (name, blocks, lanes) in
        [("h100", 264, 1024), ("a100", 216, 1024), ("rtx4090", 256, 768), ("mi300x", 608, 1024), ("max1550", 256, 512)]
    {
        let device = known(name);
        let shape = device.shape();
        let full = u64::from(shape.cores) * u64::from(shape.resident_vectors) * u64::from(shape.lanes);
        for (n, each) in [(full, 1), (full + 1, 2), (full * 100, 100), (full * 100 + 1, 101)] {
            let plan = device.plan(n);
            let found = (plan.blocks(), plan.lanes_per_block(), plan.elements_per_lane(), plan.rule());
            assert_eq!(found, (blocks, lanes, each, Rule::Stride), "{name} {n}");
        }
    }
}

#[test]
fn all_small_sizes_on_all_devices() {
    for (_, device) in Device::known() {
        (0..5000).for_each(|n| check(device, n));
        (0..64).for_each(|shift| check(device, 1 << shift));
    }
}

#[test]
fn largest_numbers_do_not_overflow() {
    for (_, device) in Device::known() {
        check(device, u64::MAX);
    }
    let most = u32::MAX;
    for (cores, lanes) in [(1, 1), (most, 1), (1, most), (most, most)] {
        check(&device(cores, lanes, 64, most), u64::MAX);
    }
    let plan = known("h100").plan(u64::MAX);
    let last = plan.elements_of(0).next().map(|first| first + u64::try_from(plan.lanes()).unwrap());
    assert_eq!(last, Some(264 * 1024));
}

#[test]
fn no_elements_need_no_blocks() {
    let plan = known("h200").plan(0);
    assert_eq!((plan.to_string().as_str(), plan.elements_of(0).count()), ("no blocks", 0));
    assert_eq!(plan.reason().to_string(), "There are no elements, so nothing is launched.");
}

#[test]
fn processor_gets_one_block_a_core() {
    let cpu = Device::cpu();
    let shape = cpu.shape();
    assert_eq!((shape.resident_vectors, shape.max_block_vectors), (1, 1));
    for n in [0, 1, 31, 10_000, 1 << 40] {
        check(&cpu, n);
        assert!(cpu.plan(n).blocks() <= shape.cores.into());
    }
    assert_eq!("this".parse::<Device>().map(|device| device.shape()), Ok(shape));
}

#[test]
fn a_lane_takes_eight_elements_or_more_in_each_of_at_most_32_waves() {
    let h100 = known("h100");
    let full = 264 * 1024;
    for (each, waves) in [(1, 1), (15, 1), (16, 2), (17, 2), (255, 31), (256, 32), (10_000, 32)] {
        assert_eq!(h100.plan(full * each).waves(), waves, "{each}");
    }
    assert_eq!([0, 1, 10_000, full * 16 - 1].map(|n| h100.plan(n).waves()), [1; 4]);
    assert_eq!(device(u32::MAX, u32::MAX, 64, u32::MAX).plan(u64::MAX).waves(), 1);
    let ends = |each: u64, words: &str| h100.plan(full * each).reason().to_string().ends_with(words);
    assert!(ends(15, "of 100.0%."));
    assert!(ends(16, "launches 2 times as many blocks, so that a core that has ended one begins the next."));
    assert_eq!(Device::cpu().plan(1 << 40).waves(), 1);
}

#[test]
fn reasons_say_what_decided() {
    let h100 = known("h100");
    for (n, rule, words) in [
        (1, Rule::OneVector, "1 element is 1 vector of 32 lanes. There are 132 cores"),
        (4000, Rule::OneVector, "125 blocks of 1 vector. A core has 0 or 1 block."),
        (10_000, Rule::FillCores, "313 / 132 = 2 of them"),
        (200_000, Rule::LargestBlock, "6250 / 132 = 47 rounded down"),
        (
            1 << 30,
            Rule::Stride,
            "264 blocks of 32 vectors. A lane takes at most 3972 elements, at distances of 270336.",
        ),
    ] {
        let plan = h100.plan(n);
        let reason = plan.reason().to_string();
        assert_eq!(plan.rule(), rule, "{reason}");
        assert!(reason.contains(words), "{reason}");
    }
    assert!(known("max1550").plan(1).reason().to_string().ends_with("an occupancy of less than 0.1%."));
}

#[test]
fn machines_without_a_part_are_refused() {
    let shape = Shape { cores: 1, lanes: 0, resident_vectors: 1, max_block_vectors: 1 };
    let error = Device::new("none", shape).unwrap_err();
    assert_eq!(error.to_string(), "`lanes` is 0, and must be at least 1");
}
