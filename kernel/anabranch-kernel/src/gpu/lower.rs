//! Turns the trees of lazy vectors into functions of a shader module.
//!
//! A tree becomes a function of the index of an element, without branches: loads, calls of linked kernels, and calls of
//! the skeletons' `checked` and `segment`, which find indices out of range. So a chain of maps and gathers is one
//! function, and one dispatch.
//!
//! Besides buffers, a launch passes *values*, words that its functions read: the values of the graph, the values of the
//! operation, and the lengths of buffers, in this order. They are in the immediates after the words of the skeleton, or
//! in a buffer if they are too many. Some drivers load immediates again for each element, which makes saxpy take 1.4
//! times as long on llvmpipe. So each entry point begins by copying them into private variables.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anabranch_kernel_ir::{Linker, Param, Program, Type};
use naga::{
    AddressSpace, ArraySize, Expression, Function, FunctionArgument, GlobalVariable, Handle, MemoryDecorations, Module,
    Range, ResourceBinding, ScalarKind, Span, Statement, StorageAccess, TypeInner,
};

use super::layout::{IMMEDIATES, SKELETON_WORDS, VALUES_BINDING};
use super::opened::Opened;
use super::pipeline::Input;
use super::writer::Writer;
use crate::Error;
use crate::tree::{BufferId, Node, Operator};

/// The trap of a gather.
const GATHER: (&str, &str) = ("gather", "index out of range");
/// The trap of segments.
const SEGMENTS: (&str, &str) = ("segments", "offsets that decrease, or are larger than the length of the vector");

/// The items that lowering adds to a module.
pub(super) struct Lowering<'a> {
    opened: &'a Opened,
    pub(super) module: Module,
    /// The words of the graph and of the operation.
    own_values: usize,
    /// Whether the values are in a buffer.
    pub(super) spilled: bool,
    /// The number of the first binding of an input.
    first_binding: u32,
    /// The buffers in the order of their bindings.
    pub(super) inputs: Vec<Input>,
    globals: HashMap<(BufferId, Handle<naga::Type>), Handle<GlobalVariable>>,
    /// The buffer of the values.
    values: Option<Handle<GlobalVariable>>,
    /// The private variables of the values in the immediates, by their numbers.
    copies: BTreeMap<usize, Handle<GlobalVariable>>,
    /// The buffers whose lengths are values, and the words of an element.
    pub(super) lengths: Vec<(BufferId, usize)>,
    pub(super) can_trap: bool,
}

impl AsMut<Module> for Lowering<'_> {
    fn as_mut(&mut self) -> &mut Module {
        &mut self.module
    }
}

impl<'a> Lowering<'a> {
    /// Begins with an empty module. The values of the graph and the operation have `own_values` words.
    pub(super) fn new(opened: &'a Opened, roots: &[Node], own_values: usize, first_binding: u32) -> Self {
        let most = own_values + roots.iter().map(lengths).sum::<usize>();
        Self {
            opened,
            module: Module::default(),
            own_values,
            spilled: most > IMMEDIATES as usize / 4 - SKELETON_WORDS,
            first_binding,
            inputs: Vec::new(),
            globals: HashMap::new(),
            values: None,
            copies: BTreeMap::new(),
            lengths: Vec::new(),
            can_trap: false,
        }
    }

    /// Returns the type of a tree with elements of `words` words.
    pub(super) fn root_type(&mut self, root: &Node, words: usize) -> Result<Handle<naga::Type>, Error> {
        match root {
            Node::Call { name, program, .. } => {
                let (_, program) = self.program(name, program)?;
                Ok(Linker::new(&mut self.module).ty(&program, &program.kernel().output))
            }
            _ => Ok(self.words_type(words)),
        }
    }

    /// Returns `u32`, or an array of them.
    pub(super) fn words_type(&mut self, words: usize) -> Handle<naga::Type> {
        let word = self.insert(TypeInner::Scalar(naga::Scalar::U32));
        match std::num::NonZeroU32::new(u32::try_from(words).unwrap_or(u32::MAX)) {
            None | Some(std::num::NonZeroU32::MIN) => word,
            Some(words) => self.insert(TypeInner::Array { base: word, size: ArraySize::Constant(words), stride: 4 }),
        }
    }

