//! Multiplication and AND: inner products of shares in one round.
//!
//! Functionality: out = sum over t of x_t * y_t, element by element, over any of the algebras. Discloses nothing.
//! Node i computes z_i = sum over t of (x_i y_i + x_i y_(i+1) + x_(i+1) y_i) + a_i, where a_0 + a_1 + a_2 = 0 is drawn from the
//! pairwise generators, and sends z_i to the node before it. Araki et al., CCS 2016, section 3.2 (there with another numbering).
//!
//! Rounds: 1. Bytes sent by each node: one cell an element of output, however many products it sums.

use tacit_math::{Plane, Prg, Ring};

use super::{Rep3, Share};
use crate::backends::cell::{Cell, Lane, lanes, plane};
use crate::backends::wire::{Outgoing, recv_cells};
use crate::{LinearScan, Result};

/// Bytes of one output that are computed at a time: small enough for the first-level cache.
const PIECE: usize = 8 << 10;

/// Rows of a scan that are computed at a time, for the same reason.
const SCAN_ROWS: usize = 512;

/// Bytes that may be on the way before a node stops computing to receive.
const WINDOW: usize = 8 << 20;

/// One product of an output: components i and i+1 of both factors.
struct Term<'a, C> {
    x: [&'a [C]; 2],
    y: [&'a [C]; 2],
}

/// A sum of products, and what is added to it: the node's own component of a shared column.
struct Output<'a, C> {
    terms: Vec<Term<'a, C>>,
    base: Option<&'a [C]>,
}

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

    pub(super) fn inner_products_of_vectors<'a, R: Ring>(
        &mut self,
        terms: &[Vec<(&'a Share<Vec<R>>, &'a Share<Vec<R>>)>],
    ) -> Result<Vec<Share<Vec<R>>>> {
        let output = |pairs: &[(&'a Share<Vec<R>>, &'a Share<Vec<R>>)]| -> Output<'a, R> {
            Output { terms: pairs.iter().map(|&(x, y)| term(x, y, Vec::as_slice)).collect(), base: None }
        };
        let outputs: Vec<_> = terms.iter().map(|pairs| output(pairs)).collect();
        let products = self.inner_products_of_cells(&outputs)?;
        Ok(products.into_iter().map(|[mine, next]| Share { mine, next }).collect())
    }

    fn inner_products_of_cells<C: Cell>(&mut self, outputs: &[Output<'_, C>]) -> Result<Vec<[Vec<C>; 2]>> {
        self.session.next_round();
        let (next, previous) = (self.next(), self.previous());
        let mut out = Outgoing::new(&mut self.session, previous);
        let mut done: Vec<[Vec<C>; 2]> = Vec::with_capacity(outputs.len());
        let (mut received, mut on_the_way) = (0, 0);
        for Output { terms, base } in outputs {
            let mut mine = vec![C::zeroed(); terms.first().map_or(0, |t| t.x[0].len())];
            for (k, piece) in mine.chunks_mut(PIECE / size_of::<C>()).enumerate() {
                let at = k * (PIECE / size_of::<C>());
                zero_share(&mut self.with_next, &mut self.with_previous, piece);
                if let Some(base) = base {
                    piece.iter_mut().zip(&base[at..]).for_each(|(z, &base)| *z = z.plus(base));
                }
                terms.iter().for_each(|term| add_products(piece, term, at));
                out.push(&mut self.session, piece)?;
            }
            on_the_way += size_of_val(mine.as_slice());
            done.push([mine, vec![]]);
            if on_the_way > WINDOW {
                out.flush(&mut self.session)?;
            }
            while on_the_way > WINDOW {
                on_the_way -= receive(self, &mut done[received], next)?;
                received += 1;
            }
        }
        out.finish(&mut self.session)?;
        done[received..].iter_mut().try_for_each(|share| receive(self, share, next).map(|_| ()))?;
        Ok(done)
    }
}

