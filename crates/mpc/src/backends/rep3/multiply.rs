//! Multiplication and AND: inner products of shares in one round.
//!
//! Functionality: out = sum over t of x_t * y_t, element by element, over any of the algebras. Discloses nothing. Node
//! i computes z_i = sum over t of (x_i y_i + x_i y_(i+1) + x_(i+1) y_i) + a_i, where a_0 + a_1 + a_2 = 0 is drawn from
//! the pairwise generators, and sends z_i to the node before it. Araki et al., CCS 2016, section 3.2 (there with
//! another numbering).
//!
//! Rounds: 1. Bytes sent by each node: one cell an element of output, however many products it sums.

use tacit_math::simd::{Kernel, dispatch};
use tacit_math::{Plane, Ring};

use super::{Rep3, Share};
use crate::backends::cell::{Cell, Lane, lanes, plane};
use crate::backends::wire::{Arriving, Outgoing};
use crate::{LinearScan, Result};

/// Bytes of one output that are computed at a time: small enough for the caches, long enough for the processor to read
/// the factors ahead.
const PIECE: usize = 16 << 10;

/// Rows of a scan that are computed at a time: with its factors, within the first-level cache.
const SCAN_ROWS: usize = 512;

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

impl<C: Cell> Output<'_, C> {
    fn len(&self) -> usize {
        self.terms.first().map_or(0, |term| term.x[0].len())
    }

    /// piece += the base and the products, for the elements from `at`.
    fn add_to(&self, piece: &mut [C], at: usize) {
        if let Some(base) = self.base {
            piece.iter_mut().zip(&base[at..]).for_each(|(z, &base)| *z = z.plus(base));
        }
        self.terms.iter().for_each(|term| dispatch(AddProducts { piece: &mut *piece, term, at }));
    }
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
        let lengths: Vec<usize> = outputs.iter().map(Output::len).collect();
        let mut out = Outgoing::masked(&mut self.session, previous);
        let mut arriving = Arriving::new(next, lengths);
        let mut buffers = [[0u128; PIECE / 16]; 2];
        let [buffer, masks]: [&mut [C]; 2] = buffers.each_mut().map(|words| bytemuck::cast_slice_mut(words));
        let mut computed = Vec::with_capacity(outputs.len());
        for output in outputs {
            let mut mine = Vec::with_capacity(output.len());
            for at in (0..output.len()).step_by(buffer.len()) {
                let len = buffer.len().min(output.len() - at);
                let piece = &mut buffer[..len];
                self.zero_share(piece, &mut masks[..len]);
                output.add_to(piece, at);
                mine.extend_from_slice(piece);
                out.push_masked(&mut self.session, piece)?;
                arriving.keep_up(&mut self.session, out.sent())?;
            }
            computed.push(mine);
        }
        out.finish(&mut self.session)?;
        let arrived = arriving.finish(&mut self.session)?;
        Ok(computed.into_iter().zip(arrived).map(|(mine, next)| [mine, next]).collect())
    }
}

impl Rep3 {
    /// As an inner product whose second factors come from a scan of the first ones: z_i also takes in the node's
    /// component of the base, and component 0 the row number.
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
        let mut out = Outgoing::masked(&mut self.session, previous);
        let mut arriving = Arriving::new(next, vec![rows]);
        let mut mine = Vec::with_capacity(rows);
        let [mut piece, mut masks] = [[R::ZERO; SCAN_ROWS]; 2];
        for at in (0..rows).step_by(SCAN_ROWS) {
            let len = SCAN_ROWS.min(rows - at);
            let pieces = columns.map(|side| side.map(|column| &column[at..at + len]));
            for side in 0..2 {
                let outputs = factors[side].each_mut().map(|factor| &mut factor[..len]);
                scans[side].piece(pieces[side], outputs, &mut bases[side][..len]);
            }
            let piece = &mut piece[..len];
            self.zero_share(piece, &mut masks[..len]);
            for (i, (z, base)) in piece.iter_mut().zip(&bases[0]).enumerate() {
                *z = z.add(*base).add(numbers.mul(R::from_u128((at + i) as u128)));
            }
            for t in 0..N {
                let term = Term { x: [pieces[0][t], pieces[1][t]], y: [&factors[0][t][..len], &factors[1][t][..len]] };
                dispatch(AddProducts { piece: &mut *piece, term: &term, at: 0 });
            }
            out.push_masked(&mut self.session, piece)?;
            mine.extend_from_slice(piece);
            arriving.keep_up(&mut self.session, out.sent())?;
        }
        out.finish(&mut self.session)?;
        Ok(Share { mine, next: arriving.finish(&mut self.session)?.swap_remove(0) })
    }
    /// One node's part of a fresh sharing of zero. masks: room for as many cells.
    fn zero_share<C: Cell>(&mut self, piece: &mut [C], masks: &mut [C]) {
        self.with_next.fill(piece);
        self.with_previous.fill(masks);
        piece.iter_mut().zip(masks).for_each(|(a, b)| *a = a.minus(*b));
    }
}

fn term<'a, T, C>(x: &'a Share<T>, y: &'a Share<T>, cells: impl Fn(&'a T) -> &'a [C]) -> Term<'a, C> {
    Term { x: [cells(&x.mine), cells(&x.next)], y: [cells(&y.mine), cells(&y.next)] }
}

/// piece += x_i y_i + x_i y_(i+1) + x_(i+1) y_i, for the elements from `at`.
struct AddProducts<'a, 'b, C> {
    piece: &'a mut [C],
    term: &'a Term<'b, C>,
    at: usize,
}

impl<C: Cell> Kernel for AddProducts<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { piece, term: Term { x, y }, at } = self;
        let range = at..at + piece.len();
        let ([x0, x1], [y0, y1]) = (x.map(|x| &x[range.clone()]), y.map(|y| &y[range.clone()]));
        for ((((z, &x0), &x1), &y0), &y1) in piece.iter_mut().zip(x0).zip(x1).zip(y0).zip(y1) {
            *z = z.plus(x0.times(y0.plus(y1))).plus(x1.times(y0));
        }
    }
}
