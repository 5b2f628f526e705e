//! Random programs: naga accepts each of them, and they have the results of a direct evaluation of their trees.

use super::{Arg, Value, compile, run};
use proptest::prelude::*;

/// An expression of type `u32` with two variables.
#[derive(Clone, Debug)]
enum Tree {
    Number(u32),
    Variable(usize),
    Wrapping(&'static str, Box<Tree>, Box<Tree>),
    Operator(&'static str, Box<Tree>, Box<Tree>),
    If(Box<Condition>, Box<Tree>, Box<Tree>),
    /// `{ let mut c = first; c ^= second; c }`
    Block(Box<Tree>, Box<Tree>),
    /// The sum of `body` over `for a in 0..n { .. }`, which stops at the condition. The name `a` hides the variable.
    Loop(u32, Box<Condition>, Box<Tree>),
    /// `[first, second, third][index & 3]`
    Item([Box<Tree>; 3], Box<Tree>),
    /// `helper(first, second)`, which is `first / second`.
    Call(Box<Tree>, Box<Tree>),
}

#[derive(Clone, Debug)]
enum Condition {
    Compare(&'static str, Tree, Tree),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

/// The evaluation ends with a trap.
struct Trapped;

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => format!("{number}_u32"),
            Self::Variable(number) => ["a", "b"][*number].to_owned(),
            Self::Wrapping(name, left, right) => format!("u32::{name}({}, {})", left.text(), right.text()),
            Self::Operator(op, left, right) => format!("({} {op} {})", left.text(), right.text()),
            Self::If(condition, accept, reject) => {
                format!("(if {} {{ {} }} else {{ {} }})", condition.text(), accept.text(), reject.text())
            }
            Self::Block(first, second) => format!("{{ let mut c: u32 = {}; c ^= {}; c }}", first.text(), second.text()),
            Self::Loop(rounds, condition, body) => format!(
                "{{ let mut sum = 0u32; for a in 0..{rounds} {{ if {} {{ break; }} sum += {}; }} sum }}",
                condition.text(),
                body.text()
            ),
            Self::Item(items, index) => {
                let items: Vec<_> = items.iter().map(|item| item.text()).collect();
                format!("[{}][(({}) & 3) as usize]", items.join(", "), index.text())
            }
            Self::Call(first, second) => format!("helper({}, {})", first.text(), second.text()),
        }
    }

    fn evaluate(&self, variables: [u32; 2]) -> Result<u32, Trapped> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Variable(number) => variables[*number],
            Self::Wrapping(name, left, right) => {
                let (left, right) = (left.evaluate(variables)?, right.evaluate(variables)?);
                match *name {
                    "wrapping_add" => left.wrapping_add(right),
                    "wrapping_sub" => left.wrapping_sub(right),
                    "wrapping_mul" => left.wrapping_mul(right),
                    "wrapping_shl" => left.wrapping_shl(right),
                    "min" => left.min(right),
                    name => unreachable!("{name}"),
                }
            }
            Self::Operator(op, left, right) => {
                let (left, right) = (left.evaluate(variables)?, right.evaluate(variables)?);
                match *op {
                    "+" => left.wrapping_add(right),
                    "-" => left.wrapping_sub(right),
                    "*" => left.wrapping_mul(right),
                    "/" => left.checked_div(right).ok_or(Trapped)?,
                    "%" => left.checked_rem(right).ok_or(Trapped)?,
                    "&" => left & right,
                    "|" => left | right,
                    "^" => left ^ right,
                    "<<" => left.wrapping_shl(right),
                    ">>" => left.wrapping_shr(right),
                    op => unreachable!("{op}"),
                }
            }
            Self::If(condition, accept, reject) => {
                if condition.evaluate(variables)? { accept } else { reject }.evaluate(variables)?
            }
            Self::Block(first, second) => first.evaluate(variables)? ^ second.evaluate(variables)?,
            Self::Loop(rounds, condition, body) => {
                let mut sum = 0u32;
                for round in 0..*rounds {
                    if condition.evaluate([round, variables[1]])? {
                        break;
                    }
                    sum = sum.wrapping_add(body.evaluate([round, variables[1]])?);
                }
                sum
            }
            Self::Item(items, index) => {
                let mut values = Vec::new();
                for item in items {
                    values.push(item.evaluate(variables)?);
                }
                let index = index.evaluate(variables)? & 3;
                *values.get(index as usize).ok_or(Trapped)?
            }
            Self::Call(first, second) => {
                let (first, second) = (first.evaluate(variables)?, second.evaluate(variables)?);
                first.checked_div(second).ok_or(Trapped)?
            }
        })
    }
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Self::Compare(op, left, right) => format!("(({}) {op} ({}))", left.text(), right.text()),
            Self::And(left, right) => format!("({} && {})", left.text(), right.text()),
            Self::Or(left, right) => format!("({} || {})", left.text(), right.text()),
            Self::Not(condition) => format!("!{}", condition.text()),
        }
    }

    fn evaluate(&self, variables: [u32; 2]) -> Result<bool, Trapped> {
        Ok(match self {
            Self::Compare(op, left, right) => {
                let (left, right) = (left.evaluate(variables)?, right.evaluate(variables)?);
                match *op {
                    "==" => left == right,
                    "!=" => left != right,
                    "<" => left < right,
                    ">=" => left >= right,
                    op => unreachable!("{op}"),
                }
            }
            Self::And(left, right) => left.evaluate(variables)? && right.evaluate(variables)?,
            Self::Or(left, right) => left.evaluate(variables)? || right.evaluate(variables)?,
            Self::Not(condition) => !condition.evaluate(variables)?,
        })
    }
}

