//! Suggestions of what to write instead of code outside the subset.

use syn::ext::IdentExt;

pub(super) const INNER_ITEM: &str =
    "a kernel has no items inside; move it into the `#[kernel] mod` around the function";
pub(super) const PATTERN: &str = "kernels have no patterns; write one `let` with a name for each part";
pub(super) const LABEL: &str = "kernels have no labels; set a `bool` and test it after the inner loop";

/// Returns what to write instead of a macro.
pub(super) fn macro_call(call: &syn::Macro) -> String {
    let name = call.path.segments.last().map(|segment| segment.ident.unraw().to_string()).unwrap_or_default();
    let text = match name.as_str() {
        "print" | "println" | "eprint" | "eprintln" | "dbg" | "write" | "writeln" => {
            "a kernel cannot print; return the value"
        }
        "panic" | "assert" | "assert_eq" | "assert_ne" | "unreachable" | "todo" | "unimplemented" => {
            "a kernel cannot panic; return a value that says so"
        }
        "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => "a kernel cannot panic; check before the call",
        "vec" => "a kernel allocates no memory; write an array `[value; N]`",
        "format" => "kernels have no text; return a number that stands for it",
        "matches" => "write `==`, `<` and `||`",
        _ => "kernels have no macros, since `#[kernel]` reads them unexpanded; write their result",
    };
    text.to_owned()
}

/// Returns what to write instead of an expression.
pub(super) fn expr(expr: &syn::Expr) -> &'static str {
    match expr {
        syn::Expr::While(_) => {
            "the number of rounds of a loop must have a bound; write `for _ in 0..LIMIT` with `break`"
        }
        syn::Expr::Loop(_) => {
            "the number of rounds of a loop must have a bound; write `for _ in 0..LIMIT` with `break`"
        }
        syn::Expr::Closure(_) => "kernels have no closures; write a function in the same `#[kernel] mod`",
        syn::Expr::Unsafe(_) => "a kernel is safe code; remove `unsafe`",
        syn::Expr::Async(_) | syn::Expr::Await(_) => "a kernel does not wait; the caller waits for its result",
        syn::Expr::Try(_) | syn::Expr::TryBlock(_) => "kernels have no `Option` and `Result`; write `if` and `return`",
        syn::Expr::Tuple(tuple) if tuple.elems.is_empty() => "a kernel returns a value; `()` is none",
        syn::Expr::Tuple(_) => "kernels have no tuples; write a struct in a `#[kernel] mod`",
        syn::Expr::Let(_) => "kernels have no `if let`; compare by `==`",
        syn::Expr::Range(_) => "a range is what a `for` loop goes over; kernels have no ranges as values",
        syn::Expr::Reference(reference) if reference.mutability.is_some() => {
            "a kernel changes nothing outside of itself; return the new value instead of `&mut`"
        }
        syn::Expr::Reference(_) => "the only references of kernels are slices of parameters; remove `&`",
        syn::Expr::RawAddr(_) => "kernels have no pointers; use an index",
        syn::Expr::Const(_) => "write the value itself, or a constant in the `#[kernel] mod`",
        syn::Expr::Infer(_) => "write a value",
        _ => "this is not known in kernels; the documentation of `#[kernel]` lists what they may use",
    }
}
