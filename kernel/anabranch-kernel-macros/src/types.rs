//! The types of the subset, and the items that bodies refer to.

use anabranch_kernel_ir as ir;

/// A type, or a variable of the inference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Bool,
    I32,
    U32,
    Usize,
    F32,
    Array(Box<Ty>, u32),
    /// A struct, by its index in the module.
    Struct(usize),
    Unit,
    /// The type of an expression that does not return a value to its place, such as `break`.
    Never,
    /// The type of an expression with an error that has already been reported.
    Unknown,
    /// A variable of the inference.
    Var(usize),
}

impl Ty {
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, Self::I32 | Self::U32 | Self::Usize)
    }

    pub(crate) fn is_number(&self) -> bool {
        self.is_integer() || *self == Self::F32
    }

    pub(crate) fn has_error(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Array(item, _) => item.has_error(),
            _ => false,
        }
    }

    pub(crate) fn has_usize(&self) -> bool {
        match self {
            Self::Usize => true,
            Self::Array(item, _) => item.has_usize(),
            _ => false,
        }
    }

    pub(crate) fn has_bool(&self) -> bool {
        match self {
            Self::Bool => true,
            Self::Array(item, _) => item.has_bool(),
            _ => false,
        }
    }

    pub(crate) fn scalar(&self) -> Option<ir::Scalar> {
        match self {
            Self::Bool => Some(ir::Scalar::Bool),
            Self::I32 => Some(ir::Scalar::I32),
            Self::U32 | Self::Usize => Some(ir::Scalar::U32),
            Self::F32 => Some(ir::Scalar::F32),
            _ => None,
        }
    }

    /// Returns the type in the representation. There is one for each type without variables, `()` and `!`.
    pub(crate) fn to_ir(&self) -> Option<ir::Type> {
        match self {
            Self::Array(item, length) => Some(ir::Type::Array(Box::new(item.to_ir()?), *length)),
            Self::Struct(number) => Some(ir::Type::Struct(u32::try_from(*number).ok()?)),
            _ => self.scalar().map(ir::Type::Scalar),
        }
    }

    /// Returns the type as it is written.
    pub(crate) fn name(&self, items: &Items) -> String {
        match self {
            Self::Bool => "bool".to_owned(),
            Self::I32 => "i32".to_owned(),
            Self::U32 => "u32".to_owned(),
            Self::Usize => "usize".to_owned(),
            Self::F32 => "f32".to_owned(),
            Self::Array(item, length) => format!("[{}; {length}]", item.name(items)),
            Self::Struct(number) => items.structs[*number].name.clone(),
            Self::Unit => "()".to_owned(),
            Self::Never => "!".to_owned(),
            Self::Unknown | Self::Var(_) => "_".to_owned(),
        }
    }

    pub(crate) fn size(&self, items: &Items) -> u64 {
        match self {
            Self::Array(item, length) => item.size(items).saturating_mul(u64::from(*length)),
            Self::Struct(number) => items.structs[*number].fields.iter().map(|field| field.ty.size(items)).sum(),
            _ => 4,
        }
    }
}

/// The items that the bodies of functions may refer to.
#[derive(Default)]
pub(crate) struct Items {
    /// Whether this is a function without a module.
    pub(crate) is_lone: bool,
    /// Each after those of its fields.
    pub(crate) structs: Vec<Struct>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) functions: Vec<Signature>,
}

pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    /// Whether its fields have numbers instead of names.
    pub(crate) is_tuple: bool,
}

pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: Ty,
}

pub(crate) struct Constant {
    pub(crate) name: String,
    pub(crate) ty: syn::Type,
    pub(crate) value: syn::Expr,
}

/// The signature of a function, which its calls are checked against.
pub(crate) struct Signature {
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    pub(crate) output: Ty,
    /// Whether a device can run it by itself: it has parameters, and no `usize` in its signature.
    pub(crate) is_kernel: bool,
}

pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) is_slice: bool,
    /// The type, or that of the items of a slice.
    pub(crate) ty: Ty,
}
