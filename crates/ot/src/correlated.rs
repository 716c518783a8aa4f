//! Correlated, random and chosen OT: what an extension gives, and what is made of it.
//!
//! An extension ends in n **correlated** OTs: the sender holds a secret offset delta and blocks zero(i); the receiver
//! holds bits x(i) and blocks(i) = zero(i) ^ x(i) delta. Hashing them gives **random** OTs: keys H(i, zero(i)) and H(i,
//! zero(i) ^ delta) at the sender, the x(i)-th of them at the receiver. Keys that mask messages give **chosen** OTs.
//!
//! **Adversary** that of the extension. **Hash** keys are hashes of blocks plus delta, to which messages are added,
//! never a function of delta. They are by TMMO ([`TweakableCircularHash`], Guo, Katz, Wang, Yu, S&P 2020) with the
//! number of the OT as tweak. That tweak is what it takes to hold off a malicious receiver (section 5.2 there). No
//! number is used twice under one delta. Each type therefore carries the number of its first OT.
//!
//! | operation | rounds | bytes |
//! |---|---|---|
//! | [`CotSender::random`], [`CotReceiver::random`] | 0 | 0 |
//! | [`CotReceiver::choose`], [`CotSender::adjust`]: the receiver's own bits in place of random ones | 1 | n/8 from the receiver |
//! | [`CotSender::send`], [`CotReceiver::receive`]: two messages of 16 bytes, one arrives | 1 | 32 n from the sender |
//!
//! **Steps** from random to chosen OT, with the receiver's random bit x and its own bit c:
//!
//! 1. the receiver sends d = x + c; the sender adds d delta to its zero block, which makes c the choice;
//! 2. the sender sends both messages, each plus its key;
//! 3. the receiver takes off the key that it has.
//!
//! **Source** random to chosen OT: Beaver, "Precomputing Oblivious Transfer" (CRYPTO 1995).

#[cfg(test)]
mod views;

use std::ops::Range;

use tacit_math::{TweakableCircularHash, wipe};
use tacit_net::{PartyId, Session};

use crate::OtError;

/// OTs of which keys or messages are computed before they are sent: 1 MiB of messages.
const PIECE: usize = 1 << 15;

/// The sender's side of n correlated OTs. Erased when dropped.
#[derive(Clone, Default)]
pub struct CotSender {
    /// Number of the first OT among all of this delta.
    pub first: u64,
    /// The secret offset.
    pub delta: u128,
    /// The block for choice 0 of every OT; that for choice 1 is `zero[i] ^ delta`.
    pub zero: Vec<u128>,
}

/// The receiver's side of n correlated OTs. Erased when dropped.
#[derive(Clone, Default)]
pub struct CotReceiver {
    /// Number of the first OT among all of the sender's delta.
    pub first: u64,
    /// Choice bits, 64 to a word, lowest first. Bits behind the last OT are unspecified.
    pub choices: Vec<u64>,
    /// `blocks[i] = zero[i] ^ choice[i] * delta`.
    pub blocks: Vec<u128>,
}

impl std::fmt::Debug for CotSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CotSender({} OTs)", self.zero.len())
    }
}

impl std::fmt::Debug for CotReceiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CotReceiver({} OTs)", self.blocks.len())
    }
}

impl Drop for CotSender {
    fn drop(&mut self) {
        wipe(std::slice::from_mut(&mut self.delta));
        wipe(&mut self.zero);
    }
}

impl Drop for CotReceiver {
    fn drop(&mut self) {
        wipe(&mut self.choices);
        wipe(&mut self.blocks);
    }
}

impl CotSender {
    /// Some of these OTs.
    pub fn part(&self, ots: Range<usize>) -> Self {
        Self { first: self.first + ots.start as u64, delta: self.delta, zero: self.zero[ots].to_vec() }
    }

    /// Both keys of every OT.
    pub fn random(&self) -> Vec<[u128; 2]> {
        let mut keys = Vec::with_capacity(self.zero.len());
        let hash = TweakableCircularHash::new();
        for start in (0..self.zero.len()).step_by(PIECE) {
            self.keys(&hash, start, &mut keys);
        }
        keys
    }

    /// Takes the receiver's choice of its own bits, one round: afterwards its bits are those that it gave to
    /// [`CotReceiver::choose`].
    ///
    /// # Errors
    /// The connection's failure.
    pub fn adjust(&mut self, session: &mut Session, receiver: PartyId) -> Result<(), OtError> {
        session.next_round();
        // Step 1.
        let mut d = vec![0; self.zero.len().div_ceil(8)];
        session.recv(receiver, &mut d)?;
        for (i, block) in self.zero.iter_mut().enumerate() {
            *block ^= self.delta & mask(u64::from(d[i / 8] >> (i % 8)));
        }
        Ok(())
    }

