//! Products of matrices and convolutions: any maps that are linear in each of two vectors.
//!
//! Functionality: z = f(x, y) for a public bilinear map f; as it is, or truncated as in [`super::fused`]. Discloses
//! nothing. z is a sum of z_0, z_1 and z_2, of which node i has what it takes for one:
//!
//! 1. z_i = f(x_i, y_i + y_(i+1)) + f(x_(i+1), y_i), which needs no message;
//! 2. it is masked and shared, or masked and truncated, as the sum of products of a single row is: z_i is what
//!    [`super::multiply`] and [`super::fused`] add to their masks.
//!
//! Each element is a sum of products of elements, so views are those of these two, whatever f is. What is sent has the
//! size of what comes out.
//!
//! Source: Araki et al., CCS 2016, section 3.2: their multiplication is of elements of any ring, and local terms add up
//! before they are masked.
//!
//! Rounds: 1, or 3 truncated. Bytes sent: those of a product of two vectors as long as what comes out.

use tacit_math::lanes;
use tacit_math::matrix::Element;
use tacit_math::ring;

use super::multiply::Output;
use super::{Rep3, Share};
use crate::bilinear::each_worth;
use crate::{Bilinear, Result};

/// Maps of shared vectors.
type Maps<'a, R> = [Bilinear<'a, Share<Vec<R>>>];

impl Rep3 {
    pub(super) fn bilinear_maps<R: Element>(&mut self, products: &Maps<'_, R>) -> Result<Vec<Share<Vec<R>>>> {
        let shared = self.inner_products_of_cells(&outputs(&own_parts(products)))?;
        Ok(shared.into_iter().map(|[mine, next]| Share { mine, next }).collect())
    }

    pub(super) fn truncated_bilinear_maps<R: Element>(
        &mut self,
        products: &Maps<'_, R>,
        by: usize,
    ) -> Result<Vec<Share<Vec<R>>>> {
        self.truncated_outputs(&outputs(&own_parts(products)), by)
    }
}

/// Step 1 of each map.
fn own_parts<R: Element>(products: &Maps<'_, R>) -> Vec<Vec<R>> {
    lanes::map(each_worth(products), products.iter().collect(), own_part)
}

fn own_part<R: Element>(product: &Bilinear<'_, Share<Vec<R>>>) -> Vec<R> {
    let [of_x, of_y] = product.ranges();
    let [x_i, x_next] = [&product.x.mine, &product.x.next].map(|x| &x[of_x.clone()]);
    let [y_i, y_next] = [&product.y.mine, &product.y.next].map(|y| &y[of_y.clone()]);
    let mut z_i = vec![R::ZERO; product.rows()];
    // The shorter operand's components are added up.
    if x_i.len() < y_i.len() {
        product.form.add_to(&ring::add(x_i, x_next), y_i, &mut z_i);
        product.form.add_to(x_i, y_next, &mut z_i);
    } else {
        product.form.add_to(x_i, &ring::add(y_i, y_next), &mut z_i);
        product.form.add_to(x_next, y_i, &mut z_i);
    }
    z_i
}

/// What nodes have by themselves, to be shared.
fn outputs<R: Element>(parts: &[Vec<R>]) -> Vec<Output<'_, R>> {
    parts.iter().map(|z_i| Output { terms: vec![], base: Some(z_i) }).collect()
}
