//! Bounds that programs check, and the guards that tell all parties whether they hold.
//!
//! What a program computes behind a bound that does not hold is arbitrary, and may say anything. So nothing of it is
//! opened, and no part of it is kept, before the guard of all its bounds. Whoever reads a plan finds that by its text.

use std::collections::{BTreeSet, HashMap};

use tacit_array::{Instruction, Operation, Ring};

use super::{ArrayProgram, GroupBy, Join, Operator, Release, Resize};
use crate::error::{Result, TableError};
use crate::wrong_input::WrongInput;

/// Checks that whatever depends on a program with checked bounds is opened and kept behind the guard of this program.
///
/// # Errors
/// [`WrongInput::Unchecked`], [`WrongInput::Unguarded`] and [`WrongInput::Guard`], with the operator's name.
pub(super) fn check(operators: &[Operator]) -> Result<()> {
    let mut unguarded = Unguarded::default();
    operators.iter().try_for_each(|operator| {
        unguarded.next(operator).map_err(|what| TableError::from(what).within(&operator.name()))
    })
}

/// What depends on programs whose bounds nobody knows yet to hold.
#[derive(Default)]
struct Unguarded {
    /// These programs, by the steps whose tables depend on them.
    programs: HashMap<usize, BTreeSet<usize>>,
    /// The programs, by the steps whose tables are the bits of their bounds.
    bits: HashMap<usize, usize>,
}

impl Unguarded {
    /// Takes in the next operator of a plan.
    fn next(&mut self, operator: &Operator) -> Result<(), WrongInput> {
        let inputs = operator.inputs().into_iter().filter_map(|step| self.programs.get(&step)).flatten();
        let mut behind: BTreeSet<usize> = inputs.copied().collect();
        if let Operator::Release(Release { guard: true, input, .. }) = operator
            && !behind.is_empty()
        {
            let own = self.bits.get(input).copied().ok_or(WrongInput::Guard)?;
            behind.remove(&own);
            refused(&behind)?;
            for programs in self.programs.values_mut() {
                programs.remove(&own);
            }
            return Ok(());
        }
        if discloses(operator) {
            refused(&behind)?;
        }
        if let Operator::Program(program) = operator
            && checks(program)
        {
            let bit = program.outputs.iter().find(|output| says_all(program, output.node));
            self.bits.insert(bit.ok_or(WrongInput::Unchecked)?.id, program.id);
            behind.insert(program.id);
        }
        self.programs.extend(operator.makes().into_iter().map(|step| (step, behind.clone())));
        Ok(())
    }
}

fn refused(behind: &BTreeSet<usize>) -> Result<(), WrongInput> {
    match behind.first() {
        Some(program) => Err(WrongInput::Unguarded { program: format!("{program}.program") }),
        None => Ok(()),
    }
}

/// Whether something of an operator's inputs is opened by it, or outlasts the run.
fn discloses(operator: &Operator) -> bool {
    match operator {
        Operator::Release(_) | Operator::Keep(_) | Operator::Resize(Resize { rows: None, .. }) => true,
        Operator::Join(Join { trusted, .. }) | Operator::GroupBy(GroupBy { trusted, .. }) => trusted.is_some(),
        Operator::Input(_)
        | Operator::Filter(_)
        | Operator::Project(_)
        | Operator::Union(_)
        | Operator::Pairs(_)
        | Operator::Psi(_)
        | Operator::CircuitPsi(_)
        | Operator::UniversalIds(_)
        | Operator::Broadcast(_)
        | Operator::GroupJoin(_)
        | Operator::Aggregate(_)
        | Operator::Window(_)
        | Operator::Sort(_)
        | Operator::Limit(_)
        | Operator::Resize(_)
        | Operator::Program(_)
        | Operator::Kept(_) => false,
    }
}

/// Whether an instruction checks bounds.
fn is_check(instruction: &Instruction) -> bool {
    matches!(instruction.operation, Operation::Outside { .. }) && instruction.elements() > 0
}

fn checks(program: &ArrayProgram) -> bool {
    program.nodes.all().iter().any(is_check)
}

/// Whether a result is one bit, set exactly if a bit of any check of the program is.
fn says_all(program: &ArrayProgram, node: usize) -> bool {
    let all = program.nodes.all();
    if all[node].ring != Ring::Bits || all[node].elements() != 1 {
        return false;
    }
    let (mut found, mut waiting) = (BTreeSet::new(), vec![node]);
    while let Some(place) = waiting.pop() {
        if !found.insert(place) {
            continue;
        }
        match all[place].operation {
            Operation::Outside { .. } => (),
            // All bits of the arguments are there, or in the largest of some.
            Operation::Reshape {} | Operation::Concatenate { .. } | Operation::Largest { .. }
                if all[place].ring == Ring::Bits =>
            {
                waiting.extend(&all[place].args);
            }
            _ => return false,
        }
    }
    (0..all.len()).all(|place| !is_check(&all[place]) || found.contains(&place))
}
