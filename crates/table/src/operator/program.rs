//! The members of `program`: a program on arrays, whose inputs are columns and whose results are columns of new tables.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tacit_array::{Instruction, Instructions, Ring};

use super::kind::{Kind, Repr};

/// `program`: instructions on arrays. The step itself has no table: results have, under ids of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ProgramJson")]
pub struct ArrayProgram {
    /// Step id.
    pub id: usize,
    /// The arrays that it is given, as the instructions count them.
    pub inputs: Vec<ArrayInput>,
    /// What it computes.
    pub nodes: Instructions,
    /// Its results. Those of one table follow each other.
    pub outputs: Vec<ArrayOutput>,
}

/// An array that a program is given: a column, row by row, with zeros in rows that are not valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayInput {
    /// Step of the table.
    pub step: usize,
    /// Its column; none for bits that say which rows are valid.
    #[serde(deserialize_with = "Option::deserialize")]
    pub column: Option<String>,
}

impl ArrayInput {
    /// What it is called in messages.
    pub fn name(&self) -> String {
        self.column.clone().unwrap_or_else(|| "(valid)".into())
    }
}

/// A result of a program, which becomes a column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayOutput {
    /// The step id that its table has. Results with one id are columns of one table.
    pub id: usize,
    /// The position of its instruction.
    pub node: usize,
    /// The name of its column.
    pub column: String,
    /// The kind of its column.
    pub kind: Kind,
}

impl ArrayProgram {
    /// The steps whose tables it takes, each once.
    pub fn steps(&self) -> Vec<usize> {
        let mut steps: Vec<usize> = vec![];
        for input in &self.inputs {
            if !steps.contains(&input.step) {
                steps.push(input.step);
            }
        }
        steps
    }

    /// The ids of its tables, each once.
    pub fn tables(&self) -> Vec<usize> {
        let mut ids: Vec<usize> = self.outputs.iter().map(|output| output.id).collect();
        ids.dedup();
        ids
    }

    /// The instruction of a result.
    pub fn result(&self, output: &ArrayOutput) -> &Instruction {
        &self.nodes.all()[output.node]
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramJson {
    id: usize,
    inputs: Vec<ArrayInput>,
    nodes: Instructions,
    outputs: Vec<ArrayOutput>,
}

impl TryFrom<ProgramJson> for ArrayProgram {
    type Error = String;

    fn try_from(ProgramJson { id, inputs, nodes, outputs }: ProgramJson) -> Result<Self, String> {
        let mut taken: HashMap<usize, (Ring, usize)> = HashMap::new();
        for (index, node) in nodes.given() {
            if index >= inputs.len() {
                return Err(format!("program {id} takes input {index} of {}", inputs.len()));
            }
            let alike = (node.ring, node.elements());
            if *taken.entry(index).or_insert(alike) != alike {
                return Err(format!("program {id} takes input {index} in several rings or sizes"));
            }
        }
        for output in &outputs {
            let node = nodes.all().get(output.node);
            let node = node.ok_or_else(|| format!("program {id} has no node {}", output.node))?;
            if !holds(output.kind, node) {
                let (ArrayOutput { column, .. }, Instruction { low, high, .. }) = (output, node);
                return Err(format!("program {id}: the kind of {column:?} does not hold numbers from {low} to {high}"));
            }
        }
        for (place, output) in outputs.iter().enumerate() {
            let elements = |output: &ArrayOutput| nodes.all()[output.node].elements();
            let mut beside = outputs[..place].iter().filter(|other| other.id == output.id);
            if beside.any(|other| other.column == output.column || elements(other) != elements(output)) {
                let column = &output.column;
                return Err(format!("program {id}: {column:?} is no column of its own beside others as long as it is"));
            }
        }
        Ok(Self { id, inputs, nodes, outputs })
    }
}

/// Whether a column of this kind has all numbers of a result.
fn holds(kind: Kind, node: &Instruction) -> bool {
    let fits = match (kind.repr, node.ring) {
        (Repr::Bits, _) => kind.width <= 128,
        (Repr::Ring64, Ring::Ring64) | (Repr::Ring128, Ring::Ring128) => true,
        _ => false,
    };
    fits && !kind.nullable && (node.elements() == 0 || kind.low() <= node.low && node.high <= kind.high())
}
