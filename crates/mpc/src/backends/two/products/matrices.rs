//! Products of matrices and convolutions: maps that are linear in each of two vectors.
//!
//! Functionality: z = f(x, y) for a public bilinear map f: a product of two matrices that are made of the elements of x
//! and y. Elements may be there more than once, and zeros beside them. Discloses nothing. z is f(x_0, y_0) + f(x_1,
//! y_1) and f(x_0, y_1) + f(x_1, y_0), modulo 2^k:
//!
//! 1. node i computes f(x_i, y_i) by itself;
//! 2. [`tacit_ot::ole::matrices`] gives shares of the sum of the two others.
//!
//! Nothing else is sent. A convolution is the product of its windows and its filters ("im2col"; Chetlur et al.,
//! "cuDNN", arXiv 1410.0759, 3), which nobody writes down. Which maps are made so, and which of inner products:
//! [`strategy::multiplies_matrices`](super::super::strategy::multiplies_matrices).
//!
//! Rounds and bytes: [`tacit_ot::ole::matrices::cost`], once those of the keys.
//!
//! Sources: those of [`tacit_ot::ole::matrices`]. **Departures** windows of an image are encrypted as a matrix, or meet
//! an encrypted one; Cheetah has another packing for them.

use tacit_math::matrix::Element;
use tacit_ot::ole::matrices::{Product, Sizes};

use crate::backends::two::transfers::Stock;
use crate::backends::two::{Share, Two};
use crate::{Bilinear, Form, Result};

/// The sizes of a map as a product of two matrices.
pub(in crate::backends::two) fn sizes(form: &Form) -> Sizes {
    let ([rows, inner, columns], _) = form.as_matrices();
    Sizes { rows, inner, columns }
}

impl Two {
    pub(in crate::backends::two) fn products_of_matrices<R: Element>(
        &mut self,
        maps: &[Bilinear<'_, Share<Vec<R>>>],
    ) -> Result<Vec<Share<Vec<R>>>> {
        if maps.is_empty() {
            return Ok(vec![]);
        }
        // Step 1.
        let mut sums: Vec<Vec<R>> = maps.iter().map(own_part).collect();
        // Step 2.
        let elements: Vec<_> = maps.iter().map(elements).collect();
        let products: Vec<Product<'_, R>> = maps
            .iter()
            .zip(&elements)
            .map(|(map, (left, right))| Product { sizes: sizes(&map.form), left, right })
            .collect();
        let mut ole = self.evaluator()?;
        let shares = ole.matrix_products(&mut self.session, &products)?;
        self.ole = Some(ole);
        for ((map, sums), shares) in maps.iter().zip(&mut sums).zip(shares) {
            Stock::note(&self.session, "shares", &shares);
            let columns = sizes(&map.form).columns;
            for (i, share) in shares.into_iter().enumerate() {
                let sum = &mut sums[map.form.element(i / columns, i % columns)];
                *sum = sum.add(share);
            }
        }
        Ok(sums.into_iter().map(Share).collect())
    }
}

/// Elements of both matrices, by row and column.
fn elements<R: Element>(
    map: &Bilinear<'_, Share<Vec<R>>>,
) -> (impl Fn(usize, usize) -> R + Sync, impl Fn(usize, usize) -> R + Sync) {
    let (form, (_, left)) = (map.form, map.form.as_matrices());
    let element = move |operand: usize, element, term| {
        let (vector, start) = [(&map.x.0, map.starts[0]), (&map.y.0, map.starts[1])][operand];
        // A zero around an image is none of them.
        form.place(operand, element, term).map_or(R::ZERO, |place| vector[start + place])
    };
    (
        move |row, term| element(left, form.element(row, 0), term),
        move |term, column| element(1 - left, form.element(0, column), term),
    )
}

fn own_part<R: Element>(map: &Bilinear<'_, Share<Vec<R>>>) -> Vec<R> {
    let [of_x, of_y] = map.ranges();
    let mut out = vec![R::ZERO; map.rows()];
    map.form.add_to(&map.x.0[of_x], &map.y.0[of_y], &mut out);
    out
}
