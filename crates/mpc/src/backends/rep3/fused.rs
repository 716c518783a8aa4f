//! Products that are truncated without being shared anew.
//!
//! Functionality: z = sum over t of x_t * y_t with |z| <= 2^(k-2) - 1 as a fresh sharing, s = z - r at one node and a
//! uniform r at the two others, and dither(s, r) of docs/protocols/arrays.md, shared as [`super::truncate`] says. Beside
//! shares it discloses nothing. Node i computes its part of z = z_0 + z_1 + z_2 as in [`super::multiply`]. For the third
//! of the rows that node p deals:
//!
//! 1. nodes p + 1 and p + 2 draw a and r from their generator, at two positions;
//! 2. node p + 1 sends z_(p+1) + a to node p, node p + 2 sends it z_(p+2) - r - a. Both words are uniform together,
//!    whatever z is: they are a bijection of (a, r);
//! 3. node p has s = z - r, which is uniform as r is, and nodes p + 1 and p + 2 have t = r: they truncate s + t.
//!
//! Source: Araki et al., CCS 2016, section 3.2, for the products. **Departures** one node gets the masked product.
//!
//! Rounds: 1, and 2 of the truncation. Bytes in all: two elements a row, and those of the truncation.

use tacit_math::simd::{Kernel, dispatch};
use tacit_math::{Ring, lanes};

use super::multiply::{Output, Terms, outputs};
use super::split::{Dealer, Summands, add, third};
use super::{Rep3, Share};
use crate::Result;
use crate::backends::waves::{pieces, send_all_masked, waves};
use crate::backends::wire::recv_cells;
use crate::split::assert_truncation;

/// Elements that are computed at a time, within the first-level cache: whole blocks of a generator.
const PIECE: usize = 512;

impl Rep3 {
    pub(super) fn truncated_products<R: Ring>(
        &mut self,
        terms: &Terms<'_, R>,
        by: usize,
    ) -> Result<Vec<Share<Vec<R>>>> {
        self.truncated_outputs(&outputs(terms), by)
    }

    /// Sums of what nodes have of them by themselves, truncated.
    pub(super) fn truncated_outputs<R: Ring>(
        &mut self,
        outputs: &[Output<'_, R>],
        by: usize,
    ) -> Result<Vec<Share<Vec<R>>>> {
        assert_truncation::<R>(by);
        let masked = self.masked_products(outputs)?;
        self.truncated(&masked, by)
    }

    fn masked_products<R: Ring>(&mut self, outputs: &[Output<'_, R>]) -> Result<Vec<Summands<'static, R>>> {
        self.session.next_round();
        let of_previous = self.mask_products(outputs, Dealer::Previous)?;
        let of_next = self.mask_products(outputs, Dealer::Next)?;
        let (me, peers) = (self.me(), [self.next(), self.previous()]);
        let mut known: Vec<Vec<R>> = outputs.iter().map(|output| own_products(output, me)).collect();
        // Step 3: s = z - r.
        for peer in peers {
            for s in &mut known {
                let part: Vec<R> = recv_cells(&mut self.session, peer, s.len())?;
                add(s, &part);
            }
        }
        let masked = known.into_iter().zip(of_previous.into_iter().zip(of_next)).zip(outputs);
        Ok(masked
            .map(|((s, (of_previous, of_next)), x)| Summands::Masked { rows: x.len(), s, of_previous, of_next })
            .collect())
    }

    /// Steps 1 and 2 of nodes p + 1 and p + 2: sends the dealer a masked part, and gives r.
    fn mask_products<R: Ring>(&mut self, outputs: &[Output<'_, R>], dealer: Dealer) -> Result<Vec<Vec<R>>> {
        let (peer, generator) = match dealer {
            Dealer::Previous => (self.previous(), &mut self.with_next),
            Dealer::Next => (self.next(), &mut self.with_previous),
        };
        let thirds: Vec<_> = outputs.iter().map(|output| third(output.len(), peer.0)).collect();
        let lengths: Vec<usize> = thirds.iter().map(ExactSizeIterator::len).collect();
        let mut masks: Vec<Vec<R>> = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        for wave in waves(&lengths, size_of::<R>()) {
            let mut messages = wave.buffers(&mut self.session);
            let (mut in_messages, mut in_masks) = (wave.in_messages(&mut messages), wave.in_outputs(&mut masks));
            let rooms = wave.rooms(&mut in_masks).into_iter().zip(wave.message_rooms(&mut in_messages));
            let drawn = generator.parts(wave.blocks_for(&[size_of::<R>(); 2]));
            wave.compute(rooms.zip(drawn), |chunk, ((mut masks, mut message), mut drawn)| {
                let (mut a, mut r) = (vec![R::ZERO; PIECE], vec![R::ZERO; PIECE]);
                for piece in pieces(chunk.range.len(), PIECE) {
                    let (z, r) = (&mut a[..piece.len()], &mut r[..piece.len()]);
                    // Step 1: z = a, or -r - a.
                    drawn.fill(z);
                    drawn.fill(r);
                    if dealer == Dealer::Next {
                        dispatch(Negate { a: &mut *z, r });
                    }
                    // Step 2: z += the products of which this node holds both factors.
                    outputs[chunk.output].add_to(z, thirds[chunk.output].start + chunk.range.start + piece.start);
                    masks.extend_from_slice(r);
                    message.extend_from_slice(bytemuck::cast_slice(z));
                }
            });
            lanes::finish(in_masks);
            lanes::finish(in_messages);
            send_all_masked(&mut self.session, peer, messages)?;
        }
        Ok(masks)
    }
}

/// a = -a - r.
struct Negate<'a, R> {
    a: &'a mut [R],
    r: &'a [R],
}

impl<R: Ring> Kernel for Negate<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.a.iter_mut().zip(self.r).for_each(|(a, r)| *a = a.add(*r).neg());
    }
}

/// z_p of the third that this node deals.
fn own_products<R: Ring>(output: &Output<'_, R>, me: usize) -> Vec<R> {
    let rows = third(output.len(), me);
    let mut z = vec![R::ZERO; rows.len()];
    output.add_to(&mut z, rows.start);
    z
}
