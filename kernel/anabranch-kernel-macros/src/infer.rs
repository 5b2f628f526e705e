//! The inference of types: unification over one function, as rustc does for numbers.

use crate::{errors::Errors, types::Ty};
use proc_macro2::Span;

/// The types that a variable may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Any,
    Integer,
    Float,
}

enum State {
    Free { class: Class, span: Span },
    Bound(Ty),
}

/// The variables of a function.
#[derive(Default)]
pub(crate) struct Table(Vec<State>);

impl Table {
    /// Creates a variable for what is at `span`.
    pub(crate) fn fresh(&mut self, class: Class, span: Span) -> Ty {
        self.0.push(State::Free { class, span });
        Ty::Var(self.0.len() - 1)
    }

    /// Returns what a type is known to be: no variable, or a free one. Items of arrays may be bound variables.
    pub(crate) fn known(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(number) = ty
            && let State::Bound(bound) = &self.0[*number]
        {
            ty = bound;
        }
        ty.clone()
    }

    /// Returns the class of a free variable.
    pub(crate) fn class(&self, ty: &Ty) -> Option<Class> {
        match self.known(ty) {
            Ty::Var(number) => match self.0[number] {
                State::Free { class, .. } => Some(class),
                State::Bound(_) => None,
            },
            _ => None,
        }
    }

    /// Makes two types one. Returns false if they differ.
    #[must_use]
    pub(crate) fn unify(&mut self, left: &Ty, right: &Ty) -> bool {
        match (self.known(left), self.known(right)) {
            // What has an error gives no reason for another one.
            (Ty::Var(number), Ty::Unknown) | (Ty::Unknown, Ty::Var(number)) => {
                self.0[number] = State::Bound(Ty::Unknown);
                true
            }
            (Ty::Unknown | Ty::Never, _) | (_, Ty::Unknown | Ty::Never) => true,
            (Ty::Var(left), Ty::Var(right)) if left == right => true,
            (Ty::Var(left), Ty::Var(right)) => {
                let (State::Free { class: first, span }, State::Free { class: second, .. }) =
                    (&self.0[left], &self.0[right])
                else {
                    unreachable!("known types are free variables");
                };
                let class = match (*first, *second) {
                    (Class::Any, class) | (class, Class::Any) => class,
                    (first, second) if first == second => first,
                    _ => return false,
                };
                self.0[left] = State::Free { class, span: *span };
                self.0[right] = State::Bound(Ty::Var(left));
                true
            }
            (Ty::Var(number), ty) | (ty, Ty::Var(number)) => {
                let fits = match self.class(&Ty::Var(number)) {
                    Some(Class::Integer) => ty.is_integer(),
                    Some(Class::Float) => ty == Ty::F32,
                    _ => true,
                };
                if fits {
                    self.0[number] = State::Bound(ty);
                }
                fits
            }
            (Ty::Array(left, first), Ty::Array(right, second)) => self.unify(&left, &right) && first == second,
            (left, right) => left == right,
        }
    }

    /// Gives the variables that are still free the types that Rust gives them. Reports those that have none here.
    pub(crate) fn finish(&mut self, errors: &mut Errors) {
        for state in &mut self.0 {
            let State::Free { class, span } = *state else { continue };
            *state = State::Bound(match class {
                Class::Integer => Ty::I32,
                Class::Float => {
                    let text =
                        "nothing says that this number is an `f32`, so it would be an `f64`; write a suffix: `1.0_f32`";
                    errors.add(span, text);
                    Ty::Unknown
                }
                Class::Any => {
                    errors.add(span, "the type of this variable is not known; write it: `let x: f32`");
                    Ty::Unknown
                }
            });
        }
    }

    /// Returns a type without variables. Call it after `finish`.
    pub(crate) fn resolve(&self, ty: &Ty) -> Ty {
        match self.known(ty) {
            Ty::Array(item, length) => Ty::Array(Box::new(self.resolve(&item)), length),
            ty => ty,
        }
    }
}
