//! Reads and writes of variables, slices and their parts, with the checks of indices.
//!
//! An index that is out of range traps. In a variable, whose length is never zero, the lowering continues with index 0.
//! A slice may be empty, so a read of a slice is in a branch.

use super::function::{Lowering, Slot, Value, View};
use crate::{Place, Root, Step, Type};
use naga::{BinaryOperator, Expression};

/// A step whose index is a value.
enum Access {
    Field(u32),
    Index(Value),
}

impl Lowering<'_, '_> {
    pub(super) fn view(&self, param: u32) -> View {
        self.views[param as usize].expect("the parameter is a slice")
    }

    /// Returns the part `first..end` of a slice. A part that is not in the slice traps, and is empty.
    pub(super) fn part(&mut self, view: View, first: Value, end: Value, site: u32) -> View {
        let ordered = self.push(Expression::Binary { op: BinaryOperator::LessEqual, left: first, right: end });
        let fits = self.push(Expression::Binary { op: BinaryOperator::LessEqual, left: end, right: view.length });
        let valid = self.push(Expression::Binary { op: BinaryOperator::LogicalAnd, left: ordered, right: fits });
        self.trap_unless(valid, site);
        let zero = self.u32(0);
        let first_in_storage =
            self.push(Expression::Binary { op: BinaryOperator::Add, left: view.first, right: first });
        let length = self.push(Expression::Binary { op: BinaryOperator::Subtract, left: end, right: first });
        let length = self.select(valid, length, zero);
        View { storage: view.storage, first: first_in_storage, length }
    }

    pub(super) fn trap_unless(&mut self, condition: Value, site: u32) {
        let (reject, ()) = self.nested(|this| this.trap(site));
        self.branch(condition, naga::Block::new(), reject);
    }

    /// Reads a place.
    pub(super) fn read(&mut self, place: &Place) -> Option<Value> {
        match &place.root {
            Root::Local(local) => {
                if let Slot::Value(value) = self.slots[*local as usize] {
                    let ty = self.source.locals[*local as usize].ty.clone();
                    let steps = self.steps(ty, &place.steps)?;
                    return Some(self.follow(value, steps));
                }
                let pointer = self.pointer(place)?;
                Some(self.load(pointer))
            }
            Root::Slice(param) => self.read_slice(*param, &place.steps),
            Root::Value { ty, value } => {
                let value = self.expr(value)?;
                if place.steps.iter().all(|step| matches!(step, Step::Field(_))) {
                    let steps = self.steps(ty.clone(), &place.steps)?;
                    return Some(self.follow(value, steps));
                }
                let pointer = self.variable("value", ty);
                self.store(pointer, value);
                let steps = self.steps(ty.clone(), &place.steps)?;
                let pointer = self.follow(pointer, steps);
                Some(self.load(pointer))
            }
        }
    }

    /// Returns a pointer to a place in a variable.
    pub(super) fn pointer(&mut self, place: &Place) -> Option<Value> {
        let Root::Local(local) = place.root else { panic!("a place that is written is in a variable") };
        let ty = self.source.locals[local as usize].ty.clone();
        let steps = self.steps(ty, &place.steps)?;
        let variable = self.slot_variable(local);
        let pointer = self.push(Expression::LocalVariable(variable));
        Some(self.follow(pointer, steps))
    }

    fn read_slice(&mut self, param: u32, steps: &[Step]) -> Option<Value> {
        let view = self.view(param);
        let Some((Step::Index { index, site }, rest)) = steps.split_first() else {
            panic!("the first step into a slice is an index")
        };
        let crate::Param::Slice { item, .. } = &self.source.params[param as usize] else {
            panic!("the parameter is a slice")
        };
        let index = self.expr(index)?;
        let (steps, ty) = self.steps_and_type(item.clone(), rest)?;
        let element = |this: &mut Self| {
            let storage = this.push(Expression::GlobalVariable(view.storage));
            let index = this.push(Expression::Binary { op: BinaryOperator::Add, left: view.first, right: index });
            let pointer = this.push(Expression::Access { base: storage, index });
            let pointer = this.follow(pointer, steps);
            this.load(pointer)
        };
        let Some(site) = *site else { return Some(element(self)) };
        let result = self.variable("item", &ty);
        let valid = self.push(Expression::Binary { op: BinaryOperator::Less, left: index, right: view.length });
        let (accept, ()) = self.nested(|this| {
            let value = element(this);
            this.store(result, value);
        });
        let (reject, ()) = self.nested(|this| {
            this.trap(site);
            let ty = this.link.ty(&ty);
            let zero = this.push(Expression::ZeroValue(ty));
            this.store(result, zero);
        });
        self.branch(valid, accept, reject);
        Some(self.load(result))
    }

    fn follow(&mut self, base: Value, steps: Vec<Access>) -> Value {
        steps.into_iter().fold(base, |base, step| {
            self.push(match step {
                Access::Field(index) => Expression::AccessIndex { base, index },
                Access::Index(index) => Expression::Access { base, index },
            })
        })
    }

    fn steps(&mut self, ty: Type, steps: &[Step]) -> Option<Vec<Access>> {
        Some(self.steps_and_type(ty, steps)?.0)
    }

    /// Evaluates and checks the indices of steps from a value of type `ty`. Also returns the type of the part.
    fn steps_and_type(&mut self, mut ty: Type, steps: &[Step]) -> Option<(Vec<Access>, Type)> {
        let mut accesses = Vec::new();
        for step in steps {
            let (access, part) = match (step, ty) {
                (Step::Field(field), Type::Struct(number)) => {
                    let fields = &self.link.program.structs[number as usize].fields;
                    (Access::Field(*field), fields[*field as usize].ty.clone())
                }
                (Step::Index { index, site }, Type::Array(item, length)) => {
                    let index = self.expr(index)?;
                    let index = match site {
                        Some(site) => self.checked(index, length, *site),
                        None => index,
                    };
                    (Access::Index(index), *item)
                }
                (_, ty) => panic!("the step {step:?} does not exist in the type {ty:?}"),
            };
            accesses.push(access);
            ty = part;
        }
        Some((accesses, ty))
    }

    /// Returns `index` if it is below `length`, and traps and returns 0 otherwise.
    fn checked(&mut self, index: Value, length: u32, site: u32) -> Value {
        let length = self.u32(length);
        let valid = self.push(Expression::Binary { op: BinaryOperator::Less, left: index, right: length });
        self.trap_unless(valid, site);
        let zero = self.u32(0);
        self.select(valid, index, zero)
    }
}
