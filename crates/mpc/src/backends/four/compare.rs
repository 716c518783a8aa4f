//! Comparison (Protocol 2): whether numbers are negative, by a garbled circuit of the two assistants.
//!
//! Functionality: shares of whether x < 0, for x far within the ring. Discloses nothing.
//!
//! 1. S1 and S2 draw r from their joint generator. S1 sends x1' = x1 + r to Sa, S2 sends x2' = x2 - r to Sb.
//! 2. Sa and Sb read x1' and x2' as signed integers. Sa draws the bit r_a and Sb the bit r_b, for every comparison
//!    anew. Sa garbles and Sb evaluates e = (x1' < -x2') XOR r_a XOR r_b. The labels of Sb's bits come from OTs.
//! 3. Sa tells S1 and S2 r_a. Sb shares u = e XOR r_b, which is (x < 0) XOR r_a: its component of S2 is drawn from the
//!    generator of both, the other one is sent to S1.
//! 4. S1 and S2 have the result from their shares of u: u where r_a = 0, 1 - u where r_a = 1.
//!
//! Shares of u are modulo 2^k as published ([`Four::less_than`]), or modulo 2 where a plane is wanted: 1 - u is u XOR
//! 1.
//!
//! -x2' of the least integer is none of k bits. So the circuit asks for x1' <= NOT x2', which is -x2' - 1: the same,
//! for all. Of two's complements with their top bits flipped that is one unsigned comparison, k ANDs.
//!
//! Source: PrivPy, section 5.4, Protocol 2; half gates: [`crate::backends::two::garbled`]. The text that is at hand has
//! lost its formulas: which assistant tells which bit is as docs/protocols/four.md derives it.
//!
//! Rounds: 4, and 2 more the first time, for the OTs' setup. Bytes: an element from S1 and one from S2. Between the
//! assistants 32 bytes for each of k ANDs, and the message of k + 1 OTs. Three bits, and one bit or element.

use tacit_math::{Plane, Ring, ring};

use super::multiply::Factor;
use super::{Four, S1, S2, SA, SB, Share};
use crate::backends::two::garbled::Part;
use crate::backends::two::{Builder, Circuit, Wire};
use crate::backends::wire::{Arriving, Outgoing, recv_plane};
use crate::bits::{planes_of, vector_of};
use crate::circuits::Function;
use crate::{Linear, Result, linear};

/// What a server has when the circuit has been evaluated.
enum Compared {
    /// S1 and S2: r_a.
    Told(Plane),
    /// Sb: u.
    Masked(Plane),
    /// Sa.
    Nothing,
}

/// Inputs: the bits of x1', those of x2', r_a, r_b; output: e.
pub(super) fn circuit(bits: usize) -> Circuit {
    let (mut build, inputs) = Builder::new(2 * bits + 2);
    let (first, second) = inputs[..2 * bits].split_at(bits);
    let top = bits - 1;
    // Of NOT x2' with its top bit flipped the top bit is that of x2'.
    let complement: Vec<Wire> = (0..bits).map(|j| if j == top { second[j] } else { build.not(second[j]) }).collect();
    let flipped: Vec<Wire> = (0..bits).map(|j| if j == top { build.not(first[j]) } else { first[j] }).collect();
    let both = [complement, flipped].concat();
    let Ok(above) = Function::LessThan { width: bits }.small(&mut build, &both);
    let negative = build.not(above[0]);
    let masked = build.xor(negative, inputs[2 * bits]);
    let e = build.xor(masked, inputs[2 * bits + 1]);
    build.finish(&[e])
}

impl Four {
    /// Shares of whether x < y, as elements of the ring: the published form.
    ///
    /// # Errors
    /// When a peer is gone.
    pub fn less_than<R: Ring>(&mut self, x: &Share<Vec<R>>, y: &Share<Vec<R>>) -> Result<Share<Vec<R>>> {
        let (difference, rows) = (linear::sub(x, y), x.rows());
        let compared = self.compared(&difference)?;
        self.session.next_round();
        let u = match compared {
            Compared::Nothing => return Ok(Share::of_rows(rows)),
            Compared::Masked(u) => {
                let (u, u2) = (vector_of::<R>(&[&u], rows), self.across.vector::<R>(rows));
                let mut out = Outgoing::masked(&mut self.session, S1);
                out.push_masked(&mut self.session, &ring::sub(&u, &u2))?;
                out.finish(&mut self.session)?;
                return Ok(Share::of_rows(rows));
            }
            Compared::Told(r_a) => {
                let component = match self.me() {
                    S1 => Arriving::new(SB, vec![rows]).finish(&mut self.session)?.swap_remove(0),
                    _ => self.across.vector::<R>(rows),
                };
                (component, vector_of::<R>(&[&r_a], rows))
            }
        };
        // Step 4: u + r_a - 2 r_a u, where r_a is public to both.
        let one = if self.me() == S1 { R::ONE } else { R::ZERO };
        let flipped = |(&u, &r_a): (&R, &R)| u.add(r_a.mul(one.sub(u).sub(u)));
        Ok(Share::new(u.0.iter().zip(&u.1).map(flipped).collect()))
    }

