//! Puts kernels into skeletons.
//!
//! A skeleton is a WGSL file with the loops, barriers and memory of an operation. It has placeholders: structs that
//! stand for the types of elements, and functions such as `load` and `combine`. The text of a skeleton is fixed except
//! for the number of lanes; kernels are never text. The module of a launch begins empty. The types of the elements come
//! first, then everything in the skeleton, in its order. Each placeholder is replaced with a function made from the
//! kernels.

use std::collections::HashMap;

use naga::{
    Arena, Block, Constant, Expression, Function, GlobalVariable, Handle, Module, Span, Statement, Type, TypeInner,
    front::wgsl,
};

/// The handles of the module that correspond to a skeleton's handles.
#[derive(Default)]
struct Map {
    types: HashMap<Handle<Type>, Handle<Type>>,
    constants: HashMap<Handle<Constant>, Handle<Constant>>,
    init: HashMap<Handle<Expression>, Handle<Expression>>,
    globals: HashMap<Handle<GlobalVariable>, Handle<GlobalVariable>>,
    functions: HashMap<Handle<Function>, Handle<Function>>,
}

/// Returns a skeleton as a module. `text` is a file of this crate.
pub(super) fn parse(text: &str, lanes: u32) -> Module {
    let text = format!("const LANES: u32 = {lanes}u;\n{}{text}", include_str!("skeletons/common.wgsl"));
    wgsl::parse_str(&text).unwrap_or_else(|error| panic!("a skeleton is not WGSL: {}", error.emit_to_string(&text)))
}

/// Adds `skeleton` to the module of `target`. `types` has what stands for each placeholder struct. `fill` returns the
/// function for a placeholder, or `None` for a function of the skeleton's own; it finds the globals by their names.
pub(super) fn add<T: AsMut<Module>, E>(
    target: &mut T,
    skeleton: Module,
    lanes: u32,
    types: &[(&str, Handle<Type>)],
    mut fill: impl FnMut(&mut T, &str) -> Result<Option<Function>, E>,
) -> Result<(), E> {
    let mut map = Map::default();
    let module = target.as_mut();
    for (handle, ty) in skeleton.types.iter() {
        let stands_for = types.iter().find(|(name, _)| ty.name.as_deref() == Some(name));
        let new = match stands_for {
            Some((_, replacement)) => *replacement,
            None => {
                let inner = map.inner(&ty.inner, module);
                module.types.insert(Type { name: ty.name.clone(), inner }, Span::UNDEFINED)
            }
        };
        map.types.insert(handle, new);
    }
    for (handle, expression) in skeleton.global_expressions.iter() {
        let new = module.global_expressions.append(map.expression(expression.clone()), Span::UNDEFINED);
        map.init.insert(handle, new);
    }
    for (handle, constant) in skeleton.constants.iter() {
        let new = Constant { name: constant.name.clone(), ty: map.types[&constant.ty], init: map.init[&constant.init] };
        map.constants.insert(handle, module.constants.append(new, Span::UNDEFINED));
    }
    for (handle, global) in skeleton.global_variables.iter() {
        let new = GlobalVariable { ty: map.types[&global.ty], ..global.clone() };
        map.globals.insert(handle, module.global_variables.append(new, Span::UNDEFINED));
    }
    for (handle, function) in skeleton.functions.iter() {
        let name = function.name.as_deref().unwrap_or_default();
        let new = match fill(target, name)? {
            Some(filled) => filled,
            None => map.function(function.clone()),
        };
        map.functions.insert(handle, target.as_mut().functions.append(new, Span::UNDEFINED));
    }
    for mut entry in skeleton.entry_points {
        entry.function = map.function(entry.function);
        entry.workgroup_size = [lanes, 1, 1];
        target.as_mut().entry_points.push(entry);
    }
    Ok(())
}

impl Map {
    /// Returns a type with the types of the module in it.
    fn inner(&self, inner: &TypeInner, module: &Module) -> TypeInner {
        match inner.clone() {
            // What stands for a placeholder has another size. No skeleton has arrays of vectors with three parts, the
            // only ones with gaps.
            TypeInner::Array { base, size, .. } => {
                let base = self.types[&base];
                TypeInner::Array { base, size, stride: module.types[base].inner.size(module.to_ctx()) }
            }
            TypeInner::Pointer { base, space } => TypeInner::Pointer { base: self.types[&base], space },
            TypeInner::Struct { mut members, span } => {
                for member in &mut members {
                    member.ty = self.types[&member.ty];
                }
                TypeInner::Struct { members, span }
            }
            other => other,
        }
    }

    fn expression(&self, mut expression: Expression) -> Expression {
        match &mut expression {
            Expression::ZeroValue(ty)
            | Expression::Compose { ty, .. }
            | Expression::AtomicResult { ty, .. }
            | Expression::WorkGroupUniformLoadResult { ty, .. } => *ty = self.types[ty],
            Expression::Constant(constant) => *constant = self.constants[constant],
            Expression::GlobalVariable(global) => *global = self.globals[global],
            Expression::CallResult(function) => *function = self.functions[function],
            _ => {}
        }
        expression
    }

    fn function(&self, mut function: Function) -> Function {
        for argument in &mut function.arguments {
            argument.ty = self.types[&argument.ty];
        }
        if let Some(result) = &mut function.result {
            result.ty = self.types[&result.ty];
        }
        for (_, local) in function.local_variables.iter_mut() {
            local.ty = self.types[&local.ty];
        }
        let mut expressions = Arena::new();
        for (_, expression) in function.expressions.iter() {
            expressions.append(self.expression(expression.clone()), Span::UNDEFINED);
        }
        function.expressions = expressions;
        self.block(&mut function.body);
        function
    }

    fn block(&self, block: &mut Block) {
        for statement in block.iter_mut() {
            match statement {
                Statement::Call { function, .. } => *function = self.functions[function],
                Statement::Block(block) => self.block(block),
                Statement::If { accept, reject, .. } => {
                    self.block(accept);
                    self.block(reject);
                }
                Statement::Loop { body, continuing, .. } => {
                    self.block(body);
                    self.block(continuing);
                }
                Statement::Switch { cases, .. } => cases.iter_mut().for_each(|case| self.block(&mut case.body)),
                _ => {}
            }
        }
    }
}
