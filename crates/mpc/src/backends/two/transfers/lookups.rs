//! Random transfers of one of several short strings, in both directions: made when they are used, from OTs of the
//! stock.

use tacit_math::{CorrelationRobustHash, Ring};
use tacit_net::{PartyId, Session};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::silent::lookup::{self, LOOKUP_STRINGS, WIDTH};

use super::{NODES, PIECE, Stock};
use crate::Result;

/// Random lookups of both directions in tables of strings of one or two bits, 64 to a word.
pub(in crate::backends::two) struct Lookups<const BITS: usize> {
    /// Bit i of the places that this node looks up.
    pub places: [Vec<u64>; WIDTH],
    /// What is there.
    pub found: [Vec<u64>; BITS],
    /// For each place, what is there in the tables that the peer looks up in.
    pub tables: [[Vec<u64>; BITS]; LOOKUP_STRINGS],
}

/// Random lookups of both directions in tables of ring elements.
pub(in crate::backends::two) struct Elements<R> {
    /// Bit i of the places that this node looks up, 64 to a word.
    pub places: [Vec<u64>; WIDTH],
    /// What is there.
    pub found: Vec<R>,
    /// The tables that the peer looks up in.
    pub tables: Vec<[R; LOOKUP_STRINGS]>,
}

impl Stock {
    /// Lookups of each direction, whole words of them: `counts[d]` in tables of node d. One round, and those of making
    /// stock.
    pub(in crate::backends::two) fn lookups<const BITS: usize>(
        &mut self,
        session: &mut Session,
        counts: [usize; NODES],
    ) -> Result<Lookups<BITS>> {
        let mut new = Lookups::with_capacity(counts[1 - self.me] / 64, counts[self.me] / 64);
        let (Lookups { places, found, tables }, multiples) = (&mut new, lookup::multiples(*self.delta));
        self.make_lookups(
            session,
            counts,
            |hash, blocks| write_tables(hash, blocks, &multiples, tables),
            |hash, blocks| look(hash, blocks, places, found),
        )?;
        new.places.iter().for_each(|places| Self::note(session, "places", places));
        new.found.iter().for_each(|found| Self::note(session, "found", found));
        new.tables.iter().flatten().for_each(|table| Self::note(session, "table", table));
        Ok(new)
    }

    /// As [`Self::lookups`], in tables of ring elements.
    pub(in crate::backends::two) fn elements<R: Ring>(
        &mut self,
        session: &mut Session,
        counts: [usize; NODES],
    ) -> Result<Elements<R>> {
        let (sending, receiving) = (counts[self.me], counts[1 - self.me]);
        let (mut tables, mut found) = (Vec::with_capacity(sending), Vec::with_capacity(receiving));
        let mut places = empty(receiving / 64);
        let multiples = lookup::multiples(*self.delta);
        let mut hashes = vec![0; PIECE];
        self.make_lookups(
            session,
            counts,
            |hash, blocks| write_elements(hash, blocks, &multiples, &mut tables),
            |hash, blocks| {
                for piece in blocks.chunks(PIECE) {
                    let hashes = &mut hashes[..piece.len()];
                    hashes.copy_from_slice(piece);
                    hash.hash_blocks(hashes);
                    found.extend(hashes.iter().map(|&hash| R::from_u128(hash)));
                    write_places(piece, &mut places);
                }
            },
        )?;
        places.iter().for_each(|places| Self::note(session, "places", places));
        Self::note(session, "found", &found);
        Self::note(session, "tables", tables.as_flattened());
        Ok(Elements { places, found, tables })
    }

    /// Makes lookups, as [`Self::lookups`]: `sent` gets the blocks of the tables, `received` those that are looked up.
    fn make_lookups(
        &mut self,
        session: &mut Session,
        counts: [usize; NODES],
        mut sent: impl FnMut(&CorrelationRobustHash, &[u128]),
        mut received: impl FnMut(&CorrelationRobustHash, &[u128]),
    ) -> Result<()> {
        let (me, peer) = (self.me, PartyId(1 - self.me));
        let need = [0, 1].map(|direction| self.accounts[direction].for_lookups(counts[direction]));
        self.prepare(session, need)?;
        let (offered, chosen) = (self.offered(need[me]), self.chosen(need[1 - me]));
        session.enter("stock");
        let made = lookup::extend(
            session,
            peer,
            (&mut self.lookup_sender, counts[me], &offered),
            (&mut self.lookup_receiver, counts[1 - me], &chosen),
            |blocks| sent(&self.hash, blocks),
            |blocks| received(&self.hash, blocks),
        );
        session.leave();
        Ok(made?)
    }

