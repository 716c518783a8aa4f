//! Lookups of shared digits in tables that each node can write for its own part of them, by transfers of one string of
//! sixteen.
//!
//! Functionality: shares of f(s XOR r), or of any function of s and r. The function f is from digits of w = [`WIDTH`]
//! bits to strings of one or two bits. One node (the sender) has s, the other one (the receiver) r. Discloses nothing.
//!
//! 1. The receiver learns the pad m_r of sixteen pads that the sender has.
//! 2. The sender keeps k = m_0 XOR f(s, 0) and sends m_v XOR f(s, v) XOR k for every v but 0.
//! 3. The receiver XORs m_r and, unless r is 0, what it got for r: both sum up to f(s, r).
//!
//! **Pads** come from w OTs, one for each bit of r, whose bits the receiver chose. OT j gives the sender the blocks q_j
//! and q_j XOR delta, the receiver the one that r_j says. Of a block's hash H, chunk v, as long as a string, belongs to
//! the string v. The pad m_v is the XOR of the chunks v of H(q_j XOR v_j delta) over all j. So pads take 2 w hashes at
//! the sender and w at the receiver. For v other than r there is a j with v_j other than r_j. Hence m_v has a chunk of
//! a hash of which the receiver knows neither the block nor anything else. Correlation robustness makes these hashes
//! look random, and chunks of different v lie at different places. So all pads but m_r together look random to the
//! receiver.
//!
//! Each node is the sender of half of the rows' words. OTs: w a row and digit, rows rounded up to words, streamed
//! ([`streams`]). Rounds: 2. A row and digit costs its receiver w/64 blocks of corrections for each of SoftSpokenOT's
//! trees, which carry its choices too, and its sender 15 strings.
//!
//! Source: Naor, Pinkas, "Oblivious Transfer and Polynomial Evaluation" (STOC 1999), section 3.1: one of 2^w strings
//! from w transfers of one of two. **Departures** a hash of one block gives the pads of all strings, chunk by chunk,
//! where theirs is a function of the key and the string's number. One pad is a share, so that fifteen strings are sent.

use tacit_math::plane::words_for;
use tacit_math::transpose::square;
use tacit_math::{CorrelationRobustHash, Plane};
use tacit_net::Cost;

use super::parts;
use crate::Result;
use crate::backends::two::terms::DIGIT;
use crate::backends::two::transfers::{Stock, streams};
use crate::backends::two::{NODES, Share, Two};
use crate::backends::wire::{Outgoing, recv_cells};

/// Bits of a digit.
pub(in crate::backends::two) const WIDTH: usize = DIGIT;

/// Bits of each of two shared numbers in a digit.
pub(in crate::backends::two) const PAIRS: usize = WIDTH / 2;

/// Strings of a streamed lookup: one for every digit.
pub(in crate::backends::two) const STREAMED_STRINGS: usize = 1 << WIDTH;

/// Strings that its sender sends: all but the first.
const STREAMED_ENTRIES: usize = STREAMED_STRINGS - 1;

/// For each bit of a digit, the chunks of a hash that belong to strings whose numbers have that bit.
const WITH_BIT: [u64; WIDTH] =
    [0xaaaa_aaaa_aaaa_aaaa, 0xcccc_cccc_cccc_cccc, 0xf0f0_f0f0_f0f0_f0f0, 0xff00_ff00_ff00_ff00];

/// The strings of 64 rows: for each of their bits, the rows in which the string of each number has it.
pub(in crate::backends::two) type Table<const BITS: usize> = [[u64; STREAMED_STRINGS]; BITS];

/// A digit's bits of 64 rows.
pub(in crate::backends::two) type Digit = [u64; WIDTH];

/// OTs of each direction that `digits` digits a row take: node d is the sender in direction d.
pub(in crate::backends::two) fn counts(rows: usize, digits: usize) -> [usize; NODES] {
    parts(rows).map(|part| 64 * WIDTH * digits * part.len())
}

/// What looking up costs, strings of `bits` bits, once streams have begun.
pub(in crate::backends::two) fn cost(rows: usize, digits: usize, bits: usize) -> Cost {
    let strings = parts(rows).map(|part| (8 * bits * STREAMED_ENTRIES * digits * part.len()) as u64);
    let mut cost = Cost { rounds: 2, sent: strings.to_vec() };
    cost += streams::chosen_cost(counts(rows, digits));
    cost
}

