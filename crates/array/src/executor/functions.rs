//! Functions of every element, and quotients.

use tacit_mpc::{Backend, Result};

use super::call::{Call, both};
use crate::array::{Element, Shares, joined, parted};
use crate::program::{Function, Way, quotient};

/// A function of every element.
pub(super) fn function<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    name: Function,
) -> Result<Vec<Shares<B>>> {
    let way = Way::of(name, calls[0].facts[0], calls[0].instruction).expect("it is checked when a program is read");
    let (x, rows) = joined::<R, B>(&calls.iter().map(|call| call.args[0].vector::<R>()).collect::<Vec<_>>());
    let found = way.run(b, &x)?;
    Ok(parted::<R, B>(found, &rows).into_iter().map(R::shares).collect())
}

/// a / b for b of one sign.
pub(super) fn divide<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let Call { instruction, facts, .. } = &calls[0];
    let plan = quotient(facts[0], facts[1], instruction).expect("it is checked when a program is read");
    let ([x, y], rows) = both::<R, B>(calls);
    let found = plan.run(b, Some(&x), &y)?;
    Ok(parted::<R, B>(found, &rows).into_iter().map(R::shares).collect())
}