    /// Sends two messages for every OT, of which the receiver gets the one of its bit; one round.
    ///
    /// # Errors
    /// The connection's failure.
    ///
    /// # Panics
    /// If there are not as many pairs as OTs.
    pub fn send(&self, session: &mut Session, to: PartyId, messages: &[[u128; 2]]) -> Result<(), OtError> {
        assert_eq!(messages.len(), self.zero.len(), "one pair of messages for every OT");
        session.next_round();
        let hash = TweakableCircularHash::new();
        let mut masked = Vec::with_capacity(PIECE.min(messages.len()));
        for (piece, messages) in messages.chunks(PIECE).enumerate() {
            // Step 2.
            masked.clear();
            self.keys(&hash, piece * PIECE, &mut masked);
            masked.iter_mut().zip(messages).for_each(|(keys, pair)| *keys = [keys[0] ^ pair[0], keys[1] ^ pair[1]]);
            let mut bytes = session.buffer(32 * masked.len());
            bytes.extend_from_slice(bytemuck::cast_slice(&masked));
            session.send(to, bytes)?;
        }
        Ok(())
    }

    /// Appends the keys of one piece.
    fn keys(&self, hash: &TweakableCircularHash, start: usize, keys: &mut Vec<[u128; 2]>) {
        let from = keys.len();
        let end = self.zero.len().min(start + PIECE);
        keys.extend(self.zero[start..end].iter().map(|&zero| [zero, zero ^ self.delta]));
        let first = u128::from(self.first) + start as u128;
        hash.hash_blocks(bytemuck::cast_slice_mut(&mut keys[from..]), |i| first + (i / 2) as u128);
    }
}

impl CotReceiver {
    /// Some of these OTs.
    ///
    /// # Panics
    /// When the first one does not begin a word of choices.
    pub fn part(&self, ots: Range<usize>) -> Self {
        assert!(ots.start.is_multiple_of(64), "choices of a part begin a word");
        Self {
            first: self.first + ots.start as u64,
            choices: self.choices[ots.start / 64..ots.end.div_ceil(64)].to_vec(),
            blocks: self.blocks[ots].to_vec(),
        }
    }

    /// The bit of one OT.
    pub fn choice(&self, i: usize) -> bool {
        self.choices[i / 64] >> (i % 64) & 1 == 1
    }

    /// The key of every OT's bit.
    pub fn random(&self) -> Vec<u128> {
        let mut keys = self.blocks.clone();
        let first = u128::from(self.first);
        TweakableCircularHash::new().hash_blocks(&mut keys, |i| first + i as u128);
        keys
    }

    /// Puts bits of this party's choice (packed as [`Self::choices`]) in place of the random ones, one round.
    ///
    /// # Errors
    /// The connection's failure.
    ///
    /// # Panics
    /// If there are fewer bits than OTs.
    pub fn choose(&mut self, session: &mut Session, sender: PartyId, choices: &[u64]) -> Result<(), OtError> {
        let n = self.blocks.len();
        assert_eq!(choices.len(), n.div_ceil(64), "one bit for every OT");
        session.next_round();
        // Step 1.
        let mut d: Vec<u64> = self.choices.iter().zip(choices).map(|(x, c)| x ^ c).collect();
        if let Some(last) = d.last_mut() {
            // What lies behind the last OT is nobody's business.
            *last &= !0 >> ((64 - n % 64) % 64);
        }
        session.send(sender, bytemuck::cast_slice(&d)[..n.div_ceil(8)].to_vec())?;
        self.choices.copy_from_slice(choices);
        Ok(())
    }

    /// Receives the message of every OT's bit; one round.
    ///
    /// # Errors
    /// The connection's failure.
    pub fn receive(&self, session: &mut Session, from: PartyId) -> Result<Vec<u128>, OtError> {
        session.next_round();
        // Step 3.
        let mut out = self.random();
        let mut piece = vec![[0u128; 2]; PIECE.min(out.len())];
        for (number, keys) in out.chunks_mut(PIECE).enumerate() {
            let masked = &mut piece[..keys.len()];
            session.recv(from, bytemuck::cast_slice_mut(masked))?;
            for (i, (key, masked)) in keys.iter_mut().zip(masked).enumerate() {
                let i = number * PIECE + i;
                *key ^= masked[0] ^ (masked[0] ^ masked[1]) & mask(self.choices[i / 64] >> (i % 64));
            }
        }
        Ok(out)
    }
}

/// All ones if the lowest bit is set, else zero.
fn mask(bit: u64) -> u128 {
    u128::from(bit & 1).wrapping_neg()
}