    /// Shares of whether x < 0, as a plane.
    pub(super) fn negative<R: Ring>(&mut self, x: &Share<Vec<R>>) -> Result<Share<Plane>> {
        let rows = x.rows;
        let compared = self.compared(x)?;
        self.session.next_round();
        match compared {
            Compared::Nothing => Ok(Share::of_rows(rows)),
            Compared::Masked(u) => {
                let u2 = Plane::random(rows, &mut self.across);
                let mut out = Outgoing::masked(&mut self.session, S1);
                out.push_masked(&mut self.session, u.xor(&u2).words())?;
                out.finish(&mut self.session)?;
                Ok(Share::of_rows(rows))
            }
            Compared::Told(r_a) => match self.me() {
                S1 => Ok(Share::new(recv_plane(&mut self.session, SB, rows)?.xor(&r_a))),
                _ => Ok(Share::new(Plane::random(rows, &mut self.across))),
            },
        }
    }

    /// Steps 1 to 3, but for what Sb shares.
    fn compared<R: Ring>(&mut self, x: &Share<Vec<R>>) -> Result<Compared> {
        let (rows, bits) = (x.rows, R::BITS as usize);
        // Step 1.
        self.session.next_round();
        let own = match self.me() {
            S1 => self.masked(&[Factor::of(x)], SA)?.swap_remove(0),
            S2 => self.masked(&[Factor::of(x)], SB)?.swap_remove(0),
            SA => Arriving::new(S1, vec![rows]).finish(&mut self.session)?.swap_remove(0),
            _ => Arriving::new(S2, vec![rows]).finish(&mut self.session)?.swap_remove(0),
        };
        if rows == 0 {
            return Ok(if self.holds() { Compared::Told(Plane::zeros(0)) } else { Compared::Nothing });
        }
        if self.holds() {
            return self.told(rows);
        }
        self.evaluated(&planes_of(&own, bits), rows)
    }

    /// Steps 2 and 3 at a primary server, which counts the assistants' rounds.
    fn told(&mut self, rows: usize) -> Result<Compared> {
        let rounds = if std::mem::replace(&mut self.compared, true) { CIRCUIT } else { CIRCUIT + SETUP };
        (0..rounds).for_each(|_| self.session.next_round());
        Ok(Compared::Told(recv_plane(&mut self.session, SA, rows)?))
    }

    /// Step 2 at an assistant, with the bits of its own number; and r_a to S1 and S2.
    fn evaluated(&mut self, own: &[Plane], rows: usize) -> Result<Compared> {
        let (garbles, bits, zeros) = (self.me() == SA, own.len(), Plane::zeros(rows));
        let mask = Plane::random(rows, &mut self.own);
        let of = |garbler: bool, plane| Part {
            plane: if garbler == garbles { plane } else { &zeros },
            transferred: !garbler,
        };
        let numbers = [true, false].into_iter().flat_map(|garbler| own.iter().map(move |plane| (garbler, plane)));
        let inputs = numbers.chain([(true, &mask), (false, &mask)]);
        let parts: Vec<Part<'_>> = inputs.map(|(garbler, plane)| of(garbler, plane)).collect();
        let circuit = circuit(bits);
        let colour = self.assistants().garbled(&circuit, &parts)?.swap_remove(0);
        if !garbles {
            // e is the sum of both colours.
            let e = recv_plane(&mut self.session, SA, rows)?.xor(&colour);
            return Ok(Compared::Masked(e.xor(&mask)));
        }
        for (to, plane) in [(SB, &colour), (S1, &mask), (S2, &mask)] {
            let mut out = Outgoing::masked(&mut self.session, to);
            out.push_masked(&mut self.session, plane.words())?;
            out.finish(&mut self.session)?;
        }
        Ok(Compared::Nothing)
    }
}

/// Rounds of a garbled circuit, and of the setup of its OTs.
const CIRCUIT: usize = 2;
const SETUP: usize = 2;
