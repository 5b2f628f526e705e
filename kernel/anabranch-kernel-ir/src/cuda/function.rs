//! Functions and their statements.
//!
//! The values of expressions are variables that are declared at the beginning of the function, because the end of a
//! loop may use what its body has computed.

use super::{Writer, expr::Expressions, line};
use naga::{
    AtomicFunction, Barrier, Block, Expression, Function, Handle, Statement, SwitchValue, TypeInner,
    valid::FunctionInfo,
};
use std::fmt::Write;

/// The body of a function.
pub(super) struct Body<'w> {
    writer: &'w Writer<'w>,
    function: &'w Function,
    expressions: Expressions<'w>,
    declarations: String,
    out: String,
    /// The number of loops so far.
    loops: u32,
}

impl<'w> Body<'w> {
    pub(super) fn new(writer: &'w Writer<'w>, function: &'w Function, info: &'w FunctionInfo) -> Self {
        let expressions = Expressions::of_function(writer, function, info);
        Self { writer, function, expressions, declarations: String::new(), out: String::new(), loops: 0 }
    }

    pub(super) fn write(mut self) -> Result<String, String> {
        for (handle, local) in self.function.local_variables.iter() {
            let name = self.writer.type_name(local.ty)?;
            let init = match local.init {
                Some(init) => self.expressions.initial_value(init)?,
                None => format!("{name}()"),
            };
            line!(self.declarations, "    {name} l{} = {init};", handle.index());
        }
        self.block(&self.function.body)?;
        Ok(self.declarations + &self.out)
    }

    fn block(&mut self, block: &Block) -> Result<(), String> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    if !self.expressions.is_pointer(handle) {
                        let value = self.expressions.computed(handle)?;
                        self.assign(handle, &value)?;
                    }
                }
            }
            Statement::Block(block) => self.braces("", block)?,
            Statement::If { condition, accept, reject } => {
                let condition = self.expressions.value(*condition)?;
                self.braces(&format!("if ({condition}) "), accept)?;
                if !reject.is_empty() {
                    self.braces("else ", reject)?;
                }
            }
            Statement::Switch { selector, cases } => {
                let selector = self.expressions.value(*selector)?;
                line!(self.out, "switch ({selector}) {{");
                for case in cases {
                    match case.value {
                        SwitchValue::I32(value) => line!(self.out, "case (i32){}u:", value.cast_unsigned()),
                        SwitchValue::U32(value) => line!(self.out, "case {value}u:"),
                        SwitchValue::Default => line!(self.out, "default:"),
                    }
                    self.braces("", &case.body)?;
                    if !case.fall_through {
                        line!(self.out, "break;");
                    }
                }
                line!(self.out, "}}");
            }
            Statement::Loop { body, continuing, break_if } => self.repeat(body, continuing, *break_if)?,
            Statement::Break => line!(self.out, "break;"),
            Statement::Continue => line!(self.out, "continue;"),
            Statement::Return { value: Some(value) } => {
                let value = self.expressions.value(*value)?;
                line!(self.out, "return {value};");
            }
            Statement::Return { value: None } => line!(self.out, "return;"),
            Statement::ControlBarrier(barrier) if !barrier.intersects(Barrier::SUB_GROUP | Barrier::TEXTURE) => {
                line!(self.out, "__syncthreads();");
            }
            Statement::Store { pointer, value } => {
                let (place, value) = (self.expressions.place(*pointer)?, self.expressions.value(*value)?);
                match self.expressions.is_atomic(*pointer) {
                    true => line!(self.out, "*(volatile u32 *)&{place} = {value};"),
                    false => line!(self.out, "{place} = {value};"),
                }
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let (place, value) = (self.expressions.place(*pointer)?, self.expressions.value(*value)?);
                let old = format!("{}(&{place}, {value})", atomic_function(fun)?);
                match result {
                    Some(result) => self.assign(*result, &old)?,
                    None => line!(self.out, "{old};"),
                }
            }
            Statement::Call { function, arguments, result } => {
                let arguments = arguments.iter().map(|argument| self.expressions.value(*argument));
                let arguments = arguments.collect::<Result<Vec<_>, _>>()?.join(", ");
                let call = format!("call{}({arguments})", function.index());
                match result {
                    Some(result) => self.assign(*result, &call)?,
                    None => line!(self.out, "{call};"),
                }
            }
            statement => return Err(format!("the statement {statement:?}")),
        }
        Ok(())
    }

    fn braces(&mut self, before: &str, block: &Block) -> Result<(), String> {
        line!(self.out, "{before}{{");
        self.block(block)?;
        line!(self.out, "}}");
        Ok(())
    }

    /// Writes a loop. `continue` must reach `continuing`, so that is at the beginning of all rounds but the first.
    fn repeat(&mut self, body: &Block, continuing: &Block, break_if: Option<Handle<Expression>>) -> Result<(), String> {
        if continuing.is_empty() && break_if.is_none() {
            return self.braces("for (;;) ", body);
        }
        let number = self.loops;
        self.loops += 1;
        line!(self.out, "{{\nbool first{number} = true;\nfor (;;) {{\nif (!first{number}) {{");
        self.block(continuing)?;
        if let Some(condition) = break_if {
            let condition = self.expressions.value(condition)?;
            line!(self.out, "if ({condition}) break;");
        }
        line!(self.out, "}}\nfirst{number} = false;");
        self.block(body)?;
        line!(self.out, "}}\n}}");
        Ok(())
    }

    /// Sets the variable of an expression, and declares it.
    fn assign(&mut self, handle: Handle<Expression>, value: &str) -> Result<(), String> {
        let number = handle.index();
        let resolution = self.expressions.resolution(handle);
        if matches!(resolution.inner_with(&self.writer.module.types), TypeInner::Pointer { .. }) {
            return Err("a pointer as a result".to_owned());
        }
        line!(self.declarations, "    {} e{number};", self.writer.resolved_name(resolution)?);
        line!(self.out, "e{number} = {value};");
        Ok(())
    }
}

fn atomic_function(fun: &AtomicFunction) -> Result<&'static str, String> {
    Ok(match fun {
        AtomicFunction::Add => "atomicAdd",
        AtomicFunction::Subtract => "atomicSub",
        AtomicFunction::And => "atomicAnd",
        AtomicFunction::InclusiveOr => "atomicOr",
        AtomicFunction::ExclusiveOr => "atomicXor",
        AtomicFunction::Min => "atomicMin",
        AtomicFunction::Max => "atomicMax",
        AtomicFunction::Exchange { compare: None } => "atomicExch",
        AtomicFunction::Exchange { compare: Some(_) } => return Err("an atomic compare and exchange".to_owned()),
    })
}
