//! Products of stacks of matrices, as NumPy's @ has them, and convolutions: one communication for all of a kind.

use tacit_math::matrix::{self, View};
use tacit_mpc::{Backend, Bilinear, Form, Linear, MatrixProduct, Result, linear};

use super::call::Call;
use super::products::{before_cut, numbers, of_factors, truncated};
use super::repeated::places;
use crate::array::{Array, Element, Shares};
use crate::program::{Operation, Product, form};

/// The maps of both factors whose results, one behind the other, are an instruction's.
enum Maps {
    Matrices(Stacked),
    Convolution(Form),
}

/// A product, and where in its factors each pair of matrices begins.
struct Stacked {
    product: Product,
    starts: Vec<[usize; 2]>,
    /// Whether each factor's matrices lie column after column.
    transposed: [bool; 2],
}

impl Stacked {
    fn of(x: &[usize], y: &[usize], transposed: [bool; 2]) -> Self {
        let product = Product::of(x, y).expect("shapes are checked when a program is read");
        let Product { stack, rows, inner, columns, .. } = &product;
        let starts = |shape: &[usize], size: usize| {
            let matrices = places(&shape[..shape.len().saturating_sub(2)], stack);
            matrices.into_iter().map(move |matrix| matrix as usize * size)
        };
        let starts = starts(x, rows * inner).zip(starts(y, inner * columns)).map(<[usize; 2]>::from).collect();
        Self { product, starts, transposed }
    }

    /// The pairs of matrices in two shared factors.
    fn pairs<'a, V>(&'a self, x: &'a V, y: &'a V) -> impl Iterator<Item = Bilinear<'a, V>> {
        let Product { rows, inner, columns, .. } = self.product;
        self.starts.iter().map(move |&[of_x, of_y]| {
            let pair = MatrixProduct::new(x, y, [rows, inner, columns]);
            let pair = if self.transposed[0] { pair.with_x_transposed() } else { pair };
            let mut pair = if self.transposed[1] { pair.with_y_transposed() } else { pair };
            (pair.x_layout.start, pair.y_layout.start) = (of_x, of_y);
            pair.bilinear()
        })
    }

    fn in_clear<R: Element>(&self, x: &[R], y: &[R], out: &mut [R]) {
        let Product { rows, inner, columns, .. } = self.product;
        let parts = out.chunks_mut(rows * columns).zip(&self.starts);
        let view = |data, [rows, columns]: [usize; 2], transposed| {
            if transposed { View::new(data, columns, rows).transposed() } else { View::new(data, rows, columns) }
        };
        let views = parts.map(|(out, &[of_x, of_y])| {
            let x = view(&x[of_x..of_x + rows * inner], [rows, inner], self.transposed[0]);
            (x, view(&y[of_y..of_y + inner * columns], [inner, columns], self.transposed[1]), out)
        });
        matrix::products(views.collect());
    }
}

impl Maps {
    fn of<B: Backend>(call: &Call<'_, B>) -> Self {
        let shapes = [0, 1].map(|arg| call.facts[arg].shape.as_slice());
        match &call.instruction.operation {
            operation @ Operation::Convolve { .. } => {
                Self::Convolution(form(operation, &shapes).expect("shapes are checked when a program is read"))
            }
            _ => Self::Matrices(Stacked::of(shapes[0], shapes[1], [0, 1].map(|arg| call.transposed[arg]))),
        }
    }

    /// Elements that come out.
    fn elements(&self) -> usize {
        match self {
            Self::Matrices(Stacked { product: Product { rows, columns, .. }, starts, .. }) => {
                starts.len() * rows * columns
            }
            Self::Convolution(form) => form.lengths()[2],
        }
    }

    /// Whether the result has no elements, or its sums have no terms.
    fn is_empty(&self) -> bool {
        let terms = match self {
            Self::Matrices(stacked) => stacked.product.inner,
            Self::Convolution(form) => form.terms(),
        };
        self.elements() * terms == 0
    }

    /// How many there are.
    fn count(&self) -> usize {
        match self {
            Self::Matrices(stacked) => stacked.starts.len(),
            Self::Convolution(_) => 1,
        }
    }