    /// Returns the type of the first parameter of an operator.
    pub(super) fn operand_type(&mut self, operator: Operator) -> Result<Handle<naga::Type>, Error> {
        let (_, program) = self.program(operator.name, operator.program)?;
        let ty = program.kernel().param_types().next().ok_or_else(|| not_an_operator(operator.name))?.clone();
        Ok(Linker::new(&mut self.module).ty(&program, &ty))
    }

    /// Returns the function `fn(i: u32) -> ty` of a tree.
    pub(super) fn load(&mut self, root: &Node, ty: Handle<naga::Type>) -> Result<Function, Error> {
        let mut writer = self.writer(true);
        let value = self.node(&mut writer, root, ty)?;
        Ok(writer.returning(ty, value))
    }

    /// Returns the function `fn(i: u32) -> u32` of a tree whose elements are one word.
    pub(super) fn load_word(&mut self, root: &Node) -> Result<Function, Error> {
        let ty = self.root_type(root, 1)?;
        let word = self.words_type(1);
        let mut writer = self.writer(true);
        let mut value = self.node(&mut writer, root, ty)?;
        if ty != word {
            value = writer.emit(Expression::As { expr: value, kind: ScalarKind::Uint, convert: None });
        }
        Ok(writer.returning(word, value))
    }

    /// Returns a function without arguments whose result is the value from word number `first` on.
    pub(super) fn constant(&mut self, first: usize, ty: Handle<naga::Type>) -> Function {
        let mut writer = self.writer(false);
        let value = self.value(&mut writer, &mut { first }, ty);
        writer.returning(ty, value)
    }

    /// Returns a function that calls an operator. All its parameters have the type `operand`.
    pub(super) fn operator(&mut self, operator: Operator, operand: Handle<naga::Type>) -> Result<Function, Error> {
        let (base, program) = self.program(operator.name, operator.program)?;
        if program.kernel().params.iter().any(|param| matches!(param, Param::Slice { .. })) {
            return Err(not_an_operator(operator.name));
        }
        let function = self.link(&program, &[], base);
        let mut writer = self.writer(false);
        let arguments = (0..program.kernel().params.len())
            .map(|number| {
                writer.function.arguments.push(FunctionArgument { name: None, ty: operand, binding: None });
                writer.append(Expression::FunctionArgument(number as u32))
            })
            .collect();
        let value = writer.call(function, arguments);
        let ty = Linker::new(&mut self.module).ty(&program, &program.kernel().output);
        Ok(writer.returning(ty, value))
    }

    /// Returns a global of the skeleton.
    fn named(&self, name: &str) -> Handle<GlobalVariable> {
        let mut globals = self.module.global_variables.iter();
        let found = globals.find(|(_, global)| global.name.as_deref() == Some(name));
        found.map(|(handle, _)| handle).expect("each skeleton has the globals of common.wgsl")
    }

    fn insert(&mut self, inner: TypeInner) -> Handle<naga::Type> {
        self.module.types.insert(naga::Type { name: None, inner }, Span::UNDEFINED)
    }

    fn program(&self, name: &'static str, bytes: &'static [u8]) -> Result<(u32, Arc<Program>), Error> {
        self.opened.program(name, bytes).map(|known| (known.base, known.program))
    }

    fn link(&mut self, program: &Program, slices: &[Handle<GlobalVariable>], base: u32) -> Handle<Function> {
        self.can_trap |= !program.sites.is_empty();
        let traps = self.named("traps");
        Linker::new(&mut self.module).function(program, slices, traps, base)
    }

    fn writer(&mut self, indexed: bool) -> Writer {
        let word = self.words_type(1);
        Writer::new(indexed.then_some(word))
    }

    /// Returns the storage variable of a buffer of elements of type `ty`.
    fn global(&mut self, buffer: BufferId, ty: Handle<naga::Type>) -> Handle<GlobalVariable> {
        if let Some(global) = self.globals.get(&(buffer, ty)) {
            return *global;
        }
        let stride = self.module.types[ty].inner.size(self.module.to_ctx());
        let binding = self.first_binding + self.inputs.len() as u32;
        let global = self.storage(ty, stride, binding);
        self.inputs.push(Input { buffer, stride });
        self.globals.insert((buffer, ty), global);
        global
    }

