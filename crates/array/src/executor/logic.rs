//! Operations on bits.

use tacit_mpc::circuits::and_all;
use tacit_mpc::{Backend, Linear, Result, linear};

use super::along::Axis;
use super::call::Call;
use crate::array::{Element, Shares, parted_bits};
use crate::program::Operation;

/// Bits as the numbers 0 and 1.
pub(super) fn count<R: Element, B: Backend>(b: &mut B, calls: &[Call<'_, B>]) -> Result<Vec<Shares<B>>> {
    let bits: Vec<&B::Bits> = calls.iter().map(|call| call.args[0].bits()).collect();
    Ok(b.inject::<R>(&bits)?.into_iter().map(R::shares).collect())
}

/// The bits that an operation on bits gives, for all calls in the same rounds.
pub(super) fn of_bits<B: Backend>(b: &mut B, calls: &[Call<'_, B>], operation: &Operation) -> Result<Vec<Shares<B>>> {
    let operand = |arg: usize| move |call: &Call<'_, B>| call.operand(arg).bits().clone();
    let all = |arg: usize| calls.iter().map(operand(arg)).collect::<Vec<B::Bits>>();
    let found = match *operation {
        Operation::Not {} => all(0).iter().map(|x| b.not(x)).collect(),
        Operation::Differ {} => each(&all(0), &all(1), linear::xor),
        Operation::Equal {} => each(&all(0), &all(1), |x, y| b.not(&linear::xor(x, y))),
        Operation::Less {} => {
            let complements: Vec<B::Bits> = all(0).iter().map(|x| b.not(x)).collect();
            and(b, &complements, &all(1))?
        }
        Operation::Both {} | Operation::Multiply { .. } | Operation::Minimum {} => and(b, &all(0), &all(1))?,
        Operation::Either {} | Operation::Maximum {} => {
            let [x, y] = [all(0), all(1)];
            let one = each(&x, &y, linear::xor);
            b.and_xor(&refs(&x), &refs(&y), &one.iter().map(Some).collect::<Vec<_>>())?
        }
        Operation::Select {} => {
            let [bits, then, other] = [all(0), all(1), all(2)];
            let differ = each(&then, &other, linear::xor);
            b.and_xor(&refs(&bits), &refs(&differ), &other.iter().map(Some).collect::<Vec<_>>())?
        }
        Operation::Largest { axis } => along(b, calls, axis, true)?,
        Operation::Smallest { axis } => along(b, calls, axis, false)?,
        _ => unreachable!("rings are checked when a program is read"),
    };
    Ok(found.into_iter().map(Shares::Bits).collect())
}

/// On a line of more bits than this halves meet, by a few operations on all bits; of as many one circuit takes each.
const FEW: usize = 32;

/// The ORs, or the ANDs, of the bits along an axis, of arrays that are equally long along it.
fn along<B: Backend>(b: &mut B, calls: &[Call<'_, B>], axis: usize, one: bool) -> Result<Vec<B::Bits>> {
    let axes: Vec<Axis> = calls.iter().map(|call| Axis::of(&call.args[0].shape, axis)).collect();
    let in_front = |(call, axis): (&Call<'_, B>, &Axis)| {
        let bits = call.args[0].bits().map(axis.elements(), |plane| plane.gather(&axis.in_front()));
        if one { b.not(&bits) } else { bits }
    };
    let mut left: Vec<B::Bits> = calls.iter().zip(&axes).map(in_front).collect();
    let mut length = axes[0].length;
    let part = |bits: &B::Bits, start: usize, rows: usize| bits.map(rows, |plane| plane.slice(start, rows));
    while length > FEW {
        let half = length / 2;
        let [first, second] = [0, half].map(|start| {
            let halves =
                left.iter().zip(&axes).map(|(bits, axis)| part(bits, start * axis.lines(), half * axis.lines()));
            halves.collect::<Vec<B::Bits>>()
        });
        let met = and(b, &first, &second)?;
        let rest =
            |bits: &B::Bits, axis: &Axis| part(bits, 2 * half * axis.lines(), (length - 2 * half) * axis.lines());
        let joined =
            |((met, bits), axis): ((&B::Bits, &B::Bits), &Axis)| linear::concat_bits(&[met, &rest(bits, axis)]);
        left = met.iter().zip(&left).zip(&axes).map(joined).collect();
        length -= half;
    }
    let rows: Vec<usize> = axes.iter().map(|axis| axis.lines()).collect();
    let step = |step: usize| {
        let parts = left.iter().zip(&rows).map(|(bits, &rows)| part(bits, step * rows, rows));
        linear::concat_bits(&parts.collect::<Vec<_>>().iter().collect::<Vec<_>>())
    };
    let all = and_all(b, rows.iter().sum(), (0..length).map(step).collect())?;
    Ok(parted_bits::<B>(if one { b.not(&all) } else { all }, &rows))
}

fn and<B: Backend>(b: &mut B, x: &[B::Bits], y: &[B::Bits]) -> Result<Vec<B::Bits>> {
    b.and(&refs(x), &refs(y))
}

fn refs<T>(all: &[T]) -> Vec<&T> {
    all.iter().collect()
}

fn each<T>(x: &[T], y: &[T], of: impl Fn(&T, &T) -> T) -> Vec<T> {
    x.iter().zip(y).map(|(x, y)| of(x, y)).collect()
}
