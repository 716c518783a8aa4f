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

use tacit_math::prg::Part;
use tacit_math::simd::{Kernel, dispatch};
use tacit_math::{Ring, lanes};

use super::{Rep3, Share};
use crate::Result;
use crate::backends::cell::Cell;
use crate::backends::waves::{Wave, pieces, send_all_masked, waves};
use crate::backends::wire::Arriving;

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
    pub fn len(&self) -> usize {
        self.terms.first().map(|term| term.x[0]).or(self.base).map_or(0, <[C]>::len)
    }

    /// z_i += the base and the products, for the elements from `at`.
    pub fn add_to(&self, z_i: &mut [C], at: usize) {
        if let Some(base) = self.base {
            dispatch(AddBase { z_i: &mut *z_i, base: &base[at..] });
        }
        self.terms.iter().for_each(|term| dispatch(AddProducts { z_i: &mut *z_i, term, at }));
    }
}

/// Pairs of factors, for each output.
pub(super) type Terms<'a, R> = [Vec<(&'a Share<Vec<R>>, &'a Share<Vec<R>>)>];

/// Sums of products of vectors.
pub(super) fn outputs<'a, R: Ring>(terms: &Terms<'a, R>) -> Vec<Output<'a, R>> {
    let terms = terms.iter().map(|pairs| pairs.iter().map(|&(x, y)| term(x, y, Vec::as_slice)).collect());
    terms.map(|terms| Output { terms, base: None }).collect()
}

impl Rep3 {
    pub(super) fn inner_products_of_vectors<R: Ring>(&mut self, terms: &Terms<'_, R>) -> Result<Vec<Share<Vec<R>>>> {
        let products = self.inner_products_of_cells(&outputs(terms))?;
        Ok(products.into_iter().map(|[mine, next]| Share { mine, next }).collect())
    }

    /// This node's components z_i and z_(i+1) of every output.
    pub(super) fn inner_products_of_cells<C: Cell>(&mut self, outputs: &[Output<'_, C>]) -> Result<Vec<[Vec<C>; 2]>> {
        self.session.next_round();
        let (next, previous) = (self.next(), self.previous());
        let lengths: Vec<usize> = outputs.iter().map(Output::len).collect();
        let mut mine: Vec<Vec<C>> = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        let (waves, mut arriving, mut sent) = (waves(&lengths, size_of::<C>()), Arriving::new(next, lengths), 0);
        for wave in waves {
            let messages = self.multiply_wave(&wave, outputs, &mut mine);
            // Step 3: a_i masks z_i from the node before; z_(i+1) is received meanwhile.
            send_all_masked(&mut self.session, previous, messages)?;
            sent += wave.bytes();
            arriving.keep_up(&mut self.session, sent)?;
        }
        let next = arriving.finish(&mut self.session)?;
        Ok(mine.into_iter().zip(next).map(|(z_i, z_next)| [z_i, z_next]).collect())
    }

    /// Steps 1 and 2 of a wave: appends z_i, and gives it as messages.
    fn multiply_wave<C: Cell>(&mut self, wave: &Wave, outputs: &[Output<'_, C>], mine: &mut [Vec<C>]) -> Vec<Vec<u8>> {
        let mut messages = wave.buffers(&mut self.session);
        let (mut in_messages, mut in_outputs) = (wave.in_messages(&mut messages), wave.in_outputs(mine));
        let rooms = wave.rooms(&mut in_outputs).into_iter().zip(wave.message_rooms(&mut in_messages));
        let blocks = wave.blocks(1);
        let drawn = self.with_next.parts(blocks.clone()).into_iter().zip(self.with_previous.parts(blocks));
        wave.compute(rooms.zip(drawn), |chunk, ((mut component, mut message), (mut added, mut subtracted))| {
            let mut buffers = [[0u128; PIECE / 16]; 2];
            let [z, less]: [&mut [C]; 2] = buffers.each_mut().map(|words| bytemuck::cast_slice_mut(words));
            for piece in pieces(chunk.range.len(), z.len()) {
                let (z_i, less) = (&mut z[..piece.len()], &mut less[..piece.len()]);
                // Step 1: z_i = a_i.
                zero_share(z_i, less, &mut added, &mut subtracted);
                // Step 2: z_i += the products of which this node holds both factors.
                outputs[chunk.output].add_to(z_i, chunk.range.start + piece.start);
                component.extend_from_slice(z_i);
                message.extend_from_slice(bytemuck::cast_slice(z_i));
            }
        });
        lanes::finish(in_outputs);
        lanes::finish(in_messages);
        messages
    }
}

/// a_i of a fresh sharing of zero: the words of one generator less those of the other. `less`: room for as many cells.
pub(super) fn zero_share<C: Cell>(a_i: &mut [C], less: &mut [C], added: &mut Part<'_>, subtracted: &mut Part<'_>) {
    added.fill(a_i);
    subtracted.fill(less);
    dispatch(Subtract { a_i, less });
}

struct Subtract<'a, C> {
    a_i: &'a mut [C],
    less: &'a [C],
}

impl<C: Cell> Kernel for Subtract<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.a_i.iter_mut().zip(self.less).for_each(|(a_i, less)| *a_i = a_i.minus(*less));
    }
}

/// z_i += the base.
struct AddBase<'a, C> {
    z_i: &'a mut [C],
    base: &'a [C],
}

impl<C: Cell> Kernel for AddBase<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.z_i.iter_mut().zip(self.base).for_each(|(z_i, &base)| *z_i = z_i.plus(base));
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
