//! SoftSpokenOT: correlated OT from a few base OTs, with traffic traded for computation by a parameter k.
//!
//! **Computes** n correlated OTs with random bits: the sender holds delta and Q, the receiver bits u and V, and row by
//! row Q = V + u delta ([`crate::correlated`]). Delta is 128 random bits from the sender's setup. **Adversary**
//! semi-honest or malicious, either party. Malicious senders can do nothing by construction. A malicious receiver that
//! corrects blocks differently is caught unless it guesses those blocks' bits of delta, or two of its at most 128
//! different columns have the same hash. The latter has probability 2^-64 for each pair, below 2^-50 in all. A wrong
//! guess aborts, so what it learns of delta it pays for in probability. **Discloses** nothing.
//!
//! **Cost** with b = ceil(128/k) blocks and w = ceil(n/64) words (one more if malicious). Setup: 128 base OTs and their
//! trees ([`setup_cost`]), 2 rounds (1 if k = 1). Extension of n > 0: 1 round, 8 (b-1) w bytes from the receiver;
//! malicious: 2 more rounds, 16 bytes from the sender and 1032 from the receiver. The receiver computes 2^k b / 128 AES
//! blocks an OT, the sender 2^k - 1 for every 2^k of those: 2 and 1.5 for k = 2, 32 for k = 8.
//!
//! **Steps**, for each block j of k bits of delta, which are a number delta_j:
//!
//! 1. Setup: the receiver has a tree, whose leaves are streams r(x). The sender has all but r(delta_j), each at place
//!    x + delta_j ([`crate::ggm`]).
//! 2. The receiver computes u_j, the sum of all r(x), and the columns of V: column i is the sum of those r(x) whose x
//!    has bit i. The sender's sums are the columns of V + u_j delta_j.
//! 3. The receiver takes u = u_0 as its choices and sends d_j = u_j + u for each other block. The sender adds d_j
//!    delta_j, which leaves Q = V + u delta.
//! 4. Malicious: the sender draws a universal hash h, the receiver sends h(u) and h of every column of V, and the
//!    sender compares with h(Q) = h(V) + h(u) delta.
//!
//! **Source** Roy, "SoftSpokenOT: Quieter OT Extension from Small-Field Silent VOLE in the Minicrypt Model" (CRYPTO
//! 2022, ePrint 2022/192). Small-field VOLE from punctured trees (section 3), subspace VOLE with the repetition code
//! and its consistency check by a universal hash (section 4), correlated OT from it (section 5). **Departures** the
//! code word's first block is the receiver's choice and is not corrected. So bits are random, and one block in b is
//! free (`extend_chosen` corrects it, for bits of the receiver's own). Each extension has a check of its own, with one
//! word of rows that only mask it.

mod chosen;
#[cfg(test)]
pub(crate) mod deviation;
mod duplex;
#[cfg(test)]
mod views;

use tacit_math::pages::reserve_on_large_pages;
use tacit_math::{Prg, Seed, transpose, universal, words};
use tacit_net::{PartyId, Session, Traffic};
use zeroize::Zeroizing;

use crate::correlated::{CotReceiver, CotSender};
use crate::error::fresh_seed;
use crate::{Adversary, OtError, base, ggm};

pub use chosen::chosen_cost;
pub use duplex::{extend_both, extend_both_chosen};

/// Bits of delta: columns of the matrices.
pub const COLUMNS: usize = 128;

/// Rows whose columns are made together: half a KiB a column, 64 KiB in all.
const TILE: usize = 4096;

/// Words that adding up the leaves of a tree takes besides the sums: a column for each level, and two more at the last
/// one.
const SCRATCH: usize = 9 * TILE / 64;

/// Tiles whose corrections are one message: half a MiB for k = 2.
const TILES: usize = 16;

/// A matrix of 64-row words by columns: for a tile, columns one after the other; for an output, rows of two words.
type Columns = Vec<u64>;

/// Bits of delta in every block: k each, what remains in the last.
fn depths(k: usize) -> Vec<usize> {
    assert!((1..=8).contains(&k), "k is from 1 to 8, not {k}");
    (0..COLUMNS).step_by(k).map(|first| k.min(COLUMNS - first)).collect()
}

/// Words of a column: one bit for every OT, and a word that masks the proof.
fn column_words(n: usize, adversary: Adversary) -> usize {
    n.div_ceil(64) + usize::from(adversary == Adversary::Malicious)
}

