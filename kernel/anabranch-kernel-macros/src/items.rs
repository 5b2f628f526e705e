//! The items of a `#[kernel] mod`, or of a single function: structs, constants and the signatures of functions.

use crate::{
    errors::Errors,
    types::{Constant, Field, Items, Param, Signature, Struct, Ty},
    written_types,
};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{ext::IdentExt, spanned::Spanned};

/// The largest number of parameters of a kernel.
const MOST_PARAMS: usize = 8;

impl Items {
    /// Collects the items of a module.
    pub(crate) fn of_module(content: &[syn::Item], errors: &mut Errors) -> Self {
        let mut items = Self::default();
        for item in content {
            match item {
                syn::Item::Const(item) => items.add_constant(item, errors),
                syn::Item::Fn(_) | syn::Item::Struct(_) | syn::Item::Use(_) => {}
                _ => refuse_item(item, errors),
            }
            check_attributes(item, errors);
        }
        items.add_structs(content, errors);
        for item in content {
            if let syn::Item::Fn(function) = item {
                let signature = items.signature(function, errors);
                items.functions.push(signature);
            }
        }
        items
    }

    /// Collects a function without a module.
    pub(crate) fn of_function(function: &syn::ItemFn, errors: &mut Errors) -> Self {
        refuse_cfg(function.to_token_stream(), "write it before `#[kernel]`", errors);
        let mut items = Self { is_lone: true, ..Self::default() };
        let signature = items.signature(function, errors);
        if !signature.is_kernel {
            refuse_lone(function, &signature, errors);
        }
        items.functions.push(signature);
        items
    }

    fn add_constant(&mut self, item: &syn::ItemConst, errors: &mut Errors) {
        if !item.generics.params.is_empty() {
            errors.add(item.generics.span(), "kernels have no generic parameters; write one constant for each type");
        }
        let (ty, value) = ((*item.ty).clone(), (*item.expr).clone());
        self.constants.push(Constant { name: item.ident.unraw().to_string(), ty, value });
    }

    /// Adds the structs, each after those of its fields.
    fn add_structs(&mut self, content: &[syn::Item], errors: &mut Errors) {
        let mut rest: Vec<_> = content
            .iter()
            .filter_map(|item| match item {
                syn::Item::Struct(item) => Some(item),
                _ => None,
            })
            .collect();
        while !rest.is_empty() {
            let names: Vec<_> = rest.iter().map(|item| item.ident.clone()).collect();
            let waits = |item: &&syn::ItemStruct| item.fields.iter().any(|field| mentions(&field.ty, &names));
            // The fields of structs that contain each other have an infinite size, which rustc reports.
            let position = rest.iter().position(|item| !waits(item)).unwrap_or(0);
            let item = rest.remove(position);
            self.add_struct(item, errors);
        }
    }

    fn add_struct(&mut self, item: &syn::ItemStruct, errors: &mut Errors) {
        if !item.generics.params.is_empty() {
            errors.add(item.generics.span(), "kernels have no generic parameters; write one struct for each type");
        }
        if item.fields.is_empty() {
            errors.add(item.ident.span(), "a struct of a kernel has at least one field");
        }
        let mut fields = Vec::new();
        for (number, field) in item.fields.iter().enumerate() {
            let mut ty = written_types::read(&field.ty, self, errors);
            if ty.has_bool() {
                errors.add(field.ty.span(), "a field has no `bool`, since devices store words; write `u32`, 0 or 1");
                ty = Ty::Unknown;
            } else if ty.has_usize() {
                errors.add(field.ty.span(), "a field has no `usize`, whose size differs on devices; write `u32`");
                ty = Ty::Unknown;
            }
            let name = field.ident.as_ref().map_or_else(|| number.to_string(), |name| name.unraw().to_string());
            fields.push(Field { name, ty });
        }
        let is_tuple = matches!(item.fields, syn::Fields::Unnamed(_));
        self.structs.push(Struct { name: item.ident.unraw().to_string(), fields, is_tuple });
    }

    fn signature(&self, function: &syn::ItemFn, errors: &mut Errors) -> Signature {
        let sig = &function.sig;
        refuse_modifiers(sig, errors);
        let params: Vec<_> = sig.inputs.iter().map(|param| self.param(param, errors)).collect();
        let output = match &sig.output {
            syn::ReturnType::Type(_, ty) => written_types::read(ty, self, errors),
            syn::ReturnType::Default => {
                let text =
                    format!("a kernel returns a value; write the type of the result: `fn {}(..) -> f32`", sig.ident);
                errors.add(sig.ident.span(), text);
                Ty::Unknown
            }
        };
        let fits = |ty: &Ty| !ty.has_usize() && !ty.has_error();
        let fits = params.iter().all(|param| fits(&param.ty)) && fits(&output);
        let is_kernel = is_plain(sig) && fits && !params.is_empty() && params.len() <= MOST_PARAMS;
        Signature { name: sig.ident.unraw().to_string(), params, output, is_kernel }
    }

