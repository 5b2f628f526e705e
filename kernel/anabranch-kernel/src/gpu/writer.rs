//! The body of a function of a shader module, one expression after the other.

use naga::{
    Block, Expression, Function, FunctionArgument, FunctionResult, GlobalVariable, Handle, Range, Span, Statement,
};

/// A function that is being written, with the index of an element as its argument.
pub(super) struct Writer {
    pub(super) function: Function,
    pub(super) index: Handle<Expression>,
}

impl Writer {
    /// Begins a function. Its argument is the index of an element, if `index` has the type of one.
    pub(super) fn new(index: Option<Handle<naga::Type>>) -> Self {
        let mut function = Function::default();
        let first = function.expressions.append(Expression::FunctionArgument(0), Span::UNDEFINED);
        match index {
            Some(ty) => function.arguments.push(FunctionArgument { name: Some("i".to_owned()), ty, binding: None }),
            None => function.expressions.clear(),
        }
        Self { function, index: first }
    }

    /// Adds an expression that is not evaluated at a certain time.
    pub(super) fn append(&mut self, expression: Expression) -> Handle<Expression> {
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    /// Adds an expression, and evaluates it now.
    pub(super) fn emit(&mut self, expression: Expression) -> Handle<Expression> {
        let handle = self.append(expression);
        self.function.body.push(Statement::Emit(Range::new_from_bounds(handle, handle)), Span::UNDEFINED);
        handle
    }

    pub(super) fn word(&mut self, word: u32) -> Handle<Expression> {
        self.append(Expression::Literal(naga::Literal::U32(word)))
    }

    /// Loads an element of a storage variable.
    pub(super) fn element(&mut self, global: Handle<GlobalVariable>, index: Handle<Expression>) -> Handle<Expression> {
        let base = self.append(Expression::GlobalVariable(global));
        let pointer = self.emit(Expression::Access { base, index });
        self.emit(Expression::Load { pointer })
    }

    pub(super) fn call(
        &mut self,
        function: Handle<Function>,
        arguments: Vec<Handle<Expression>>,
    ) -> Handle<Expression> {
        let result = self.append(Expression::CallResult(function));
        self.function.body.push(Statement::Call { function, arguments, result: Some(result) }, Span::UNDEFINED);
        result
    }

    pub(super) fn returning(mut self, ty: Handle<naga::Type>, value: Handle<Expression>) -> Function {
        let mut body: Block = std::mem::take(&mut self.function.body);
        body.push(Statement::Return { value: Some(value) }, Span::UNDEFINED);
        Function { body, result: Some(FunctionResult { ty, binding: None }), ..self.function }
    }
}
