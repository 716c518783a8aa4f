//! Where instructions read their arguments. A product of matrices reads a transposed factor where it lies: the
//! transpose is a layout of the same vector, and nobody makes it.

use std::borrow::Cow;

use crate::program::{Instruction, Operation};

/// The positions of the results that each instruction reads.
pub(super) struct Read<'a> {
    args: Vec<Cow<'a, [usize]>>,
}

impl<'a> Read<'a> {
    pub fn of(all: &'a [Instruction]) -> Self {
        let behind = |&arg: &usize| if swaps_last_two(&all[arg]) { all[arg].args[0] } else { arg };
        let args = all.iter().map(|each| match each.operation {
            Operation::Matmul { .. } => Cow::Owned(each.args.iter().map(behind).collect()),
            _ => Cow::Borrowed(each.args.as_slice()),
        });
        Self { args: args.collect() }
    }

    /// The results that an instruction reads.
    pub fn args(&self, place: usize) -> &[usize] {
        &self.args[place]
    }
}

/// Whether an instruction gives the transpose of each matrix of a stack.
fn swaps_last_two(instruction: &Instruction) -> bool {
    let Operation::Transpose { axes } = &instruction.operation else { return false };
    let Some(stack) = axes.len().checked_sub(2) else { return false };
    axes[..stack].iter().copied().eq(0..stack) && axes[stack..] == [stack + 1, stack]
}
