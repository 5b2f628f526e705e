//! Expressions: values, and the places that pointers stand for.

use super::{Writer, scalar_name};
use naga::{
    AddressSpace, Arena, ArraySize, BinaryOperator as Op, Expression, Function, Handle, Literal, MathFunction as Math,
    Scalar, ScalarKind, TypeInner, UnaryOperator, proc::TypeResolution, valid::FunctionInfo,
};

/// The expressions of a function, or those of the module.
pub(super) struct Expressions<'w> {
    writer: &'w Writer<'w>,
    arena: &'w Arena<Expression>,
    /// `None` for those of the module.
    info: Option<&'w FunctionInfo>,
    /// Whether values are computed where they are used, and not before in a variable.
    in_place: bool,
}

impl<'w> Expressions<'w> {
    pub(super) fn of_module(writer: &'w Writer<'w>) -> Self {
        Self { writer, arena: &writer.module.global_expressions, info: None, in_place: true }
    }

    pub(super) fn of_function(writer: &'w Writer<'w>, function: &'w Function, info: &'w FunctionInfo) -> Self {
        Self { writer, arena: &function.expressions, info: Some(info), in_place: false }
    }

    /// Returns the text of an initial value, which is constant, and is needed before all statements.
    pub(super) fn initial_value(&self, handle: Handle<Expression>) -> Result<String, String> {
        Self { in_place: true, ..*self }.value(handle)
    }

