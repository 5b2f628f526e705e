//! The codes of traps: why a kernel has no result for an element, and where.
//!
//! A code stands for an operation of a kernel; [`Traps`] gives each program a range of codes. Codes are literals in the
//! text of kernels. They come from hashes, so that a text does not depend on which kernels ran before, and is found in
//! caches of compiled kernels. A launch reports its code in a [slot](super::slots).

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::sync::Arc;

use anabranch_kernel_ir::{Linker, Param, Program};
use naga::{Block as Statements, Module, ResourceBinding, Statement};

use crate::error::Trap;

/// The meanings of codes.
#[derive(Clone, PartialEq)]
struct Range {
    name: &'static str,
    meaning: Meaning,
}

#[derive(Clone, PartialEq)]
enum Meaning {
    /// The sites of a program.
    Program(Arc<Program>),
    /// One code of an operation.
    Operation(&'static str),
}

impl Range {
    /// Returns the number of codes. A program without sites has one that is not used.
    fn len(&self) -> u32 {
        match &self.meaning {
            Meaning::Program(program) => {
                u32::try_from(program.sites.len()).expect("a program has fewer sites than bytes").max(1)
            }
            Meaning::Operation(_) => 1,
        }
    }
}

/// A program that was read.
#[derive(Clone)]
pub(super) struct Known {
    /// The code of site `s` is `base + s + 1`.
    pub(super) base: u32,
    pub(super) program: Arc<Program>,
    pub(super) has_loops: bool,
}

/// The codes of a device. Code 0 is no trap.
#[derive(Default)]
pub(super) struct Traps {
    /// By their first codes.
    ranges: BTreeMap<u32, Range>,
    programs: HashMap<(usize, usize), Known>,
}

impl Traps {
    /// Returns the program of serialised `bytes`.
    ///
    /// # Errors
    /// Returns the text of an error if the bytes are not a program.
    pub(super) fn program(&mut self, name: &'static str, bytes: &'static [u8]) -> Result<Known, String> {
        // Static data is never freed, so an address has the same bytes for ever.
        let key = (bytes.as_ptr() as usize, bytes.len());
        if let Some(known) = self.programs.get(&key) {
            return Ok(known.clone());
        }
        let program = Arc::new(Program::from_bytes(bytes).map_err(|error| error.to_string())?);
        let range = Range { name, meaning: Meaning::Program(Arc::clone(&program)) };
        // A kernel that moves to another line keeps its text.
        let mut without_lines = Program::clone(&program);
        without_lines.sites.iter_mut().for_each(|site| (site.line, site.column) = (0, 0));
        let base = self.place(hash((name, without_lines)), range) - 1;
        let known = Known { base, has_loops: has_loops(&program), program };
        self.programs.insert(key, known.clone());
        Ok(known)
    }

    /// Returns the code of an operation of this crate.
    pub(super) fn operation(&mut self, name: &'static str, what: &'static str) -> u32 {
        self.place(hash((name, what)), Range { name, meaning: Meaning::Operation(what) })
    }

    /// Gives a range its codes: from `wanted` on, or the next that are free. Returns the first one.
    fn place(&mut self, wanted: u32, range: Range) -> u32 {
        let mut first = wanted;
        loop {
            match self.ranges.range(..first + range.len()).next_back() {
                Some((start, known)) if *known == range => return *start,
                Some((start, known)) if start + known.len() > first => first = start + known.len(),
                _ => break,
            }
        }
        self.ranges.insert(first, range);
        first
    }

