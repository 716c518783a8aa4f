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
//! Rows are computed in waves of chunks ([`crate::backends::waves`]). A scan of a chunk begins with the sums of the
//! chunks before it, which step 2 takes along.
//!
//! Rounds: 3. Bytes sent by each node, N the values but zero: N + 1 ring elements a row.

mod digits;

use std::ops::Range;
use std::slice;

use tacit_math::prg::Part;
use tacit_math::simd::dispatch;
use tacit_math::{Plane, lanes};
use tacit_net::{PartyId, Received};

use super::multiply::zero_share;
use super::{Held, Rep3, Share};
use crate::backends::numbers::Numbers;
use crate::backends::waves::{Wave, pieces_of, send_all_masked, waves_of_units};
use crate::backends::wire::Arriving;
use crate::{LinearScan, Place, Result};
use digits::{AddChosen, AddMasked, AddSums, Deal, Digits, PIECE, Permute, Room, room};

/// Rows that are worth a lane of their own.
const LEAST: usize = 1 << 15;

/// Pieces of columns on the wire, in the bytes that row numbers need.
struct Wire {
    numbers: Numbers,
    bytes: Vec<u8>,
}

impl Wire {
    fn of(rows: usize) -> Self {
        Self { numbers: Numbers::of(rows), bytes: vec![] }
    }

    /// The columns of a piece as they are sent.
    fn write(&mut self, columns: &[[u32; PIECE]], rows: usize) -> &[u8] {
        let bytes = self.numbers.bytes() * rows;
        self.bytes.resize(bytes * columns.len(), 0);
        for (column, sent) in columns.iter().zip(self.bytes.chunks_mut(bytes)) {
            self.numbers.write(&column[..rows], sent);
        }
        &self.bytes
    }

    /// The inverse of [`Self::write`] of what lies at a place.
    fn read(&mut self, arrived: &Received, at: usize, columns: &mut [[u32; PIECE]], rows: usize) {
        let bytes = self.numbers.bytes() * rows;
        self.bytes.resize(bytes * columns.len(), 0);
        arrived.read(at, &mut self.bytes);
        // A share that came from a peer is as secret as one that was drawn.
        tacit_marks::secret(&mut self.bytes);
        for (column, sent) in columns.iter_mut().zip(self.bytes.chunks(bytes)) {
            self.numbers.read(sent, &mut column[..rows]);
        }
    }
}

/// Waves of `columns` columns of row numbers, whose chunks are whole pieces.
fn waves_of_numbers(rows: usize, columns: usize) -> Vec<Wave> {
    waves_of_units(&[rows], columns * Numbers::of(rows).bytes(), PIECE)
}

