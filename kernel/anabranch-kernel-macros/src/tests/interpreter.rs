//! Runs functions of naga's modules, and panics where a shader has no defined result: a division by zero, a shift by
//! 32, an index out of range, a conversion of a NaN.

use naga::{
    AddressSpace, BinaryOperator as Op, Expression, Function, GlobalVariable, Handle, Literal, LocalVariable,
    MathFunction as Math, Module, ScalarKind, Statement, Type, TypeInner, UnaryOperator,
};
use std::collections::HashMap;

#[derive(Clone, Debug)]
pub(super) enum Value {
    Bool(bool),
    I32(i32),
    U32(u32),
    F32(f32),
    Composite(Vec<Value>),
    Pointer(Base, Vec<usize>),
}

/// Floats are equal if their bits are, but for NaN.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::F32(left), Self::F32(right)) => left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan(),
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::I32(left), Self::I32(right)) => left == right,
            (Self::U32(left), Self::U32(right)) => left == right,
            (Self::Composite(left), Self::Composite(right)) => left == right,
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Local(Handle<LocalVariable>),
    Global(Handle<GlobalVariable>),
}

/// A module with the memory of its storage variables.
pub(super) struct Machine<'m> {
    pub(super) module: &'m Module,
    pub(super) memory: HashMap<Handle<GlobalVariable>, Value>,
    /// The number of statements after which a run ends as one that hangs.
    pub(super) steps: u64,
}

/// What follows a statement.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

struct Frame<'f> {
    function: &'f Function,
    args: Vec<Value>,
    locals: HashMap<Handle<LocalVariable>, Value>,
    values: HashMap<Handle<Expression>, Value>,
}

impl<'m> Machine<'m> {
    pub(super) fn call(&mut self, function: Handle<Function>, args: Vec<Value>) -> Value {
        let function = &self.module.functions[function];
        let zeros = function.local_variables.iter().map(|(local, variable)| (local, self.zero(variable.ty)));
        let mut frame = Frame { function, args, locals: zeros.collect(), values: HashMap::new() };
        match self.block(&mut frame, &function.body) {
            Flow::Return(value) => value,
            _ => panic!("the function ends without a result"),
        }
    }

    fn zero(&self, ty: Handle<Type>) -> Value {
        match &self.module.types[ty].inner {
            TypeInner::Scalar(scalar) => match scalar.kind {
                ScalarKind::Bool => Value::Bool(false),
                ScalarKind::Sint => Value::I32(0),
                ScalarKind::Uint => Value::U32(0),
                ScalarKind::Float => Value::F32(0.0),
                kind => panic!("no scalar {kind:?}"),
            },
            TypeInner::Array { base, size: naga::ArraySize::Constant(length), .. } => {
                Value::Composite((0..length.get()).map(|_| self.zero(*base)).collect())
            }
            TypeInner::Struct { members, .. } => {
                Value::Composite(members.iter().map(|member| self.zero(member.ty)).collect())
            }
            inner => panic!("no value of {inner:?}"),
        }
    }

    fn block(&mut self, frame: &mut Frame<'m>, block: &'m naga::Block) -> Flow {
        for statement in block.iter() {
            self.steps = self.steps.checked_sub(1).expect("the kernel hangs");
            match self.statement(frame, statement) {
                Flow::Next => {}
                flow => return flow,
            }
        }
        Flow::Next
    }

