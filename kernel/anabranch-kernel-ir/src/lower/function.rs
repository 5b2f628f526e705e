//! Functions and statements.
//!
//! A method that lowers returns `None` if control does not reach the point after it. The rest of the block is then left
//! out, as naga rejects statements after a `return`.

use super::Link;
use crate::{Block, Expr, Function, Param, Stmt, Type};
use naga::{
    AtomicFunction, BinaryOperator, Expression, FunctionArgument, FunctionResult, GlobalVariable, Handle,
    LocalVariable, Range, Span, Statement, UnaryOperator,
};

/// A value of the function that is lowered.
pub(super) type Value = Handle<Expression>;

/// The place that holds a variable of the source.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// Nothing yet.
    Unset,
    /// A value, since the variable never changes.
    Value(Value),
    /// A variable of naga.
    Variable(Handle<LocalVariable>),
}

/// A slice: a part of a storage variable.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) storage: Handle<GlobalVariable>,
    pub(super) first: Value,
    pub(super) length: Value,
}

/// The lowering of one function.
pub(super) struct Lowering<'l, 'a> {
    pub(super) link: &'l mut Link<'a>,
    pub(super) source: &'a Function,
    pub(super) out: naga::Function,
    /// The block that statements go to.
    pub(super) block: naga::Block,
    pub(super) slots: Vec<Slot>,
    /// For each parameter its slice, if it is one.
    pub(super) views: Vec<Option<View>>,
}

/// Lowers a function with these variables of slices.
pub(super) fn lower<'a>(
    link: &mut Link<'a>,
    source: &'a Function,
    slices: &[Handle<GlobalVariable>],
) -> naga::Function {
    let output = link.ty(&source.output);
    let mut out = naga::Function { name: Some(source.name.clone()), ..naga::Function::default() };
    out.result = Some(FunctionResult { ty: output, binding: None });
    let slots = vec![Slot::Unset; source.locals.len()];
    let mut lowering = Lowering { link, source, out, block: naga::Block::new(), slots, views: Vec::new() };
    let mut slices = slices.iter();
    for param in &source.params {
        let view = match param {
            Param::Value(local) => {
                let variable = &source.locals[*local as usize];
                let value = lowering.argument(&variable.name, &variable.ty);
                lowering.bind(*local, value);
                None
            }
            Param::Slice { name, .. } => {
                let storage = *slices.next().expect("each slice has a storage variable");
                let first = lowering.argument(&format!("{name}_first"), &Type::U32);
                let length = lowering.argument(&format!("{name}_length"), &Type::U32);
                Some(View { storage, first, length })
            }
        };
        lowering.views.push(view);
    }
    if let Some(value) = lowering.block(&source.body) {
        lowering.statement(Statement::Return { value });
    }
    lowering.out.body = lowering.block;
    lowering.out
}

impl Lowering<'_, '_> {
    fn argument(&mut self, name: &str, ty: &Type) -> Value {
        let ty = self.link.ty(ty);
        let number = u32::try_from(self.out.arguments.len()).expect("a function has few arguments");
        self.out.arguments.push(FunctionArgument { name: Some(name.to_owned()), ty, binding: None });
        self.push(Expression::FunctionArgument(number))
    }

    /// Adds an expression, evaluated at this point of the block.
    pub(super) fn push(&mut self, expression: Expression) -> Value {
        let constant = expression.needs_pre_emit() || matches!(expression, Expression::CallResult(_));
        let value = self.out.expressions.append(expression, Span::UNDEFINED);
        if constant {
            return value;
        }
        if let Some(Statement::Emit(range)) = self.block.last_mut()
            && range.index_range().end as usize == value.index()
        {
            let first = range.clone().next().expect("a range is not empty");
            *range = Range::new_from_bounds(first, value);
        } else {
            self.statement(Statement::Emit(Range::new_from_bounds(value, value)));
        }
        value
    }

    pub(super) fn statement(&mut self, statement: Statement) {
        self.block.push(statement, Span::UNDEFINED);
    }

    /// Lowers into a block of its own.
    pub(super) fn nested<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> (naga::Block, T) {
        let outer = std::mem::take(&mut self.block);
        let result = lower(self);
        (std::mem::replace(&mut self.block, outer), result)
    }

    /// Adds a statement `if`.
    pub(super) fn branch(&mut self, condition: Value, accept: naga::Block, reject: naga::Block) {
        self.statement(Statement::If { condition, accept, reject });
    }

    /// Adds `if condition { .. }`.
    pub(super) fn when(&mut self, condition: Value, lower: impl FnOnce(&mut Self)) {
        let (accept, ()) = self.nested(lower);
        self.branch(condition, accept, naga::Block::new());
    }

    /// Adds a variable, and returns a pointer to it.
    pub(super) fn variable(&mut self, name: &str, ty: &Type) -> Value {
        let variable = self.local_variable(name, ty);
        self.push(Expression::LocalVariable(variable))
    }

    fn local_variable(&mut self, name: &str, ty: &Type) -> Handle<LocalVariable> {
        let ty = self.link.ty(ty);
        let variable = LocalVariable { name: Some(name.to_owned()), ty, init: None };
        self.out.local_variables.append(variable, Span::UNDEFINED)
    }

    pub(super) fn load(&mut self, pointer: Value) -> Value {
        self.push(Expression::Load { pointer })
    }

    pub(super) fn store(&mut self, pointer: Value, value: Value) {
        self.statement(Statement::Store { pointer, value });
    }

    /// Records the trap of a site.
    pub(super) fn trap(&mut self, site: u32) {
        let traps = self.push(Expression::GlobalVariable(self.link.traps));
        let pointer = self.push(Expression::AccessIndex { base: traps, index: 0 });
        let value = self.u32(self.link.base + site + 1);
        self.statement(Statement::Atomic { pointer, fun: AtomicFunction::Max, value, result: None });
    }

