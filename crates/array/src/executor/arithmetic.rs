//! Sums, differences and multiples by public powers of two: local.

use tacit_mpc::{Backend, Linear, linear};

use super::call::Call;
use crate::array::{Element, Shares};
use crate::program::Operation;

/// The results of instructions that are linear, element by element.
pub(super) fn linear<R: Element, B: Backend>(calls: &[Call<'_, B>]) -> Vec<Shares<B>> {
    let one = |call: &Call<'_, B>| match call.instruction.operation {
        Operation::Add {} => {
            let [x, y] = call.operands::<R>();
            linear::add(&x, &y)
        }
        Operation::Subtract {} => {
            let [x, y] = call.operands::<R>();
            linear::sub(&x, &y)
        }
        Operation::Shift { bits } => linear::scale(call.args[0].vector::<R>(), R::ONE.shl(bits as u32)),
        _ => linear::scale(call.args[0].vector::<R>(), R::ONE.neg()),
    };
    calls.iter().map(one).map(R::shares).collect()
}

/// A vector times public numbers, element by element. Local.
pub(super) fn times_public<R: Element, B: Backend>(x: &B::Vector<R>, public: &[i128]) -> B::Vector<R> {
    x.map(public.len(), |x| x.iter().zip(public).map(|(&x, &by)| x.mul(R::from_u128(by as u128))).collect())
}

/// A vector plus one public number. Local.
pub(super) fn plus_public<R: Element, B: Backend>(b: &B, x: &B::Vector<R>, number: i128) -> B::Vector<R> {
    let rows = x.rows();
    linear::add(x, &b.public_vector(rows, || vec![R::from_u128(number as u128); rows]))
}