    fn storage(&mut self, item: Handle<naga::Type>, stride: u32, binding: u32) -> Handle<GlobalVariable> {
        let ty = self.insert(TypeInner::Array { base: item, size: ArraySize::Dynamic, stride });
        let space = AddressSpace::Storage { access: StorageAccess::LOAD };
        self.variable(ty, space, Some(ResourceBinding { group: 0, binding }))
    }

    fn variable(
        &mut self,
        ty: Handle<naga::Type>,
        space: AddressSpace,
        binding: Option<ResourceBinding>,
    ) -> Handle<GlobalVariable> {
        let memory_decorations = MemoryDecorations::empty();
        let variable = GlobalVariable { name: None, space, binding, ty, init: None, memory_decorations };
        self.module.global_variables.append(variable, Span::UNDEFINED)
    }

    /// Writes the expression of a tree.
    fn node(&mut self, writer: &mut Writer, node: &Node, ty: Handle<naga::Type>) -> Result<Handle<Expression>, Error> {
        Ok(match node {
            Node::Index => writer.index,
            Node::Uniform { first, .. } => self.value(writer, &mut { *first }, ty),
            Node::Buffer { buffer, .. } => {
                let global = self.global(*buffer, ty);
                writer.element(global, writer.index)
            }
            Node::Gather { buffer, words, index } => {
                let word = self.words_type(1);
                let index = self.node(writer, index, word)?;
                let length = self.length(writer, *buffer, *words);
                let index = self.check(writer, "checked", GATHER, [index, length]);
                let global = self.global(*buffer, ty);
                writer.element(global, index)
            }
            Node::Call { name, program, args } => self.call(writer, name, program, args)?,
            Node::Whole { .. } | Node::Rows { .. } | Node::Segments { .. } => {
                let reason = "a slice is an argument of a kernel, and no vector".to_owned();
                return Err(Error::Unsupported { reason });
            }
        })
    }

    fn call(
        &mut self,
        writer: &mut Writer,
        name: &'static str,
        bytes: &'static [u8],
        args: &[Node],
    ) -> Result<Handle<Expression>, Error> {
        let (base, program) = self.program(name, bytes)?;
        let mut slices = Vec::new();
        let mut arguments = Vec::new();
        let types: Vec<Type> = program.kernel().param_types().cloned().collect();
        for (arg, ty) in args.iter().zip(&types) {
            let ty = Linker::new(&mut self.module).ty(&program, ty);
            match arg {
                Node::Whole { buffer, words } => {
                    slices.push(self.global(*buffer, ty));
                    arguments.push(writer.word(0));
                    arguments.push(self.length(writer, *buffer, *words));
                }
                Node::Rows { buffer, width, .. } => {
                    slices.push(self.global(*buffer, ty));
                    let word = self.words_type(1);
                    let width = self.value(writer, &mut { *width }, word);
                    arguments.push(writer.emit(Expression::Binary {
                        op: naga::BinaryOperator::Multiply,
                        left: writer.index,
                        right: width,
                    }));
                    arguments.push(width);
                }
                Node::Segments { offsets, buffer, words } => {
                    slices.push(self.global(*buffer, ty));
                    let word = self.words_type(1);
                    let offsets = self.global(*offsets, word);
                    let first = writer.element(offsets, writer.index);
                    let one = writer.word(1);
                    let next = writer.emit(Expression::Binary {
                        op: naga::BinaryOperator::Add,
                        left: writer.index,
                        right: one,
                    });
                    let end = writer.element(offsets, next);
                    let length = self.length(writer, *buffer, *words);
                    arguments.push(first);
                    arguments.push(self.check(writer, "segment", SEGMENTS, [first, end, length]));
                }
                value => arguments.push(self.node(writer, value, ty)?),
            }
        }
        let function = self.link(&program, &slices, base);
        Ok(writer.call(function, arguments))
    }

    /// Calls a function of `common.wgsl` that finds numbers out of range.
    fn check<const N: usize>(
        &mut self,
        writer: &mut Writer,
        name: &str,
        (operation, what): (&'static str, &'static str),
        args: [Handle<Expression>; N],
    ) -> Handle<Expression> {
        self.can_trap = true;
        let code = self.opened.traps().operation(operation, what);
        let mut functions = self.module.functions.iter();
        let function = functions.find(|(_, function)| function.name.as_deref() == Some(name));
        let (function, _) = function.expect("common.wgsl has the function, before all placeholders");
        let mut arguments = args.to_vec();
        arguments.push(writer.word(code));
        writer.call(function, arguments)
    }