    /// Returns what a code means.
    pub(super) fn explain(&self, code: u32) -> Trap {
        let unknown = |name| Trap::new(name, format!("the device reports the code {code}"));
        let found = self.ranges.range(..=code).next_back();
        let Some((first, range)) = found.filter(|(first, range)| code - *first < range.len()) else {
            return unknown("unknown");
        };
        match &range.meaning {
            Meaning::Operation(what) => Trap::new(range.name, *what),
            Meaning::Program(program) => match program.sites.get((code - first) as usize) {
                Some(site) => Trap::new(range.name, site.kind.to_string()).at_line(site.line),
                None => unknown(range.name),
            },
        }
    }
}

/// Returns a number from 1 to 2^31, the same for the same value in each process.
fn hash(of: impl Hash) -> u32 {
    (BuildHasherDefault::<DefaultHasher>::new().hash_one(of) >> 33) as u32 + 1
}

/// Returns whether the functions of a program have loops on a device.
fn has_loops(program: &Program) -> bool {
    let mut module = Module::default();
    let mut linker = Linker::new(&mut module);
    let binding = ResourceBinding { group: 0, binding: 0 };
    let params = &program.kernel().params;
    let slices = params.iter().filter_map(|param| match param {
        Param::Slice { item, .. } => Some(linker.slice(program, item, binding)),
        Param::Value(_) => None,
    });
    let slices: Vec<_> = slices.collect();
    let traps = linker.traps(binding);
    linker.function(program, &slices, traps, 0);
    module.functions.iter().any(|(_, function)| loops_in(&function.body))
}

fn loops_in(block: &Statements) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Loop { .. } => true,
        Statement::Block(block) => loops_in(block),
        Statement::If { accept, reject, .. } => loops_in(accept) || loops_in(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| loops_in(&case.body)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::tests::{Operator, kernels};

    fn operation(name: &'static str) -> Range {
        Range { name, meaning: Meaning::Operation("wrong") }
    }

    #[test]
    fn codes_do_not_depend_on_the_order_of_kernels() {
        let names = ["gather", "scatter", "segments"];
        let (mut traps, mut others) = (Traps::default(), Traps::default());
        let codes = names.map(|name| traps.operation(name, "wrong"));
        let reversed: Vec<u32> = names.iter().rev().map(|name| others.operation(name, "wrong")).collect();
        assert!(codes.iter().eq(reversed.iter().rev()), "{codes:?} {reversed:?}");
        assert_eq!(names.map(|name| traps.operation(name, "wrong")), codes);
        for (name, code) in names.iter().zip(codes) {
            assert!(traps.explain(code).to_string().contains(name));
            assert_eq!(traps.explain(code + 1).kernel(), "unknown");
        }
        let programs = [kernels().divide, kernels().at, kernels().divide_i32, kernels().add];
        let base = |traps: &mut Traps, of: &Operator| traps.program(of.name, of.program).unwrap().base;
        let bases = programs.map(|program| base(&mut traps, &program));
        let reversed: Vec<u32> = programs.iter().rev().map(|program| base(&mut others, program)).collect();
        assert!(bases.iter().eq(reversed.iter().rev()), "{bases:?} {reversed:?}");
        // The same bytes elsewhere.
        let elsewhere = Operator { program: programs[0].program.to_vec().leak(), ..programs[0] };
        assert_eq!(base(&mut traps, &elsewhere), bases[0]);
    }

    #[test]
    fn a_kernel_keeps_its_codes_on_another_line() {
        let divide = kernels().divide;
        let mut moved = Program::from_bytes(divide.program).unwrap();
        moved.sites.iter_mut().for_each(|site| site.line += 10);
        let moved = moved.to_bytes().leak();
        let base = |program| Traps::default().program(divide.name, program).unwrap().base;
        assert_eq!(base(moved), base(divide.program));
        // With both of them, the second one has other codes, and each has its own line.
        let mut traps = Traps::default();
        let lines = [divide.program, moved].map(|program| {
            let base = traps.program(divide.name, program).unwrap().base;
            traps.explain(base + 1).line().unwrap()
        });
        assert_eq!(lines[1], lines[0] + 10);
    }

    #[test]
    fn programs_of_several_sites_or_none_do_not_overlap() {
        let with_sites = |name, count| {
            let mut program = Program::from_bytes(kernels().divide.program).unwrap();
            program.sites = vec![program.sites[0]; count];
            Range { name, meaning: Meaning::Program(Arc::new(program)) }
        };
        let ranges = [with_sites("none", 0), with_sites("three", 3), operation("one"), with_sites("two", 2)];
        let mut traps = Traps::default();
        let firsts: Vec<u32> = ranges.iter().map(|range| traps.place(7, range.clone())).collect();
        assert_eq!(firsts, [7, 8, 11, 12]);
        for (range, first) in ranges.iter().zip(&firsts) {
            assert_eq!(traps.place(7, range.clone()), *first, "{}", range.name);
        }
        let names = (6..15).map(|code| traps.explain(code).kernel().to_owned());
        let expected = ["unknown", "none", "three", "three", "three", "one", "two", "two", "unknown"];
        assert!(names.eq(expected));
    }

    #[test]
    fn ranges_that_want_the_same_codes_get_others() {
        let mut traps = Traps::default();
        let wanted = [7, 8, 7, 6, 7, 1 << 31];
        let names = ["a", "b", "c", "d", "e", "f"];
        let codes: Vec<u32> = names.iter().zip(wanted).map(|(name, code)| traps.place(code, operation(name))).collect();
        assert_eq!(codes, [7, 8, 9, 6, 10, 1 << 31]);
        for ((name, wanted), code) in names.into_iter().zip(wanted).zip(codes) {
            assert_eq!(traps.place(wanted, operation(name)), code);
            assert!(traps.explain(code).to_string().contains(name), "{code}");
        }
    }
}