fn condition(tree: impl Strategy<Value = Tree> + Clone + 'static) -> impl Strategy<Value = Condition> {
    let op = prop::sample::select(vec!["==", "!=", "<", ">="]);
    let leaf = (op, tree.clone(), tree).prop_map(|(op, left, right)| Condition::Compare(op, left, right));
    leaf.prop_recursive(2, 4, 2, |inner| {
        let pair = (inner.clone(), inner.clone()).prop_map(|(left, right)| (Box::new(left), Box::new(right)));
        prop_oneof![
            pair.clone().prop_map(|(left, right)| Condition::And(left, right)),
            pair.prop_map(|(left, right)| Condition::Or(left, right)),
            inner.prop_map(|condition| Condition::Not(Box::new(condition))),
        ]
    })
}

fn tree() -> impl Strategy<Value = Tree> {
    let number = prop_oneof![0..5u32, 28..36u32, Just(u32::MAX)];
    let leaf = prop_oneof![number.prop_map(Tree::Number), (0..2usize).prop_map(Tree::Variable)];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let one = inner.clone().prop_map(Box::new);
        let two = (one.clone(), one.clone());
        let wrapping = vec!["wrapping_add", "wrapping_sub", "wrapping_mul", "wrapping_shl", "min"];
        let operators = vec!["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];
        let condition = condition(inner.clone()).prop_map(Box::new).boxed();
        prop_oneof![
            (prop::sample::select(wrapping), two.clone()).prop_map(|(name, (a, b))| Tree::Wrapping(name, a, b)),
            (prop::sample::select(operators), two.clone()).prop_map(|(op, (a, b))| Tree::Operator(op, a, b)),
            (condition.clone(), two.clone()).prop_map(|(condition, (a, b))| Tree::If(condition, a, b)),
            two.clone().prop_map(|(a, b)| Tree::Block(a, b)),
            (0..5u32, condition, one.clone()).prop_map(|(rounds, end, body)| Tree::Loop(rounds, end, body)),
            ([one.clone(), one.clone(), one.clone()], one).prop_map(|(items, index)| Tree::Item(items, index)),
            two.prop_map(|(a, b)| Tree::Call(a, b)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_programs_have_the_meaning_of_rust(tree in tree(), values: [u32; 2], small in 0..40u32) {
        let source = format!(
            "fn helper(a: u32, b: u32) -> u32 {{ a / b }} fn f(a: u32, b: u32) -> u32 {{ {} }}",
            tree.text()
        );
        let program = &compile(&source)["f"];
        for [a, b] in [values, [small, values[1]], [small, small + 1], [0, 0]] {
            let args = [a, b].map(|value| Arg::Value(Value::U32(value)));
            let (value, trap) = run(program, &args);
            match tree.evaluate([a, b]) {
                Ok(expected) => {
                    prop_assert_eq!((value, trap), (Value::U32(expected), 0), "{} of {} and {}", source, a, b);
                }
                Err(Trapped) => prop_assert!(trap != 0, "{} of {} and {} does not trap", source, a, b),
            }
        }
    }
}

/// Runs the random programs.
pub(super) fn run_random_programs() {
    random_programs_have_the_meaning_of_rust();
}