    /// Returns the variable of naga for a variable of the source.
    pub(super) fn slot_variable(&mut self, local: u32) -> Handle<LocalVariable> {
        if let Slot::Variable(variable) = self.slots[local as usize] {
            return variable;
        }
        let source = &self.source.locals[local as usize];
        let variable = self.local_variable(&source.name, &source.ty);
        self.slots[local as usize] = Slot::Variable(variable);
        variable
    }

    /// Sets a variable of the source for the first time.
    ///
    /// One that never changes needs no memory. An array has memory all the same, since an index that is not constant
    /// needs a pointer.
    fn bind(&mut self, local: u32, value: Value) {
        let source = &self.source.locals[local as usize];
        if source.mutable || self.has_array(&source.ty) {
            let variable = self.slot_variable(local);
            let pointer = self.push(Expression::LocalVariable(variable));
            self.store(pointer, value);
        } else {
            if !self.out.expressions[value].needs_pre_emit() {
                self.out.named_expressions.entry(value).or_insert_with(|| source.name.clone());
            }
            self.slots[local as usize] = Slot::Value(value);
        }
    }

    fn has_array(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) => false,
            Type::Array(..) => true,
            Type::Struct(number) => {
                self.link.program.structs[*number as usize].fields.iter().any(|field| self.has_array(&field.ty))
            }
        }
    }

    /// Lowers a block. Returns its value, if it has one.
    pub(super) fn block(&mut self, block: &Block) -> Option<Option<Value>> {
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        match &block.value {
            Some(value) => self.expr(value).map(Some),
            None => Some(None),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Let { local, value } => {
                let value = self.expr(value)?;
                self.bind(*local, value);
            }
            Stmt::Store { place, value } => {
                let value = self.expr(value)?;
                let pointer = self.pointer(place)?;
                self.store(pointer, value);
            }
            Stmt::Update { place, op, scalar, value, site } => {
                let value = self.expr(value)?;
                let pointer = self.pointer(place)?;
                let old = self.load(pointer);
                let new = self.binary(*op, *scalar, old, value, *site);
                self.store(pointer, new);
            }
            Stmt::If { condition, accept, reject } => {
                let condition = self.expr(condition)?;
                let (accept, after_accept) = self.nested(|this| this.block(accept));
                let (reject, after_reject) = self.nested(|this| this.block(reject));
                self.branch(condition, accept, reject);
                after_accept.or(after_reject)?;
            }
            Stmt::For { local, first, end, inclusive, body } => {
                let first = self.expr(first)?;
                let end = self.expr(end)?;
                self.loop_over(*local, first, end, *inclusive, body);
            }
            Stmt::Block(block) => {
                self.block(block)?;
            }
            Stmt::Break => {
                self.statement(Statement::Break);
                return None;
            }
            Stmt::Continue => {
                self.statement(Statement::Continue);
                return None;
            }
            Stmt::Return(value) => {
                let value = self.expr(value)?;
                self.statement(Statement::Return { value: Some(value) });
                return None;
            }
            Stmt::Discard(value) => {
                self.expr(value)?;
            }
        }
        Some(())
    }

    /// Lowers `for local in first..end`, or `first..=end`.
    ///
    /// The counter of an inclusive range may overflow after the last round, so a flag says whether there is a next one.
    fn loop_over(&mut self, local: u32, first: Value, end: Value, inclusive: bool, body: &Block) {
        let source = &self.source.locals[local as usize];
        let counter = self.variable(&source.name, &source.ty);
        self.store(counter, first);
        let more = inclusive.then(|| {
            let more = self.variable("more", &Type::BOOL);
            let any = self.push(Expression::Binary { op: BinaryOperator::LessEqual, left: first, right: end });
            self.store(more, any);
            more
        });
        let (body, ()) = self.nested(|this| {
            let current = this.load(counter);
            let goes_on = match more {
                Some(more) => this.load(more),
                None => this.push(Expression::Binary { op: BinaryOperator::Less, left: current, right: end }),
            };
            let ends = this.push(Expression::Unary { op: UnaryOperator::LogicalNot, expr: goes_on });
            this.when(ends, |this| this.statement(Statement::Break));
            this.bind(local, current);
            this.block(body);
        });
        let (continuing, ()) = self.nested(|this| {
            let current = this.load(counter);
            if let Some(more) = more {
                let goes_on = this.push(Expression::Binary { op: BinaryOperator::Less, left: current, right: end });
                this.store(more, goes_on);
            }
            let one = this.one(source.ty.clone());
            let next = this.push(Expression::Binary { op: BinaryOperator::Add, left: current, right: one });
            this.store(counter, next);
        });
        self.statement(Statement::Loop { body, continuing, break_if: None });
    }

    /// Lowers an expression whose value is stored to `pointer`.
    pub(super) fn block_into(&mut self, block: &Block, pointer: Value) -> Option<()> {
        let value = self.block(block)?.expect("a block whose end is reached has a value");
        self.store(pointer, value);
        Some(())
    }

    /// Lowers `if condition { accept } else { reject }` with a value of type `ty`.
    pub(super) fn choice(&mut self, ty: &Type, condition: &Expr, accept: &Block, reject: &Block) -> Option<Value> {
        let condition = self.expr(condition)?;
        let result = self.variable("result", ty);
        let (accept, after_accept) = self.nested(|this| this.block_into(accept, result));
        let (reject, after_reject) = self.nested(|this| this.block_into(reject, result));
        self.branch(condition, accept, reject);
        after_accept.or(after_reject)?;
        Some(self.load(result))
    }
}
