//! AND of planes: multiplication over GF(2), 64 rows a cell.
//!
//! Functionality: z_j = x_j AND y_j XOR base_j. Discloses nothing. Each z_j is an inner product of one term, to
//! which node i adds component i of the base before it sends z_i: see the steps of [`super::multiply`].
//!
//! Rounds: 1. Bytes sent by each node: one bit a row and AND, rows rounded up to words.

use tacit_math::Plane;

use super::multiply::{Output, term};
use super::{Rep3, Share};
use crate::Result;
use crate::backends::cell::{Lane, lanes, plane};

impl Rep3 {
    pub(super) fn and_planes(
        &mut self,
        x: &[&Share<Plane>],
        y: &[&Share<Plane>],
        base: &[Option<&Share<Plane>>],
    ) -> Result<Vec<Share<Plane>>> {
        assert!(x.len() == y.len() && x.len() == base.len(), "pairs of planes");
        let outputs: Vec<Output<'_, Lane>> = std::iter::zip(x.iter().zip(y), base)
            .map(|((x, y), base)| Output { terms: vec![term(x, y, lanes)], base: base.map(|base| lanes(&base.mine)) })
            .collect();
        let products = self.inner_products_of_cells(&outputs)?;
        let shares = products.into_iter().zip(x).map(|([mine, next], x)| {
            let rows = x.mine.rows();
            Share { mine: plane(rows, mine), next: plane(rows, next) }
        });
        Ok(shares.collect())
    }
}