    pub(super) fn resolution(&self, handle: Handle<Expression>) -> &'w TypeResolution {
        match self.info {
            Some(info) => &info[handle].ty,
            None => &self.writer.info[handle],
        }
    }

    fn inner(&self, handle: Handle<Expression>) -> &'w TypeInner {
        self.resolution(handle).inner_with(&self.writer.module.types)
    }

    pub(super) fn is_pointer(&self, handle: Handle<Expression>) -> bool {
        matches!(self.inner(handle), TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. })
    }

    /// Returns whether a pointer is one to an atomic.
    pub(super) fn is_atomic(&self, handle: Handle<Expression>) -> bool {
        let TypeInner::Pointer { base, .. } = self.inner(handle) else { return false };
        matches!(self.writer.inner(*base), TypeInner::Atomic(_))
    }

    /// Returns the text of a value: the variable that it was assigned to, or a constant.
    pub(super) fn value(&self, handle: Handle<Expression>) -> Result<String, String> {
        match &self.arena[handle] {
            Expression::FunctionArgument(number) => Ok(format!("a{number}")),
            Expression::CallResult(_) | Expression::AtomicResult { .. } => Ok(format!("e{}", handle.index())),
            expression if !self.in_place && !is_constant(expression) => Ok(format!("e{}", handle.index())),
            _ => self.computed(handle),
        }
    }

    /// Returns the text that computes a value.
    pub(super) fn computed(&self, handle: Handle<Expression>) -> Result<String, String> {
        Ok(match &self.arena[handle] {
            Expression::Literal(literal) => text_of(literal)?,
            Expression::Constant(constant) => {
                Expressions::of_module(self.writer).value(self.writer.module.constants[*constant].init)?
            }
            Expression::ZeroValue(ty) => format!("{}()", self.writer.type_name(*ty)?),
            Expression::Compose { ty, components } => {
                let values = components.iter().map(|component| self.value(*component));
                let values = values.collect::<Result<Vec<_>, _>>()?.join(", ");
                let name = self.writer.type_name(*ty)?;
                match self.writer.inner(*ty) {
                    TypeInner::Struct { .. } => format!("{name}{{{values}}}"),
                    TypeInner::Vector { size, .. } if components.len() != *size as usize => {
                        return Err("a vector that is composed of vectors".to_owned());
                    }
                    _ => format!("{name}{{{{{values}}}}}"),
                }
            }
            Expression::Splat { size, value } => {
                let (size, value) = (*size as usize, self.value(*value)?);
                format!("Array<u32, {size}>{{{{{}}}}}", vec![value; size].join(", "))
            }
            Expression::Access { .. } | Expression::AccessIndex { .. } => self.part(handle)?,
            Expression::Load { pointer } => {
                let place = self.place(*pointer)?;
                if self.is_atomic(*pointer) { format!("*(volatile u32 *)&{place}") } else { place }
            }
            Expression::Unary { op, expr } => self.unary(*op, *expr)?,
            Expression::Binary { op, left, right } => self.binary(*op, *left, *right)?,
            Expression::Select { condition, accept, reject } => {
                self.scalar(*condition)?;
                format!("({} ? {} : {})", self.value(*condition)?, self.value(*accept)?, self.value(*reject)?)
            }
            Expression::Math { fun, arg, arg1, arg2, arg3: None } => {
                let args: Vec<_> = [Some(*arg), *arg1, *arg2].into_iter().flatten().collect();
                self.math(*fun, &args)?
            }
            Expression::As { expr, kind, convert } => self.cast(*expr, *kind, *convert)?,
            expression => return Err(format!("the expression {expression:?}")),
        })
    }

    /// Returns the text of the variable, or part of one, that a pointer points to.
    pub(super) fn place(&self, handle: Handle<Expression>) -> Result<String, String> {
        match &self.arena[handle] {
            Expression::LocalVariable(variable) => Ok(format!("l{}", variable.index())),
            Expression::GlobalVariable(variable) => {
                let number = variable.index();
                match self.writer.module.global_variables[*variable].space {
                    AddressSpace::WorkGroup => Ok(format!("(*g{number})")),
                    AddressSpace::Private | AddressSpace::Immediate => Ok(format!("g{number}")),
                    _ => Err("a storage variable as a whole".to_owned()),
                }
            }
            Expression::Access { .. } | Expression::AccessIndex { .. } => self.part(handle),
            expression => Err(format!("the pointer {expression:?}")),
        }
    }

    /// Returns the text of a part of a value or a place.
    fn part(&self, handle: Handle<Expression>) -> Result<String, String> {
        let (base, index, text) = match &self.arena[handle] {
            Expression::Access { base, index } => {
                self.scalar(*index)?;
                (*base, None, format!("(u32){}", self.value(*index)?))
            }
            Expression::AccessIndex { base, index } => (*base, Some(*index), format!("{index}u")),
            expression => return Err(format!("the access {expression:?}")),
        };
        // An array of any length is a pointer and a number of elements.
        if let Expression::GlobalVariable(variable) = &self.arena[base]
            && let AddressSpace::Storage { .. } = self.writer.module.global_variables[*variable].space
        {
            let number = variable.index();
            return Ok(format!("g{number}[at({text}, n{number})]"));
        }
        let types = &self.writer.module.types;
        let (whole, inner) = match self.inner(base) {
            TypeInner::Pointer { base: pointee, .. } => (self.place(base)?, &types[*pointee].inner),
            TypeInner::ValuePointer { .. } => return Err("a part of a part of a vector".to_owned()),
            inner => (self.value(base)?, inner),
        };
        let length = match inner {
            TypeInner::Struct { .. } => {
                let number = index.ok_or_else(|| "an index of a struct that varies".to_owned())?;
                return Ok(format!("{whole}.m{number}"));
            }
            TypeInner::Array { size: ArraySize::Constant(length), .. } => length.get(),
            TypeInner::Vector { size, scalar: Scalar::U32 } => *size as u32,
            inner => return Err(format!("an index of {inner:?}")),
        };
        match index {
            Some(index) if index < length => Ok(format!("{whole}.items[{index}]")),
            _ => Ok(format!("item({whole}, {text})")),
        }
    }

    fn scalar(&self, handle: Handle<Expression>) -> Result<Scalar, String> {
        match self.inner(handle) {
            TypeInner::Scalar(scalar) => {
                scalar_name(*scalar)?;
                Ok(*scalar)
            }
            inner => Err(format!("an operation on {inner:?}")),
        }
    }

    fn unary(&self, op: UnaryOperator, operand: Handle<Expression>) -> Result<String, String> {
        let (kind, value) = (self.scalar(operand)?.kind, self.value(operand)?);
        Ok(match (op, kind) {
            (UnaryOperator::Negate, ScalarKind::Sint) => format!("negate({value})"),
            (UnaryOperator::Negate, ScalarKind::Float) => format!("(-{value})"),
            (UnaryOperator::LogicalNot, ScalarKind::Bool) => format!("(!{value})"),
            (UnaryOperator::BitwiseNot, ScalarKind::Sint | ScalarKind::Uint) => format!("(~{value})"),
            _ => return Err(format!("{op:?} of {kind:?}")),
        })
    }

    fn binary(&self, op: Op, left: Handle<Expression>, right: Handle<Expression>) -> Result<String, String> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        match (self.inner(left), self.inner(right)) {
            (TypeInner::Vector { size, scalar: Scalar::U32 }, TypeInner::Vector { size: other, .. })
                if size == other && matches!(op, Op::Add | Op::Subtract | Op::And | Op::InclusiveOr) =>
            {
                let size = *size as usize;
                let part =
                    |i| scalar_binary(op, ScalarKind::Uint, &format!("{a}.items[{i}]"), &format!("{b}.items[{i}]"));
                let parts = (0..size).map(part).collect::<Result<Vec<_>, _>>()?;
                Ok(format!("Array<u32, {size}>{{{{{}}}}}", parts.join(", ")))
            }
            _ => {
                self.scalar(right)?;
                scalar_binary(op, self.scalar(left)?.kind, &a, &b)
            }
        }
    }

    fn math(&self, fun: Math, args: &[Handle<Expression>]) -> Result<String, String> {
        let kind = self.scalar(args[0])?.kind;
        let values = args.iter().map(|arg| self.value(*arg)).collect::<Result<Vec<_>, _>>()?;
        let function = match (kind, fun) {
            (ScalarKind::Uint, Math::Abs) => return Ok(values[0].clone()),
            (ScalarKind::Sint | ScalarKind::Uint, Math::Clamp) => {
                return Ok(format!("lesser(greater({}, {}), {})", values[0], values[1], values[2]));
            }
            (ScalarKind::Float, _) => float_function(fun)?,
            (ScalarKind::Sint, Math::Abs) => "magnitude",
            (ScalarKind::Sint, Math::Sign) => "sign",
            (ScalarKind::Sint | ScalarKind::Uint, Math::Min) => "lesser",
            (ScalarKind::Sint | ScalarKind::Uint, Math::Max) => "greater",
            (ScalarKind::Uint, Math::CountOneBits) => "count_ones",
            (ScalarKind::Uint, Math::CountLeadingZeros) => "leading_zeros",
            (ScalarKind::Uint, Math::CountTrailingZeros) => "trailing_zeros",
            (ScalarKind::Uint, Math::ReverseBits) => "__brev",
            _ => return Err(format!("{fun:?} of {kind:?}")),
        };
        Ok(format!("{function}({})", values.join(", ")))
    }

    fn cast(&self, operand: Handle<Expression>, to: ScalarKind, convert: Option<u8>) -> Result<String, String> {
        let (from, value) = (self.scalar(operand)?.kind, self.value(operand)?);
        let function = match (from, to, convert) {
            (ScalarKind::Uint | ScalarKind::Bool, ScalarKind::Uint, Some(4)) => "(u32)",
            (ScalarKind::Sint, ScalarKind::Uint, Some(4) | None) => "(u32)",
            (ScalarKind::Sint | ScalarKind::Bool, ScalarKind::Sint, Some(4)) => "(i32)",
            (ScalarKind::Uint, ScalarKind::Sint, Some(4) | None) => "(i32)",
            (
                ScalarKind::Sint | ScalarKind::Uint | ScalarKind::Bool | ScalarKind::Float,
                ScalarKind::Float,
                Some(4),
            ) => "(f32)",
            (_, ScalarKind::Bool, Some(_)) => "(bool)",
            // They saturate, and NaN becomes 0.
            (ScalarKind::Float, ScalarKind::Uint, Some(4)) => "__float2uint_rz",
            (ScalarKind::Float, ScalarKind::Sint, Some(4)) => "__float2int_rz",
            (ScalarKind::Float, ScalarKind::Uint, None) => "__float_as_uint",
            (ScalarKind::Float, ScalarKind::Sint, None) => "__float_as_int",
            (ScalarKind::Uint, ScalarKind::Float, None) => "__uint_as_float",
            (ScalarKind::Sint, ScalarKind::Float, None) => "__int_as_float",
            _ => return Err(format!("a conversion of {from:?} to {to:?}")),
        };
        Ok(format!("{function}({value})"))
    }
}

