//! What an engine has a better way for than gates.

use super::Planes;
use crate::function::{Evaluation, Function};
use crate::{Backend, Result};

/// The function of these numbers, if the engine evaluates it as a whole.
pub(super) fn whole<B: Backend>(b: &mut B, function: Function, numbers: &[&[B::Bits]]) -> Result<Option<Planes<B>>> {
    let inputs: Vec<&B::Bits> = numbers.iter().copied().flatten().collect();
    assert_eq!(inputs.len(), function.inputs(), "planes of every number");
    b.evaluate(Evaluation::Whole(function), &inputs)
}

/// Which digits of x + y carry by themselves, and which hand on a carry, if the engine finds them without gates.
pub(super) fn carries<B: Backend>(
    b: &mut B,
    x: &[B::Bits],
    y: &[B::Bits],
    summands: bool,
) -> Result<Option<[Planes<B>; 2]>> {
    let what = Evaluation::Carries { width: x.len(), summands };
    let digits = b.evaluate(what, &x.iter().chain(y).collect::<Vec<_>>())?;
    Ok(digits.map(|mut generate| {
        let propagate = generate.split_off(generate.len() / 2);
        [generate, propagate]
    }))
}
