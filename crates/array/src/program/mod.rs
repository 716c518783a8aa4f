//! The instructions of a program on arrays, checked when they are read.

mod bounds;
mod convolution;
mod function;
mod json;
mod named;
mod operation;
mod rings;
mod shapes;
mod sizes;

use serde::{Deserialize, Serialize};

pub(crate) use convolution::form;
pub(crate) use function::{Way, quotient};
pub use named::Function;
pub use operation::{Convolved, Integer, Operation, Ring};
pub(crate) use shapes::Product;

/// One instruction, and what is publicly known of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// The positions of the instructions whose results it takes.
    pub args: Vec<usize>,
    /// The shape of its result.
    pub shape: Vec<usize>,
    /// In what its result is shared.
    pub ring: Ring,
    /// Bits behind the point of its result.
    pub fraction: i32,
    /// No integer of its result is less.
    pub low: i128,
    /// No integer of its result is more.
    pub high: i128,
}

impl Instruction {
    /// The number of elements of its result.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A list of instructions, each behind those whose results it takes. Every one fits its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<json::Node>", into = "Vec<json::Node>")]
pub struct Instructions(Vec<Instruction>);

impl Instructions {
    /// All of them, in order.
    pub fn all(&self) -> &[Instruction] {
        &self.0
    }

    /// How many arrays are given to the program: one more than the last that is taken.
    pub fn inputs(&self) -> usize {
        self.given().map(|(index, _)| index + 1).max().unwrap_or(0)
    }

    /// The instructions that take what is given, with its position.
    pub fn given(&self) -> impl Iterator<Item = (usize, &Instruction)> {
        self.0.iter().filter_map(|each| match each.operation {
            Operation::Input { index } => Some((index, each)),
            _ => None,
        })
    }
}

impl TryFrom<Vec<json::Node>> for Instructions {
    type Error = String;

    fn try_from(nodes: Vec<json::Node>) -> Result<Self, String> {
        let mut found: Vec<Instruction> = Vec::with_capacity(nodes.len());
        for (place, json::Node(next)) in nodes.into_iter().enumerate() {
            let checked = arguments(&next, &found).and_then(|args| {
                shapes::check(&next, &args)?;
                rings::check(&next, &args)?;
                bounds::check(&next, &args)?;
                function::check(&next, &args)
            });
            checked.map_err(|what| format!("node {place} ({}): {what}", next.operation.name()))?;
            found.push(next);
        }
        Ok(Self(found))
    }
}

impl From<Instructions> for Vec<json::Node> {
    fn from(instructions: Instructions) -> Self {
        instructions.0.into_iter().map(json::Node).collect()
    }
}

/// The instructions whose results one takes, which are before it.
fn arguments<'a>(next: &Instruction, before: &'a [Instruction]) -> Result<Vec<&'a Instruction>, String> {
    let arity = next.operation.arity();
    if arity.is_some_and(|arity| arity != next.args.len()) || next.args.is_empty() && arity.is_none() {
        return Err(format!("it has {} arguments", next.args.len()));
    }
    let argument = |&place: &usize| before.get(place).ok_or_else(|| format!("argument {place} is not before it"));
    next.args.iter().map(argument).collect()
}
