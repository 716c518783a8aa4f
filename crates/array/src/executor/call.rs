//! One instruction with the arrays that it takes.

use std::collections::HashMap;

use tacit_mpc::Backend;

use super::shaping;
use crate::array::{Array, Element};
use crate::program::Instruction;

/// An instruction that is executed.
pub(super) struct Call<'a, B: Backend> {
    /// What is executed.
    pub instruction: &'a Instruction,
    /// What is known of its arguments.
    pub facts: Vec<&'a Instruction>,
    /// Its arguments.
    pub args: Vec<&'a Array<B>>,
}

impl<'a, B: Backend> Call<'a, B> {
    pub fn new(all: &'a [Instruction], place: usize, made: &'a HashMap<usize, Array<B>>) -> Self {
        let instruction = &all[place];
        let (facts, args) = instruction.args.iter().map(|arg| (&all[*arg], &made[arg])).unzip();
        Self { instruction, facts, args }
    }

    /// An argument, repeated to a shape.
    pub fn repeated(&self, arg: usize, shape: &[usize]) -> Array<B> {
        shaping::repeated(self.args[arg], shape)
    }

    /// An argument, repeated to the shape of the result.
    pub fn operand(&self, arg: usize) -> Array<B> {
        self.repeated(arg, &self.instruction.shape)
    }

    /// The vectors of both operands.
    pub fn operands<R: Element>(&self) -> [B::Vector<R>; 2] {
        [0, 1].map(|arg| self.operand(arg).vector::<R>().clone())
    }

    /// The bounds of an argument.
    pub fn bounds(&self, arg: usize) -> (i128, i128) {
        (self.facts[arg].low, self.facts[arg].high)
    }
}