/// The cost of both sides' `setup`.
///
/// # Panics
/// Unless k is from 1 to 8.
pub fn setup_cost(k: usize, adversary: Adversary) -> Traffic {
    let depths = depths(k);
    Traffic {
        rounds: ggm::rounds(&depths),
        sender: base::bytes_of_receiver(COLUMNS),
        receiver: base::bytes_of_sender(COLUMNS) + ggm::bytes_of_sender(&depths, adversary),
    }
}

/// The cost of both sides' `extend`.
///
/// # Panics
/// Unless k is from 1 to 8.
pub fn extension_cost(k: usize, adversary: Adversary, n: usize) -> Traffic {
    let corrections = 8 * ((depths(k).len() - 1) * column_words(n, adversary)) as u64;
    match adversary {
        _ if n == 0 => Traffic::default(),
        Adversary::SemiHonest => Traffic { rounds: 1, sender: 0, receiver: corrections },
        Adversary::Malicious => Traffic { rounds: 3, sender: 16, receiver: corrections + (8 + 8 * COLUMNS) as u64 },
    }
}

/// The sender of OTs. Its first error is its last: delta is erased then, and every later call is [`OtError::Ended`]. A
/// receiver that could go on after a wrong guess would learn delta a few bits a try.
pub struct Sender {
    peer: PartyId,
    adversary: Adversary,
    /// None after an error.
    secret: Option<Secret>,
    used: u64,
}

/// What a sender has of its setup: delta, and all leaves of every tree but one.
struct Secret {
    peer: PartyId,
    adversary: Adversary,
    delta: Zeroizing<u128>,
    blocks: Vec<Block>,
}

/// The receiver of OTs: it knows every tree.
pub struct Receiver {
    peer: PartyId,
    adversary: Adversary,
    blocks: Vec<Block>,
    used: u64,
}

impl Sender {
    /// Draws delta and gets the trees.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    ///
    /// # Panics
    /// Unless k is from 1 to 8.
    pub fn setup(session: &mut Session, peer: PartyId, adversary: Adversary, k: usize) -> Result<Self, OtError> {
        let delta = u128::from_le_bytes(*fresh_seed()?.expose());
        Self::setup_with(session, peer, adversary, k, delta)
    }

    /// Gets the trees for a delta of the caller's choice, of which the receiver learns nothing; 128 bits of security
    /// need a random one.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    ///
    /// # Panics
    /// Unless k is from 1 to 8.
    pub fn setup_with(
        session: &mut Session,
        peer: PartyId,
        adversary: Adversary,
        k: usize,
        delta: u128,
    ) -> Result<Self, OtError> {
        let delta = Zeroizing::new(delta);
        let hidden: Zeroizing<Vec<bool>> = Zeroizing::new((0..COLUMNS).map(|i| *delta >> i & 1 == 1).collect());
        // Step 1.
        let trees = ggm::receive(session, peer, &depths(k), &hidden, adversary)?;
        let blocks = trees.into_iter().map(|leaves| Block::new(leaves.iter().map(Option::as_ref))).collect();
        Ok(Self { peer, adversary, secret: Some(Secret { peer, adversary, delta, blocks }), used: 0 })
    }

    /// The next n OTs.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`]; [`OtError::Ended`] after an earlier error.
    pub fn extend(&mut self, session: &mut Session, n: usize) -> Result<CotSender, OtError> {
        let (first, mut zero) = (self.used, vec![]);
        let delta = self.extended(session, n, &mut zero)?;
        Ok(CotSender { first, delta, zero })
    }

    /// As [`Self::extend`], which appends the zero blocks to those that are there: memory that is used again costs no
    /// page faults.
    ///
    /// # Errors
    /// As [`Self::extend`].
    pub fn append(&mut self, session: &mut Session, n: usize, zero: &mut Vec<u128>) -> Result<(), OtError> {
        self.extended(session, n, zero).map(drop)
    }

    /// Appends the zero blocks of the next n OTs and gives delta.
    fn extended(&mut self, session: &mut Session, n: usize, zero: &mut Vec<u128>) -> Result<u128, OtError> {
        let (before, new) = (zero.len(), 64 * column_words(n, self.adversary));
        let delta = self.once(session, |secret, session| {
            reserve_on_large_pages(zero, new);
            zero.resize(before + new, 0);
            if n > 0 {
                session.next_round();
                secret.fill(session, bytemuck::cast_slice_mut(&mut zero[before..]))?;
            }
            zero.truncate(before + n);
            Ok(*secret.delta)
        })?;
        self.used += n as u64;
        Ok(delta)
    }