impl Two {
    /// What every digit looks up. `table` writes the strings for the sender's part of a digit, by the receiver's part.
    pub(in crate::backends::two) fn look_up<const BITS: usize>(
        &mut self,
        rows: usize,
        digits: &[[&Plane; WIDTH]],
        table: impl Fn(Digit) -> Table<BITS>,
    ) -> Result<[Vec<Share<Plane>>; BITS]> {
        const { assert!(BITS * STREAMED_STRINGS <= 64, "a chunk for every string in half a hash") };
        let (peer, parts) = (self.peer(), parts(rows));
        let [sending, receiving] = [self.me(), 1 - self.me()].map(|node| parts[node].clone());
        let bits_of = |part: &std::ops::Range<usize>| -> Vec<Digit> {
            let of_digit = |digit| part.clone().map(move |word| words_at(digit, word));
            digits.iter().flat_map(of_digit).collect()
        };
        let (s, r) = (bits_of(&sending), bits_of(&receiving));
        // k of the rows of which this node is the sender, m_r of the others.
        let (mut kept, mut found) = (Vec::with_capacity(s.len()), Vec::with_capacity(r.len()));
        let mut message: Vec<[[u64; STREAMED_ENTRIES]; BITS]> = Vec::with_capacity(s.len());
        // For a test that records contents.
        let mut noted: Option<Vec<Table<BITS>>> = Stock::notes(&self.session).then(Vec::new);
        self.stock.begin_streams(&mut self.session)?;
        self.session.next_round();
        self.stock.stream_chosen(
            &mut self.session,
            (64 * WIDTH * s.len(), r.as_flattened()),
            |hash, offset, blocks| {
                for blocks in digits_of(blocks) {
                    // Step 1: all m_v. Step 2: k, and what is sent.
                    let pads = pads_of_sender(hash, offset, blocks);
                    noted.iter_mut().for_each(|noted| noted.push(pads));
                    let (k, sent) = masked(table(s[message.len()]), pads);
                    kept.push(k);
                    message.push(sent);
                }
            },
            |hash, r, blocks| {
                for (r, blocks) in r.as_chunks::<WIDTH>().0.iter().zip(digits_of(blocks)) {
                    // Step 1: m_r.
                    let is_r: [u64; STREAMED_STRINGS] = one_hot(*r);
                    found
                        .push(pads_of_receiver(hash, blocks).map(|pads: [u64; STREAMED_STRINGS]| chosen(&is_r, &pads)));
                }
            },
        )?;
        Stock::note(&self.session, "pads", noted.unwrap_or_default().as_flattened().as_flattened());
        Stock::note(&self.session, "found", found.as_flattened());
        self.session.next_round();
        let mut stream = Outgoing::masked(&mut self.session, peer);
        stream.push_masked(&mut self.session, message.as_flattened().as_flattened())?;
        stream.finish(&mut self.session)?;
        let mut out = [(); BITS].map(|()| Vec::with_capacity(digits.len()));
        // Step 3: of every word k where this node is the sender, m_r and the entry for r where it is the receiver.
        for (kept, found, r) in by_digit(digits.len(), &kept, &found, &r) {
            let entries: Vec<u64> = recv_cells(&mut self.session, peer, BITS * STREAMED_ENTRIES * found.len())?;
            let entries = entries.as_chunks::<STREAMED_ENTRIES>().0.as_chunks::<BITS>().0;
            let mut words = [(); BITS].map(|()| vec![0; words_for(rows)]);
            for (bit, words) in words.iter_mut().enumerate() {
                words[sending.clone()].iter_mut().zip(kept).for_each(|(word, kept)| *word = kept[bit]);
            }
            for (at, ((m_r, r), entries)) in receiving.clone().zip(found.iter().zip(r).zip(entries)) {
                let is_r: [u64; STREAMED_STRINGS] = one_hot(*r);
                for (bit, words) in words.iter_mut().enumerate() {
                    words[at] = m_r[bit] ^ chosen(&is_r[1..], &entries[bit]);
                }
            }
            for (out, words) in out.iter_mut().zip(words) {
                out.push(Share(Plane::from_words(rows, words)));
            }
        }
        Ok(out)
    }
}

/// What is kept, found and chosen of each digit.
fn by_digit<'a, const BITS: usize>(
    digits: usize,
    kept: &'a [[u64; BITS]],
    found: &'a [[u64; BITS]],
    choices: &'a [Digit],
) -> impl Iterator<Item = (&'a [[u64; BITS]], &'a [[u64; BITS]], &'a [Digit])> {
    let [sent, received] = [kept.len(), found.len()].map(|all| all / digits);
    let part = move |digit: usize, words: usize| digit * words..(digit + 1) * words;
    (0..digits)
        .map(move |digit| (&kept[part(digit, sent)], &found[part(digit, received)], &choices[part(digit, received)]))
}

fn words_at(digit: &[&Plane; WIDTH], word: usize) -> Digit {
    digit.map(|plane| plane.words()[word])
}

/// Blocks digit by digit: for each bit, those of 64 rows.
fn digits_of(blocks: &[u128]) -> &[[[u128; 64]; WIDTH]] {
    blocks.as_chunks::<64>().0.as_chunks::<WIDTH>().0
}

