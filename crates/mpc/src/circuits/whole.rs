//! Circuits that an engine evaluates as a whole.

use super::Planes;
use crate::function::Function;
use crate::{Backend, Result};

/// The function of these numbers, if the engine evaluates it as a whole.
pub(super) fn whole<B: Backend>(b: &mut B, function: Function, numbers: &[&[B::Bits]]) -> Result<Option<Planes<B>>> {
    let inputs: Vec<&B::Bits> = numbers.iter().copied().flatten().collect();
    assert_eq!(inputs.len(), function.inputs(), "planes of every number");
    b.whole(function, &inputs)
}
