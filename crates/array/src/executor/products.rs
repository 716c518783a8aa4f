//! Products of elements, and truncations.

use tacit_mpc::{Backend, Result, circuits};

use super::arithmetic::times_public;
use super::call::Call;
use crate::array::{Array, Element, Shares, joined, parted};
use crate::program::Ring;

/// a * b, element by element, without its last bits.
pub(super) fn multiply<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    cut: usize,
    floor: bool,
) -> Result<Vec<Shares<B>>> {
    let factors = calls.iter().map(|call| in_order([call.operand(0), call.operand(1)]));
    let factors: Vec<[Array<B>; 2]> = factors.collect();
    let [first, second] = &factors[0];
    let products = if second.public.is_some() {
        let numbers = numbers::<R, B>(b, &factors.iter().map(|[x, _]| x).collect::<Vec<_>>())?;
        let times = |(x, [_, y]): (&B::Vector<R>, &[Array<B>; 2])| {
            times_public::<R, B>(x, y.public.as_ref().expect("all of a group or none"))
        };
        numbers.iter().zip(&factors).map(times).collect()
    } else if first.ring() == Ring::Bits {
        let bits: Vec<&B::Bits> = factors.iter().map(|[bit, _]| bit.bits()).collect();
        b.select(&bits, &factors.iter().map(|[_, x]| x.vector::<R>()).collect::<Vec<_>>())?
    } else {
        let pairs = factors.iter().map(|[x, y]| (x.vector::<R>(), y.vector::<R>()));
        let terms: Vec<Vec<(&B::Vector<R>, &B::Vector<R>)>> = pairs.map(|pair| vec![pair]).collect();
        return Ok(sums_of_products(b, &terms, cut, floor)?.into_iter().map(R::shares).collect());
    };
    Ok(truncated::<R, B>(b, products, cut, floor)?.into_iter().map(R::shares).collect())
}

/// Factors with a public one behind, and one of bits in front where the other is none.
fn in_order<B: Backend>([x, y]: [Array<B>; 2]) -> [Array<B>; 2] {
    let backwards = y.public.is_none() && (x.public.is_some() || y.ring() == Ring::Bits);
    if backwards { [y, x] } else { [x, y] }
}

/// Arrays as vectors over a ring; bits are injected together.
pub(super) fn numbers<R: Element, B: Backend>(b: &mut B, arrays: &[&Array<B>]) -> Result<Vec<B::Vector<R>>> {
    let bits: Vec<&B::Bits> =
        arrays.iter().filter(|array| array.ring() == Ring::Bits).map(|array| array.bits()).collect();
    let mut injected = if bits.is_empty() { vec![] } else { b.inject::<R>(&bits)? }.into_iter();
    let number = |array: &&Array<B>| match array.ring() {
        Ring::Bits => injected.next().expect("one for each plane"),
        _ => array.vector::<R>().clone(),
    };
    Ok(arrays.iter().map(number).collect())
}

/// Sums of products, element by element, without their last bits.
pub(super) fn sums_of_products<R: Element, B: Backend>(
    b: &mut B,
    terms: &[Vec<(&B::Vector<R>, &B::Vector<R>)>],
    cut: usize,
    floor: bool,
) -> Result<Vec<B::Vector<R>>> {
    if cut > 0 && !floor {
        return b.multiply_truncate(terms, cut);
    }
    let products = b.inner_products(terms)?;
    truncated::<R, B>(b, products, cut, floor)
}

/// The last bits cut off.
pub(super) fn truncate<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    bits: usize,
    floor: bool,
) -> Result<Vec<Shares<B>>> {
    let given = calls.iter().map(|call| call.args[0].vector::<R>().clone()).collect();
    Ok(truncated::<R, B>(b, given, bits, floor)?.into_iter().map(R::shares).collect())
}

/// Vectors without their last bits, rounded down or either way.
pub(super) fn truncated<R: Element, B: Backend>(
    b: &mut B,
    vectors: Vec<B::Vector<R>>,
    cut: usize,
    floor: bool,
) -> Result<Vec<B::Vector<R>>> {
    let all: Vec<&B::Vector<R>> = vectors.iter().collect();
    match (cut, floor) {
        (0, _) => Ok(vectors),
        (_, false) => b.truncate(&all, cut),
        (_, true) => {
            let (one, rows) = joined::<R, B>(&all);
            Ok(parted::<R, B>(circuits::floor(b, &one, cut)?, &rows))
        }
    }
}