    /// Does something with the secret, which is there again only if that went well.
    fn once<T>(
        &mut self,
        session: &mut Session,
        body: impl FnOnce(&mut Secret, &mut Session) -> Result<T, OtError>,
    ) -> Result<T, OtError> {
        let mut secret = self.secret.take().ok_or_else(|| OtError::ended(session, self.peer))?;
        let done = body(&mut secret, session)?;
        self.secret = Some(secret);
        Ok(done)
    }
}

impl Secret {
    /// Makes the rows of Q: steps 2 to 4.
    fn fill(&mut self, session: &mut Session, rows: &mut [[u64; 2]]) -> Result<(), OtError> {
        let mut columns = vec![0; 2 * TILE];
        let mut corrections = vec![0; (self.blocks.len() - 1) * (TILE / 64)];
        for tile in rows.chunks_mut(TILE) {
            let words = tile.len() / 64;
            let columns = &mut columns[..COLUMNS * words];
            self.corrected_columns(session, 1, columns, &mut corrections[..(self.blocks.len() - 1) * words])?;
            store(columns, tile, self.adversary);
        }
        match self.adversary {
            Adversary::SemiHonest => Ok(()),
            Adversary::Malicious => self.check(session, rows),
        }
    }

    /// The columns of a tile, for which the peer's corrections of the blocks from `first` on are received.
    fn corrected_columns(
        &mut self,
        session: &mut Session,
        first: usize,
        columns: &mut [u64],
        corrections: &mut [u64],
    ) -> Result<(), OtError> {
        self.columns(columns);
        let (bytes, mut filled) = (size_of_val(corrections), 0);
        // They are used where they lie if they arrived in one piece.
        session.recv_pieces(self.peer, bytes, |piece| match bytemuck::try_cast_slice(piece) {
            Ok(whole) if piece.len() == bytes => self.correct(first, columns, whole),
            _ => {
                bytemuck::cast_slice_mut(corrections)[filled..filled + piece.len()].copy_from_slice(piece);
                filled += piece.len();
            }
        })?;
        if filled > 0 {
            self.correct(first, columns, corrections);
        }
        Ok(())
    }

    /// Step 2: every tree's columns of a tile, before correction.
    fn columns(&mut self, columns: &mut [u64]) {
        let (mut sum, mut scratch) = ([0; TILE / 64], [0; SCRATCH]);
        let words = columns.len() / COLUMNS;
        let mut later = columns;
        for block in &mut self.blocks {
            let (own, rest) = later.split_at_mut(block.depth * words);
            fold_anew(&mut block.leaves, own, &mut sum[..words], &mut scratch);
            later = rest;
        }
    }

    /// Step 3: adds d_j delta_j of the blocks from `first` on.
    fn correct(&self, first: usize, columns: &mut [u64], corrections: &[u64]) {
        let words = columns.len() / COLUMNS;
        let mut number: usize = self.blocks[..first].iter().map(|block| block.depth).sum();
        for (block, correction) in self.blocks[first..].iter().zip(corrections.chunks_exact(words)) {
            for column in columns[number * words..][..block.depth * words].chunks_exact_mut(words) {
                // The compiler would branch on a bit of delta if it saw that this is all ones or zero.
                let bit = std::hint::black_box(((*self.delta >> number) as u64 & 1).wrapping_neg());
                column.iter_mut().zip(correction).for_each(|(q, d_j)| *q ^= d_j & bit);
                number += 1;
            }
        }
    }

    /// Step 4: asks for h(u) and h(V), and compares them with h(Q).
    fn check(&self, session: &mut Session, rows: &mut [[u64; 2]]) -> Result<(), OtError> {
        session.next_round();
        let challenge = fresh_seed()?.published();
        session.send(self.peer, challenge.expose().to_vec())?;
        let h_q = hash_and_turn(&challenge, rows);
        session.next_round();
        let mut proof = [0u64; 1 + COLUMNS];
        session.recv(self.peer, bytemuck::cast_slice_mut(&mut proof))?;
        let [h_u, h_v @ ..] = &proof;
        let mut difference = 0;
        for (i, (h_q, h_v)) in h_q.iter().zip(h_v).enumerate() {
            let bit = (*self.delta >> i) as u64 & 1;
            difference |= h_q ^ h_v ^ h_u & bit.wrapping_neg();
        }
        // The receiver sees whether this party goes on, and no more of the difference.
        match tacit_marks::published(difference == 0) {
            true => Ok(()),
            false => Err(OtError::cheating(session, self.peer, "corrections that contradict each other")),
        }
    }
}