    fn statement(&mut self, frame: &mut Frame<'m>, statement: &'m Statement) -> Flow {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    let value = self.evaluate(frame, handle);
                    frame.values.insert(handle, value);
                }
            }
            Statement::Block(block) => return self.block(frame, block),
            Statement::If { condition, accept, reject } => {
                let Value::Bool(condition) = self.value(frame, *condition) else { panic!("no bool") };
                return self.block(frame, if condition { accept } else { reject });
            }
            Statement::Loop { body, continuing, break_if: None } => loop {
                match self.block(frame, body) {
                    Flow::Break => break,
                    Flow::Return(value) => return Flow::Return(value),
                    Flow::Next | Flow::Continue => {}
                }
                self.block(frame, continuing);
            },
            Statement::Break => return Flow::Break,
            Statement::Continue => return Flow::Continue,
            Statement::Return { value } => return Flow::Return(self.value(frame, value.expect("a result"))),
            Statement::Store { pointer, value } => {
                let value = self.value(frame, *value);
                *self.target(frame, *pointer) = value;
            }
            Statement::Atomic { pointer, fun: naga::AtomicFunction::Max, value, result: None } => {
                let Value::U32(value) = self.value(frame, *value) else { panic!("no u32") };
                let Value::U32(word) = self.target(frame, *pointer) else { panic!("no u32") };
                *word = value.max(*word);
            }
            Statement::Call { function, arguments, result } => {
                let args = arguments.iter().map(|arg| self.value(frame, *arg)).collect();
                let value = self.call(*function, args);
                frame.values.insert(result.expect("a result"), value);
            }
            statement => panic!("no statement {statement:?}"),
        }
        Flow::Next
    }

    fn target<'t>(&'t mut self, frame: &'t mut Frame<'m>, pointer: Handle<Expression>) -> &'t mut Value {
        let Value::Pointer(base, path) = self.value(frame, pointer) else { panic!("no pointer") };
        let mut target = match base {
            Base::Local(local) => frame.locals.get_mut(&local).expect("each variable has a value"),
            Base::Global(global) => self.memory.get_mut(&global).expect("each storage variable has memory"),
        };
        for index in path {
            let Value::Composite(items) = target else { panic!("no parts") };
            target = items.get_mut(index).expect("an access out of range");
        }
        target
    }

    fn value(&mut self, frame: &mut Frame<'m>, handle: Handle<Expression>) -> Value {
        if let Some(value) = frame.values.get(&handle) {
            return value.clone();
        }
        assert!(frame.function.expressions[handle].needs_pre_emit(), "an expression is used before it is evaluated");
        self.evaluate(frame, handle)
    }

    fn evaluate(&mut self, frame: &mut Frame<'m>, handle: Handle<Expression>) -> Value {
        let function = frame.function;
        match &function.expressions[handle] {
            Expression::Literal(literal) => match literal {
                Literal::Bool(value) => Value::Bool(*value),
                Literal::I32(value) => Value::I32(*value),
                Literal::U32(value) => Value::U32(*value),
                Literal::F32(value) => Value::F32(*value),
                literal => panic!("no literal {literal:?}"),
            },
            Expression::ZeroValue(ty) => self.zero(*ty),
            Expression::Compose { components, .. } => {
                Value::Composite(components.iter().map(|part| self.value(frame, *part)).collect())
            }
            Expression::Access { base, index } => {
                let Value::U32(index) = self.value(frame, *index) else { panic!("no index") };
                part(self.value(frame, *base), index as usize)
            }
            Expression::AccessIndex { base, index } => part(self.value(frame, *base), *index as usize),
            Expression::FunctionArgument(number) => frame.args[*number as usize].clone(),
            Expression::GlobalVariable(global) => {
                assert!(matches!(self.module.global_variables[*global].space, AddressSpace::Storage { .. }));
                Value::Pointer(Base::Global(*global), Vec::new())
            }
            Expression::LocalVariable(local) => Value::Pointer(Base::Local(*local), Vec::new()),
            Expression::Load { pointer } => self.target(frame, *pointer).clone(),
            Expression::Unary { op, expr } => unary(*op, self.value(frame, *expr)),
            Expression::Binary { op, left, right } => {
                let left = self.value(frame, *left);
                binary(*op, left, self.value(frame, *right))
            }
            Expression::Select { condition, accept, reject } => {
                let Value::Bool(condition) = self.value(frame, *condition) else { panic!("no bool") };
                let (accept, reject) = (self.value(frame, *accept), self.value(frame, *reject));
                if condition { accept } else { reject }
            }
            Expression::Math { fun, arg, arg1, arg2, arg3: None } => {
                let args = [Some(*arg), *arg1, *arg2].into_iter().flatten();
                let args: Vec<_> = args.map(|arg| self.value(frame, arg)).collect();
                math(*fun, &args)
            }
            Expression::As { expr, kind, convert } => convert_to(self.value(frame, *expr), *kind, convert.is_some()),
            expression => panic!("no expression {expression:?}"),
        }
    }
}

