//! Reads types as they are written.

use crate::{
    errors::{Errors, nearest},
    types::{Items, Ty},
};
use proc_macro2::{Ident, Span};
use syn::{ext::IdentExt, spanned::Spanned};

/// The size that a type may have, in bytes. Devices keep variables in registers or in the memory of one lane.
const LARGEST: u64 = 1 << 16;

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

/// Evaluates the length of an array: numbers, constants of the module, and `+ - * /`.
fn length(expr: &syn::Expr, items: &Items) -> Result<u32, (Span, String)> {
    evaluate(expr, items, 0)
}

fn evaluate(expr: &syn::Expr, items: &Items, depth: u32) -> Result<u32, (Span, String)> {
    let refuse = |text: &str| Err((expr.span(), text.to_owned()));
    match expr {
        syn::Expr::Paren(inner) => evaluate(&inner.expr, items, depth),
        syn::Expr::Group(inner) => evaluate(&inner.expr, items, depth),
        syn::Expr::Cast(cast) => evaluate(&cast.expr, items, depth),
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Int(number) => {
                number.base10_parse().map_err(|_| (number.span(), "this length is too large".to_owned()))
            }
            _ => refuse("write a whole number as the length"),
        },
        syn::Expr::Path(path) => {
            let name = path.path.get_ident().map(|name| name.unraw().to_string());
            let found = items.constants.iter().find(|constant| Some(&constant.name) == name.as_ref());
            match found {
                // A constant that refers to itself, which rustc reports.
                Some(_) if depth > 64 => refuse("this length has no value"),
                Some(constant) => evaluate(&constant.value, items, depth + 1),
                None if items.is_lone => {
                    refuse("a lone kernel sees no constants; write the number, or use a `#[kernel] mod`")
                }
                None => refuse("a length is a number or a constant of this module"),
            }
        }
        syn::Expr::Binary(binary) => {
            let left = evaluate(&binary.left, items, depth)?;
            let right = evaluate(&binary.right, items, depth)?;
            let value = match binary.op {
                syn::BinOp::Add(_) => left.checked_add(right),
                syn::BinOp::Sub(_) => left.checked_sub(right),
                syn::BinOp::Mul(_) => left.checked_mul(right),
                syn::BinOp::Div(_) => left.checked_div(right),
                _ => return Err((binary.op.span(), "a length is computed by `+ - * /`".to_owned())),
            };
            value.ok_or((binary.op.span(), "this length is not a `u32`".to_owned()))
        }
        _ => refuse("a length is a number, a constant of this module, or computed from them by `+ - * /`"),
    }
}
