//! The lowering of programs to naga's modules.
//!
//! Each function becomes a naga function. A function with slices is lowered once for each set of storage variables that
//! its slices are in, because naga passes no pointers to storage. `function` lowers the statements, `expr` the
//! expressions, `place` the reads, the writes and their checks, `ops` and `builtin` the operations.

mod builtin;
mod expr;
mod function;
mod ops;
mod place;

use crate::{Param, Program, Scalar, Type};
use naga::{
    AddressSpace, ArraySize, GlobalVariable, Handle, MemoryDecorations, Module, ResourceBinding, Span, StorageAccess,
    StructMember, TypeInner,
    back::wgsl,
    valid::{Capabilities, ValidationFlags, Validator},
};
use std::{collections::HashMap, num::NonZeroU32};

/// Adds kernels to a module.
///
/// ```
/// # use anabranch_kernel_ir::*;
/// # let x = || Box::new(Expr::Read(Place::local(0)));
/// # let (op, scalar) = (BinaryOp::Add, Scalar::F32);
/// # let body = Block::value(Expr::Binary { op, scalar, left: x(), right: x(), site: None });
/// # let locals = vec![Local { name: "x".to_owned(), ty: Type::F32, mutable: false }];
/// # let params = vec![Param::Value(0)];
/// # let double = Function { name: "double".to_owned(), params, locals, output: Type::F32, body };
/// # let program = Program { structs: Vec::new(), functions: vec![double], sites: Vec::new() };
/// let mut module = naga::Module::default();
/// let mut linker = Linker::new(&mut module);
/// let traps = linker.traps(naga::ResourceBinding { group: 0, binding: 0 });
/// let double = linker.function(&program, &[], traps, 0);
/// assert_eq!(module.functions[double].arguments.len(), 1);
/// ```
pub struct Linker<'m> {
    module: &'m mut Module,
}

impl<'m> Linker<'m> {
    /// Creates a linker that adds to `module`.
    pub fn new(module: &'m mut Module) -> Self {
        Self { module }
    }

    /// Returns the module's type for a type of `program`.
    ///
    /// # Panics
    /// Panics if `ty` refers to a struct that `program` does not have.
    pub fn ty(&mut self, program: &Program, ty: &Type) -> Handle<naga::Type> {
        let inner = match ty {
            Type::Scalar(scalar) => TypeInner::Scalar(scalar_type(*scalar)),
            Type::Array(item, length) => {
                let base = self.ty(program, item);
                let size = ArraySize::Constant(NonZeroU32::new(*length).expect("an array has at least one item"));
                TypeInner::Array { base, size, stride: stride(program, item) }
            }
            Type::Struct(number) => {
                let mut members = Vec::new();
                let mut offset = 0;
                for field in &program.structs[*number as usize].fields {
                    let ty = self.ty(program, &field.ty);
                    members.push(StructMember { name: Some(field.name.clone()), ty, binding: None, offset });
                    offset += program.size(&field.ty);
                }
                TypeInner::Struct { members, span: offset }
            }
        };
        let name = match ty {
            Type::Struct(number) => Some(program.structs[*number as usize].name.clone()),
            _ => None,
        };
        self.module.types.insert(naga::Type { name, inner }, Span::UNDEFINED)
    }

    /// Adds a read-only storage variable `array<T>` for items of a type of `program`.
    ///
    /// # Panics
    /// Panics if `item` refers to a struct that `program` does not have.
    pub fn slice(&mut self, program: &Program, item: &Type, binding: ResourceBinding) -> Handle<GlobalVariable> {
        let base = self.ty(program, item);
        let inner = TypeInner::Array { base, size: ArraySize::Dynamic, stride: stride(program, item) };
        self.storage("slice", inner, StorageAccess::LOAD, binding)
    }

    /// Adds the storage variable `array<atomic<u32>>` of traps.
    pub fn traps(&mut self, binding: ResourceBinding) -> Handle<GlobalVariable> {
        let word = naga::Type { name: None, inner: TypeInner::Atomic(naga::Scalar::U32) };
        let base = self.module.types.insert(word, Span::UNDEFINED);
        let inner = TypeInner::Array { base, size: ArraySize::Dynamic, stride: 4 };
        self.storage("traps", inner, StorageAccess::LOAD | StorageAccess::STORE, binding)
    }

    fn storage(
        &mut self,
        name: &str,
        inner: TypeInner,
        access: StorageAccess,
        binding: ResourceBinding,
    ) -> Handle<GlobalVariable> {
        let ty = self.module.types.insert(naga::Type { name: None, inner }, Span::UNDEFINED);
        let variable = GlobalVariable {
            name: Some(name.to_owned()),
            space: AddressSpace::Storage { access },
            binding: Some(binding),
            ty,
            init: None,
            memory_decorations: MemoryDecorations::empty(),
        };
        self.module.global_variables.append(variable, Span::UNDEFINED)
    }

