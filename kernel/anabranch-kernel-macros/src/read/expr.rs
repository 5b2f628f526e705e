//! Expressions.

use super::{Binding, Reader, block_expr, block_of, empty_block, refuse};
use crate::{
    infer::Class,
    tree::{Expr, Kind, Place, Root, Step, Stmt},
    types::Ty,
    written_types,
};
use anabranch_kernel_ir::{BinaryOp, UnaryOp};
use proc_macro2::Span;
use syn::{ext::IdentExt, spanned::Spanned};

impl Reader<'_> {
    /// Reads an expression.
    pub(super) fn expr(&mut self, expr: &syn::Expr) -> Expr {
        let span = expr.span();
        match expr {
            syn::Expr::Paren(inner) => self.expr(&inner.expr),
            syn::Expr::Group(inner) => self.expr(&inner.expr),
            syn::Expr::Lit(literal) => self.literal(&literal.lit),
            syn::Expr::Path(path) => self.path(path),
            syn::Expr::Unary(unary) => self.unary(unary),
            syn::Expr::Binary(binary) => self.binary(binary),
            syn::Expr::Cast(cast) => self.cast(cast),
            syn::Expr::Field(_) | syn::Expr::Index(_) => match self.place(expr) {
                Some(place) => {
                    let ty = place.ty.clone();
                    Expr { kind: Kind::Read(place), ty, span }
                }
                None => Expr::error(span),
            },
            syn::Expr::Assign(assign) => self.assign(assign),
            syn::Expr::Call(call) => self.call(call),
            syn::Expr::MethodCall(call) => self.method_call(call),
            syn::Expr::Struct(literal) => self.struct_literal(literal),
            syn::Expr::Array(array) => self.array(array),
            syn::Expr::Repeat(repeat) => self.repeat(repeat),
            syn::Expr::If(branch) => self.branch(branch),
            syn::Expr::Block(block) => {
                self.refuse_label(block.label.as_ref());
                let block = self.block(&block.block);
                let ty = block.ty.clone();
                Expr { kind: Kind::Block(block), ty, span }
            }
            syn::Expr::ForLoop(for_loop) => self.for_loop(for_loop),
            syn::Expr::Match(selection) => self.selection(selection),
            syn::Expr::Return(returned) => self.returned(returned),
            syn::Expr::Break(jump) => self.jump(Kind::Break, jump.label.as_ref(), jump.expr.as_deref(), span),
            syn::Expr::Continue(jump) => self.jump(Kind::Continue, jump.label.as_ref(), None, span),
            syn::Expr::Macro(call) => {
                let text = refuse::macro_call(&call.mac);
                self.error(call.mac.path.span(), text)
            }
            // The span of a loop with a label is the label, which is not what is wrong.
            syn::Expr::While(found) => self.error(found.while_token.span, refuse::expr(expr)),
            syn::Expr::Loop(found) => self.error(found.loop_token.span, refuse::expr(expr)),
            _ => self.error(span, refuse::expr(expr)),
        }
    }

    pub(super) fn refuse_label(&mut self, label: Option<&syn::Label>) {
        if let Some(label) = label {
            self.errors.add(label.name.span(), refuse::LABEL);
        }
    }

    fn unary(&mut self, unary: &syn::ExprUnary) -> Expr {
        let span = unary.op.span();
        let op = match unary.op {
            // References to items of slices are read as the items.
            syn::UnOp::Deref(_) => return self.expr(&unary.expr),
            syn::UnOp::Not(_) => UnaryOp::Not,
            syn::UnOp::Neg(_) => UnaryOp::Neg,
            _ => return self.error(span, "this operator is not known in kernels"),
        };
        let value = self.expr(&unary.expr);
        let ty = value.ty.clone();
        Expr { kind: Kind::Unary(op, Box::new(value)), ty, span }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) -> Expr {
        let span = binary.op.span();
        let (op, assigns) = match &binary.op {
            syn::BinOp::And(_) | syn::BinOp::Or(_) => return self.logical(binary),
            op => operator(op),
        };
        if assigns {
            // The right side is evaluated first, but it is read second, so that errors are in the order of the text.
            let Some(place) = self.assigned(&binary.left) else {
                self.expr(&binary.right);
                return Expr::error(span);
            };
            let value = self.expr(&binary.right);
            self.operands(op, &place.ty.clone(), &value, span);
            return Expr { kind: Kind::Update(op, place, Box::new(value)), ty: Ty::Unit, span };
        }
        let left = self.expr(&binary.left);
        let right = self.expr(&binary.right);
        self.operands(op, &left.ty.clone(), &right, span);
        let compares =
            matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
        let ty = if compares { Ty::Bool } else { left.ty.clone() };
        Expr { kind: Kind::Binary(op, Box::new(left), Box::new(right)), ty, span }
    }

    /// Makes the operands have one type, except for shifts.
    fn operands(&mut self, op: BinaryOp, left: &Ty, right: &Expr, span: Span) {
        if !matches!(op, BinaryOp::Shl | BinaryOp::Shr) && !self.table.unify(left, &right.ty) {
            let (left, right) = (self.shown(left), self.shown(&right.ty));
            self.errors
                .add(span, format!("the sides have different types, `{left}` and `{right}`; convert one by `as`"));
        }
    }

    fn logical(&mut self, binary: &syn::ExprBinary) -> Expr {
        let span = binary.op.span();
        let left = Box::new(self.condition(&binary.left));
        let right = Box::new(self.condition(&binary.right));
        let is_and = matches!(binary.op, syn::BinOp::And(_));
        let kind = if is_and { Kind::And(left, right) } else { Kind::Or(left, right) };
        Expr { kind, ty: Ty::Bool, span }
    }

    fn cast(&mut self, cast: &syn::ExprCast) -> Expr {
        let value = self.expr(&cast.expr);
        let ty = written_types::read(&cast.ty, self.items, self.errors);
        // As in Rust, a number without a type takes that of the cast, if it can have it.
        let is_number = matches!(value.kind, Kind::Integer(_) | Kind::Float(_));
        let fits = match self.table.class(&value.ty) {
            Some(Class::Integer) => ty.is_integer(),
            Some(Class::Float) => ty == Ty::F32,
            _ => false,
        };
        if is_number && fits {
            self.expect(&ty, &value.ty.clone(), value.span);
        }
        let span = cast.as_token.span;
        Expr { kind: Kind::Cast(Box::new(value)), ty, span }
    }

    fn assign(&mut self, assign: &syn::ExprAssign) -> Expr {
        let span = assign.eq_token.span;
        if let syn::Expr::Infer(_) = &*assign.left {
            return self.error(assign.left.span(), "write `let _ = ..`");
        }
        let place = self.assigned(&assign.left);
        let value = self.expr(&assign.right);
        let Some(place) = place else { return Expr::error(span) };
        self.expect(&place.ty.clone(), &value.ty.clone(), value.span);
        Expr { kind: Kind::Assign(place, Box::new(value)), ty: Ty::Unit, span }
    }

    /// Reads a place that is written. It is in a variable.
    fn assigned(&mut self, expr: &syn::Expr) -> Option<Place> {
        let place = self.place(expr)?;
        match place.root {
            Root::Local(local) => {
                self.locals[local].mutable = true;
                Some(place)
            }
            Root::Slice(_) => {
                self.errors.add(expr.span(), "a kernel does not write to its slices; return the new value of one item");
                None
            }
            Root::Value(_) => {
                self.errors.add(expr.span(), "only variables and their parts can be set");
                None
            }
        }
    }

    fn array(&mut self, array: &syn::ExprArray) -> Expr {
        let span = array.bracket_token.span.open();
        let item = self.table.fresh(Class::Any, span);
        let mut items = Vec::new();
        for value in &array.elems {
            let value = self.expr(value);
            self.expect(&item, &value.ty.clone(), value.span);
            items.push(value);
        }
        if items.is_empty() {
            return self.error(span, "an array of a kernel has at least one item");
        }
        let length = u32::try_from(items.len()).expect("an array in the source is short");
        Expr { kind: Kind::Array(items), ty: Ty::Array(Box::new(item), length), span }
    }

    fn repeat(&mut self, repeat: &syn::ExprRepeat) -> Expr {
        let span = repeat.bracket_token.span.open();
        let value = self.expr(&repeat.expr);
        let item = value.ty.clone();
        // As a type, so that its length is checked like that of a type.
        let ty = syn::TypeArray {
            attrs: Vec::new(),
            bracket_token: repeat.bracket_token,
            elem: Box::new(syn::parse_quote!(u32)),
            semi_token: repeat.semi_token,
            len: (*repeat.len).clone(),
        };
        match written_types::read(&syn::Type::Array(ty), self.items, self.errors) {
            Ty::Array(_, length) => {
                Expr { kind: Kind::Repeat(Box::new(value), length), ty: Ty::Array(Box::new(item), length), span }
            }
            _ => Expr::error(span),
        }
    }

    fn struct_literal(&mut self, literal: &syn::ExprStruct) -> Expr {
        let span = literal.path.span();
        let path = syn::TypePath { attrs: Vec::new(), qself: None, path: literal.path.clone() };
        let ty = written_types::read(&syn::Type::Path(path), self.items, self.errors);
        let Ty::Struct(number) = ty else {
            if ty != Ty::Unknown {
                self.errors.add(span, "this is no struct");
            }
            return Expr::error(span);
        };
        let mut fields = Vec::new();
        for field in &literal.fields {
            let value = self.expr(&field.expr);
            let name = member_name(&field.member);
            let known = self.items.structs[number].fields.iter().position(|found| found.name == name);
            // rustc reports a field that the struct does not have, one that is missing, and one that occurs twice.
            let Some(position) = known else { return Expr::error(span) };
            let expected = self.items.structs[number].fields[position].ty.clone();
            self.expect(&expected, &value.ty.clone(), value.span);
            fields.push((position, value));
        }
        let missing = (0..self.items.structs[number].fields.len())
            .filter(|position| !fields.iter().any(|(given, _)| given == position));
        let missing: Vec<_> = missing.collect();
        let Some(rest) = &literal.rest else {
            if !missing.is_empty() {
                return self.error(span, "some fields of this struct have no value");
            }
            return Expr { kind: Kind::Struct(number, fields), ty, span };
        };
        let rest = self.expr(rest);
        self.expect(&ty, &rest.ty.clone(), rest.span);
        let base = self.hidden("rest", ty.clone());
        for position in missing {
            let part = self.items.structs[number].fields[position].ty.clone();
            let place = Place { root: Root::Local(base), steps: vec![Step::Field(position)], ty: part.clone() };
            fields.push((position, Expr { kind: Kind::Read(place), ty: part, span }));
        }
        let value = Expr { kind: Kind::Struct(number, fields), ty, span };
        block_expr(vec![Stmt::Let(base, rest)], value)
    }

    fn branch(&mut self, branch: &syn::ExprIf) -> Expr {
        let span = branch.if_token.span;
        if let syn::Expr::Let(found) = &*branch.cond {
            self.errors.add(found.let_token.span, refuse::expr(&branch.cond));
            return Expr::error(span);
        }
        let condition = self.condition(&branch.cond);
        let accept = self.block(&branch.then_branch);
        let reject = match &branch.else_branch {
            None => empty_block(),
            Some((_, reject)) => match &**reject {
                syn::Expr::Block(block) => self.block(&block.block),
                reject => block_of(self.expr(reject)),
            },
        };
        self.choose(condition, accept, reject, span)
    }

    /// Returns `if condition { accept } else { reject }`.
    pub(super) fn choose(
        &mut self,
        condition: Expr,
        accept: crate::tree::Block,
        reject: crate::tree::Block,
        span: Span,
    ) -> Expr {
        let ty = if accept.ty == Ty::Never { reject.ty.clone() } else { accept.ty.clone() };
        if !self.table.unify(&accept.ty, &reject.ty) {
            let (accept, reject) = (self.shown(&accept.ty), self.shown(&reject.ty));
            self.errors.add(span, format!("the branches have different types, `{accept}` and `{reject}`"));
        }
        Expr { kind: Kind::If(Box::new(condition), accept, reject), ty, span }
    }

    fn returned(&mut self, returned: &syn::ExprReturn) -> Expr {
        let span = returned.return_token.span;
        let Some(value) = &returned.expr else {
            return self.error(span, "a kernel returns a value; write it after `return`");
        };
        let value = self.expr(value);
        let output = self.output.clone();
        self.expect(&output, &value.ty.clone(), value.span);
        Expr { kind: Kind::Return(Box::new(value)), ty: Ty::Never, span }
    }

    fn jump(&mut self, kind: Kind, label: Option<&syn::Lifetime>, value: Option<&syn::Expr>, span: Span) -> Expr {
        if let Some(label) = label {
            return self.error(label.span(), refuse::LABEL);
        }
        if let Some(value) = value {
            return self.error(value.span(), "a `for` loop has no value; set a variable before `break`");
        }
        if self.loops == 0 {
            return self.error(span, "there is no loop here");
        }
        Expr { kind, ty: Ty::Never, span }
    }

    /// Returns the parameter whose slice an expression is.
    pub(super) fn as_slice(&self, expr: &syn::Expr) -> Option<usize> {
        match expr {
            syn::Expr::Paren(inner) => self.as_slice(&inner.expr),
            syn::Expr::Group(inner) => self.as_slice(&inner.expr),
            syn::Expr::Path(path) if path.qself.is_none() => {
                match self.lookup(&path.path.get_ident()?.unraw().to_string())? {
                    Binding::Slice(param) => Some(param),
                    Binding::Local(_) => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Binding> {
        self.names.iter().rev().find(|(found, _)| found == name).map(|(_, binding)| *binding)
    }
}

/// Returns a field as it is written.
pub(super) fn member_name(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(name) => name.unraw().to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Returns the operator, and whether it assigns.
fn operator(op: &syn::BinOp) -> (BinaryOp, bool) {
    match op {
        syn::BinOp::Add(_) => (BinaryOp::Add, false),
        syn::BinOp::AddAssign(_) => (BinaryOp::Add, true),
        syn::BinOp::Sub(_) => (BinaryOp::Sub, false),
        syn::BinOp::SubAssign(_) => (BinaryOp::Sub, true),
        syn::BinOp::Mul(_) => (BinaryOp::Mul, false),
        syn::BinOp::MulAssign(_) => (BinaryOp::Mul, true),
        syn::BinOp::Div(_) => (BinaryOp::Div, false),
        syn::BinOp::DivAssign(_) => (BinaryOp::Div, true),
        syn::BinOp::Rem(_) => (BinaryOp::Rem, false),
        syn::BinOp::RemAssign(_) => (BinaryOp::Rem, true),
        syn::BinOp::BitAnd(_) => (BinaryOp::BitAnd, false),
        syn::BinOp::BitAndAssign(_) => (BinaryOp::BitAnd, true),
        syn::BinOp::BitOr(_) => (BinaryOp::BitOr, false),
        syn::BinOp::BitOrAssign(_) => (BinaryOp::BitOr, true),
        syn::BinOp::BitXor(_) => (BinaryOp::BitXor, false),
        syn::BinOp::BitXorAssign(_) => (BinaryOp::BitXor, true),
        syn::BinOp::Shl(_) => (BinaryOp::Shl, false),
        syn::BinOp::ShlAssign(_) => (BinaryOp::Shl, true),
        syn::BinOp::Shr(_) => (BinaryOp::Shr, false),
        syn::BinOp::ShrAssign(_) => (BinaryOp::Shr, true),
        syn::BinOp::Eq(_) => (BinaryOp::Eq, false),
        syn::BinOp::Ne(_) => (BinaryOp::Ne, false),
        syn::BinOp::Lt(_) => (BinaryOp::Lt, false),
        syn::BinOp::Le(_) => (BinaryOp::Le, false),
        syn::BinOp::Gt(_) => (BinaryOp::Gt, false),
        syn::BinOp::Ge(_) => (BinaryOp::Ge, false),
        syn::BinOp::And(_) | syn::BinOp::Or(_) => unreachable!("`&&` and `||` are not operators with values"),
        _ => unreachable!("the operators of Rust are known"),
    }
}