    /// Reads the number of elements of a buffer.
    fn length(&mut self, writer: &mut Writer, buffer: BufferId, words: usize) -> Handle<Expression> {
        let known = self.lengths.iter().position(|known| *known == (buffer, words));
        let number = known.unwrap_or_else(|| {
            self.lengths.push((buffer, words));
            self.lengths.len() - 1
        });
        let word = self.words_type(1);
        self.value(writer, &mut (self.own_values + number), word)
    }

    /// Reads a value from word number `next` on, and moves `next` behind it.
    fn value(&mut self, writer: &mut Writer, next: &mut usize, ty: Handle<naga::Type>) -> Handle<Expression> {
        let parts: Vec<Handle<naga::Type>> = match &self.module.types[ty].inner {
            TypeInner::Array { base, size: ArraySize::Constant(length), .. } => vec![*base; length.get() as usize],
            TypeInner::Struct { members, .. } => members.iter().map(|member| member.ty).collect(),
            TypeInner::Scalar(scalar) => {
                let scalar = *scalar;
                let word = self.value_word(writer, *next);
                *next += 1;
                return match scalar.kind {
                    ScalarKind::Uint => word,
                    ScalarKind::Bool => {
                        let zero = writer.word(0);
                        writer.emit(Expression::Binary { op: naga::BinaryOperator::NotEqual, left: word, right: zero })
                    }
                    kind => writer.emit(Expression::As { expr: word, kind, convert: None }),
                };
            }
            _ => unreachable!("a type of an element is a scalar, an array or a struct"),
        };
        let components = parts.into_iter().map(|part| self.value(writer, next, part)).collect();
        writer.emit(Expression::Compose { ty, components })
    }

    fn value_word(&mut self, writer: &mut Writer, number: usize) -> Handle<Expression> {
        let word = self.words_type(1);
        if !self.spilled {
            let copy = match self.copies.get(&number) {
                Some(copy) => *copy,
                None => {
                    let copy = self.variable(word, AddressSpace::Private, None);
                    self.copies.insert(number, copy);
                    copy
                }
            };
            let pointer = writer.append(Expression::GlobalVariable(copy));
            return writer.emit(Expression::Load { pointer });
        }
        let values = match self.values {
            Some(values) => values,
            None => self.storage(word, 4, VALUES_BINDING),
        };
        self.values = Some(values);
        let base = writer.append(Expression::GlobalVariable(values));
        let pointer = writer.emit(Expression::AccessIndex { base, index: number as u32 });
        writer.emit(Expression::Load { pointer })
    }

    /// Lets each entry point begin by copying the values into their variables.
    pub(super) fn copy_values(&mut self) {
        let params = self.named("params");
        for entry in &mut self.module.entry_points {
            let function = &mut entry.function;
            let mut append = |expression| function.expressions.append(expression, Span::UNDEFINED);
            let mut body = naga::Block::new();
            for (number, copy) in &self.copies {
                let (base, variable) =
                    (append(Expression::GlobalVariable(params)), append(Expression::GlobalVariable(*copy)));
                let index = (SKELETON_WORDS + number) as u32;
                let pointer = append(Expression::AccessIndex { base, index });
                let value = append(Expression::Load { pointer });
                body.push(Statement::Emit(Range::new_from_bounds(pointer, value)), Span::UNDEFINED);
                body.push(Statement::Store { pointer: variable, value }, Span::UNDEFINED);
            }
            body.append(&mut function.body);
            function.body = body;
        }
    }
}

/// Returns the most lengths that the functions of a tree read.
fn lengths(node: &Node) -> usize {
    match node {
        Node::Call { args, .. } => args.iter().map(lengths).sum(),
        Node::Gather { index, .. } => 1 + lengths(index),
        Node::Whole { .. } | Node::Segments { .. } => 1,
        Node::Uniform { .. } | Node::Buffer { .. } | Node::Index | Node::Rows { .. } => 0,
    }
}

fn not_an_operator(name: &str) -> Error {
    Error::Unsupported { reason: format!("`{name}` has a slice as a parameter, or no parameter, so it is no operator") }
}