impl Receiver {
    /// Draws the trees.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    ///
    /// # Panics
    /// Unless k is from 1 to 8.
    pub fn setup(session: &mut Session, peer: PartyId, adversary: Adversary, k: usize) -> Result<Self, OtError> {
        // Step 1.
        let trees = ggm::send(session, peer, &depths(k), adversary)?;
        let blocks = trees.iter().map(|leaves| Block::new(leaves.iter().map(Some))).collect();
        Ok(Self { peer, adversary, blocks, used: 0 })
    }

    /// The next n OTs, with random bits.
    ///
    /// # Errors
    /// The connection's failure.
    pub fn extend(&mut self, session: &mut Session, n: usize) -> Result<CotReceiver, OtError> {
        let mut ots = CotReceiver { first: self.used, choices: Vec::new(), blocks: Vec::new() };
        self.append(session, n, &mut ots.choices, &mut ots.blocks)?;
        Ok(ots)
    }

    /// As [`Self::extend`], which appends choices and blocks to those that are there, whole words of them.
    ///
    /// # Errors
    /// The connection's failure.
    ///
    /// # Panics
    /// If there are not 64 blocks for each word of choices.
    pub fn append(
        &mut self,
        session: &mut Session,
        n: usize,
        choices: &mut Vec<u64>,
        blocks: &mut Vec<u128>,
    ) -> Result<(), OtError> {
        let (before, new) = (choices.len(), column_words(n, self.adversary));
        assert_eq!(blocks.len(), 64 * before, "whole words of choices");
        reserve_on_large_pages(blocks, 64 * new);
        blocks.resize(64 * (before + new), 0);
        choices.resize(before + new, 0);
        if n > 0 {
            session.next_round();
            let rows = bytemuck::cast_slice_mut(&mut blocks[64 * before..]);
            self.fill(session, rows, &mut choices[before..])?;
        }
        blocks.truncate(64 * before + n);
        choices.truncate(before + n.div_ceil(64));
        self.used += n as u64;
        Ok(())
    }

    /// Makes the rows of V and the bits u: steps 2 to 4.
    fn fill(&mut self, session: &mut Session, rows: &mut [[u64; 2]], bits: &mut [u64]) -> Result<(), OtError> {
        let mut columns: Columns = vec![0; 2 * TILE];
        for (piece, bits) in rows.chunks_mut(TILES * TILE).zip(bits.chunks_mut(TILES * TILE / 64)) {
            let mut message = session.buffer(8 * (self.blocks.len() - 1) * bits.len());
            for (tile, bits) in piece.chunks_mut(TILE).zip(bits.chunks_mut(TILE / 64)) {
                let columns = &mut columns[..COLUMNS * bits.len()];
                self.columns(columns, bits, &mut message);
                store(columns, tile, self.adversary);
            }
            session.send(self.peer, message)?;
        }
        match self.adversary {
            Adversary::SemiHonest => Ok(()),
            Adversary::Malicious => self.prove(session, rows, bits),
        }
    }

    /// Steps 2 and 3: every tree's columns of a tile; `bits` become u; and d_j of the other blocks.
    fn columns(&mut self, columns: &mut [u64], bits: &mut [u64], corrections: &mut Vec<u8>) {
        let (mut sum, mut scratch) = ([0; TILE / 64], [0; SCRATCH]);
        let u_j = &mut sum[..bits.len()];
        let mut later = columns;
        for (number, block) in self.blocks.iter_mut().enumerate() {
            let (own, rest) = later.split_at_mut(block.depth * bits.len());
            fold_anew(&mut block.leaves, own, u_j, &mut scratch);
            if number == 0 {
                bits.copy_from_slice(u_j);
            } else {
                // d_j = u_j + u, which r(delta_j), a summand that the sender lacks, masks.
                words::add(u_j, bits);
                corrections.extend_from_slice(bytemuck::cast_slice(u_j));
            }
            later = rest;
        }
    }