/// Returns whether an expression is no statement's to evaluate.
fn is_constant(expression: &Expression) -> bool {
    expression.needs_pre_emit()
}

fn text_of(literal: &Literal) -> Result<String, String> {
    Ok(match literal {
        Literal::U32(value) => format!("{value}u"),
        Literal::I32(value) => format!("((i32){}u)", value.cast_unsigned()),
        Literal::F32(value) => format!("__uint_as_float({}u)", value.to_bits()),
        Literal::Bool(value) => value.to_string(),
        literal => return Err(format!("the literal {literal:?}")),
    })
}

/// Returns the text of an operation on two scalars, the first of which has this kind.
fn scalar_binary(op: Op, kind: ScalarKind, a: &str, b: &str) -> Result<String, String> {
    use ScalarKind::{Bool, Float, Sint, Uint};
    let operator = match (op, kind) {
        (Op::Add, Sint) => return Ok(format!("add({a}, {b})")),
        (Op::Subtract, Sint) => return Ok(format!("subtract({a}, {b})")),
        (Op::Multiply, Sint) => return Ok(format!("multiply({a}, {b})")),
        (Op::Divide, Sint | Uint) => return Ok(format!("quotient({a}, {b})")),
        (Op::Modulo, Sint | Uint) => return Ok(format!("remainder_of({a}, {b})")),
        (Op::Modulo, Float) => return Ok(format!("fmodf({a}, {b})")),
        (Op::ShiftLeft, Sint | Uint) => return Ok(format!("shift_left({a}, {b})")),
        (Op::ShiftRight, Sint | Uint) => return Ok(format!("shift_right({a}, {b})")),
        (Op::Add, Uint | Float) => "+",
        (Op::Subtract, Uint | Float) => "-",
        (Op::Multiply, Uint | Float) => "*",
        (Op::Divide, Float) => "/",
        (Op::And, Sint | Uint) => "&",
        (Op::InclusiveOr, Sint | Uint) => "|",
        (Op::ExclusiveOr, Sint | Uint) => "^",
        (Op::LogicalAnd | Op::And, Bool) => "&&",
        (Op::LogicalOr | Op::InclusiveOr, Bool) => "||",
        (Op::Equal, Sint | Uint | Float | Bool) => "==",
        (Op::NotEqual, Sint | Uint | Float | Bool) => "!=",
        (Op::Less, Sint | Uint | Float) => "<",
        (Op::LessEqual, Sint | Uint | Float) => "<=",
        (Op::Greater, Sint | Uint | Float) => ">",
        (Op::GreaterEqual, Sint | Uint | Float) => ">=",
        _ => return Err(format!("{op:?} of {kind:?}")),
    };
    Ok(format!("({a} {operator} {b})"))
}

/// Returns the function of CUDA for one of naga's on floats.
fn float_function(fun: Math) -> Result<&'static str, String> {
    Ok(match fun {
        Math::Abs => "fabsf",
        Math::Fma => "fmaf",
        Math::Sqrt => "sqrtf",
        Math::Floor => "floorf",
        Math::Ceil => "ceilf",
        Math::Trunc => "truncf",
        Math::Round => "rintf",
        Math::Exp => "expf",
        Math::Exp2 => "exp2f",
        Math::Log => "logf",
        Math::Log2 => "log2f",
        Math::Pow => "powf",
        Math::Sin => "sinf",
        Math::Cos => "cosf",
        Math::Tan => "tanf",
        Math::Asin => "asinf",
        Math::Acos => "acosf",
        Math::Atan => "atanf",
        Math::Atan2 => "atan2f",
        Math::Sinh => "sinhf",
        Math::Cosh => "coshf",
        Math::Tanh => "tanhf",
        fun => return Err(format!("{fun:?} of floats")),
    })
}
