//! The writer of CUDA C++.
//!
//! A module becomes a struct, which has the functions of the module, and the variables of the module as fields. So a
//! function finds its variables without arguments, and each lane has its own private variables. A kernel fills the
//! fields and calls the function of its entry point. The compiler inlines everything, and leaves nothing of the struct.
//!
//! The text has naga's semantics, not those of C++: integers wrap, a division is defined for all operands, the amount
//! of a shift is taken modulo 32, and an index out of range is replaced with the last index, as with naga's `Restrict`.
//! So a kernel accesses only its own memory, whatever the module contains. `prelude.cuh` has these operations.
//!
//! Each name in the text is `S`, `a`, `call`, `e`, `entry`, `first`, `g`, `l`, `m`, `main`, `n` or `s`, followed by a
//! number. No name of the prelude, of CUDA or of C++ has this form: a function `f32` would hide the type.

mod expr;
mod function;

use expr::Expressions;
use function::Body;
use naga::{
    AddressSpace, ArraySize, Binding, BuiltIn, EntryPoint, FunctionArgument, GlobalVariable, Handle, Module,
    ScalarKind, StorageAccess, Type, TypeInner,
    proc::TypeResolution,
    valid::{Capabilities, FunctionInfo, ModuleInfo, ValidationFlags, Validator},
};
use std::fmt::Write;

/// A module as CUDA C++. [`write_cuda`] returns it.
///
/// Entry point number `n` is the kernel `entry<n>`. It has two parameters for each of [`buffers`](Self::buffers), a
/// pointer to the first element and the number of elements as `u32`, and then the immediates by value, if the module
/// has any. A buffer has at least one element. The blocks have the size of the entry point, in one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaSource {
    /// The text.
    pub text: String,
    /// The storage variables that entry points use, in the order of their parameters.
    pub buffers: Vec<CudaBuffer>,
    /// The size of the immediates in bytes. 0: there are none.
    pub immediates: u32,
}

/// A storage variable of a [`CudaSource`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaBuffer {
    /// The number of its binding.
    pub binding: u32,
    /// The size of an element in bytes.
    pub stride: u32,
}

/// Writes a module as CUDA C++, for the language C++17 of NVRTC.
///
/// The text has Rust's meaning of floats if it is compiled with `--fmad=false` and without `--use_fast_math`.
///
/// # Errors
/// Returns the reason if naga rejects the module, or if the module has something that `#[kernel]` and the skeletons of
/// `anabranch-kernel` never use: textures, matrices, scalars other than `u32`, `i32`, `f32` and `bool`, vectors of
/// scalars other than `u32`, pointers as arguments, subgroups.
pub fn write_cuda(module: &Module) -> Result<CudaSource, String> {
    let info = Validator::new(ValidationFlags::all(), Capabilities::IMMEDIATES)
        .validate(module)
        .map_err(|error| error.emit_to_string(""))?;
    Writer { module, info: &info, out: String::new() }.write()
}

/// The kinds of variables that become parameters of kernels.
struct Parameters {
    /// In the order of their bindings.
    storage: Vec<Handle<GlobalVariable>>,
    immediates: Option<Handle<GlobalVariable>>,
}

struct Writer<'m> {
    module: &'m Module,
    info: &'m ModuleInfo,
    out: String,
}

/// Writes a line.
macro_rules! line {
    ($out:expr, $($text:tt)*) => { writeln!($out, $($text)*).expect("a string can be written") };
}
use line;