    /// Adds the kernel of `program`, and the functions that it calls.
    ///
    /// `slices` has the storage variable of each slice parameter in order, of type `array<T>`. The function has one
    /// argument for each parameter by value, and two `u32` for each slice: the index of its first item in the storage
    /// variable, and its length. The caller must ensure that these items are in the variable.
    ///
    /// `traps` is a storage variable `array<atomic<u32>>` with at least one word. A trap at site `s` sets its first
    /// word to the maximum of the word and `base + s + 1`.
    ///
    /// # Panics
    /// Panics if `slices` has fewer variables than the kernel has slices, or if `program` breaks a rule of the
    /// representation. The macro `#[kernel]` writes no such program.
    pub fn function(
        &mut self,
        program: &Program,
        slices: &[Handle<GlobalVariable>],
        traps: Handle<GlobalVariable>,
        base: u32,
    ) -> Handle<naga::Function> {
        let mut link = Link { module: self.module, program, traps, base, instances: HashMap::new() };
        let kernel = u32::try_from(program.functions.len() - 1).expect("a program has fewer than 2^32 functions");
        link.instance(kernel, slices.to_vec())
    }
}

/// The state that all functions of a program share while they are lowered.
struct Link<'a> {
    module: &'a mut Module,
    program: &'a Program,
    traps: Handle<GlobalVariable>,
    base: u32,
    /// The functions that exist, by their index and the variables of their slices.
    instances: HashMap<(u32, Vec<Handle<GlobalVariable>>), Handle<naga::Function>>,
}

impl Link<'_> {
    fn ty(&mut self, ty: &Type) -> Handle<naga::Type> {
        Linker::new(self.module).ty(self.program, ty)
    }

    /// Returns the function for these variables of slices. Lowers it first if it does not exist yet.
    fn instance(&mut self, number: u32, slices: Vec<Handle<GlobalVariable>>) -> Handle<naga::Function> {
        let key = (number, slices);
        if let Some(function) = self.instances.get(&key) {
            return *function;
        }
        let lowered = function::lower(self, &self.program.functions[number as usize], &key.1);
        let function = self.module.functions.append(lowered, Span::UNDEFINED);
        self.instances.insert(key, function);
        function
    }
}

fn scalar_type(scalar: Scalar) -> naga::Scalar {
    match scalar {
        Scalar::Bool => naga::Scalar::BOOL,
        Scalar::I32 => naga::Scalar::I32,
        Scalar::U32 => naga::Scalar::U32,
        Scalar::F32 => naga::Scalar::F32,
    }
}

/// Returns the distance of items in an array. `bool` has one byte in naga's layout.
fn stride(program: &Program, item: &Type) -> u32 {
    match item {
        Type::Scalar(Scalar::Bool) => u32::from(naga::BOOL_WIDTH),
        Type::Array(item, length) => stride(program, item) * length,
        _ => program.size(item),
    }
}

/// Checks a program with naga, and returns it as WGSL text.
///
/// # Errors
/// Returns naga's message if naga rejects the program.
///
/// # Panics
/// Panics if `program` breaks a rule of the representation. The macro `#[kernel]` writes no such program.
///
/// ```
/// # use anabranch_kernel_ir::*;
/// # let x = || Box::new(Expr::Read(Place::local(0)));
/// # let (op, scalar) = (BinaryOp::Add, Scalar::F32);
/// # let body = Block::value(Expr::Binary { op, scalar, left: x(), right: x(), site: None });
/// # let locals = vec![Local { name: "x".to_owned(), ty: Type::F32, mutable: false }];
/// # let params = vec![Param::Value(0)];
/// # let double = Function { name: "double".to_owned(), params, locals, output: Type::F32, body };
/// # let program = Program { structs: Vec::new(), functions: vec![double], sites: Vec::new() };
/// assert!(validate(&program).unwrap().contains("fn double(x: f32) -> f32 {"));
/// ```
pub fn validate(program: &Program) -> Result<String, String> {
    let mut module = Module::default();
    let mut linker = Linker::new(&mut module);
    let traps = linker.traps(ResourceBinding { group: 0, binding: 0 });
    let mut slices = Vec::new();
    for param in &program.kernel().params {
        if let Param::Slice { item, .. } = param {
            let binding = 1 + u32::try_from(slices.len()).expect("a kernel has few parameters");
            slices.push(linker.slice(program, item, ResourceBinding { group: 0, binding }));
        }
    }
    linker.function(program, &slices, traps, 0);
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|error| error.emit_to_string(""))?;
    wgsl::write_string(&module, &info, wgsl::WriterFlags::empty()).map_err(|error| error.to_string())
}
