//! One instruction with the arrays that it takes.

use std::collections::HashMap;

use tacit_mpc::Backend;

use super::read::Read;
use super::repeated::repeated;
use crate::array::{Array, Element, joined};
use crate::program::Instruction;

/// An instruction that is executed.
pub(super) struct Call<'a, B: Backend> {
    /// The instruction.
    pub instruction: &'a Instruction,
    /// The instructions that make its arguments, with their bounds.
    pub facts: Vec<&'a Instruction>,
    /// Its arguments, or that of which one is the transpose.
    pub args: Vec<&'a Array<B>>,
    /// For each argument: whether the operation takes its transpose.
    pub transposed: Vec<bool>,
}

impl<'a, B: Backend> Call<'a, B> {
    pub fn new(all: &'a [Instruction], read: &Read<'_>, place: usize, made: &'a HashMap<usize, Array<B>>) -> Self {
        let (instruction, read) = (&all[place], read.args(place));
        let facts = instruction.args.iter().map(|&arg| &all[arg]).collect();
        let args = read.iter().map(|arg| &made[arg]).collect();
        let transposed = instruction.args.iter().zip(read).map(|(arg, read)| arg != read).collect();
        Self { instruction, facts, args, transposed }
    }

    /// An argument, repeated to a shape.
    pub fn repeated(&self, arg: usize, shape: &[usize]) -> Array<B> {
        repeated(self.args[arg], shape)
    }

    /// An argument, repeated to the shape of the result.
    pub fn operand(&self, arg: usize) -> Array<B> {
        self.repeated(arg, &self.instruction.shape)
    }

    /// Both operands.
    pub fn operands(&self) -> [Array<B>; 2] {
        [self.operand(0), self.operand(1)]
    }

    /// The bounds of an argument.
    pub fn bounds(&self, arg: usize) -> (i128, i128) {
        (self.facts[arg].low, self.facts[arg].high)
    }
}

/// The first operands of several calls as one vector, and the second ones, with how long each is.
pub(super) fn both<R: Element, B: Backend>(calls: &[Call<'_, B>]) -> ([B::Vector<R>; 2], Vec<usize>) {
    let operands: Vec<[Array<B>; 2]> = calls.iter().map(Call::operands).collect();
    let all = |which: usize| {
        joined::<R, B>(&operands.iter().map(|operands| operands[which].vector::<R>()).collect::<Vec<_>>())
    };
    let ((first, rows), (second, _)) = (all(0), all(1));
    ([first, second], rows)
}