impl Writer<'_> {
    fn write(mut self) -> Result<CudaSource, String> {
        let parameters = self.parameters()?;
        self.out.push_str(include_str!("prelude.cuh"));
        self.structs()?;
        line!(self.out, "struct Module {{");
        self.fields()?;
        for (handle, function) in self.module.functions.iter() {
            let result = match &function.result {
                Some(result) => self.type_name(result.ty)?,
                None => "void".to_owned(),
            };
            let name = format!("call{}", handle.index());
            self.function(&name, &result, function, &self.info[handle])?;
        }
        for (number, entry) in self.module.entry_points.iter().enumerate() {
            self.function(&format!("main{number}"), "void", &entry.function, self.info.get_entry_point(number))?;
        }
        line!(self.out, "}};");
        for (number, entry) in self.module.entry_points.iter().enumerate() {
            self.kernel(number, entry, &parameters)?;
        }
        let buffers = parameters.storage.iter().map(|&variable| {
            let binding = self.binding(variable)?;
            Ok(CudaBuffer { binding, stride: self.element(variable)?.1 })
        });
        let buffers = buffers.collect::<Result<_, String>>()?;
        let size = |variable: Handle<GlobalVariable>| {
            self.inner(self.module.global_variables[variable].ty).size(self.module.to_ctx())
        };
        let immediates = parameters.immediates.map_or(0, size);
        Ok(CudaSource { text: self.out, buffers, immediates })
    }

    fn inner(&self, ty: Handle<Type>) -> &TypeInner {
        &self.module.types[ty].inner
    }

    fn parameters(&self) -> Result<Parameters, String> {
        let (mut storage, mut immediates) = (Vec::new(), None);
        let entries = 0..self.module.entry_points.len();
        for (handle, variable) in self.module.global_variables.iter() {
            match variable.space {
                _ if entries.clone().all(|entry| self.info.get_entry_point(entry)[handle].is_empty()) => {}
                AddressSpace::Storage { .. } => storage.push((self.binding(handle)?, handle)),
                AddressSpace::Immediate if immediates.is_none() => immediates = Some(handle),
                AddressSpace::Private | AddressSpace::WorkGroup => {}
                space => return Err(format!("a variable in {space:?}")),
            }
        }
        storage.sort_unstable_by_key(|(binding, _)| *binding);
        if storage.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err("two variables with one binding".to_owned());
        }
        Ok(Parameters { storage: storage.into_iter().map(|(_, handle)| handle).collect(), immediates })
    }

    fn binding(&self, variable: Handle<GlobalVariable>) -> Result<u32, String> {
        match self.module.global_variables[variable].binding {
            Some(naga::ResourceBinding { group: 0, binding }) => Ok(binding),
            _ => Err("a variable that is not bound in group 0".to_owned()),
        }
    }

    /// Returns the type of the elements of a storage variable, and the bytes of one.
    fn element(&self, variable: Handle<GlobalVariable>) -> Result<(Handle<Type>, u32), String> {
        match self.inner(self.module.global_variables[variable].ty) {
            TypeInner::Array { base, size: ArraySize::Dynamic, stride } => Ok((*base, *stride)),
            _ => Err("a storage variable that is not an array of any length".to_owned()),
        }
    }

    /// Returns the name of a type of values.
    fn type_name(&self, ty: Handle<Type>) -> Result<String, String> {
        match self.inner(ty) {
            TypeInner::Struct { .. } => Ok(format!("S{}", ty.index())),
            TypeInner::Array { base, size: ArraySize::Constant(length), .. } => {
                Ok(format!("Array<{}, {length}>", self.type_name(*base)?))
            }
            inner => plain_type_name(inner),
        }
    }

    fn resolved_name(&self, ty: &TypeResolution) -> Result<String, String> {
        match ty {
            TypeResolution::Handle(ty) => self.type_name(*ty),
            TypeResolution::Value(inner) => plain_type_name(inner),
        }
    }

    fn structs(&mut self) -> Result<(), String> {
        for (handle, ty) in self.module.types.iter() {
            let TypeInner::Struct { members, .. } = &ty.inner else { continue };
            line!(self.out, "struct S{} {{", handle.index());
            for (number, member) in members.iter().enumerate() {
                let name = self.type_name(member.ty)?;
                line!(self.out, "    {name} m{number};");
            }
            line!(self.out, "}};");
        }
        // Other programs fill the storage variables, by naga's layout.
        for (handle, variable) in self.module.global_variables.iter() {
            if matches!(variable.space, AddressSpace::Storage { .. }) {
                let (element, stride) = self.element(handle)?;
                let name = self.type_name(element)?;
                line!(self.out, "static_assert(sizeof({name}) == {stride}, \"the layout of elements\");");
            }
        }
        Ok(())
    }

    fn fields(&mut self) -> Result<(), String> {
        for (handle, variable) in self.module.global_variables.iter() {
            let number = handle.index();
            match variable.space {
                AddressSpace::Storage { access } => {
                    let name = self.type_name(self.element(handle)?.0)?;
                    line!(self.out, "    {}{name} *g{number};\n    u32 n{number};", qualifier(access));
                }
                AddressSpace::WorkGroup => line!(self.out, "    {} *g{number};", self.type_name(variable.ty)?),
                _ => {
                    let name = self.type_name(variable.ty)?;
                    let init = match variable.init {
                        Some(init) => Expressions::of_module(self).value(init)?,
                        None => format!("{name}()"),
                    };
                    line!(self.out, "    {name} g{number} = {init};");
                }
            }
        }
        Ok(())
    }

    /// Writes a function of the struct.
    fn function(
        &mut self,
        name: &str,
        result: &str,
        function: &naga::Function,
        info: &FunctionInfo,
    ) -> Result<(), String> {
        let parameter =
            |(number, argument): (usize, &FunctionArgument)| Ok(format!("{} a{number}", self.type_name(argument.ty)?));
        let parameters = function.arguments.iter().enumerate().map(parameter).collect::<Result<Vec<_>, String>>()?;
        let body = Body::new(self, function, info).write()?;
        line!(self.out, "__device__ __forceinline__ {result} {name}({}) {{\n{body}}}", parameters.join(", "));
        Ok(())
    }

    /// Writes the kernel of an entry point.
    fn kernel(&mut self, number: usize, entry: &EntryPoint, parameters: &Parameters) -> Result<(), String> {
        let [lanes, 1, 1] = entry.workgroup_size else {
            return Err("blocks of more than one dimension".to_owned());
        };
        let mut list = Vec::new();
        let mut body = String::from("    Module own;\n");
        for &variable in &parameters.storage {
            let AddressSpace::Storage { access } = self.module.global_variables[variable].space else { continue };
            let (name, number) = (self.type_name(self.element(variable)?.0)?, variable.index());
            list.push(format!("{}{name} *__restrict__ g{number}, u32 n{number}", qualifier(access)));
            line!(body, "    own.g{number} = g{number};\n    own.n{number} = n{number};");
        }
        if let Some(variable) = parameters.immediates {
            let (name, number) = (self.type_name(self.module.global_variables[variable].ty)?, variable.index());
            list.push(format!("const {name} g{number}"));
            line!(body, "    own.g{number} = g{number};");
        }
        let info = self.info.get_entry_point(number);
        let mut shares = false;
        for (handle, variable) in self.module.global_variables.iter() {
            if variable.space == AddressSpace::WorkGroup && !info[handle].is_empty() {
                let (name, number) = (self.type_name(variable.ty)?, handle.index());
                line!(body, "    __shared__ {name} s{number};\n    clear(s{number});\n    own.g{number} = &s{number};");
                shares = true;
            }
        }
        if shares {
            line!(body, "    __syncthreads();");
        }
        let arguments = entry.function.arguments.iter().map(|argument| builtin(argument, lanes));
        let arguments = arguments.collect::<Result<Vec<_>, String>>()?;
        line!(body, "    own.main{number}({});", arguments.join(", "));
        let list = list.join(", ");
        line!(self.out, "extern \"C\" __global__ void __launch_bounds__({lanes}) entry{number}({list}) {{\n{body}}}");
        Ok(())
    }
}

