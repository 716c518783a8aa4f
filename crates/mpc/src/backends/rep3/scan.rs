//! Products with a scan: a digit's values as bits in a ring, times the factors that a scan of them gives.
//!
//! Functionality: z = sum over t of x_t y_t + base + row number. The bit x_t is one in the rows whose digit is t, and a
//! linear scan gives y_t and the base from x. Digits have two, four or eight values, of which zero has no x. Discloses
//! nothing. Of the digit d, node 0 knows the planes of s = d_0 xor d_1, nodes 1 and 2 know d_2. Let e_j be one in the
//! rows where s is j, so that x_t = e_(t xor d_2).
//!
//! 1. Node 0 shares e_j = c_j + c'_j for j > 0. Its generator with node 2 gives c_j, and c'_j goes to node 1. The
//!    shares of e_0 are one and zero less the sum of the others'.
//! 2. Nodes 1 and 2 bring their shares of e into the order of d, which gives additive shares of x. They scan them, and
//!    get shares of y and of the base. They bring those of y (zero for the digit zero) back into the order of s:
//!    w_j = y_(j xor d_2) - y_(d_2). The e_j add up to one, so z = sum over j > 0 of e_j w_j + y_(d_2) + base.
//! 3. Let r_j, r'_j be masks from the generator of nodes 1 and 2. They send node 0 their shares of w_j, less r'_j and
//!    r_j. It adds them up to u_j and has z_0 = sum of e_j u_j. The sum of e_j (r_j + r'_j) is missing. Node 1 has it
//!    of c'_j in z_1, node 2 of c_j in z_2, beside their shares of y_(d_2) and of the base.
//! 4. Node i adds a_i of a fresh sharing of zero to z_i, sends it to the node before it and receives z_(i+1).
//!
//! Every message is masked by what its receiver lacks. Nodes 0 and 2 mask c' by c, nodes 1 and 2 mask shares of w by r
//! and r', and a_i masks z_i. The orders are by shares of the digit, so rows are exchanged by masks, not by addresses.
//!
//! Sources: the dealing is that of [`super::inject`] (ABY3, section 5.4.1), of all values of a digit at once. A product
//! of what one node knows and two others share, with masks that these two know, is that section's "three-party OT". The
//! last step is that of [`super::multiply`]. The sorting paper (CCS 2022) injects bits and multiplies: that one node
//! chooses among scans of two is a departure.
//!
//! All is modulo 2^8, 2^16, 2^24 or 2^32, whichever row numbers need ([`crate::backends::numbers`]).
//!
//! Rounds: 3. Bytes sent by each node, N the values but zero: N + 1 ring elements a row.

mod digits;

use tacit_math::Plane;
use tacit_math::simd::dispatch;
use tacit_net::{PartyId, Session};

use super::{Held, Rep3, Share};
use crate::backends::numbers::Numbers;
use crate::backends::wire::{Arriving, Masked, Outgoing, recv_into};
use crate::{LinearScan, Result};
use digits::{AddChosen, AddMasked, Deal, Digits, PIECE, Permute, Room, pieces, room};

/// Pieces of columns on the wire, in the bytes that row numbers need.
struct Wire {
    numbers: Numbers,
    bytes: Vec<u8>,
}

impl Wire {
    fn of(rows: usize) -> Self {
        Self { numbers: Numbers::of(rows), bytes: vec![] }
    }

    fn send(
        &mut self,
        out: &mut Outgoing<Masked>,
        session: &mut Session,
        columns: &[[u32; PIECE]],
        rows: usize,
    ) -> Result<()> {
        let bytes = self.numbers.bytes() * rows;
        self.bytes.resize(bytes * columns.len(), 0);
        for (column, sent) in columns.iter().zip(self.bytes.chunks_mut(bytes)) {
            self.numbers.write(&column[..rows], sent);
        }
        out.push_masked(session, &self.bytes)
    }

    fn receive(
        &mut self,
        session: &mut Session,
        from: PartyId,
        columns: &mut [[u32; PIECE]],
        rows: usize,
    ) -> Result<()> {
        let bytes = self.numbers.bytes() * rows;
        self.bytes.resize(bytes * columns.len(), 0);
        recv_into(session, from, &mut self.bytes)?;
        for (column, sent) in columns.iter_mut().zip(self.bytes.chunks(bytes)) {
            self.numbers.read(sent, &mut column[..rows]);
        }
        Ok(())
    }
}