    /// The next `count` correlated OTs that this node sends.
    pub(super) fn offered(&mut self, count: usize) -> CotSender {
        let next = self.next_sent(count);
        CotSender { first: 0, delta: *self.delta, zero: self.sending.0[next].to_vec() }
    }

    /// The next `count` correlated OTs that this node receives.
    pub(super) fn chosen(&mut self, count: usize) -> CotReceiver {
        let next = self.next_received(count);
        let kept = &self.receiving.0;
        let choices = kept.choices[next.start / 64..next.end / 64].to_vec();
        CotReceiver { first: 0, choices, blocks: kept.blocks[next].to_vec() }
    }
}

impl<const BITS: usize> Lookups<BITS> {
    fn with_capacity(receiving: usize, sending: usize) -> Self {
        Self {
            places: empty(receiving),
            found: empty(receiving),
            tables: [(); LOOKUP_STRINGS].map(|()| empty(sending)),
        }
    }
}

fn empty<const N: usize>(capacity: usize) -> [Vec<u64>; N] {
    [(); N].map(|()| Vec::with_capacity(capacity))
}

/// Appends `BITS` bits of the hashes of blocks, each plus an offset.
fn hash_bits<const BITS: usize>(
    hash: &CorrelationRobustHash,
    blocks: &[u128],
    offset: u128,
    out: &mut [Vec<u64>; BITS],
) {
    match &mut out[..] {
        [one] => hash.hash_bits(blocks, offset, one),
        [first, second] => hash.hash_two_bits(blocks, offset, [first, second]),
        _ => unreachable!("strings have one or two bits"),
    }
}

fn write_tables<const BITS: usize>(
    hash: &CorrelationRobustHash,
    blocks: &[u128],
    multiples: &[u128; LOOKUP_STRINGS],
    tables: &mut [[Vec<u64>; BITS]; LOOKUP_STRINGS],
) {
    for piece in blocks.chunks(PIECE) {
        for (table, multiple) in tables.iter_mut().zip(multiples) {
            hash_bits(hash, piece, *multiple, table);
        }
    }
}

fn look<const BITS: usize>(
    hash: &CorrelationRobustHash,
    blocks: &[u128],
    places: &mut [Vec<u64>; WIDTH],
    found: &mut [Vec<u64>; BITS],
) {
    for piece in blocks.chunks(PIECE) {
        hash_bits(hash, piece, 0, found);
        write_places(piece, places);
    }
}

/// The places that blocks look up: their lowest coordinates.
fn write_places(blocks: &[u128], places: &mut [Vec<u64>; WIDTH]) {
    for rows in blocks.as_chunks::<64>().0 {
        for (bit, places) in places.iter_mut().enumerate() {
            places.push(rows.iter().rev().fold(0, |word, block| word << 1 | *block as u64 >> bit & 1));
        }
    }
}

fn write_elements<R: Ring>(
    hash: &CorrelationRobustHash,
    blocks: &[u128],
    multiples: &[u128; LOOKUP_STRINGS],
    tables: &mut Vec<[R; LOOKUP_STRINGS]>,
) {
    let mut hashes = vec![0; PIECE];
    for piece in blocks.chunks(PIECE) {
        let (first, hashes) = (tables.len(), &mut hashes[..piece.len()]);
        tables.resize(first + piece.len(), [R::ZERO; LOOKUP_STRINGS]);
        for (j, multiple) in multiples.iter().enumerate() {
            hashes.iter_mut().zip(piece).for_each(|(hash, block)| *hash = block ^ multiple);
            hash.hash_blocks(hashes);
            tables[first..].iter_mut().zip(&*hashes).for_each(|(table, &hash)| table[j] = R::from_u128(hash));
        }
    }
}