fn part(value: Value, index: usize) -> Value {
    match value {
        Value::Pointer(base, mut path) => {
            path.push(index);
            Value::Pointer(base, path)
        }
        Value::Composite(mut parts) => parts.swap_remove(index),
        value => panic!("{value:?} has no parts"),
    }
}

fn unary(op: UnaryOperator, value: Value) -> Value {
    match (op, value) {
        (UnaryOperator::Negate, Value::I32(value)) => Value::I32(value.wrapping_neg()),
        (UnaryOperator::Negate, Value::F32(value)) => Value::F32(-value),
        (UnaryOperator::LogicalNot, Value::Bool(value)) => Value::Bool(!value),
        (UnaryOperator::BitwiseNot, Value::I32(value)) => Value::I32(!value),
        (UnaryOperator::BitwiseNot, Value::U32(value)) => Value::U32(!value),
        (op, value) => panic!("no {op:?} of {value:?}"),
    }
}

fn binary(op: Op, left: Value, right: Value) -> Value {
    macro_rules! compare {
        ($left:expr, $right:expr) => {
            Value::Bool(match op {
                Op::Equal => $left == $right,
                Op::Less => $left < $right,
                Op::LessEqual => $left <= $right,
                Op::Greater => $left > $right,
                Op::GreaterEqual => $left >= $right,
                Op::NotEqual => $left != $right,
                op => panic!("no {op:?}"),
            })
        };
    }
    macro_rules! integers {
        ($variant:ident, $left:expr, $right:expr) => {
            match op {
                Op::Add => Value::$variant($left.wrapping_add($right)),
                Op::Subtract => Value::$variant($left.wrapping_sub($right)),
                Op::Multiply => Value::$variant($left.wrapping_mul($right)),
                Op::Divide => Value::$variant($left.checked_div($right).expect("an undefined division")),
                Op::Modulo => Value::$variant($left.checked_rem($right).expect("an undefined remainder")),
                Op::And => Value::$variant($left & $right),
                Op::InclusiveOr => Value::$variant($left | $right),
                Op::ExclusiveOr => Value::$variant($left ^ $right),
                _ => compare!($left, $right),
            }
        };
    }
    match (op, left, right) {
        (Op::ShiftLeft, Value::I32(left), Value::U32(right)) => {
            Value::I32(left.checked_shl(right).expect("a long shift"))
        }
        (Op::ShiftLeft, Value::U32(left), Value::U32(right)) => {
            Value::U32(left.checked_shl(right).expect("a long shift"))
        }
        (Op::ShiftRight, Value::I32(left), Value::U32(right)) => {
            Value::I32(left.checked_shr(right).expect("a long shift"))
        }
        (Op::ShiftRight, Value::U32(left), Value::U32(right)) => {
            Value::U32(left.checked_shr(right).expect("a long shift"))
        }
        (_, Value::I32(left), Value::I32(right)) => integers!(I32, left, right),
        (_, Value::U32(left), Value::U32(right)) => integers!(U32, left, right),
        (_, Value::F32(left), Value::F32(right)) => match op {
            Op::Add => Value::F32(left + right),
            Op::Subtract => Value::F32(left - right),
            Op::Multiply => Value::F32(left * right),
            Op::Divide => Value::F32(left / right),
            // SPIR-V's operator differs from that of other languages for NaN.
            Op::NotEqual => panic!("an undefined comparison"),
            _ => compare!(left, right),
        },
        (_, Value::Bool(left), Value::Bool(right)) => match op {
            Op::And | Op::LogicalAnd => Value::Bool(left & right),
            Op::InclusiveOr | Op::LogicalOr => Value::Bool(left | right),
            Op::Equal => Value::Bool(left == right),
            Op::NotEqual => Value::Bool(left != right),
            op => panic!("no {op:?} of truth values"),
        },
        (op, left, right) => panic!("no {op:?} of {left:?} and {right:?}"),
    }
}

