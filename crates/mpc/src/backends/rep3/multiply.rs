//! Multiplication: inner products of shares in one round, over any of the algebras ([`super::and`] for planes,
//! [`super::scan`] for factors that a scan gives).
//!
//! Functionality: z = sum over t of x_t * y_t, element by element. Discloses nothing. Node i:
//!
//! 1. draws a_i, where a_0 + a_1 + a_2 = 0: what its generator with the next node gives less what that with the
//!    previous one gives;
//! 2. computes z_i = sum over t of (x_i y_i + x_i y_(i+1) + x_(i+1) y_i) + a_i, its component of the product;
//! 3. sends z_i to the node before it and receives z_(i+1) from the next one.
//!
//! Source: Araki et al., CCS 2016, section 3.2 (there with another numbering).
//!
//! Rounds: 1. Bytes sent by each node: one cell an element of output, however many products it sums.

use tacit_math::Ring;
use tacit_math::simd::{Kernel, dispatch};

use super::{Rep3, Share};
use crate::Result;
use crate::backends::cell::Cell;
use crate::backends::wire::{Arriving, Outgoing};

/// Bytes of one output that are computed at a time: small enough for the caches, long enough for the processor to read
/// the factors ahead.
const PIECE: usize = 16 << 10;

/// One product of an output: components i and i+1 of both factors.
pub(super) struct Term<'a, C> {
    pub x: [&'a [C]; 2],
    pub y: [&'a [C]; 2],
}

/// A sum of products, and what is added to it: the node's own component of a shared column.
pub(super) struct Output<'a, C> {
    pub terms: Vec<Term<'a, C>>,
    pub base: Option<&'a [C]>,
}

impl<C: Cell> Output<'_, C> {
    fn len(&self) -> usize {
        self.terms.first().map_or(0, |term| term.x[0].len())
    }

    /// z_i += the base and the products, for the elements from `at`.
    fn add_to(&self, z_i: &mut [C], at: usize) {
        if let Some(base) = self.base {
            z_i.iter_mut().zip(&base[at..]).for_each(|(z_i, &base)| *z_i = z_i.plus(base));
        }
        self.terms.iter().for_each(|term| dispatch(AddProducts { z_i: &mut *z_i, term, at }));
    }
}

impl Rep3 {
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

    /// This node's components z_i and z_(i+1) of every output.
    pub(super) fn inner_products_of_cells<C: Cell>(&mut self, outputs: &[Output<'_, C>]) -> Result<Vec<[Vec<C>; 2]>> {
        self.session.next_round();
        let (next, previous) = (self.next(), self.previous());
        let lengths: Vec<usize> = outputs.iter().map(Output::len).collect();
        let mut out = Outgoing::masked(&mut self.session, previous);
        let mut arriving = Arriving::new(next, lengths);
        let mut buffers = [[0u128; PIECE / 16]; 2];
        let [buffer, subtracted]: [&mut [C]; 2] = buffers.each_mut().map(|words| bytemuck::cast_slice_mut(words));
        let mut mine = Vec::with_capacity(outputs.len());
        for output in outputs {
            let mut component = Vec::with_capacity(output.len());
            for at in (0..output.len()).step_by(buffer.len()) {
                let len = buffer.len().min(output.len() - at);
                let z_i = &mut buffer[..len];
                // Step 1: z_i = a_i.
                self.zero_share(z_i, &mut subtracted[..len]);
                // Step 2: z_i += the products of which this node holds both factors.
                output.add_to(z_i, at);
                component.extend_from_slice(z_i);
                // Step 3: a_i masks z_i from the node before; z_(i+1) is received meanwhile.
                out.push_masked(&mut self.session, z_i)?;
                arriving.keep_up(&mut self.session, out.sent())?;
            }
            mine.push(component);
        }
        out.finish(&mut self.session)?;
        let next = arriving.finish(&mut self.session)?;
        Ok(mine.into_iter().zip(next).map(|(z_i, z_next)| [z_i, z_next]).collect())
    }

    /// a_i of a fresh sharing of zero. `subtracted`: room for as many cells.
    pub(super) fn zero_share<C: Cell>(&mut self, a_i: &mut [C], subtracted: &mut [C]) {
        self.with_next.fill(a_i);
        self.with_previous.fill(subtracted);
        a_i.iter_mut().zip(subtracted).for_each(|(a_i, subtracted)| *a_i = a_i.minus(*subtracted));
    }
}

pub(super) fn term<'a, T, C>(x: &'a Share<T>, y: &'a Share<T>, cells: impl Fn(&'a T) -> &'a [C]) -> Term<'a, C> {
    Term { x: [cells(&x.mine), cells(&x.next)], y: [cells(&y.mine), cells(&y.next)] }
}

/// z_i += x_i y_i + x_i y_(i+1) + x_(i+1) y_i, for the elements from `at`.
pub(super) struct AddProducts<'a, 'b, C> {
    pub z_i: &'a mut [C],
    pub term: &'a Term<'b, C>,
    pub at: usize,
}

impl<C: Cell> Kernel for AddProducts<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { z_i, term: Term { x, y }, at } = self;
        let range = at..at + z_i.len();
        let ([x_i, x_next], [y_i, y_next]) = (x.map(|x| &x[range.clone()]), y.map(|y| &y[range.clone()]));
        for ((((z_i, &x_i), &x_next), &y_i), &y_next) in z_i.iter_mut().zip(x_i).zip(x_next).zip(y_i).zip(y_next) {
            *z_i = z_i.plus(x_i.times(y_i.plus(y_next))).plus(x_next.times(y_i));
        }
    }
}
