//! The types of the subset.

use crate::{
    errors::{Errors, nearest},
    items::{Items, length},
};
use anabranch_kernel_ir as ir;
use proc_macro2::{Ident, Span};
use syn::{ext::IdentExt, spanned::Spanned};

/// The size that a type may have, in bytes. Devices keep variables in registers or in the memory of one lane.
const LARGEST: u64 = 1 << 16;

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
    /// The type of what does not return to where it is.
    Never,
    /// The type of what has an error, which is already reported.
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

    fn size(&self, items: &Items) -> u64 {
        match self {
            Self::Array(item, length) => item.size(items).saturating_mul(u64::from(*length)),
            Self::Struct(number) => items.structs[*number].fields.iter().map(|field| field.ty.size(items)).sum(),
            _ => 4,
        }
    }
}

/// Reads a type. Reports one that is not in the subset, and returns `Unknown` for it.
pub(crate) fn read(ty: &syn::Type, items: &Items, errors: &mut Errors) -> Ty {
    match try_read(ty, items) {
        Ok(ty) => ty,
        Err((span, text)) => {
            errors.add(span, text);
            Ty::Unknown
        }
    }
}

fn try_read(ty: &syn::Type, items: &Items) -> Result<Ty, (Span, String)> {
    let refuse = |text: &str| Err((ty.span(), text.to_owned()));
    match ty {
        syn::Type::Paren(ty) => try_read(&ty.elem, items),
        syn::Type::Group(ty) => try_read(&ty.elem, items),
        syn::Type::Path(path) => match path.path.get_ident() {
            Some(name) if path.qself.is_none() => by_name(name, items),
            _ => refuse_path(&path.path),
        },
        syn::Type::Array(array) => {
            let item = try_read(&array.elem, items)?;
            let length = length(&array.len, items)?;
            let ty = Ty::Array(Box::new(item), length);
            if length == 0 {
                return Err((array.len.span(), "an array of a kernel has at least one item".to_owned()));
            }
            if ty.size(items) > LARGEST {
                let text = format!("this array has {} bytes; a kernel's have at most {LARGEST}", ty.size(items));
                return Err((array.len.span(), text + ": take a slice `&[T]`, or write a shorter one"));
            }
            Ok(ty)
        }
        syn::Type::Reference(reference) if reference.mutability.is_some() => {
            refuse("a kernel changes nothing outside of itself; return the new value instead of taking `&mut`")
        }
        syn::Type::Reference(reference) => match &*reference.elem {
            syn::Type::Slice(_) => refuse("a slice `&[T]` is only the type of a parameter"),
            _ => refuse("the only references of kernels are slices `&[T]`; take the value itself, without `&`"),
        },
        syn::Type::Slice(_) => refuse("write `&[T]` for a slice, or `[T; N]` for an array"),
        syn::Type::Tuple(tuple) if tuple.elems.is_empty() => refuse("a kernel returns a value; `()` is none"),
        syn::Type::Tuple(_) => refuse("kernels have no tuples; write a struct in a `#[kernel] mod`"),
        syn::Type::Ptr(_) => refuse("kernels have no pointers; take a slice `&[T]`"),
        syn::Type::ImplTrait(_) | syn::Type::TraitObject(_) => refuse("kernels have no traits; write the type itself"),
        syn::Type::FnPtr(_) => refuse("kernels have no function pointers; call the function by its name"),
        syn::Type::Infer(_) => refuse("write the type itself"),
        syn::Type::Never(_) => refuse("a kernel returns a value; `!` is none"),
        _ => refuse("this type is not known in kernels; write `bool`, `i32`, `u32`, `f32`, an array or a struct"),
    }
}

fn by_name(name: &Ident, items: &Items) -> Result<Ty, (Span, String)> {
    let text = name.unraw().to_string();
    Ok(match text.as_str() {
        "bool" => Ty::Bool,
        "i32" => Ty::I32,
        "u32" => Ty::U32,
        "usize" => Ty::Usize,
        "f32" => Ty::F32,
        _ => match items.structs.iter().position(|found| found.name == text) {
            Some(number) => Ty::Struct(number),
            None => return Err((name.span(), refusal_of_name(&text, items))),
        },
    })
}

fn refuse_path(path: &syn::Path) -> Result<Ty, (Span, String)> {
    let name = &path.segments.last().expect("a path has a segment").ident;
    let text = match name.unraw().to_string().as_str() {
        text @ ("bool" | "i32" | "u32" | "usize" | "f32") => format!("write `{text}`, without a path"),
        text => known_refusal(text).unwrap_or_else(|| {
            "a kernel uses structs of its own `#[kernel] mod`, by their names alone, and no generic types".to_owned()
        }),
    };
    Err((name.span(), text))
}

fn refusal_of_name(name: &str, items: &Items) -> String {
    if let Some(text) = known_refusal(name) {
        return text;
    }
    if items.is_lone {
        return format!(
            "a lone kernel does not see the struct `{name}`; put the struct and the function into one `#[kernel] mod`"
        );
    }
    match nearest(name, items.structs.iter().map(|found| found.name.as_str())) {
        Some(near) => format!("there is no struct `{name}` in this module; did you mean `{near}`?"),
        None => format!("there is no struct `{name}` in this module; define it here, in the `#[kernel] mod`"),
    }
}

/// Returns what to write instead of a well-known type.
pub(crate) fn known_refusal(name: &str) -> Option<String> {
    Some(match name {
        "f64" | "f16" | "f128" => format!("not every device has `{name}`; write `f32`"),
        "u64" | "u128" | "u16" | "u8" => format!("not every device has `{name}`; write `u32`"),
        "i64" | "i128" | "i16" | "i8" | "isize" => format!("not every device has `{name}`; write `i32`"),
        "char" => "kernels have no `char`; write its number as a `u32`".to_owned(),
        "str" | "String" => "kernels have no text; return a number that stands for it".to_owned(),
        "Vec" | "Box" | "VecDeque" | "HashMap" | "BTreeMap" | "Rc" | "Arc" => {
            format!(
                "a kernel allocates no memory, so it has no `{name}`; write an array `[T; N]`, or take a slice `&[T]`"
            )
        }
        "Option" | "Result" => {
            format!("kernels have no `{name}`; write a struct with a `u32` that says which case it is")
        }
        _ => return None,
    })
}