fn math(fun: Math, args: &[Value]) -> Value {
    match args {
        [Value::F32(x)] => Value::F32(match fun {
            Math::Abs => x.abs(),
            Math::Sqrt => x.sqrt(),
            Math::Floor => x.floor(),
            Math::Ceil => x.ceil(),
            Math::Trunc => x.trunc(),
            Math::Round => x.round_ties_even(),
            Math::Exp => x.exp(),
            Math::Exp2 => x.exp2(),
            Math::Log => x.ln(),
            Math::Log2 => x.log2(),
            Math::Sin => x.sin(),
            Math::Cos => x.cos(),
            Math::Tan => x.tan(),
            Math::Asin => x.asin(),
            Math::Acos => x.acos(),
            Math::Atan => x.atan(),
            Math::Sinh => x.sinh(),
            Math::Cosh => x.cosh(),
            Math::Tanh => x.tanh(),
            fun => panic!("no {fun:?}"),
        }),
        [Value::F32(x), Value::F32(y)] => Value::F32(match fun {
            Math::Atan2 => x.atan2(*y),
            Math::Pow if *x > 0.0 || x.is_nan() => x.powf(*y),
            fun => panic!("an undefined {fun:?}"),
        }),
        [Value::F32(x), Value::F32(y), Value::F32(z)] if fun == Math::Fma => Value::F32(x.mul_add(*y, *z)),
        [Value::I32(x)] => Value::I32(match fun {
            Math::Abs => x.wrapping_abs(),
            Math::Sign => x.signum(),
            fun => panic!("no {fun:?}"),
        }),
        [Value::U32(x)] => Value::U32(match fun {
            Math::Abs => *x,
            Math::CountOneBits => x.count_ones(),
            Math::CountLeadingZeros => x.leading_zeros(),
            Math::CountTrailingZeros => x.trailing_zeros(),
            Math::ReverseBits => x.reverse_bits(),
            fun => panic!("no {fun:?}"),
        }),
        [Value::I32(x), Value::I32(y)] => Value::I32(if fun == Math::Min { *x.min(y) } else { *x.max(y) }),
        [Value::U32(x), Value::U32(y)] => Value::U32(if fun == Math::Min { *x.min(y) } else { *x.max(y) }),
        args => panic!("no {fun:?} of {args:?}"),
    }
}

/// Converts a number. naga clamps floats to those that the integer type has.
fn convert_to(value: Value, kind: ScalarKind, converts: bool) -> Value {
    match (value, kind, converts) {
        (Value::U32(value), ScalarKind::Float, false) => Value::F32(f32::from_bits(value)),
        (Value::F32(value), ScalarKind::Uint, false) => Value::U32(value.to_bits()),
        (Value::Bool(value), ScalarKind::Uint, true) => Value::U32(value.into()),
        (Value::Bool(value), ScalarKind::Sint, true) => Value::I32(value.into()),
        (Value::I32(value), ScalarKind::Uint, true) => Value::U32(value.cast_unsigned()),
        (Value::U32(value), ScalarKind::Sint, true) => Value::I32(value.cast_signed()),
        (Value::I32(value), ScalarKind::Float, true) => Value::F32(value as f32),
        (Value::U32(value), ScalarKind::Float, true) => Value::F32(value as f32),
        (Value::F32(value), _, true) if value.is_nan() => panic!("an undefined conversion to {kind:?}"),
        (Value::F32(value), ScalarKind::Sint, true) => {
            Value::I32(value.clamp(-2_147_483_648.0, 2_147_483_520.0) as i32)
        }
        (Value::F32(value), ScalarKind::Uint, true) => Value::U32(value.clamp(0.0, 4_294_967_040.0) as u32),
        (value, kind, _) => panic!("no conversion of {value:?} to {kind:?}"),
    }
}
