//! From identifiers to items: a keyed hash of 128 bits that all parties compute under the key of one run.
//!
//! # What it is
//! CBC-MAC with AES-128 over a prefix-free encoding. The first block holds the length of the bytes (32 bits) and the
//! first 12 of them, every further block 16 more, the last one filled up with zeros. Under a random key it is a
//! pseudorandom function (Bellare, Pietrzak, Rogaway, "Improved Security Analyses for CBC MACs", CRYPTO 2005, theorem
//! 3). Among q identifiers of at most l blocks, two different ones get the same token with probability below 12 l q^2 /
//! 2^126. That is 2^-55 for two sets of 10^9 identifiers of 200 bytes.
//!
//! # What it is not
//! The key is known to all parties and hides nothing from them: tokens are as secret as the identifiers, and whoever
//! holds the key can try likely identifiers. The key is fresh in every run and agreed after all have committed to their
//! share of it ([`agree_key`]). So nobody can prepare identifiers that collide or that crowd one bin.
//!
//! # The two lowest bits
//! of a token are zero. Padding has them otherwise ([`crate::binning::pad`]), so that no padding ever matches anything.

use crate::error::PsiError;
use crate::interface::protocol::Item;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};
use tacit_math::Seed;
use tacit_net::{PartyId, Session};

/// Rows hashed side by side: enough independent blocks for the widest AES units.
const LANES: usize = 256;

/// Bytes of an identifier that share the first block with its length.
const FIRST: usize = 12;

/// Bits that tell padding from tokens.
pub const PADDING_BITS: Item = 0b11;

/// The keyed hash of one run.
pub struct TokenHash(Aes128);

impl TokenHash {
    /// The hash under a key.
    pub fn new(key: &Seed) -> Self {
        Self(Aes128::new(&(*key.expose()).into()))
    }

    /// Appends the token of every row to `tokens`. Row i is `bytes[ends[i - 1]..ends[i]]`, its bytes an unambiguous
    /// encoding of an identifier.
    pub fn hash_rows(&self, bytes: &[u8], ends: &[usize], tokens: &mut Vec<Item>) {
        let begin = tokens.len();
        tokens.resize(begin + ends.len(), 0);
        let mut start = 0;
        for (ends, tokens) in ends.chunks(LANES).zip(tokens[begin..].chunks_mut(LANES)) {
            self.hash_group(bytes, start, ends, tokens);
            start = ends[ends.len() - 1];
        }
    }

    /// As many rows as there are lanes, block by block; rows that have ended make room.
    fn hash_group(&self, bytes: &[u8], mut start: usize, ends: &[usize], tokens: &mut [Item]) {
        let mut states = [0u128; LANES];
        let mut rows = [Row { index: 0, next: 0, end: 0 }; LANES];
        let mut active = ends.len();
        for (index, &end) in ends.iter().enumerate() {
            let first = end.min(start + FIRST);
            states[index] = (end - start) as u128 | (load(bytes, start, first) << 32);
            rows[index] = Row { index, next: first, end };
            start = end;
        }
        while active > 0 {
            self.encrypt(&mut states[..active]);
            let mut kept = 0;
            for lane in 0..active {
                let (row, state) = (rows[lane], states[lane]);
                if row.next == row.end {
                    tokens[row.index] = state & !PADDING_BITS;
                    continue;
                }
                let next = row.end.min(row.next + 16);
                states[kept] = state ^ load(bytes, row.next, next);
                rows[kept] = Row { next, ..row };
                kept += 1;
            }
            active = kept;
        }
    }

    fn encrypt(&self, states: &mut [u128]) {
        let bytes: &mut [[u8; 16]] = bytemuck::cast_slice_mut(states);
        let mut blocks = [Block::default(); LANES];
        let blocks = &mut blocks[..bytes.len()];
        blocks.iter_mut().zip(bytes.iter()).for_each(|(block, bytes)| *block = (*bytes).into());
        self.0.encrypt_blocks(blocks);
        bytes.iter_mut().zip(blocks).for_each(|(bytes, block)| *bytes = (*block).into());
    }
}

/// One row under way: what is hashed of it already ends at `next`.
#[derive(Clone, Copy)]
struct Row {
    index: usize,
    next: usize,
    end: usize,
}

/// At most 16 bytes as a little-endian number. Reads whole blocks where it can; what follows the row is masked off.
fn load(bytes: &[u8], start: usize, end: usize) -> u128 {
    let length = end - start;
    if let Some(block) = bytes.get(start..start + 16) {
        let mut whole = [0; 16];
        whole.copy_from_slice(block);
        let whole = u128::from_le_bytes(whole);
        return if length == 16 { whole } else { whole & ((1 << (8 * length)) - 1) };
    }
    let mut part = [0; 16];
    part[..length].copy_from_slice(&bytes[start..end]);
    u128::from_le_bytes(part)
}