    /// Step 4: answers the sender's challenge with h(u) and h(V).
    fn prove(&self, session: &mut Session, rows: &mut [[u64; 2]], bits: &[u64]) -> Result<(), OtError> {
        session.next_round();
        let mut challenge = [0; 16];
        session.recv(self.peer, &mut challenge)?;
        let challenge = Seed::from_bytes(challenge);
        let mut h_u = [0];
        universal::accumulate(&mut h_u, bits, &key(&challenge, bits.len()));
        let h_v = hash_and_turn(&challenge, rows);
        session.next_round();
        let proof: Vec<u64> = h_u.map(universal::reduce).into_iter().chain(h_v).collect();
        Ok(session.send(self.peer, bytemuck::cast_slice(&proof).to_vec())?)
    }
}

/// The tree behind up to eight bits of delta, its leaves as streams.
struct Block {
    depth: usize,
    leaves: Vec<Option<Prg>>,
}

impl Block {
    fn new<'a>(seeds: impl Iterator<Item = Option<&'a Seed>>) -> Self {
        let leaves: Vec<_> = seeds.map(|seed| seed.map(Prg::new)).collect();
        Self { depth: leaves.len().ilog2() as usize, leaves }
    }
}

/// The next words r(x) of all leaves, of which there are two at least. `sum` becomes the sum of all r(x); to column j
/// is added the sum of those r(x) whose x has bit j. A leaf that is not known counts as zero, which matters for the sum
/// alone if it is leaf 0.
fn fold(leaves: &mut [Option<Prg>], columns: &mut [u64], sum: &mut [u64], scratch: &mut [u64]) {
    let words = sum.len();
    let (a, scratch) = scratch.split_at_mut(words);
    match leaves {
        [l0, l1] => {
            next(l0, sum);
            next(l1, a);
            words::add(columns, a);
            words::add(sum, a);
        }
        [l0, l1, l2, l3] => {
            let (low, high) = columns.split_at_mut(words);
            let (b, scratch) = scratch.split_at_mut(words);
            let c = &mut scratch[..words];
            next(l0, sum);
            next(l1, a);
            next(l2, b);
            next(l3, c);
            words::fold_four(sum, [a, b, c], low, high);
        }
        _ => {
            let (low, high) = leaves.split_at_mut(leaves.len() / 2);
            let (lower, highest) = columns.split_at_mut(columns.len() - words);
            fold(low, lower, sum, scratch);
            fold(high, lower, a, scratch);
            words::add(highest, a);
            words::add(sum, a);
        }
    }
}

/// As [`fold`], where the columns held nothing before: what lies there is overwritten.
fn fold_anew(leaves: &mut [Option<Prg>], columns: &mut [u64], sum: &mut [u64], scratch: &mut [u64]) {
    let words = sum.len();
    match leaves {
        [l0, l1, l2, l3] => {
            let ((low, high), last) = (columns.split_at_mut(words), &mut scratch[..words]);
            next(l0, sum);
            next(l1, low);
            next(l2, high);
            next(l3, last);
            words::join_four(sum, low, high, last);
        }
        _ => {
            columns.fill(0);
            fold(leaves, columns, sum, scratch);
        }
    }
}

fn next(leaf: &mut Option<Prg>, words: &mut [u64]) {
    match leaf {
        Some(prg) => prg.fill(words),
        None => words.fill(0),
    }
}

/// Puts a tile into the output: as rows; or, if it will be hashed first, as columns.
fn store(columns: &[u64], tile: &mut [[u64; 2]], adversary: Adversary) {
    match adversary {
        Adversary::SemiHonest => transpose::rows_of_columns(columns, tile),
        Adversary::Malicious => tile.as_flattened_mut().copy_from_slice(columns),
    }
}

/// The key of the check's hash. The last word, which masks, has the coefficient 1.
fn key(challenge: &Seed, words: usize) -> Vec<u64> {
    let mut key: Vec<u64> = Prg::new(challenge).vector(words);
    key[words - 1] = 1;
    key
}

/// The hashes of all columns; on the way, tiles that were stored as columns become rows.
fn hash_and_turn(challenge: &Seed, rows: &mut [[u64; 2]]) -> [u64; COLUMNS] {
    let key = key(challenge, rows.len() / 64);
    let mut sums = [0; COLUMNS];
    let mut columns: Columns = vec![0; 2 * TILE];
    for (tile, key) in rows.chunks_mut(TILE).zip(key.chunks(TILE / 64)) {
        let columns = &mut columns[..COLUMNS * key.len()];
        columns.copy_from_slice(tile.as_flattened());
        universal::accumulate(&mut sums, columns, key);
        transpose::rows_of_columns(columns, tile);
    }
    sums.map(universal::reduce)
}
