//! Operations on bits.

use tacit_mpc::circuits::and_all;
use tacit_mpc::{Backend, Linear, Result, linear};

use super::along::Axis;
use super::call::Call;
use crate::array::{Element, Shares};
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
        Operation::Largest { axis } => {
            calls.iter().map(|call| along(b, call, axis, true)).collect::<Result<Vec<_>>>()?
        }
        Operation::Smallest { axis } => {
            calls.iter().map(|call| along(b, call, axis, false)).collect::<Result<Vec<_>>>()?
        }
        _ => unreachable!("rings are checked when a program is read"),
    };
    Ok(found.into_iter().map(Shares::Bits).collect())
}

/// The OR, or the AND, of the bits along an axis.
fn along<B: Backend>(b: &mut B, call: &Call<'_, B>, axis: usize, one: bool) -> Result<B::Bits> {
    let axis = Axis::of(&call.args[0].shape, axis);
    let (lines, in_front) = (axis.lines(), axis.in_front());
    let from = |step: usize| in_front[step * lines..(step + 1) * lines].to_vec();
    let steps = (0..axis.length).map(|step| call.args[0].bits().map(lines, |plane| plane.gather(&from(step))));
    let steps: Vec<B::Bits> = steps.map(|plane| if one { b.not(&plane) } else { plane }).collect();
    let all = and_all(b, lines, steps)?;
    Ok(if one { b.not(&all) } else { all })
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
