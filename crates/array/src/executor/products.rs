//! Products of elements, and truncations.

use std::borrow::Cow;

use tacit_mpc::{Backend, Result, circuits};

use super::arithmetic::times_public;
use super::call::Call;
use super::comparisons::Bounds;
use crate::array::{Array, Element, Shares, joined, parted};
use crate::program::Ring;

/// a * b, element by element, without its last bits.
pub(super) fn multiply<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    cut: usize,
    floor: bool,
) -> Result<Vec<Shares<B>>> {
    let factors: Vec<[Array<B>; 2]> = calls.iter().map(|call| in_order(call.operands())).collect();
    let [first, second] = &factors[0];
    if second.public.is_some() {
        let numbers = numbers::<R, B>(b, &factors.iter().map(|[x, _]| x).collect::<Vec<_>>())?;
        let times = |(x, [_, y]): (&Cow<'_, B::Vector<R>>, &[Array<B>; 2])| {
            times_public::<R, B>(x, y.public.as_ref().expect("all of a group or none"))
        };
        let products = numbers.iter().zip(&factors).map(times).collect();
        return truncated::<R, B>(b, products, &before_cut(calls, cut), cut, floor);
    }
    let of_numbers: Vec<&B::Vector<R>> = factors.iter().map(|[_, y]| y.vector::<R>()).collect();
    if first.ring() == Ring::Bits {
        let bits: Vec<&B::Bits> = factors.iter().map(|[bit, _]| bit.bits()).collect();
        let products = b.select(&bits, &of_numbers)?;
        return truncated::<R, B>(b, products, &before_cut(calls, cut), cut, floor);
    }
    let others: Vec<&B::Vector<R>> = factors.iter().map(|[x, _]| x.vector::<R>()).collect();
    if cut > 0 && !floor {
        let terms: Vec<_> = others.iter().zip(&of_numbers).map(|(&x, &y)| vec![(x, y)]).collect();
        // Each factor as it stands in its instruction: a product does not care for their order.
        let products = b.multiply_within(&terms, cut, &of_factors(calls))?;
        return Ok(products.into_iter().map(R::shares).collect());
    }
    let products = b.mul(&others, &of_numbers)?;
    truncated::<R, B>(b, products, &before_cut(calls, cut), cut, floor)
}

/// How far both factors of each instruction may be from zero.
pub(super) fn of_factors<B: Backend>(calls: &[Call<'_, B>]) -> Vec<[u128; 2]> {
    calls.iter().map(|call| [0, 1].map(|arg| farthest(call.bounds(arg)))).collect()
}

/// How far each result may be from zero before its last bits are cut off.
pub(super) fn before_cut<B: Backend>(calls: &[Call<'_, B>], cut: usize) -> Vec<u128> {
    let result = |call: &Call<'_, B>| (call.instruction.low, call.instruction.high);
    calls.iter().map(|call| (farthest(result(call)) + 1) << cut).collect()
}

fn farthest((low, high): Bounds) -> u128 {
    low.unsigned_abs().max(high.unsigned_abs())
}

/// Factors with a public one behind, and one of bits in front where the other is none.
fn in_order<B: Backend>([x, y]: [Array<B>; 2]) -> [Array<B>; 2] {
    let backwards = y.public.is_none() && (x.public.is_some() || y.ring() == Ring::Bits);
    if backwards { [y, x] } else { [x, y] }
}

/// Arrays as vectors over a ring; bits are injected together.
pub(super) fn numbers<'a, R: Element, B: Backend>(
    b: &mut B,
    arrays: &[&'a Array<B>],
) -> Result<Vec<Cow<'a, B::Vector<R>>>> {
    let is_secret_bit = |array: &&&Array<B>| array.ring() == Ring::Bits && array.public.is_none();
    let bits: Vec<&B::Bits> = arrays.iter().filter(is_secret_bit).map(|array| array.bits()).collect();
    let mut injected = if bits.is_empty() { vec![] } else { b.inject::<R>(&bits)? }.into_iter();
    let number = |array: &&'a Array<B>| match (array.ring(), &array.public) {
        (Ring::Bits, None) => Cow::Owned(injected.next().expect("one for each plane")),
        (Ring::Bits, Some(public)) => {
            let numbers = || public.iter().map(|&bit| R::from_u128(bit as u128)).collect();
            Cow::Owned(b.public_vector(public.len(), numbers))
        }
        _ => Cow::Borrowed(array.vector::<R>()),
    };
    Ok(arrays.iter().map(number).collect())
}

/// The last bits cut off.
pub(super) fn truncate<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    bits: usize,
    floor: bool,
) -> Result<Vec<Shares<B>>> {
    let given: Vec<&B::Vector<R>> = calls.iter().map(|call| call.args[0].vector::<R>()).collect();
    let within: Vec<u128> = calls.iter().map(|call| farthest(call.bounds(0))).collect();
    Ok(cut_off::<R, B>(b, &given, &within, bits, floor)?.into_iter().map(R::shares).collect())
}

/// Products without their last bits, if any are to be cut off. within: how far each may be from zero.
pub(super) fn truncated<R: Element, B: Backend>(
    b: &mut B,
    products: Vec<B::Vector<R>>,
    within: &[u128],
    cut: usize,
    floor: bool,
) -> Result<Vec<Shares<B>>> {
    let products = match cut {
        0 => products,
        _ => cut_off::<R, B>(b, &products.iter().collect::<Vec<_>>(), within, cut, floor)?,
    };
    Ok(products.into_iter().map(R::shares).collect())
}

/// Numbers without their last bits, rounded down or either way.
fn cut_off<R: Element, B: Backend>(
    b: &mut B,
    numbers: &[&B::Vector<R>],
    within: &[u128],
    cut: usize,
    floor: bool,
) -> Result<Vec<B::Vector<R>>> {
    if !floor {
        return b.truncate_within(numbers, cut, within);
    }
    let (one, rows) = joined::<R, B>(numbers);
    Ok(parted::<R, B>(circuits::floor(b, &one, cut)?, &rows))
}
