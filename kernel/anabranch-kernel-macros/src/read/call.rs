//! Calls of functions and methods.

use super::{Reader, path};
use crate::{
    errors::nearest,
    infer::Class,
    methods::{self, Method},
    tree::{Argument, Expr, Kind},
    types::Ty,
};
use proc_macro2::{Ident, Span};
use syn::{ext::IdentExt, spanned::Spanned};

/// The arguments of a call as they are written.
type Written = syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>;

impl Reader<'_> {
    pub(super) fn call(&mut self, call: &syn::ExprCall) -> Expr {
        let syn::Expr::Path(function) = &*call.func else {
            return self.error(call.func.span(), "a kernel calls functions of its `#[kernel] mod` by their names");
        };
        let last = function.path.segments.last().expect("a path has a segment");
        let span = last.ident.span();
        if !last.arguments.is_none() {
            return self.error(span, "kernels have no generic parameters; write the types of variables");
        }
        let segments = path::names(&function.path);
        let segments: Vec<_> = segments.iter().map(String::as_str).collect();
        match segments[..] {
            [name] => self.call_by_name(name, &call.args, span),
            [ty @ ("f32" | "i32" | "u32" | "usize"), name] => self.call_of_type(ty, name, &call.args, span),
            ["self", name] => self.error(span, format!("write `{name}`, without `self`")),
            _ => {
                let text = "a kernel calls functions of its own `#[kernel] mod` and methods of numbers, by their names";
                self.error(span, text)
            }
        }
    }

    fn call_by_name(&mut self, name: &str, args: &Written, span: Span) -> Expr {
        if let Some(number) = self.items.functions.iter().position(|function| function.name == name) {
            return self.call_function(number, args, span);
        }
        if let Some(number) = self.items.structs.iter().position(|found| found.name == name && found.is_tuple) {
            return self.construct(number, args, span);
        }
        let text = match nearest(name, self.items.functions.iter().map(|function| function.name.as_str())) {
            _ if self.items.is_lone => {
                format!("a lone kernel does not see `{name}`; put both functions into one `#[kernel] mod`")
            }
            Some(near) => format!("there is no function `{name}` in this module; did you mean `{near}`?"),
            None => format!("there is no function `{name}` in this module; move it into the `#[kernel] mod`"),
        };
        self.error(span, text)
    }

    fn call_function(&mut self, number: usize, args: &Written, span: Span) -> Expr {
        self.calls.push((number, span));
        let signature = &self.items.functions[number];
        if signature.params.len() != args.len() {
            let text = format!("`{}` takes {}", signature.name, arguments(signature.params.len()));
            return self.error(span, text);
        }
        let mut read = Vec::new();
        for (param, arg) in signature.params.iter().zip(args) {
            if param.is_slice {
                read.extend(self.slice_argument(arg, &param.ty));
            } else {
                let value = self.expr(arg);
                self.expect(&param.ty, &value.ty.clone(), value.span);
                read.push(Argument::Value(value));
            }
        }
        if read.len() != args.len() {
            return Expr::error(span);
        }
        Expr { kind: Kind::Call(number, read), ty: signature.output.clone(), span }
    }

    /// Reads an argument for a slice: a slice of a parameter, or a part of one.
    fn slice_argument(&mut self, arg: &syn::Expr, item: &Ty) -> Option<Argument> {
        if let Some(slice) = self.as_slice(arg) {
            self.check_item(slice, item, arg.span());
            return Some(Argument::Slice(slice));
        }
        if let syn::Expr::Reference(reference) = arg
            && let syn::Expr::Index(index) = &*reference.expr
            && let syn::Expr::Range(range) = &*index.index
            && let Some(slice) = self.as_slice(&index.expr)
        {
            self.check_item(slice, item, index.expr.span());
            let span = range.limits.span();
            if matches!(range.limits, syn::RangeLimits::Closed(_)) {
                self.errors.add(span, "write the end that is not included: `a..b + 1`");
                return None;
            }
            let first = match &range.start {
                Some(first) => self.expr(first),
                None => Expr { kind: Kind::Integer(0), ty: Ty::Usize, span },
            };
            let end = match &range.end {
                Some(end) => self.expr(end),
                None => Expr { kind: Kind::Length(slice), ty: Ty::Usize, span },
            };
            self.expect(&Ty::Usize, &first.ty.clone(), first.span);
            self.expect(&Ty::Usize, &end.ty.clone(), end.span);
            return Some(Argument::Part { slice, first: Box::new(first), end: Box::new(end), span });
        }
        let text = "this parameter is a slice; pass one of the caller, `xs` or `&xs[a..b]`, or take `[T; N]` by value";
        self.errors.add(arg.span(), text);
        None
    }

    fn check_item(&mut self, slice: usize, item: &Ty, span: Span) {
        let found = self.items.functions[self.number].params[slice].ty.clone();
        self.expect(item, &found, span);
    }

    /// Reads the call of a tuple struct.
    fn construct(&mut self, number: usize, args: &Written, span: Span) -> Expr {
        let count = self.items.structs[number].fields.len();
        if count != args.len() {
            return self.error(span, format!("this struct takes {}", arguments(count)));
        }
        let mut fields = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            let value = self.expr(arg);
            let expected = self.items.structs[number].fields[position].ty.clone();
            self.expect(&expected, &value.ty.clone(), value.span);
            fields.push((position, value));
        }
        Expr { kind: Kind::Struct(number, fields), ty: Ty::Struct(number), span }
    }

    /// Reads `f32::max(a, b)`, `f32::from_bits(a)` and `u32::from(a)`.
    fn call_of_type(&mut self, ty: &str, name: &str, args: &Written, span: Span) -> Expr {
        let receiver = match ty {
            "f32" => Ty::F32,
            "i32" => Ty::I32,
            "u32" => Ty::U32,
            _ => Ty::Usize,
        };
        let mut args: Vec<_> = args.iter().map(|arg| self.expr(arg)).collect();
        match (name, args.len()) {
            ("from", 1) => {
                let value = args.remove(0);
                let found = self.table.known(&value.ty);
                return match found {
                    Ty::Bool if receiver != Ty::F32 => Expr { kind: Kind::Cast(Box::new(value)), ty: receiver, span },
                    Ty::Unknown => Expr::error(span),
                    _ => self.error(span, "in kernels `from` converts a `bool` to an integer; write `as`"),
                };
            }
            ("from_bits", 1) if receiver == Ty::F32 => return self.apply(methods::from_bits(), &Ty::U32, args, span),
            _ => {}
        }
        match methods::find(&receiver, name) {
            Some(method) if args.len() == method.args.len() + 1 => {
                let value = &args[0];
                self.expect(&receiver, &value.ty.clone(), value.span);
                self.apply(method, &receiver, args, span)
            }
            Some(method) => self.error(span, format!("`{ty}::{name}` takes {}", arguments(method.args.len() + 1))),
            None => self.no_method(&receiver, name, span),
        }
    }

    pub(super) fn method_call(&mut self, call: &syn::ExprMethodCall) -> Expr {
        let name = call.method.unraw().to_string();
        let span = call.method.span();
        if let Some(slice) = self.as_slice(&call.receiver) {
            return self.slice_method(slice, &name, &call.method);
        }
        let receiver = self.expr(&call.receiver);
        let ty = match (self.table.known(&receiver.ty), self.table.class(&receiver.ty)) {
            (Ty::Unknown, _) => {
                // The arguments may have errors of their own.
                for arg in &call.args {
                    self.expr(arg);
                }
                return Expr::error(span);
            }
            (_, Some(class)) => {
                let text = match class {
                    Class::Float => "the type of the number before this method is not known here; write it: `1.0_f32`",
                    Class::Integer => "the type of the number before this method is not known here; write it: `1_u32`",
                    Class::Any => "the type of the value before this method is not known here; write it: `let x: f32`",
                };
                return self.error(span, text);
            }
            (Ty::Array(_, length), None) => {
                return match name.as_str() {
                    "len" => Expr { kind: Kind::Integer(u64::from(length)), ty: Ty::Usize, span },
                    "iter" => self.error(span, "an iterator is what a `for` loop goes over; write `for x in array`"),
                    _ => self.error(span, "arrays have only `len()` and items in kernels; write a `for` loop"),
                };
            }
            (Ty::Struct(_), None) => {
                let text = if name == "clone" {
                    "structs of kernels are copied; leave `clone()` out"
                } else {
                    "kernels call functions, not methods of structs; write a function in the `#[kernel] mod`"
                };
                return self.error(span, text);
            }
            (ty, None) => ty,
        };
        let mut args = vec![receiver];
        for arg in &call.args {
            args.push(self.expr(arg));
        }
        match methods::find(&ty, &name) {
            Some(method) if args.len() == method.args.len() + 1 => self.apply(method, &ty, args, span),
            Some(method) => self.error(span, format!("`{name}` takes {}", arguments(method.args.len()))),
            None => self.no_method(&ty, &name, span),
        }
    }

    fn slice_method(&mut self, slice: usize, name: &str, ident: &Ident) -> Expr {
        let span = ident.span();
        let length = Expr { kind: Kind::Length(slice), ty: Ty::Usize, span };
        match name {
            "len" => length,
            "is_empty" => {
                let zero = Box::new(Expr { kind: Kind::Integer(0), ty: Ty::Usize, span });
                let kind = Kind::Binary(anabranch_kernel_ir::BinaryOp::Eq, Box::new(length), zero);
                Expr { kind, ty: Ty::Bool, span }
            }
            "iter" | "into_iter" => {
                self.error(span, "an iterator is what a `for` loop goes over; write `for x in slice`")
            }
            _ => self.error(span, "slices have only `len()`, `is_empty()` and items in kernels; write a `for` loop"),
        }
    }

    /// Returns the call of a method whose number of arguments is right.
    fn apply(&mut self, method: &Method, receiver: &Ty, args: Vec<Expr>, span: Span) -> Expr {
        for (shape, arg) in method.args.iter().zip(&args[1..]) {
            self.expect(&shape.of(receiver), &arg.ty.clone(), arg.span);
        }
        let value = &args[0];
        self.expect(receiver, &value.ty.clone(), value.span);
        Expr { kind: Kind::Method(method.action, args), ty: method.output.of(receiver), span }
    }

    fn no_method(&mut self, ty: &Ty, name: &str, span: Span) -> Expr {
        let shown = ty.name(self.items);
        let text = if let Some(text) = methods::instead(ty, name) {
            format!("kernels have no `{name}` for `{shown}`; {text}")
        } else if let Some(near) = nearest(name, methods::names(ty)) {
            format!("kernels have no `{name}` for `{shown}`; did you mean `{near}`?")
        } else {
            format!("kernels have no `{name}` for `{shown}`; write it as a function in a `#[kernel] mod`")
        };
        self.error(span, text)
    }
}

/// Returns a number of arguments as text.
fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") }
}
