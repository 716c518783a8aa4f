//! Products of stacks of matrices, as NumPy's @ has them: one communication for all of a kind.

use tacit_math::matrix::{self, View};
use tacit_mpc::{Backend, Linear, MatrixProduct, Result, linear};

use super::call::Call;
use super::products::{before_cut, numbers, of_factors, truncated};
use super::repeated::places;
use crate::array::{Array, Element, Shares};
use crate::program::Product;

/// A product, and where in its factors each pair of matrices begins.
struct Stacked {
    product: Product,
    starts: Vec<[usize; 2]>,
}

impl Stacked {
    fn of<B: Backend>(call: &Call<'_, B>) -> Self {
        let [x, y] = [0, 1].map(|arg| call.args[arg].shape.as_slice());
        let product = Product::of(x, y).expect("shapes are checked when a program is read");
        let Product { stack, rows, inner, columns, .. } = &product;
        let starts = |shape: &[usize], size: usize| {
            let matrices = places(&shape[..shape.len().saturating_sub(2)], stack);
            matrices.into_iter().map(move |matrix| matrix as usize * size)
        };
        let starts = starts(x, rows * inner).zip(starts(y, inner * columns)).map(<[usize; 2]>::from).collect();
        Self { product, starts }
    }

    /// Whether the product has no terms or no elements.
    fn is_empty(&self) -> bool {
        let Product { rows, inner, columns, .. } = self.product;
        self.starts.is_empty() || rows * inner * columns == 0
    }

    /// The pairs of matrices in two shared factors.
    fn pairs<'a, V>(&'a self, x: &'a V, y: &'a V) -> impl Iterator<Item = MatrixProduct<'a, V>> {
        let Product { rows, inner, columns, .. } = self.product;
        self.starts.iter().filter(|_| !self.is_empty()).map(move |&[of_x, of_y]| {
            let mut pair = MatrixProduct::new(x, y, [rows, inner, columns]);
            (pair.x_layout.start, pair.y_layout.start) = (of_x, of_y);
            pair
        })
    }

    /// Products of factors of which one is public and the other one is a component of a share.
    fn in_clear<R: Element>(&self, x: &[R], y: &[R]) -> Vec<R> {
        let Product { rows, inner, columns, .. } = self.product;
        let mut out = vec![R::ZERO; self.starts.len() * rows * columns];
        if !self.is_empty() {
            let parts = out.chunks_mut(rows * columns).zip(&self.starts);
            let views = parts.map(|(out, &[of_x, of_y])| {
                let x = View::new(&x[of_x..of_x + rows * inner], rows, inner);
                (x, View::new(&y[of_y..of_y + inner * columns], inner, columns), out)
            });
            matrix::products(views.collect());
        }
        out
    }
}

/// Products without their last bits.
pub(super) fn matmul<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    cut: usize,
    floor: bool,
) -> Result<Vec<Shares<B>>> {
    let stacked: Vec<Stacked> = calls.iter().map(Stacked::of).collect();
    let arrays: Vec<&Array<B>> = calls.iter().flat_map(|call| call.args.iter().copied()).collect();
    let factors = numbers::<R, B>(b, &arrays)?;
    let factors: Vec<[&B::Vector<R>; 2]> = factors.chunks(2).map(|pair| [&*pair[0], &*pair[1]]).collect();
    let is_public = arrays.iter().take(2).any(|array| array.public.is_some());
    if is_public {
        let each = calls.iter().zip(&stacked).zip(&factors);
        let products = each.map(|((call, stacked), factors)| local::<R, B>(call, stacked, factors)).collect();
        return truncated::<R, B>(b, products, &before_cut(calls, cut), cut, floor);
    }
    let (at_once, after) = if floor { (0, cut) } else { (cut, 0) };
    let products = shared::<R, B>(b, &stacked, &factors, at_once, &of_factors(calls))?;
    truncated::<R, B>(b, products, &before_cut(calls, after), after, floor)
}

/// A product with a public factor.
fn local<R: Element, B: Backend>(call: &Call<'_, B>, stacked: &Stacked, factors: &[&B::Vector<R>; 2]) -> B::Vector<R> {
    let elements = call.instruction.elements();
    let residues = |numbers: &[i128]| numbers.iter().map(|&number| R::from_u128(number as u128)).collect::<Vec<R>>();
    match (&call.args[0].public, &call.args[1].public) {
        (_, Some(y)) => factors[0].map(elements, |x| stacked.in_clear(x, &residues(y))),
        (Some(x), None) => factors[1].map(elements, |y| stacked.in_clear(&residues(x), y)),
        (None, None) => unreachable!("one is public"),
    }
}

/// Products of shared factors, and what is cut off them in the same communication. within: how far both factors of each
/// may be from zero.
fn shared<R: Element, B: Backend>(
    b: &mut B,
    stacked: &[Stacked],
    factors: &[[&B::Vector<R>; 2]],
    cut: usize,
    within: &[[u128; 2]],
) -> Result<Vec<B::Vector<R>>> {
    let pairs = stacked.iter().zip(factors).flat_map(|(stacked, factors)| stacked.pairs(factors[0], factors[1]));
    let pairs: Vec<MatrixProduct<'_, B::Vector<R>>> = pairs.collect();
    let made = match (pairs.is_empty(), cut) {
        (true, _) => vec![],
        (false, 0) => b.matrix_products(&pairs)?,
        (false, _) => {
            let of_pairs = stacked.iter().zip(within).filter(|(stacked, _)| !stacked.is_empty());
            let of_pairs = of_pairs.flat_map(|(stacked, &within)| stacked.starts.iter().map(move |_| within));
            b.matrix_products_within(&pairs, cut, &of_pairs.collect::<Vec<_>>())?
        }
    };
    let mut made = made.into_iter();
    let together = |stacked: &Stacked| {
        let Product { rows, columns, .. } = stacked.product;
        let elements = stacked.starts.len() * rows * columns;
        if stacked.is_empty() {
            return b.public_vector(elements, || vec![R::ZERO; elements]);
        }
        let mut matrices: Vec<B::Vector<R>> = made.by_ref().take(stacked.starts.len()).collect();
        match matrices.len() {
            1 => matrices.swap_remove(0),
            _ => linear::concat_vectors(&matrices.iter().collect::<Vec<_>>()),
        }
    };
    Ok(stacked.iter().map(together).collect())
}