/// Agree on the key of a run, to which all parties of the session contribute. Each sends a commitment (BLAKE3) to 32
/// random bytes, then the bytes; the key is the hash of all in the parties' order. None can choose its bytes by the
/// others'. Two rounds, 64 bytes to each peer.
///
/// # Errors
/// The connection's failure; [`PsiError::Cheating`] if a peer opens something other than it has committed to.
pub fn agree_key(session: &mut Session) -> Result<Seed, PsiError> {
    let (a, b) = (Seed::random()?, Seed::random()?);
    let mine: [u8; 32] = bytemuck::cast([*a.expose(), *b.expose()]);
    session.enter("key");
    let committed = exchange(session, commitment(session.me(), &mine))?;
    let shares = exchange(session, mine)?;
    for (party, (share, committed)) in shares.iter().zip(&committed).enumerate() {
        // All parties see whether this one goes on.
        if tacit_marks::published(commitment(PartyId(party), share) != *committed) {
            let detail = "its share of the key is not the one it committed to";
            return Err(PsiError::cheating(session, PartyId(party), detail));
        }
    }
    session.leave();
    let digest = blake3::derive_key("tacit 2026-11-21 key of matching tokens", &shares.concat());
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    Ok(Seed::from_bytes(key))
}

/// Everybody's 32 bytes, in the parties' order. One round.
fn exchange(session: &mut Session, mine: [u8; 32]) -> Result<Vec<[u8; 32]>, PsiError> {
    session.next_round();
    let me = session.me().0;
    let mut all = vec![mine; session.parties()];
    for peer in (0..all.len()).filter(|&peer| peer != me) {
        session.send(PartyId(peer), mine.to_vec())?;
    }
    for (peer, theirs) in all.iter_mut().enumerate().filter(|&(peer, _)| peer != me) {
        session.recv(PartyId(peer), theirs)?;
    }
    Ok(all)
}

/// Bound to the party, so that nobody can send back what it was sent.
fn commitment(party: PartyId, share: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("tacit 2026-11-21 commitment to a share of a matching key");
    hasher.update(&(party.0 as u64).to_le_bytes()).update(share);
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// CBC-MAC as the module's text says it, one row and one block at a time.
    fn plainly(key: &Seed, row: &[u8]) -> Item {
        let cipher = Aes128::new(&(*key.expose()).into());
        let mut message = (row.len() as u32).to_le_bytes().to_vec();
        message.extend_from_slice(row);
        message.resize(message.len().div_ceil(16) * 16, 0);
        let state = message.chunks(16).fold([0u8; 16], |state, block| {
            let mut block: Block = std::array::from_fn::<u8, 16, _>(|i| state[i] ^ block[i]).into();
            cipher.encrypt_block(&mut block);
            block.into()
        });
        u128::from_le_bytes(state) & !PADDING_BITS
    }

    fn tokens(key: &Seed, rows: &[Vec<u8>]) -> Vec<Item> {
        let ends: Vec<usize> = rows
            .iter()
            .scan(0, |end, row| {
                *end += row.len();
                Some(*end)
            })
            .collect();
        let mut tokens = vec![7];
        TokenHash::new(key).hash_rows(&rows.concat(), &ends, &mut tokens);
        assert_eq!(tokens[0], 7, "tokens are appended");
        tokens.split_off(1)
    }

    proptest! {
        #[test]
        fn many_rows_side_by_side_are_hashed_as_one_by_one(
            rows in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 0..600),
            key: [u8; 16],
        ) {
            let key = Seed::from_bytes(key);
            let expected: Vec<Item> = rows.iter().map(|row| plainly(&key, row)).collect();
            prop_assert_eq!(tokens(&key, &rows), expected);
        }
    }

    #[test]
    fn rows_that_differ_in_zeros_at_the_end_have_different_tokens() {
        let key = Seed::from_bytes([9; 16]);
        let rows: Vec<Vec<u8>> = (0..60).map(|length| vec![0; length]).collect();
        assert_eq!(tokens(&key, &rows).into_iter().collect::<HashSet<_>>().len(), 60);
    }

    #[test]
    fn all_parties_have_the_same_key_and_another_one_in_every_run() {
        let keys = |names: &[&str]| {
            let sessions = tacit_net::memory::mesh(names, &tacit_net::Options::default());
            let agree = |mut session: Session| {
                let key = *agree_key(&mut session).expect("honest peers").expose();
                session.close().expect("peers that close");
                key
            };
            let running: Vec<_> =
                sessions.into_iter().map(|session| std::thread::spawn(move || agree(session))).collect();
            let keys: Vec<_> = running.into_iter().map(|party| party.join().expect("no panic")).collect();
            assert!(keys.iter().all(|key| *key == keys[0]));
            keys[0]
        };
        assert_ne!(keys(&["a", "b"]), keys(&["a", "b"]));
        assert_ne!(keys(&["a", "b", "c"]), keys(&["a", "b", "c"]));
    }

    #[test]
    fn a_share_that_was_not_committed_to_is_refused() {
        let mut sessions = tacit_net::memory::mesh(&["a", "b"], &tacit_net::Options::default());
        let (mut b, mut a) = (sessions.pop().expect("two"), sessions.pop().expect("two"));
        let cheat = std::thread::spawn(move || {
            for _ in 0..2 {
                b.next_round();
                b.send(PartyId(0), vec![1; 32]).expect("a peer");
                b.recv(PartyId(0), &mut [0; 32]).expect("a peer");
            }
            b
        });
        let refused = agree_key(&mut a);
        // Its end would be noticed before its last message is read: an abort overtakes what is still unread.
        drop(cheat.join().expect("no panic"));
        assert!(matches!(refused, Err(PsiError::Cheating { .. })));
    }
}