impl Rep3 {
    /// As an inner product whose second factors come from a scan of the first ones: z_i also takes in the node's component of the
    /// base, and component 0 the row number.
    pub(super) fn product_with_scan<R: Ring, S: LinearScan<R, N>, const N: usize>(
        &mut self,
        x: [&Share<Vec<R>>; N],
    ) -> Result<Share<Vec<R>>> {
        self.session.next_round();
        let (next, previous) = (self.next(), self.previous());
        let rows = x[0].mine.len();
        let columns = [x.map(|x| x.mine.as_slice()), x.map(|x| x.next.as_slice())];
        let mut scans = columns.map(S::start);
        let mut factors = [[[R::ZERO; SCAN_ROWS]; N]; 2];
        let mut bases = [[R::ZERO; SCAN_ROWS]; 2];
        let numbers = if self.me() == 0 { R::ONE } else { R::ZERO };
        let mut out = Outgoing::new(&mut self.session, previous);
        let mut mine = Vec::with_capacity(rows);
        let mut piece = [R::ZERO; SCAN_ROWS];
        for at in (0..rows).step_by(SCAN_ROWS) {
            let len = SCAN_ROWS.min(rows - at);
            let pieces = columns.map(|side| side.map(|column| &column[at..at + len]));
            for side in 0..2 {
                let outputs = factors[side].each_mut().map(|factor| &mut factor[..len]);
                scans[side].piece(pieces[side], outputs, &mut bases[side][..len]);
            }
            let piece = &mut piece[..len];
            zero_share(&mut self.with_next, &mut self.with_previous, piece);
            for (i, (z, base)) in piece.iter_mut().zip(&bases[0]).enumerate() {
                *z = z.add(*base).add(numbers.mul(R::from_u128((at + i) as u128)));
            }
            for t in 0..N {
                let term = Term { x: [pieces[0][t], pieces[1][t]], y: [&factors[0][t][..len], &factors[1][t][..len]] };
                add_products(piece, &term, 0);
            }
            out.push(&mut self.session, piece)?;
            mine.extend_from_slice(piece);
        }
        out.finish(&mut self.session)?;
        Ok(Share { mine, next: recv_cells(&mut self.session, next, rows)? })
    }
}

fn term<'a, T, C>(x: &'a Share<T>, y: &'a Share<T>, cells: impl Fn(&'a T) -> &'a [C]) -> Term<'a, C> {
    Term { x: [cells(&x.mine), cells(&x.next)], y: [cells(&y.mine), cells(&y.next)] }
}

/// Fills the other half of an output from the next node; gives its size in bytes.
fn receive<C: Cell>(node: &mut Rep3, share: &mut [Vec<C>; 2], next: tacit_net::PartyId) -> Result<usize> {
    share[1] = recv_cells(&mut node.session, next, share[0].len())?;
    Ok(size_of_val(share[1].as_slice()))
}

/// One node's part of a fresh sharing of zero.
fn zero_share<C: Cell>(with_next: &mut Prg, with_previous: &mut Prg, piece: &mut [C]) {
    let mut other = [0u128; PIECE / 16];
    let other: &mut [C] = &mut bytemuck::cast_slice_mut(&mut other)[..piece.len()];
    with_next.fill(piece);
    with_previous.fill(other);
    piece.iter_mut().zip(&*other).for_each(|(a, &b)| *a = a.minus(b));
}

/// piece += x_i y_i + x_i y_(i+1) + x_(i+1) y_i, for the elements from `at`.
fn add_products<C: Cell>(piece: &mut [C], term: &Term<'_, C>, at: usize) {
    let range = at..at + piece.len();
    let ([x0, x1], [y0, y1]) = (term.x, term.y);
    let (x0, x1, y0, y1) = (&x0[range.clone()], &x1[range.clone()], &y0[range.clone()], &y1[range]);
    for ((((z, &x0), &x1), &y0), &y1) in piece.iter_mut().zip(x0).zip(x1).zip(y0).zip(y1) {
        *z = z.plus(x0.times(y0.plus(y1))).plus(x1.times(y0));
    }
}