    fn param(&self, param: &syn::FnArg, errors: &mut Errors) -> Param {
        let typed = match param {
            syn::FnArg::Typed(typed) => typed,
            syn::FnArg::Receiver(receiver) => {
                errors.add(receiver.self_token.span, "kernels are functions, not methods; write `name: Type`");
                return Param { name: "self".to_owned(), is_slice: false, ty: Ty::Unknown };
            }
        };
        let name = match &*typed.pat {
            syn::Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.unraw().to_string(),
            syn::Pat::Wild(_) => "_".to_owned(),
            pat => {
                errors.add(pat.span(), "a parameter of a kernel is a name; take it apart in the body");
                "_".to_owned()
            }
        };
        if let syn::Type::Reference(reference) = &*typed.ty
            && let syn::Type::Slice(slice) = &*reference.elem
            && reference.mutability.is_none()
        {
            let mut ty = written_types::read(&slice.elem, self, errors);
            if ty.has_bool() {
                errors.add(
                    slice.elem.span(),
                    "a slice of a kernel has no `bool`, since devices store words; write `&[u32]`",
                );
                ty = Ty::Unknown;
            } else if ty.has_usize() {
                let text = "a slice of a kernel has no `usize`, whose size differs on devices; write `&[u32]`";
                errors.add(slice.elem.span(), text);
                ty = Ty::Unknown;
            }
            return Param { name, is_slice: true, ty };
        }
        Param { name, is_slice: false, ty: written_types::read(&typed.ty, self, errors) }
    }
}

/// Says why a lone function is no kernel.
fn refuse_lone(function: &syn::ItemFn, signature: &Signature, errors: &mut Errors) {
    let sig = &function.sig;
    if sig.inputs.is_empty() {
        errors.add(sig.ident.span(), "a kernel has at least one parameter; for numbers 0.. take an index `i: u32`");
    }
    if let Some(extra) = sig.inputs.iter().nth(MOST_PARAMS) {
        let text = format!("a kernel has at most {MOST_PARAMS} parameters; put some of them into a struct");
        errors.add(extra.span(), text);
    }
    for (param, known) in sig.inputs.iter().zip(&signature.params) {
        if let (syn::FnArg::Typed(typed), true) = (param, known.ty.has_usize()) {
            errors
                .add(typed.ty.span(), "`usize` has 32 bits on a device; take `u32`, and write `as usize` for an index");
        }
    }
    if let (syn::ReturnType::Type(_, ty), true) = (&sig.output, signature.output.has_usize()) {
        errors.add(ty.span(), "`usize` has 32 bits on a device; return `u32`");
    }
}

/// Returns whether a function has no modifiers that kernels cannot have.
fn is_plain(sig: &syn::Signature) -> bool {
    sig.asyncness.is_none() && !matches!(sig.safety, syn::Safety::Unsafe(_)) && sig.generics.params.is_empty()
}

fn refuse_modifiers(sig: &syn::Signature, errors: &mut Errors) {
    if let Some(token) = &sig.asyncness {
        errors.add(token.span, "a kernel does not wait, so it is not `async`; the caller waits for its result");
    }
    if let syn::Safety::Unsafe(token) = &sig.safety {
        errors.add(token.span, "a kernel is safe code; remove `unsafe`");
    }
    if let Some(abi) = &sig.abi {
        errors.add(abi.extern_token.span, "a kernel is an ordinary function; remove `extern`");
    }
    if !sig.generics.params.is_empty() {
        let text = "kernels have no generic parameters; write one function for each type, without lifetimes";
        errors.add(sig.generics.params[0].span(), text);
    } else if let Some(clause) = &sig.generics.where_clause {
        errors.add(clause.where_token.span, "kernels have no generic parameters; remove `where`");
    }
}

fn refuse_item(item: &syn::Item, errors: &mut Errors) {
    let text = match item {
        syn::Item::Impl(_) => "kernels call functions, not methods; write the functions into the module itself",
        syn::Item::Enum(_) => "kernels have no enums; write a `u32`, and constants for its values",
        syn::Item::Static(_) => "kernels have no statics; write `const`",
        syn::Item::Type(_) => "kernels have no type aliases; write the type itself",
        syn::Item::Mod(_) => "a `#[kernel] mod` has no modules inside; put their items into this one",
        syn::Item::Trait(_) => "kernels have no traits; write functions",
        syn::Item::Macro(_) => "a `#[kernel] mod` has no macros, since it reads them unexpanded; write their result",
        syn::Item::Union(_) => "kernels have no unions; convert by `to_bits` and `from_bits`",
        _ => "a `#[kernel] mod` has structs, constants, functions and `use`; move this item out of it",
    };
    errors.add(item.span(), text);
}

/// Refuses attributes that would change what the macro has read.
fn check_attributes(item: &syn::Item, errors: &mut Errors) {
    let attrs = match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        _ => return,
    };
    refuse_cfg(item.to_token_stream(), "write it before the whole module", errors);
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("kernel")) {
        let text = "each function of a `#[kernel] mod` is a kernel already; remove this `#[kernel]`";
        errors.add(attr.path().span(), text);
    }
}

/// Refuses `#[cfg]` at any depth: the macro reads what `cfg` removes later, so a device would run another program.
fn refuse_cfg(tokens: TokenStream, instead: &str, errors: &mut Errors) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match (&token, tokens.peek()) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(attr))) if hash.as_char() == '#' => {
                if let Some(TokenTree::Ident(name)) = attr.stream().into_iter().next()
                    && (name == "cfg" || name == "cfg_attr")
                {
                    errors.add(name.span(), format!("kernels have no `cfg` inside; {instead}"));
                }
            }
            (TokenTree::Group(group), _) => refuse_cfg(group.stream(), instead, errors),
            _ => {}
        }
    }
}

/// Returns whether a type contains one of the names.
fn mentions(ty: &syn::Type, names: &[syn::Ident]) -> bool {
    match ty {
        syn::Type::Path(path) => path.path.get_ident().is_some_and(|name| names.contains(name)),
        syn::Type::Array(array) => mentions(&array.elem, names),
        syn::Type::Paren(ty) => mentions(&ty.elem, names),
        syn::Type::Group(ty) => mentions(&ty.elem, names),
        _ => false,
    }
}
