//! Kernels mean what their functions mean.
//!
//! `kernels!` defines functions and keeps their text. The tests compile the text as `#[kernel] mod` does, lower it with
//! naga, run naga's module, and compare the results and the traps with the functions.

mod cuda;
mod interpreter;
mod language;
mod numbers;
mod random;

use crate::{errors::Errors, expand, types::Items};
use anabranch_kernel_ir::{Linker, Program, Type, validate};
use interpreter::{Machine, Value};
use naga::{Module, ResourceBinding};
use proc_macro2::TokenStream;
use std::{collections::HashMap, panic};

/// Defines functions, and `SOURCE`, their text.
macro_rules! kernels {
    ($($item:item)*) => {
        $($item)*
        const SOURCE: &str = stringify!($($item)*);
    };
}
use kernels;

/// An argument of a kernel.
#[derive(Clone, Debug)]
enum Arg {
    Value(Value),
    Slice(Vec<Value>),
}

/// Values that kernels take and return.
trait ToValue {
    fn to_value(&self) -> Value;
}

impl ToValue for bool {
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}
impl ToValue for i32 {
    fn to_value(&self) -> Value {
        Value::I32(*self)
    }
}
impl ToValue for u32 {
    fn to_value(&self) -> Value {
        Value::U32(*self)
    }
}
impl ToValue for usize {
    fn to_value(&self) -> Value {
        Value::U32(u32::try_from(*self).unwrap())
    }
}
impl ToValue for f32 {
    fn to_value(&self) -> Value {
        Value::F32(*self)
    }
}
impl<T: ToValue, const N: usize> ToValue for [T; N] {
    fn to_value(&self) -> Value {
        Value::Composite(self.iter().map(T::to_value).collect())
    }
}

trait ToArg {
    fn to_arg(&self) -> Arg;
}

impl<T: ToValue> ToArg for T {
    fn to_arg(&self) -> Arg {
        Arg::Value(self.to_value())
    }
}
impl<T: ToValue> ToArg for &[T] {
    fn to_arg(&self) -> Arg {
        Arg::Slice(self.iter().map(T::to_value).collect())
    }
}

/// Compiles the functions of a text. Returns the program of each, which naga accepts.
fn compile(source: &str) -> HashMap<String, Program> {
    let file: syn::File = syn::parse_str(source).unwrap();
    let mut errors = Errors::default();
    let items = Items::of_module(&file.items, &mut errors);
    let functions = file.items.iter().filter_map(|item| match item {
        syn::Item::Fn(function) => Some(function),
        _ => None,
    });
    let functions: Vec<_> = functions.collect();
    let programs = expand::programs(&functions, &items, &mut errors);
    assert!(!errors.any(), "{}\n{source}", errors.into_tokens());
    let names = functions.iter().map(|function| function.sig.ident.to_string());
    let programs = names.zip(programs).filter(|(_, bytes)| !bytes.is_empty());
    let programs: HashMap<_, _> = programs.map(|(name, bytes)| (name, Program::from_bytes(&bytes).unwrap())).collect();
    for (name, program) in &programs {
        if let Err(error) = validate(program) {
            panic!("naga rejects `{name}`: {error}\n{source}");
        }
    }
    programs
}

/// Runs a program. Returns its result, and the number of the site of its last trap, from 1, or 0.
fn run(program: &Program, args: &[Arg]) -> (Value, u32) {
    let mut module = Module::default();
    let mut linker = Linker::new(&mut module);
    let traps = linker.traps(ResourceBinding { group: 0, binding: 0 });
    let mut memory = HashMap::from([(traps, Value::Composite(vec![Value::U32(0)]))]);
    let mut slices = Vec::new();
    let mut values = Vec::new();
    for (arg, ty) in args.iter().zip(program.kernel().param_types()) {
        match arg {
            Arg::Value(value) => values.push(value.clone()),
            Arg::Slice(items) => {
                let binding = u32::try_from(1 + slices.len()).unwrap();
                let slice = linker.slice(program, ty, ResourceBinding { group: 0, binding });
                slices.push(slice);
                // The slice begins at the third item of the storage variable, and another one follows it.
                let padding = || std::iter::repeat_n(Value::Bool(false), 2);
                let all = padding().chain(items.iter().cloned()).chain(padding());
                memory.insert(slice, Value::Composite(all.collect()));
                values.push(Value::U32(2));
                values.push(Value::U32(u32::try_from(items.len()).unwrap()));
            }
        }
    }
    let function = linker.function(program, &slices, traps, 0);
    let mut machine = Machine { module: &module, memory, steps: 10_000_000 };
    let result = machine.call(function, values);
    let Value::Composite(words) = &machine.memory[&traps] else { panic!("no traps") };
    let Value::U32(trap) = words[0] else { panic!("no trap") };
    cuda::record(program, args, &result, trap);
    (result, trap)
}