/// The pads that the sender has of 64 rows.
fn pads_of_sender<const BITS: usize>(
    hash: &CorrelationRobustHash,
    offset: u128,
    blocks: &[[u128; 64]; WIDTH],
) -> Table<BITS> {
    let mut rows = [0; 64];
    hash.add_masked(blocks, 0, &WITH_BIT.map(|chunks| !chunks), &mut rows);
    hash.add_masked(blocks, offset, &WITH_BIT, &mut rows);
    chunks(rows)
}

/// Those of the receiver: what is not for the string that it chose is of no use.
fn pads_of_receiver<const BITS: usize>(hash: &CorrelationRobustHash, blocks: &[[u128; 64]; WIDTH]) -> Table<BITS> {
    let mut rows = [0; 64];
    hash.add_masked(blocks, 0, &[!0; WIDTH], &mut rows);
    chunks(rows)
}

/// Bit i of string v is at place 16 i + v of a row.
fn chunks<const BITS: usize>(mut rows: [u64; 64]) -> Table<BITS> {
    square(&mut rows);
    std::array::from_fn(|bit| std::array::from_fn(|v| rows[STREAMED_STRINGS * bit + v]))
}

/// Step 2: what the sender keeps, and what it sends.
fn masked<const BITS: usize>(table: Table<BITS>, pads: Table<BITS>) -> ([u64; BITS], [[u64; STREAMED_ENTRIES]; BITS]) {
    let k = std::array::from_fn(|bit| table[bit][0] ^ pads[bit][0]);
    let sent = |bit: usize, v: usize| table[bit][v] ^ pads[bit][v] ^ k[bit];
    (k, std::array::from_fn(|bit| std::array::from_fn(|v| sent(bit, v + 1))))
}

/// The entry that is meant in each row.
fn chosen(here: &[u64], entries: &[u64]) -> u64 {
    here.iter().zip(entries).fold(0, |sum, (here, entry)| sum ^ here & entry)
}

/// For each number the rows in which the bits are its own.
pub(in crate::backends::two) fn one_hot<const W: usize, const N: usize>(bits: [u64; W]) -> [u64; N] {
    const { assert!(N == 1 << W, "a number for each choice of bits") };
    let mut out = [0; N];
    out[0] = !0;
    for (i, bit) in bits.into_iter().enumerate() {
        for low in 0..1 << i {
            out[low | 1 << i] = out[low] & bit;
            out[low] &= !bit;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use tacit_math::{CorrelationRobustHash, Prg, Seed};

    use super::{STREAMED_STRINGS, Table, WIDTH, WITH_BIT, one_hot, pads_of_receiver, pads_of_sender};

    #[test]
    fn every_row_has_one_place() {
        let bits: [u64; WIDTH] = std::array::from_fn(|i| 0x0123_4567_89ab_cdef_u64.rotate_left(7 * i as u32));
        let places: [u64; STREAMED_STRINGS] = one_hot(bits);
        for row in 0..64 {
            let place = (0..WIDTH).fold(0, |place, i| place | (bits[i] as usize >> row & 1) << i);
            (0..STREAMED_STRINGS).for_each(|j| assert_eq!(places[j] >> row & 1 == 1, j == place));
        }
    }

    #[test]
    fn the_receiver_has_one_pad_of_each_row_and_others_look_random() {
        let mut prg = Prg::new(&Seed::from_bytes([9; 16]));
        let (hash, delta) = (CorrelationRobustHash::new(), prg.vector::<u128>(1)[0]);
        let zero: [[u128; 64]; WIDTH] = std::array::from_fn(|_| prg.vector::<[u128; 64]>(1)[0]);
        let choices: [u64; WIDTH] = std::array::from_fn(|_| prg.vector::<u64>(1)[0]);
        let block = |i: usize, row: usize| zero[i][row] ^ (delta * u128::from(choices[i] >> row & 1));
        let blocks = std::array::from_fn(|i| std::array::from_fn(|row| block(i, row)));
        let all: Table<2> = pads_of_sender(&hash, delta, &zero);
        let found: Table<2> = pads_of_receiver(&hash, &blocks);
        let here: [u64; STREAMED_STRINGS] = one_hot(choices);
        let (mut same, mut others) = (0, 0);
        for bit in 0..2 {
            for v in 0..STREAMED_STRINGS {
                let agreeing = !(all[bit][v] ^ found[bit][v]);
                assert_eq!(agreeing & here[v], here[v]);
                same += (agreeing & !here[v]).count_ones();
                others += (!here[v]).count_ones();
            }
        }
        // Of 1920 pads that it lacks it would guess half; ten standard deviations are 220.
        assert_eq!(others, 2 * 64 * 15);
        assert!(same.abs_diff(others / 2) < 220, "{same} of {others}");
    }

    #[test]
    fn chunks_belong_to_numbers_with_the_bit() {
        for (i, chunks) in WITH_BIT.into_iter().enumerate() {
            (0..64).for_each(|place| assert_eq!(chunks >> place & 1 == 1, (place % STREAMED_STRINGS) >> i & 1 == 1));
        }
    }
}
