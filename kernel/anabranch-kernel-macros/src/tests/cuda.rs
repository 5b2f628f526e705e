//! CUDA C++ means what naga's modules mean.
//!
//! A C++ compiler builds the text for the host, and the program runs all kernels that the other tests run, on the same
//! arguments. The results must equal the results of the interpreter. Without a C++ compiler the test is skipped.

use super::{Arg, compile, interpreter::Value, language, numbers, random, run};
use anabranch_kernel_ir::{CudaSource, Linker, Param, Program, Scalar, Type, write_cuda};
use naga::{
    Block, EntryPoint, Expression, Function, Handle, Literal, Module, Range, ResourceBinding, ScalarKind, ShaderStage,
    Span, Statement, StorageAccess,
};
use std::{
    cell::RefCell,
    fmt::Write as _,
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

/// A run of a kernel.
struct Case {
    program: Program,
    args: Vec<Arg>,
    result: Vec<u32>,
    trap: u32,
}

thread_local!(static CASES: RefCell<Option<Vec<Case>>> = const { RefCell::new(None) });

/// Remembers a run, if the test of this thread asks for it.
pub(super) fn record(program: &Program, args: &[Arg], result: &Value, trap: u32) {
    CASES.with_borrow_mut(|cases| {
        if let Some(cases) = cases {
            let result = words(result);
            cases.push(Case { program: program.clone(), args: args.to_vec(), result, trap });
        }
    });
}

fn words(value: &Value) -> Vec<u32> {
    match value {
        Value::Bool(value) => vec![u32::from(*value)],
        Value::I32(value) => vec![value.cast_unsigned()],
        Value::U32(value) => vec![*value],
        Value::F32(value) if value.is_nan() => vec![f32::NAN.to_bits()],
        Value::F32(value) => vec![value.to_bits()],
        Value::Composite(values) => values.iter().flat_map(words).collect(),
        Value::Pointer(..) => panic!("no value"),
    }
}

/// Adds expressions and statements to an entry point.
struct Entry {
    function: Function,
    body: Block,
}

impl Entry {
    fn append(&mut self, expression: Expression) -> Handle<Expression> {
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    fn emit(&mut self, expression: Expression) -> Handle<Expression> {
        let handle = self.append(expression);
        self.body.push(Statement::Emit(Range::new_from_bounds(handle, handle)), Span::UNDEFINED);
        handle
    }

    /// Loads a word of a storage variable, as a scalar.
    fn load(&mut self, variable: Handle<naga::GlobalVariable>, index: u32, scalar: Scalar) -> Handle<Expression> {
        let base = self.append(Expression::GlobalVariable(variable));
        let pointer = self.emit(Expression::AccessIndex { base, index });
        let word = self.emit(Expression::Load { pointer });
        match scalar {
            Scalar::U32 => word,
            Scalar::Bool => self.emit(Expression::As { expr: word, kind: ScalarKind::Bool, convert: Some(1) }),
            Scalar::I32 => self.emit(Expression::As { expr: word, kind: ScalarKind::Sint, convert: None }),
            Scalar::F32 => self.emit(Expression::As { expr: word, kind: ScalarKind::Float, convert: None }),
        }
    }
}

/// Returns a kernel that reads its arguments from a storage variable, and stores the result to another one. Both have
/// elements of a word, unless the result is composed of several. Also returns the words of an element of each slice.
fn entry(program: &Program) -> (CudaSource, Vec<u32>) {
    let mut module = Module::default();
    let binding = |binding| ResourceBinding { group: 0, binding };
    let mut linker = Linker::new(&mut module);
    let traps = linker.traps(binding(0));
    let args = linker.slice(program, &Type::U32, binding(1));
    let is_bool = program.kernel().output == Type::BOOL;
    let output = if is_bool { Type::U32 } else { program.kernel().output.clone() };
    let result = linker.slice(program, &output, binding(2));
    let slices = program.kernel().params.iter().filter_map(|param| match param {
        Param::Slice { item, .. } => Some(item),
        Param::Value(_) => None,
    });
    let slices: Vec<_> = slices.collect();
    let slice_words = slices.iter().map(|item| program.size(item) / 4).collect();
    let slices: Vec<_> = (3..).zip(slices).map(|(number, item)| linker.slice(program, item, binding(number))).collect();
    let function = linker.function(program, &slices, traps, 0);
    let access = StorageAccess::LOAD | StorageAccess::STORE;
    module.global_variables.get_mut(result).space = naga::AddressSpace::Storage { access };
    let mut entry = Entry { function: Function::default(), body: Block::new() };
    let mut arguments = Vec::new();
    for (number, (param, ty)) in (0..).zip(program.kernel().params.iter().zip(program.kernel().param_types())) {
        match (param, ty) {
            (Param::Slice { .. }, _) => {
                arguments.push(entry.append(Expression::Literal(Literal::U32(2))));
                arguments.push(entry.load(args, number, Scalar::U32));
            }
            (Param::Value(_), Type::Scalar(scalar)) => arguments.push(entry.load(args, number, *scalar)),
            _ => panic!("the tests pass scalars and slices"),
        }
    }
    let mut value = entry.append(Expression::CallResult(function));
    entry.body.push(Statement::Call { function, arguments, result: Some(value) }, Span::UNDEFINED);
    if is_bool {
        value = entry.emit(Expression::As { expr: value, kind: ScalarKind::Uint, convert: Some(4) });
    }
    let base = entry.append(Expression::GlobalVariable(result));
    let pointer = entry.emit(Expression::AccessIndex { base, index: 0 });
    entry.body.push(Statement::Store { pointer, value }, Span::UNDEFINED);
    let function = Function { body: entry.body, ..entry.function };
    module.entry_points.push(EntryPoint {
        name: "main".to_owned(),
        stage: ShaderStage::Compute,
        early_depth_test: None,
        workgroup_size: [1, 1, 1],
        workgroup_size_overrides: None,
        function,
        mesh_info: None,
        task_payload: None,
        incoming_ray_payload: None,
    });
    let source = write_cuda(&module).unwrap_or_else(|error| panic!("{}: {error}", program.kernel().name));
    (source, slice_words)
}

/// Returns a C++ program. For each case it reads the number of the kernel, the arguments and the slices, and writes the
/// trap and the words of the result.
fn host_program(sources: &[(CudaSource, Vec<u32>)]) -> String {
    let intrinsics = include_str!("../../../anabranch-kernel/tests/simulated_card/intrinsics.hpp");
    let mut text = format!("{intrinsics}{}", include_str!("host.hpp"));
    let prelude = sources[0].0.text.find("struct Module").unwrap();
    let prelude = sources[0].0.text[..prelude]
        .lines()
        .take_while(|line| !line.starts_with("struct S"))
        .fold(String::new(), |text, line| if line.starts_with("static_assert") { text } else { text + line + "\n" });
    text += &prelude;
    let mut cases = String::new();
    for (number, (source, slice_words)) in sources.iter().enumerate() {
        let own = source.text.strip_prefix(&*prelude).expect("all modules begin alike");
        writeln!(text, "namespace kernel{number} {{\n{}}}", own.replace("extern \"C\" ", "")).unwrap();
        // The types of the parameters are those that the kernel has, which takes only what it uses.
        let (mut types, mut taken, mut given) = (String::new(), String::new(), Vec::new());
        for buffer in &source.buffers {
            let kind = match buffer.binding {
                0 => "u32 *",
                1 => "const u32 *",
                n => {
                    write!(types, "{}typename T{n}", if types.is_empty() { "" } else { ", " }).unwrap();
                    &format!("T{n}")
                }
            };
            taken.push_str(&format!("{}{kind}, u32", if taken.is_empty() { "" } else { ", " }));
            given.push(match buffer.binding {
                0 => "trap, 1u".to_owned(),
                1 => "args.data(), args.size()".to_owned(),
                2 => "(T2)result, 1u".to_owned(),
                n => format!("(T{n})slices[{0}].data(), lengths[{0}] + 4", n - 3),
            });
        }
        writeln!(
            text,
            "template <{types}> void run{number}(void (*kernel)({taken}), u32 *trap, std::vector<u32> &args, u32 *result, \
             std::vector<std::vector<u32>> &slices, std::vector<u32> &lengths) {{ kernel({}); }}",
            given.join(", ")
        )
        .unwrap();
        writeln!(cases, "case {number}: {{").unwrap();
        for item_words in slice_words {
            writeln!(cases, "lengths.push_back(0); slices.push_back(read_words({item_words}, lengths.back()));")
                .unwrap();
        }
        let result = source.buffers.iter().find(|buffer| buffer.binding == 2).expect("each kernel has a result");
        writeln!(
            cases,
            "run{number}(kernel{number}::entry0, &trap, args, result, slices, lengths); words = {}; break; }}",
            result.stride / 4
        )
        .unwrap();
    }
    write!(
        text,
        "int main() {{\nu32 kernel, count;\nwhile (std::cin >> kernel >> count) {{\nstd::vector<u32> args(count + 1);\n\
         for (u32 i = 0; i < count; i++) std::cin >> args[i];\nu32 trap = 0, words = 0, result[64] = {{}};\n\
         std::vector<std::vector<u32>> slices;\nstd::vector<u32> lengths;\n\
         switch (kernel) {{\n{cases}}}\nstd::cout << trap;\n\
         for (u32 i = 0; i < words; i++) std::cout << ' ' << result[i];\nstd::cout << '\\n';\n}}\n}}\n"
    )
    .unwrap();
    text
}

fn case_input(number: usize, case: &Case) -> String {
    let mut line = format!("{number} {}", case.args.len());
    let mut slices = String::new();
    for arg in &case.args {
        let word = match arg {
            Arg::Value(value) => words(value)[0],
            Arg::Slice(items) => {
                write!(slices, " {}", items.len()).unwrap();
                items.iter().flat_map(words).for_each(|word| write!(slices, " {word}").unwrap());
                u32::try_from(items.len()).unwrap()
            }
        };
        write!(line, " {word}").unwrap();
    }
    line + &slices + "\n"
}

#[test]
fn cuda_text_means_what_the_interpreter_computes() {
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("no C++ compiler was found: this test is skipped");
        return;
    }
    CASES.set(Some(Vec::new()));
    language::statements_have_the_meaning_of_rust();
    language::slices_have_the_meaning_of_rust();
    numbers::integers_have_the_meaning_of_rust();
    numbers::floats_have_the_meaning_of_rust();
    numbers::truth_values_have_the_meaning_of_rust();
    random::run_random_programs();
    run_functions_of_many_numbers();
    let cases = CASES.take().unwrap();
    let (mut programs, mut sources, mut input) = (Vec::new(), Vec::new(), String::new());
    for case in &cases {
        let number = programs.iter().position(|program| *program == &case.program).unwrap_or_else(|| {
            programs.push(&case.program);
            sources.push(entry(&case.program));
            programs.len() - 1
        });
        input += &case_input(number, case);
    }
    let folder = tempfile();
    let (text, binary) = (folder.join("host.cpp"), folder.join("host"));
    fs::write(&text, host_program(&sources)).unwrap();
    // The flags of the language, and those that give floats the meaning that the device's compiler gives them.
    let flags = ["-std=c++17", "-O0", "-ffp-contract=off", "-fno-strict-aliasing", "-w"];
    let compiled = Command::new("c++").args(flags).arg(&text).arg("-o").arg(&binary).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut child =
        Command::new(&binary).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.lines().count(), cases.len());
    for (line, case) in output.lines().zip(&cases) {
        let mut words = line.split(' ').map(|word| word.parse::<u32>().unwrap());
        let trap = words.next().unwrap();
        let floats = case.program.kernel().output == Type::F32;
        let canonical = |word| if floats && f32::from_bits(word).is_nan() { f32::NAN.to_bits() } else { word };
        let words: Vec<u32> = words.map(canonical).collect();
        assert_eq!((trap, &words), (case.trap, &case.result), "{} of {:?}", case.program.kernel().name, case.args);
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Runs a kernel with so many functions that a number of one may be that in the name of a type.
fn run_functions_of_many_numbers() {
    let mut source = String::from("fn f0(x: f32) -> f32 { x * 0.5 }\n");
    for number in 1..70 {
        writeln!(source, "fn f{number}(x: f32) -> f32 {{ f{}(x) + 0.25 }}", number - 1).unwrap();
    }
    let (result, _) = run(&compile(&source)["f69"], &[Arg::Value(Value::F32(3.0))]);
    assert_eq!(words(&result), [18.75f32.to_bits()]);
}

/// Returns a new folder for temporary files.
fn tempfile() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("anabranch-cuda-text-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}