/// Compares a kernel with its function. A panic of the function must be a trap of that kind, and the only other ones
/// are overflows, which wrap in a release build.
fn check<T: ToValue>(program: &Program, args: &[Arg], function: impl FnOnce() -> T + panic::UnwindSafe) {
    let (value, trap) = run(program, args);
    match quietly(function) {
        Ok(expected) => {
            assert_eq!((value, trap), (expected.to_value(), 0), "{} of {args:?}", program.kernel().name);
        }
        Err(message)
            if message.ends_with("with overflow") && !message.contains("divide") && !message.contains("remainder") => {}
        Err(message) => {
            let kind = trap.checked_sub(1).map(|site| program.sites[site as usize].kind.to_string());
            let expected = expected_trap(&message);
            let kind = kind.unwrap_or_else(|| panic!("{} of {args:?} does not trap: {message}", program.kernel().name));
            assert!(
                expected.contains(&&*kind),
                "{} of {args:?} traps: {kind}, and not: {message}",
                program.kernel().name
            );
        }
    }
}

/// Returns the texts of the traps for a message of a panic.
fn expected_trap(message: &str) -> &'static [&'static str] {
    match message {
        _ if message.contains("out of bounds")
            || message.contains("out of range")
            || message.contains("index starts") =>
        {
            &["index out of range"]
        }
        _ if message.contains("zero") || message.contains("overflow") => {
            &["division by zero", "division by zero, or of the smallest i32 by -1"]
        }
        _ if message.contains("min > max") || message.contains("min <= max") => &["bounds of clamp in the wrong order"],
        _ => panic!("no trap for this panic: {message}"),
    }
}

/// Calls a function, and returns the message of its panic.
fn quietly<T>(function: impl FnOnce() -> T + panic::UnwindSafe) -> Result<T, String> {
    thread_local!(static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                hook(info);
            }
        }));
    });
    QUIET.set(true);
    let result = panic::catch_unwind(function);
    QUIET.set(false);
    result.map_err(|payload| match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().expect("a panic has a message")).to_owned(),
    })
}

/// Compares a kernel with the function of its name.
macro_rules! agree {
    ($programs:expr, $name:ident($($arg:expr),*)) => {{
        let args = [$($crate::tests::ToArg::to_arg(&$arg)),*];
        let program = &$programs[stringify!($name)];
        $crate::tests::check(program, &args, std::panic::AssertUnwindSafe(|| $name($($arg),*)));
    }};
}
use agree;

#[test]
fn sites_have_the_places_of_their_operations() {
    let programs =
        compile("fn f(a: u32, b: u32) -> u32 {\n    a / b\n}\nfn g(a: i32) -> i32 {\n    1 % a + f(1, 2) as i32\n}");
    let places = |name: &str| -> Vec<_> {
        let program: &Program = &programs[name];
        program
            .sites
            .iter()
            .map(|site| (program.functions[site.function as usize].name.as_str(), site.line, site.column))
            .collect()
    };
    assert_eq!(places("f"), [("f", 2, 7)]);
    assert_eq!(places("g"), [("f", 2, 7), ("g", 5, 7)]);
}

#[test]
fn program_has_only_functions_that_it_calls() {
    let programs = compile(
        "fn a(x: f32) -> f32 { b(x) }
        fn b(x: f32) -> f32 { x }
        fn c(x: f32) -> f32 { a(x) + b(x) }
        fn d(x: u32) -> u32 { x }",
    );
    let names =
        |name: &str| -> Vec<_> { programs[name].functions.iter().map(|function| function.name.clone()).collect() };
    assert_eq!(
        (names("a"), names("c"), names("d")),
        (
            vec!["b".to_owned(), "a".to_owned()],
            vec!["b".to_owned(), "a".to_owned(), "c".to_owned()],
            vec!["d".to_owned()],
        )
    );
    assert_eq!(programs["a"].kernel().output, Type::F32);
}

#[test]
fn cfg_is_refused_wherever_it_is() {
    let refused = |item: &str| {
        let output = expand::expand(TokenStream::new(), item.parse().unwrap()).to_string();
        assert_eq!(output.matches("kernels have no `cfg` inside").count(), 1, "{item}: {output}");
    };
    refused("fn f(x: u32) -> u32 { #[cfg(unix)] let x = 1; x }");
    refused("fn f(x: u32, #[cfg(unix)] y: u32) -> u32 { x }");
    refused("fn f(x: u32) -> u32 { match x { #[cfg_attr(unix, cfg(windows))] 0 => 1, _ => 2 } }");
    refused("mod m { pub struct S { a: u32, #[cfg(unix)] b: u32 } }");
    refused("mod m { #[cfg(unix)] const N: u32 = 1; }");
    let kept = expand::expand(TokenStream::new(), "mod m { #[cfg(unix)] use a::b; }".parse().unwrap());
    assert!(!kept.to_string().contains("compile_error"), "{kept}");
}

/// Another attribute may change the types of fields after `#[kernel]` has read them.
#[test]
fn fields_are_checked_as_the_compiler_sees_them() {
    for (item, fields) in [
        ("mod m { pub struct S { a: u32, b: [f32; 2] } }", "S{a:part0,b:part1}:&S"),
        ("mod m { pub struct S(u32); }", "S{0:part0}:&S"),
    ] {
        let output = expand::expand(TokenStream::new(), item.parse().unwrap()).to_string();
        let output: String = output.split_whitespace().collect();
        assert!(output.contains(fields) && output.contains("is_element(part0)"), "{output}");
    }
}