impl Rep3 {
    /// The product of a digit's values with a scan of them.
    pub(super) fn digit_times_scan<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Share<Plane>],
    ) -> Result<Share<Vec<u32>>> {
        assert_eq!(N + 1, 1 << digit.len(), "a scan of all values of the digit but zero");
        let z = match self.me() {
            0 => self.deal_and_choose::<N>(digit),
            1 => self.scan_shares::<S, N>(digit, Held::Next),
            _ => self.scan_shares::<S, N>(digit, Held::Mine),
        }?;
        self.reshared(z)
    }

    /// Node 0: deals e, then adds up what it receives where e is one.
    fn deal_and_choose<const N: usize>(&mut self, digit: &[&Share<Plane>]) -> Result<Vec<u32>> {
        let (second, third) = (self.next(), self.previous());
        let s: Vec<Plane> = digit.iter().map(|plane| plane.mine.xor(&plane.next)).collect();
        let s = Digits::of(&s);
        // Step 1.
        self.session.next_round();
        let (mut values, mut drawn, mut wire) = (room(), room(), Wire::of(s.rows));
        let mut out = Outgoing::masked(&mut self.session, second);
        for piece in pieces(s.rows) {
            drawn[1..=N].iter_mut().for_each(|c| self.with_previous.fill(&mut c[..piece.len()]));
            dispatch(Deal { s: s.at(&piece), c: &drawn, other: &mut values });
            wire.send(&mut out, &mut self.session, &values[1..=N], piece.len())?;
        }
        out.finish(&mut self.session)?;
        // Step 3.
        self.session.next_round();
        let mut z = Vec::with_capacity(s.rows);
        for piece in pieces(s.rows) {
            wire.receive(&mut self.session, second, &mut values[1..=N], piece.len())?;
            wire.receive(&mut self.session, third, &mut drawn[1..=N], piece.len())?;
            let mut sum = [0; PIECE];
            dispatch(AddChosen { s: s.at(&piece), u: [&values, &drawn], sum: &mut sum });
            z.extend_from_slice(&sum[..piece.len()]);
        }
        Ok(z)
    }

    /// Nodes 1 and 2, which hold d_2 as their second and first component.
    fn scan_shares<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Share<Plane>],
        d_2: Held,
    ) -> Result<Vec<u32>> {
        let first = PartyId(0);
        let is_second = self.me() == 1;
        let d_2 = Digits::of(digit.iter().map(|plane| plane.component(d_2)));
        // Node 2's shares of e add up to one, node 1's to zero.
        let total = u32::from(!is_second);
        // Step 1, then the order of d.
        self.session.next_round();
        let (mut values, mut masks, mut wire) = (room(), [room(); 2], Wire::of(d_2.rows));
        let mut x: [Vec<u32>; N] = std::array::from_fn(|_| Vec::with_capacity(d_2.rows));
        for piece in pieces(d_2.rows) {
            if is_second {
                wire.receive(&mut self.session, first, &mut values[1..=N], piece.len())?;
            } else {
                values[1..=N].iter_mut().for_each(|c| self.with_next.fill(&mut c[..piece.len()]));
            }
            dispatch(Permute { by: d_2.at(&piece), total: Some(total), values: &mut values });
            x.iter_mut().zip(&values[1..]).for_each(|(x, values)| x.extend_from_slice(&values[..piece.len()]));
        }
        // Step 2.
        self.session.next_round();
        let columns = x.each_ref().map(Vec::as_slice);
        let mut scan = S::start(columns);
        let mut z = Vec::with_capacity(d_2.rows);
        let mut out = Outgoing::masked(&mut self.session, first);
        let mut factors = room();
        for piece in pieces(d_2.rows) {
            let mut sum = [0; PIECE];
            let [zero, others @ ..] = &mut factors;
            zero.fill(0);
            let mut outputs = others.iter_mut();
            let outputs = std::array::from_fn(|_| &mut outputs.next().expect("N values")[..piece.len()]);
            scan.piece(columns.map(|column| &column[piece.clone()]), outputs, &mut sum[..piece.len()]);
            let by = d_2.at(&piece);
            dispatch(Permute { by, total: None, values: &mut factors });
            values[1..=N]
                .iter_mut()
                .zip(columns)
                .for_each(|(c, x)| c[..piece.len()].copy_from_slice(&x[piece.clone()]));
            dispatch(Permute { by, total: Some(total), values: &mut values });
            // Step 3.
            self.draw_masks::<N>(&mut masks, piece.len());
            dispatch(AddMasked { values: N, shares: &values, masks: &masks, w: &mut factors, sum: &mut sum });
            wire.send(&mut out, &mut self.session, &factors[1..=N], piece.len())?;
            if is_second {
                sum.iter_mut().zip(piece.clone()).for_each(|(sum, row)| *sum = sum.wrapping_add(row as u32));
            }
            z.extend_from_slice(&sum[..piece.len()]);
        }
        out.finish(&mut self.session)?;
        Ok(z)
    }

    /// Step 4: this node's components of the sum of what the nodes have.
    fn reshared(&mut self, mut z: Vec<u32>) -> Result<Share<Vec<u32>>> {
        self.session.next_round();
        let (next, previous) = (self.next(), self.previous());
        let mut out = Outgoing::masked(&mut self.session, previous);
        let [mut a_i, mut subtracted] = [[0; PIECE]; 2];
        let numbers = Numbers::of(z.len());
        let mut arriving = Arriving::<u8>::new(next, vec![numbers.bytes() * z.len()]);
        let mut bytes = [0; size_of::<u32>() * PIECE];
        for z_i in z.chunks_mut(PIECE) {
            let a_i = &mut a_i[..z_i.len()];
            self.zero_share(a_i, &mut subtracted[..z_i.len()]);
            z_i.iter_mut().zip(a_i).for_each(|(z_i, a_i)| *z_i = z_i.wrapping_add(*a_i) & numbers.mask());
            let bytes = &mut bytes[..numbers.bytes() * z_i.len()];
            numbers.write(z_i, bytes);
            out.push_masked(&mut self.session, bytes)?;
            arriving.keep_up(&mut self.session, out.sent())?;
        }
        out.finish(&mut self.session)?;
        let sent = arriving.finish(&mut self.session)?.swap_remove(0);
        let mut next = vec![0; z.len()];
        for (sent, z_next) in sent.chunks(numbers.bytes() * PIECE).zip(next.chunks_mut(PIECE)) {
            numbers.read(sent, z_next);
        }
        Ok(Share { mine: z, next })
    }

    /// The masks of nodes 1 and 2, this node's own ones first.
    fn draw_masks<const N: usize>(&mut self, masks: &mut [Room; 2], rows: usize) {
        let [own, other] = masks;
        let (generator, [first, second]) =
            if self.me() == 1 { (&mut self.with_next, [own, other]) } else { (&mut self.with_previous, [other, own]) };
        for r in first[1..=N].iter_mut().chain(&mut second[1..=N]) {
            generator.fill(&mut r[..rows]);
        }
    }
}