/// Returns the name of a type without names: a scalar, an atomic, or a vector.
fn plain_type_name(inner: &TypeInner) -> Result<String, String> {
    match inner {
        TypeInner::Scalar(scalar) => Ok(scalar_name(*scalar)?.to_owned()),
        TypeInner::Atomic(naga::Scalar::U32) => Ok("u32".to_owned()),
        TypeInner::Vector { size, scalar: naga::Scalar::U32 } => Ok(format!("Array<u32, {}>", *size as u32)),
        inner => Err(format!("the type {inner:?}")),
    }
}

fn scalar_name(scalar: naga::Scalar) -> Result<&'static str, String> {
    match scalar {
        naga::Scalar::U32 => Ok("u32"),
        naga::Scalar::I32 => Ok("i32"),
        naga::Scalar::F32 => Ok("f32"),
        naga::Scalar { kind: ScalarKind::Bool, .. } => Ok("bool"),
        scalar => Err(format!("the type {scalar:?}")),
    }
}

fn qualifier(access: StorageAccess) -> &'static str {
    if access.contains(StorageAccess::STORE) { "" } else { "const " }
}

/// Returns the value of an argument of an entry point.
fn builtin(argument: &FunctionArgument, lanes: u32) -> Result<String, String> {
    Ok(match &argument.binding {
        Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)) => {
            format!("Array<u32, 3>{{{{blockIdx.x * {lanes}u + threadIdx.x, 0u, 0u}}}}")
        }
        Some(Binding::BuiltIn(BuiltIn::WorkGroupId)) => "Array<u32, 3>{{blockIdx.x, 0u, 0u}}".to_owned(),
        Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex)) => "threadIdx.x".to_owned(),
        binding => return Err(format!("the argument {binding:?} of an entry point")),
    })
}