    /// The maps of two shared factors, if they have any terms.
    fn each<'a, V>(&'a self, x: &'a V, y: &'a V) -> Vec<Bilinear<'a, V>> {
        match self {
            _ if self.is_empty() => vec![],
            Self::Matrices(stacked) => stacked.pairs(x, y).collect(),
            &Self::Convolution(form) => vec![Bilinear { x, y, starts: [0, 0], form }],
        }
    }

    /// Products of factors of which one is public and the other one is a component of a share.
    fn in_clear<R: Element>(&self, x: &[R], y: &[R]) -> Vec<R> {
        let mut out = vec![R::ZERO; self.elements()];
        match self {
            _ if self.is_empty() => (),
            Self::Matrices(stacked) => stacked.in_clear(x, y, &mut out),
            Self::Convolution(Form::Convolution(sizes)) => sizes.forward(x, y, &mut out),
            Self::Convolution(Form::GradientOfFilters(sizes)) => sizes.gradient_of_filters(x, y, &mut out),
            Self::Convolution(Form::GradientOfImages(sizes)) => sizes.gradient_of_images(x, y, &mut out),
            Self::Convolution(Form::Matrices(_)) => unreachable!("a convolution has images"),
        }
        out
    }
}

/// Products without their last bits.
pub(super) fn products<R: Element, B: Backend>(
    b: &mut B,
    calls: &[Call<'_, B>],
    cut: usize,
    floor: bool,
) -> Result<Vec<Shares<B>>> {
    let maps: Vec<Maps> = calls.iter().map(Maps::of).collect();
    let arrays: Vec<&Array<B>> = calls.iter().flat_map(|call| call.args.iter().copied()).collect();
    let factors = numbers::<R, B>(b, &arrays)?;
    let factors: Vec<[&B::Vector<R>; 2]> = factors.chunks(2).map(|pair| [&*pair[0], &*pair[1]]).collect();
    let is_public = arrays.iter().take(2).any(|array| array.public.is_some());
    if is_public {
        let each = calls.iter().zip(&maps).zip(&factors);
        let products = each.map(|((call, maps), factors)| local::<R, B>(call, maps, factors)).collect();
        return truncated::<R, B>(b, products, &before_cut(calls, cut), cut, floor);
    }
    let (at_once, after) = if floor { (0, cut) } else { (cut, 0) };
    let products = shared::<R, B>(b, &maps, &factors, at_once, &of_factors(calls))?;
    truncated::<R, B>(b, products, &before_cut(calls, after), after, floor)
}

/// A product with a public factor.
fn local<R: Element, B: Backend>(call: &Call<'_, B>, maps: &Maps, factors: &[&B::Vector<R>; 2]) -> B::Vector<R> {
    let elements = call.instruction.elements();
    let residues = |numbers: &[i128]| numbers.iter().map(|&number| R::from_u128(number as u128)).collect::<Vec<R>>();
    match (&call.args[0].public, &call.args[1].public) {
        (_, Some(y)) => factors[0].map(elements, |x| maps.in_clear(x, &residues(y))),
        (Some(x), None) => factors[1].map(elements, |y| maps.in_clear(&residues(x), y)),
        (None, None) => unreachable!("one is public"),
    }
}

/// Products of shared factors, and what is cut off them in the same communication. within: how far both factors of each
/// may be from zero.
fn shared<R: Element, B: Backend>(
    b: &mut B,
    maps: &[Maps],
    factors: &[[&B::Vector<R>; 2]],
    cut: usize,
    within: &[[u128; 2]],
) -> Result<Vec<B::Vector<R>>> {
    let all: Vec<Bilinear<'_, B::Vector<R>>> =
        maps.iter().zip(factors).flat_map(|(maps, factors)| maps.each(factors[0], factors[1])).collect();
    let made = match (all.is_empty(), cut) {
        (true, _) => vec![],
        (false, 0) => b.bilinear(&all)?,
        (false, _) => {
            let of_maps = maps.iter().zip(within).filter(|(maps, _)| !maps.is_empty());
            let of_maps = of_maps.flat_map(|(maps, &within)| std::iter::repeat_n(within, maps.count()));
            b.bilinear_within(&all, cut, &of_maps.collect::<Vec<_>>())?
        }
    };
    let mut made = made.into_iter();
    let together = |maps: &Maps| {
        if maps.is_empty() {
            let elements = maps.elements();
            return b.public_vector(elements, || vec![R::ZERO; elements]);
        }
        let mut parts: Vec<B::Vector<R>> = made.by_ref().take(maps.count()).collect();
        match parts.len() {
            1 => parts.swap_remove(0),
            _ => linear::concat_vectors(&parts.iter().collect::<Vec<_>>()),
        }
    };
    Ok(maps.iter().map(together).collect())
}
