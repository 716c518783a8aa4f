//! Products of stacks of matrices, as NumPy's @ has them.

use tacit_math::matrix::{self, View};
use tacit_mpc::{Backend, Linear, Result};

use super::call::Call;
use super::products::{numbers, sums_of_products, truncated};
use super::shaping::repeated;
use crate::array::{Array, Element, Shares};
use crate::program::Product;

/// Products without their last bits.
pub(super) fn matmul<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    cut: usize,
    floor: bool,
) -> Result<Vec<Shares<B>>> {
    calls.iter().map(|call| one::<R, B>(b, call, cut, floor).map(R::shares)).collect()
}

fn one<R: Element, B: Backend>(
    b: &mut B,
    call: &Call<'_, B>,
    cut: usize,
    floor: bool,
) -> Result<B::Vector<R>> {
    let [x, y] = [call.args[0], call.args[1]];
    let product = Product::of(&x.shape, &y.shape).expect("shapes are checked when a program is read");
    let Product { stack, rows, inner, columns, .. } = &product;
    let [x, y] = [(x, [*rows, *inner]), (y, [*inner, *columns])].map(|(array, matrix)| stacked(array, stack, matrix));
    let factors = numbers::<R, B>(b, &[&x, &y])?;
    if *inner == 0 {
        let elements = call.instruction.elements();
        return Ok(b.public_vector(elements, || vec![R::ZERO; elements]));
    }
    match (&x.public, &y.public) {
        (_, Some(y)) => {
            let product = factors[0].map(call.instruction.elements(), |x| in_clear(&product, x, &residues(y)));
            Ok(truncated::<R, B>(b, vec![product], cut, floor)?.swap_remove(0))
        }
        (Some(x), _) => {
            let product = factors[1].map(call.instruction.elements(), |y| in_clear(&product, &residues(x), y));
            Ok(truncated::<R, B>(b, vec![product], cut, floor)?.swap_remove(0))
        }
        _ => shared::<R, B>(b, &product, &factors, cut, floor),
    }
}

/// A factor as as many matrices as the stack has.
fn stacked<B: Backend>(array: &Array<B>, stack: &[usize], matrix: [usize; 2]) -> Array<B> {
    let own = &array.shape[..array.shape.len().saturating_sub(2)];
    let whole = array.reshaped(&[own, &matrix].concat());
    repeated(&whole, &[stack, &matrix].concat())
}

fn residues<R: Element>(numbers: &[i128]) -> Vec<R> {
    numbers.iter().map(|&number| R::from_u128(number as u128)).collect()
}

/// Products of matrices of which one is public, or a component of a share.
fn in_clear<R: Element>(product: &Product, x: &[R], y: &[R]) -> Vec<R> {
    let Product { rows, inner, columns, .. } = *product;
    let count = product.stack.iter().product::<usize>();
    let mut out = vec![R::ZERO; count * rows * columns];
    if out.is_empty() {
        return out;
    }
    let parts = out.chunks_mut(rows * columns).zip(x.chunks(rows * inner).zip(y.chunks(inner * columns)));
    let views = parts.map(|(out, (x, y))| (View::new(x, rows, inner), View::new(y, inner, columns), out));
    matrix::products(views.collect());
    out
}

/// Products of two shared factors: a sum of `inner` products for each element, one communication in all.
fn shared<R: Element, B: Backend>(
    b: &mut B,
    product: &Product,
    factors: &[B::Vector<R>],
    cut: usize,
    floor: bool,
) -> Result<B::Vector<R>> {
    let Product { rows, inner, columns, .. } = *product;
    let count = product.stack.iter().product::<usize>();
    let elements = count * rows * columns;
    let places = || {
        let in_matrix = move |k: usize| (0..rows).flat_map(move |i| (0..columns).map(move |j| (k, i, j)));
        (0..count).flat_map(in_matrix)
    };
    let term = |t: usize| {
        let left: Vec<u32> = places().map(|(k, i, _)| ((k * rows + i) * inner + t) as u32).collect();
        let right: Vec<u32> = places().map(|(k, _, j)| ((k * inner + t) * columns + j) as u32).collect();
        let taken = |x: &B::Vector<R>, from: &[u32]| x.map(elements, |x| tacit_math::ring::gather(x, from));
        (taken(&factors[0], &left), taken(&factors[1], &right))
    };
    let terms: Vec<(B::Vector<R>, B::Vector<R>)> = (0..inner).map(term).collect();
    let terms = vec![terms.iter().map(|(x, y)| (x, y)).collect()];
    Ok(sums_of_products(b, &terms, cut, floor)?.swap_remove(0))
}