/// Blocks that each chunk takes of a generator that gives a word for each row of as many columns.
fn blocks_of_columns(wave: &Wave, columns: usize) -> Vec<u64> {
    wave.blocks_of(columns as u64, size_of::<u32>())
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
        let s: Vec<Plane> = digit.iter().map(|plane| plane.mine.xor(&plane.next)).collect();
        let s = Digits::of(&s);
        self.session.next_round();
        for wave in waves_of_numbers(s.rows, N) {
            let messages = self.deal_wave::<N>(&wave, &s);
            let second = self.next();
            send_all_masked(&mut self.session, second, messages)?;
        }
        self.session.next_round();
        let mut z = Vec::with_capacity(s.rows);
        for wave in waves_of_numbers(s.rows, N) {
            self.choose_wave::<N>(&wave, &s, &mut z)?;
        }
        Ok(z)
    }

    /// Step 1 of a wave: the shares of e for node 1.
    fn deal_wave<const N: usize>(&mut self, wave: &Wave, s: &Digits<'_>) -> Vec<Vec<u8>> {
        let mut messages = wave.buffers(&mut self.session);
        let mut in_messages = wave.in_messages(&mut messages);
        let drawn = self.with_previous.parts(blocks_of_columns(wave, N));
        wave.compute(wave.message_rooms(&mut in_messages).into_iter().zip(drawn), |chunk, (mut message, mut drawn)| {
            let (mut c, mut values, mut wire) = (room(), room(), Wire::of(s.rows));
            for piece in pieces_of(chunk, PIECE) {
                c[1..=N].iter_mut().for_each(|c| drawn.fill(&mut c[..piece.len()]));
                dispatch(Deal { s: s.at(&piece), c: &c, other: &mut values });
                message.extend_from_slice(wire.write(&values[1..=N], piece.len()));
            }
        });
        lanes::finish(in_messages);
        messages
    }

    /// Step 3 of a wave at node 0: appends the sums of what arrives where e is one.
    fn choose_wave<const N: usize>(&mut self, wave: &Wave, s: &Digits<'_>, z: &mut Vec<u32>) -> Result<()> {
        let [second, third] = [self.next(), self.previous()].map(|from| self.session.recv_held(from, wave.bytes()));
        let arrived = [second?, third?];
        let mut of_z = wave.in_outputs(slice::from_mut(z));
        let rooms = wave.rooms(&mut of_z).into_iter().zip(wave.starts());
        wave.compute(rooms, |chunk, (mut z, start)| {
            let (mut u, mut wire) = ([room(); 2], Wire::of(s.rows));
            for piece in pieces_of(chunk, PIECE) {
                let at = start + wave.bytes_of(piece.start - chunk.range.start);
                for (u, arrived) in u.iter_mut().zip(&arrived) {
                    wire.read(arrived, at, &mut u[1..=N], piece.len());
                }
                let mut sum = [0; PIECE];
                dispatch(AddChosen { s: s.at(&piece), u: u.each_ref(), sum: &mut sum });
                z.extend_from_slice(&sum[..piece.len()]);
            }
        });
        lanes::finish(of_z);
        arrived.into_iter().for_each(|arrived| self.session.give_back(arrived));
        Ok(())
    }

    /// Nodes 1 and 2, which hold d_2 as their second and first component.
    fn scan_shares<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Share<Plane>],
        d_2: Held,
    ) -> Result<Vec<u32>> {
        let d_2 = Digits::of(digit.iter().map(|plane| plane.component(d_2)));
        let waves = waves_of_numbers(d_2.rows, N);
        self.session.next_round();
        let mut x = std::array::from_fn(|_| Vec::with_capacity(d_2.rows));
        let mut sums = Vec::new();
        for wave in &waves {
            sums.extend(self.order_wave::<N>(wave, &d_2, &mut x)?);
        }
        self.session.next_round();
        let x = x.each_ref().map(Vec::as_slice);
        let mut places = places(&waves, &sums, d_2.rows).into_iter();
        let mut z = Vec::with_capacity(d_2.rows);
        for wave in &waves {
            let messages = self.scan_wave::<S, N>(wave, &d_2, x, &mut places, &mut z);
            send_all_masked(&mut self.session, PartyId(0), messages)?;
        }
        Ok(z)
    }

    /// Steps 1 and 2 of a wave at nodes 1 and 2: appends the shares of e, in the order of d. Returns the chunks' sums.
    fn order_wave<const N: usize>(
        &mut self,
        wave: &Wave,
        d_2: &Digits<'_>,
        x: &mut [Vec<u32>; N],
    ) -> Result<Vec<[u32; N]>> {
        let total = self.total();
        let arrived = if total == 0 { self.session.recv_held(PartyId(0), wave.bytes())? } else { Received::default() };
        let blocks = if total == 0 { vec![] } else { blocks_of_columns(wave, N) };
        let mut drawn = self.with_next.parts(blocks).into_iter();
        let mut columns: Vec<_> = x.iter_mut().map(|column| wave.in_outputs(slice::from_mut(column))).collect();
        let starts = wave.starts();
        let mut sums = vec![[0; N]; starts.len()];
        let rooms = wave.rooms_of_columns(&mut columns).into_iter().zip(&mut sums);
        let parts = rooms.zip(starts).map(|(rooms, start)| (rooms, start, drawn.next()));
        wave.compute(parts, |chunk, ((mut x, sums), start, mut drawn)| {
            let (mut values, mut wire) = (room(), Wire::of(d_2.rows));
            for piece in pieces_of(chunk, PIECE) {
                match &mut drawn {
                    Some(drawn) => values[1..=N].iter_mut().for_each(|c| drawn.fill(&mut c[..piece.len()])),
                    None => {
                        let at = start + wave.bytes_of(piece.start - chunk.range.start);
                        wire.read(&arrived, at, &mut values[1..=N], piece.len());
                    }
                }
                dispatch(Permute { by: d_2.at(&piece), total: Some(total), values: &mut values });
                dispatch(AddSums { values: &values, rows: piece.len(), sums });
                x.iter_mut().zip(&values[1..]).for_each(|(x, values)| x.extend_from_slice(&values[..piece.len()]));
            }
        });
        columns.into_iter().for_each(lanes::finish);
        self.session.give_back(arrived);
        Ok(sums)
    }

    /// Steps 2 and 3 of a wave at nodes 1 and 2: appends their shares of z, and gives what they send node 0.
    fn scan_wave<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        wave: &Wave,
        d_2: &Digits<'_>,
        x: [&[u32]; N],
        places: &mut impl Iterator<Item = Place<u32, N>>,
        z: &mut Vec<u32>,
    ) -> Vec<Vec<u8>> {
        let total = self.total();
        let mut messages = wave.buffers(&mut self.session);
        let (mut in_messages, mut of_z) = (wave.in_messages(&mut messages), wave.in_outputs(slice::from_mut(z)));
        let rooms = wave.message_rooms(&mut in_messages).into_iter().zip(wave.rooms(&mut of_z));
        let blocks = blocks_of_columns(wave, 2 * N);
        let drawn = if total == 0 { self.with_next.parts(blocks) } else { self.with_previous.parts(blocks) };
        wave.compute(rooms.zip(places).zip(drawn), |chunk, (((mut message, mut z), place), mut drawn)| {
            let (mut scan, mut wire) = (S::begin(place), Wire::of(d_2.rows));
            let (mut values, mut factors, mut masks) = (room(), room(), [room(); 2]);
            for piece in pieces_of(chunk, PIECE) {
                let mut sum = [0; PIECE];
                let [zero, others @ ..] = &mut factors;
                zero.fill(0);
                let mut outputs = others.iter_mut();
                let outputs = std::array::from_fn(|_| &mut outputs.next().expect("N values")[..piece.len()]);
                let x = x.map(|column| &column[piece.clone()]);
                scan.piece(x, outputs, &mut sum[..piece.len()]);
                let by = d_2.at(&piece);
                dispatch(Permute { by, total: None, values: &mut factors });
                values[1..=N].iter_mut().zip(x).for_each(|(c, x)| c[..piece.len()].copy_from_slice(x));
                dispatch(Permute { by, total: Some(total), values: &mut values });
                draw_masks::<N>(&mut masks, total == 0, &mut drawn, piece.len());
                dispatch(AddMasked { values: N, shares: &values, masks: &masks, w: &mut factors, sum: &mut sum });
                message.extend_from_slice(wire.write(&factors[1..=N], piece.len()));
                if total == 0 {
                    sum.iter_mut().zip(piece.clone()).for_each(|(sum, row)| *sum = sum.wrapping_add(row as u32));
                }
                z.extend_from_slice(&sum[..piece.len()]);
            }
        });
        lanes::finish(in_messages);
        lanes::finish(of_z);
        messages
    }

    /// The sum of this node's shares of e: zero at node 1, one at node 2.
    fn total(&self) -> u32 {
        u32::from(self.me() == 2)
    }

    /// Step 4: this node's components of the sum of what the nodes have.
    fn reshared(&mut self, z: Vec<u32>) -> Result<Share<Vec<u32>>> {
        self.session.next_round();
        let (next, previous, rows) = (self.next(), self.previous(), z.len());
        let numbers = Numbers::of(rows);
        let (mut mine, mut sent) = ([z], 0);
        let mut arriving = Arriving::<u8>::new(next, vec![numbers.bytes() * rows]);
        for wave in waves_of_numbers(rows, 1) {
            let messages = self.mask_wave(&wave, &mut mine);
            send_all_masked(&mut self.session, previous, messages)?;
            sent += wave.bytes();
            arriving.keep_up(&mut self.session, sent)?;
        }
        let arrived = arriving.finish(&mut self.session)?.swap_remove(0);
        let next = lanes::vector(rows, LEAST, PIECE, |lane, room| {
            let mut buffer = [0; PIECE];
            let bytes = numbers.bytes() * lane.start..numbers.bytes() * lane.end;
            for sent in arrived[bytes].chunks(numbers.bytes() * PIECE) {
                let read = &mut buffer[..sent.len() / numbers.bytes()];
                numbers.read(sent, read);
                room.extend_from_slice(read);
            }
        });
        let [mine] = mine;
        Ok(Share { mine, next })
    }

    /// Adds a_i to a wave of z_i, which is given as messages.
    fn mask_wave(&mut self, wave: &Wave, z: &mut [Vec<u32>; 1]) -> Vec<Vec<u8>> {
        let numbers = Numbers::of(z[0].len());
        let mut messages = wave.buffers(&mut self.session);
        let mut in_messages = wave.in_messages(&mut messages);
        let rooms =
            wave.message_rooms(&mut in_messages).into_iter().zip(wave.slices(z.iter_mut().map(Vec::as_mut_slice)));
        let blocks = blocks_of_columns(wave, 1);
        let drawn = self.with_next.parts(blocks.clone()).into_iter().zip(self.with_previous.parts(blocks));
        wave.compute(rooms.zip(drawn), |_, ((mut message, z), (mut added, mut subtracted))| {
            let ([mut a_i, mut less], mut bytes) = ([[0; PIECE]; 2], [0; size_of::<u32>() * PIECE]);
            for z_i in z.chunks_mut(PIECE) {
                let a_i = &mut a_i[..z_i.len()];
                zero_share(a_i, &mut less[..z_i.len()], &mut added, &mut subtracted);
                z_i.iter_mut().zip(a_i).for_each(|(z_i, a_i)| *z_i = z_i.wrapping_add(*a_i) & numbers.mask());
                let bytes = &mut bytes[..numbers.bytes() * z_i.len()];
                numbers.write(z_i, bytes);
                message.extend_from_slice(bytes);
            }
        });
        lanes::finish(in_messages);
        messages
    }
}

/// The places at which the chunks of all waves begin, by the sums of each.
fn places<const N: usize>(waves: &[Wave], sums: &[[u32; N]], rows: usize) -> Vec<Place<u32, N>> {
    let plus = |x: [u32; N], y: &[u32; N]| std::array::from_fn(|t| x[t].wrapping_add(y[t]));
    let totals = sums.iter().fold([0; N], plus);
    let chunks = waves.iter().flat_map(Wave::ranges).zip(sums);
    let place = |before: &mut [u32; N], (range, sums): (&Range<usize>, &[u32; N])| {
        let place = Place { rows, row: range.start, totals, before: *before };
        *before = plus(*before, sums);
        Some(place)
    };
    chunks.scan([0; N], place).collect()
}

/// The masks of nodes 1 and 2, this node's own ones first.
fn draw_masks<const N: usize>(masks: &mut [Room; 2], is_second: bool, drawn: &mut Part<'_>, rows: usize) {
    let [own, other] = masks;
    let [first, second] = if is_second { [own, other] } else { [other, own] };
    first[1..=N].iter_mut().chain(&mut second[1..=N]).for_each(|r| drawn.fill(&mut r[..rows]));
}
