//! The expansion: the unchanged items, and beside each kernel the code that devices need.

use crate::{
    errors::Errors,
    read,
    types::Items,
    write::{self, Typed},
};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, ext::IdentExt, spanned::Spanned};

/// Expands `#[kernel(args)] item`.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let runtime = match syn::parse::Parser::parse2(runtime, args) {
        Ok(runtime) => runtime,
        Err(error) => return with_error(&item, error),
    };
    match syn::parse2::<syn::Item>(item.clone()) {
        Ok(syn::Item::Fn(function)) => expand_function(&runtime, &function),
        Ok(syn::Item::Mod(module)) => expand_module(&runtime, module),
        Ok(_) => {
            let text = "`#[kernel]` is written before a function or an inline module";
            with_error(&item, syn::Error::new(item.span(), text))
        }
        Err(error) => with_error(&item, error),
    }
}

fn with_error(item: &TokenStream, error: syn::Error) -> TokenStream {
    let error = error.into_compile_error();
    quote! { #item #error }
}

/// Reads the argument `crate = path`.
fn runtime(input: syn::parse::ParseStream<'_>) -> syn::Result<syn::Path> {
    if input.is_empty() {
        return Ok(syn::parse_quote!(::anabranch_kernel));
    }
    if !input.peek(syn::Token![crate]) {
        return Err(input.error("the only argument of `#[kernel]` is `crate = path`, the path of `anabranch_kernel`"));
    }
    input.parse::<syn::Token![crate]>()?;
    input.parse::<syn::Token![=]>()?;
    input.call(syn::Path::parse_mod_style)
}

fn expand_function(runtime: &syn::Path, function: &syn::ItemFn) -> TokenStream {
    let mut errors = Errors::default();
    let items = Items::of_function(function, &mut errors);
    let programs = programs(&[function], &items, &mut errors);
    let kernel = kernel(runtime, function, &items, 0, &programs[0]);
    let function = shown(function, &errors);
    let errors = errors.into_tokens();
    quote! { #function #kernel #errors }
}

fn expand_module(runtime: &syn::Path, module: syn::ItemMod) -> TokenStream {
    let mut errors = Errors::default();
    let Some((_, content)) = &module.content else {
        let text = "`#[kernel]` needs the items of the module here; write `mod name { .. }`";
        return with_error(&module.to_token_stream(), syn::Error::new(module.mod_token.span, text));
    };
    let items = Items::of_module(content, &mut errors);
    let functions: Vec<_> = content
        .iter()
        .filter_map(|item| match item {
            syn::Item::Fn(function) => Some(function),
            _ => None,
        })
        .collect();
    let programs = programs(&functions, &items, &mut errors);
    let mut number = 0;
    let content = content.iter().map(|item| match item {
        syn::Item::Fn(function) => {
            let kernel = kernel(runtime, function, &items, number, &programs[number]);
            number += 1;
            let function = shown(function, &errors);
            quote! { #function #kernel }
        }
        syn::Item::Struct(item) => structure(runtime, item, &items),
        item => item.to_token_stream(),
    });
    let content: TokenStream = content.collect();
    let allow = errors.any().then(|| quote! { #[allow(unused)] });
    let (attrs, vis, ident) = (&module.attrs, &module.vis, &module.ident);
    let errors = errors.into_tokens();
    quote! { #(#attrs)* #allow #vis mod #ident { #content } #errors }
}

/// Returns a function as it is. After an error it has no body, in which rustc would report the same again.
fn shown(function: &syn::ItemFn, errors: &Errors) -> TokenStream {
    if !errors.any() {
        return function.to_token_stream();
    }
    let attrs = function.attrs.iter().filter(|attr| !attr.path().is_ident("kernel"));
    let (vis, sig) = (&function.vis, &function.sig);
    quote! { #(#attrs)* #[allow(unused)] #vis #sig { ::core::unimplemented!() } }
}

/// Returns the serialised program of each function. After an error they are empty.
pub(crate) fn programs(functions: &[&syn::ItemFn], items: &Items, errors: &mut Errors) -> Vec<Vec<u8>> {
    let mut typed = Vec::new();
    for (number, function) in functions.iter().enumerate() {
        let (function, table) = read::function(function, number, items, errors);
        typed.push(Typed { function, table });
    }
    refuse_recursion(&typed, items, errors);
    write::check(&typed, items, errors);
    let mut programs = Vec::new();
    for (number, function) in functions.iter().enumerate() {
        if errors.any() || !items.functions[number].is_kernel {
            programs.push(Vec::new());
            continue;
        }
        let program = write::program(number, &typed, items, errors);
        #[cfg(feature = "check")]
        if let Err(error) = anabranch_kernel_ir::validate(&program) {
            let text = format!("naga rejects this kernel, which is an error of `#[kernel]`; please report it: {error}");
            errors.add(function.sig.ident.span(), text);
        }
        #[cfg(not(feature = "check"))]
        let _ = function;
        programs.push(program.to_bytes());
    }
    programs
}

/// Reports each call that leads back to its own function.
fn refuse_recursion(functions: &[Typed], items: &Items, errors: &mut Errors) {
    for (number, source) in functions.iter().enumerate() {
        for (callee, span) in &source.function.calls {
            if reaches(*callee, number, functions, &mut vec![false; functions.len()]) {
                let text = format!(
                    "`{}` calls itself by this call, and kernels have no recursion; write a `for` loop",
                    items.functions[number].name
                );
                errors.add(*span, text);
            }
        }
    }
}

fn reaches(from: usize, to: usize, functions: &[Typed], seen: &mut [bool]) -> bool {
    if from == to {
        return true;
    }
    if std::mem::replace(&mut seen[from], true) {
        return false;
    }
    functions[from].function.calls.iter().any(|(callee, _)| reaches(*callee, to, functions, seen))
}

/// Returns the type and the implementations beside a kernel.
fn kernel(
    runtime: &syn::Path,
    function: &syn::ItemFn,
    items: &Items,
    number: usize,
    program: &[u8],
) -> Option<TokenStream> {
    let signature = &items.functions[number];
    let syn::ReturnType::Type(_, output) = &function.sig.output else { return None };
    if !signature.is_kernel || !function.sig.generics.params.is_empty() {
        return None;
    }
    let name = &function.sig.ident;
    let vis = &function.vis;
    let docs: Vec<&Attribute> = function.attrs.iter().filter(|attr| attr.path().is_ident("doc")).collect();
    let mut params = Vec::new();
    for (written, known) in function.sig.inputs.iter().zip(&signature.params) {
        let syn::FnArg::Typed(typed) = written else { return None };
        params.push(match &*typed.ty {
            syn::Type::Reference(reference) if known.is_slice => match &*reference.elem {
                syn::Type::Slice(slice) => {
                    let item = &slice.elem;
                    quote! { #runtime::Slice<#item> }
                }
                _ => return None,
            },
            ty => ty.to_token_stream(),
        });
    }
    let count = params.len();
    let args: Vec<Ident> = (0..count).map(|number| format_ident!("a{number}")).collect();
    let types: Vec<Ident> = (0..count).map(|number| format_ident!("A{number}")).collect();
    let text = name.to_string();
    let program = Literal::byte_string(program);
    let about = format!(" The kernel [`{name}`](fn@{name}).");
    let map =
        format!(" Returns the lazy vector of the results of [`{name}`](fn@{name}) for each element of the arguments.");
    Some(quote! {
        #(#docs)*
        #[doc = ""]
        #[doc = #about]
        #[allow(non_camel_case_types, dead_code, clippy::empty_enums)]
        #vis enum #name {}

        impl #runtime::Kernel for #name {
            type Params = (#(#params,)*);
            type Output = #output;
            const NAME: &'static str = #text;
            const PROGRAM: &'static [u8] = #program;
            #[inline]
            fn call(args: <Self::Params as #runtime::ParamList>::Values<'_>) -> #output {
                let (#(#args,)*) = args;
                #name(#(#args),*)
            }
        }

        #[allow(dead_code)]
        impl #name {
            #[doc = #map]
            #[allow(clippy::too_many_arguments)]
            #vis fn map<#(#types: #runtime::Argument<#params>),*>(
                #(#args: #types),*
            ) -> #runtime::Map<#name, (#(#types,)*)> {
                #runtime::Map::new((#(#args,)*))
            }
        }
    })
}

/// Returns a struct with the layout that devices read.
fn structure(runtime: &syn::Path, item: &syn::ItemStruct, items: &Items) -> TokenStream {
    let name = &item.ident;
    let known = items.structs.iter().find(|known| name.unraw() == known.name);
    if known.is_none_or(|known| known.fields.is_empty() || known.fields.iter().any(|field| field.ty.has_error())) {
        return item.to_token_stream();
    }
    let types: Vec<_> = item.fields.iter().map(|field| &field.ty).collect();
    let members: Vec<_> = item.fields.members().collect();
    let parts: Vec<_> = (0..members.len()).map(|number| format_ident!("part{number}")).collect();
    let derives: String = item
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("derive"))
        .map(|attr| attr.meta.to_token_stream().to_string())
        .collect();
    let derived = |name: &str| derives.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
    let clone = (!derived("Clone")).then(|| quote! { #[derive(Clone)] });
    let copy = (!derived("Copy")).then(|| quote! { #[derive(Copy)] });
    if !item.generics.params.is_empty() {
        return item.to_token_stream();
    }
    quote! {
        #clone
        #copy
        #[repr(C)]
        #item

        const _: () = {
            const fn element<T: #runtime::Element>() -> usize {
                ::core::mem::size_of::<T>()
            }
            // The fields that the compiler sees, whatever other attributes have done to the struct.
            const fn fields(#name { #(#members: #parts),* }: &#name) {
                const fn is_element<T: #runtime::Element>(_: &T) {}
                #(is_element(#parts);)*
            }
            let _: fn(&#name) = fields;
            assert!(0 #(+ element::<#types>())* == ::core::mem::size_of::<#name>(), "the struct has padding");
            assert!(::core::mem::align_of::<#name>() == 4, "the struct has an alignment of its own");
        };

        // SAFETY: the assertions above show that all fields are elements, that there are no bytes between them, and
        // that the alignment is that of a word.
        unsafe impl #runtime::Element for #name {}
    }
}
