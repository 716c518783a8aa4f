//! The receiver: it encodes its items and recognises tags.

use super::hashes::{Hashes, commitment};
use super::{Parameters, SEED, Scalar, Variant, VolePsi, give_back, no_proofs_yet};
use crate::error::PsiError;
use crate::interface::protocol::{Item, Match, Outcome};
use crate::parts::okvs::{Dependent, Okvs, Order};
use crate::parts::tag_lookup::Table;
use crate::parts::tags::SortedTags;
use crate::wrong_input::WrongInput;
use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_ot::silent::vole;
use tacit_ot::softspoken;

/// Tags received and looked up at once.
const PIECE: usize = 1 << 16;

pub(super) struct Receiver {
    pub psi: VolePsi,
    pub peer: PartyId,
    pub ots: softspoken::Receiver,
    /// Of the last pair of sets, by the number of the item.
    pub proofs: Vec<u64>,
}

/// One run, after its columns are sent.
struct Sent<'a, const W: usize> {
    parameters: Parameters,
    items: &'a [Item],
    store: Okvs<W>,
    order: Order,
    seed: Seed,
    /// The sender's commitment and this party's half of the coins, in the malicious variant.
    toss: Option<([u8; 32], u128)>,
}

impl Receiver {
    /// VOLE; columns; tags.
    pub(super) fn run<F: Scalar, const W: usize>(
        &mut self,
        session: &mut Session,
        items: &[Item],
        parameters: Parameters,
    ) -> Result<Outcome, PsiError> {
        let (sent, c) = self.exchange::<F, W>(session, items, parameters)?;
        // Step 5.
        session.enter("tags");
        session.next_round();
        let coins = self.coins(session, &sent)?;
        let (mut tags, proofs) = sent.tags(c, coins);
        self.proofs = proofs;
        drop(sent);
        let mask = u128::MAX >> (128 - parameters.bits);
        tags.iter_mut().for_each(|tag| *tag &= mask);
        // Looked up among those that the sender sends: by design addresses follow from tags.
        tacit_marks::public(&mut tags);
        let table = Table::new(&tags, parameters.bits);
        drop(tags);
        let matches = self.receive_tags(session, &parameters, &table)?;
        drop(table);
        session.leave();
        Ok(Outcome::Receiver(by_own_items(&matches, items.len())))
    }

    /// The function's values at its items, by their numbers, for a semi-honest protocol above this one.
    pub(super) fn values<F: Scalar, const W: usize>(
        &mut self,
        session: &mut Session,
        items: &[Item],
        parameters: Parameters,
    ) -> Result<Vec<u128>, PsiError> {
        let (sent, c) = self.exchange::<F, W>(session, items, parameters)?;
        Ok(sent.tags(c, 0).0)
    }

    /// VOLE; columns.
    fn exchange<'a, F: Scalar, const W: usize>(
        &mut self,
        session: &mut Session,
        items: &'a [Item],
        parameters: Parameters,
    ) -> Result<(Sent<'a, W>, Vec<u128>), PsiError> {
        session.enter("vole");
        // Step 1.
        let ots = self.ots.extend(session, parameters.ots::<F>())?;
        let columns = parameters.layout.columns();
        let vole = vole::receive_with::<F>(session, self.peer, columns, self.psi.variant.adversary(), &ots)?;
        session.leave();
        session.enter("columns");
        let sent = self.send_columns::<F, W>(session, items, parameters, vole.a)?;
        session.leave();
        Ok((sent, vole.c))
    }

    /// Step 2: sends the seed, and the columns p of its items' scalars plus `a`, a cluster at a time.
    fn send_columns<'a, F: Scalar, const W: usize>(
        &self,
        session: &mut Session,
        items: &'a [Item],
        parameters: Parameters,
        mut a: Vec<F>,
    ) -> Result<Sent<'a, W>, PsiError> {
        let toss = self.toss(session)?;
        let seed = Seed::random()?.published();
        session.next_round();
        let mut head = seed.expose().to_vec();
        head.extend(toss.iter().flat_map(|(_, half)| half.to_le_bytes()));
        session.send(self.peer, head)?;
        let store = Okvs::<W>::with_layout(parameters.layout, &seed);
        let order = store.order(items);
        let hashes = Hashes::new(parameters.variant, &seed, 0);
        let words = parameters.layout.cluster_columns();
        store.encode_clusters::<F::Word, PsiError>(
            items,
            &order,
            &mut Prg::new(&Seed::random()?),
            |numbers, out| hashes.scalars::<F>(items, numbers, bytemuck::cast_slice_mut(out)),
            |cluster, columns| {
                let mut message = session.buffer(size_of_val(columns));
                // p + a.
                message.extend_from_slice(bytemuck::cast_slice(columns));
                add(&mut message, bytemuck::cast_slice(&a[cluster * words..]));
                give_back(&mut a, cluster * words);
                Ok(session.send(self.peer, message)?)
            },
        )?;
        Ok(Sent { parameters, items, store, order, seed, toss })
    }

    /// The sender's commitment and this party's half of the coins.
    fn toss(&self, session: &mut Session) -> Result<Option<([u8; 32], u128)>, PsiError> {
        if self.psi.variant != Variant::Malicious {
            return Ok(None);
        }
        session.next_round();
        let mut committed = [0; 32];
        session.recv(self.peer, &mut committed)?;
        Ok(Some((committed, u128::from_le_bytes(*Seed::random()?.published().expose()))))
    }

    /// Finds its own tags among the sender's, in the order in which they come.
    fn receive_tags(
        &self,
        session: &mut Session,
        parameters: &Parameters,
        table: &Table,
    ) -> Result<Vec<Match>, PsiError> {
        let mut matches = Vec::new();
        if self.psi.variant == Variant::Compact {
            let mut bytes = vec![0; parameters.tags_bytes()];
            session.recv(self.peer, &mut bytes)?;
            let tags = SortedTags::read(&bytes, parameters.sizes.sender, parameters.bits)
                .ok_or_else(|| PsiError::cheating(session, self.peer, "its tags are not in order"))?;
            let tags: Vec<u128> = tags.iter().collect();
            table.look_up(&tags, 0, &mut matches);
        } else {
            self.receive_whole_tags(session, parameters, table, &mut matches)?;
        }
        Ok(matches)
    }

    /// Tags in any order, looked up while the next ones are under way.
    fn receive_whole_tags(
        &self,
        session: &mut Session,
        parameters: &Parameters,
        table: &Table,
        matches: &mut Vec<Match>,
    ) -> Result<(), PsiError> {
        let bytes = parameters.tag_bytes();
        let mut buffer = vec![0; PIECE * bytes + 16];
        let mut tags = Vec::with_capacity(PIECE);
        for first in (0..parameters.sizes.sender).step_by(PIECE) {
            let count = PIECE.min(parameters.sizes.sender - first);
            session.recv(self.peer, &mut buffer[..count * bytes])?;
            let tag = |number: usize| {
                let wide: [u8; 16] = buffer[number * bytes..][..16].try_into().expect("16 bytes");
                u128::from_le_bytes(wide)
            };
            tags.clear();
            tags.extend((0..count).map(tag));
            table.look_up(&tags, first as u32, matches);
        }
        Ok(())
    }

    /// The tossed coins: the sender's half must be what it committed to.
    fn coins<const W: usize>(&self, session: &mut Session, sent: &Sent<'_, W>) -> Result<u128, PsiError> {
        let Some((committed, own)) = sent.toss else { return Ok(0) };
        let mut half = [0; SEED];
        session.recv(self.peer, &mut half)?;
        let half = u128::from_le_bytes(half);
        if commitment(half) != committed {
            return Err(PsiError::cheating(session, self.peer, "it opens its commitment to another value"));
        }
        Ok(half ^ own)
    }
}

impl<const W: usize> Sent<'_, W> {
    /// The values decode(c, x) of all items, hashed, by their numbers, and their proofs.
    fn tags(&self, mut c: Vec<u128>, coins: u128) -> (Vec<u128>, Vec<u64>) {
        let hashes = Hashes::new(self.parameters.variant, &self.seed, coins);
        let mut tags = vec![0; self.items.len()];
        let mut proofs = no_proofs_yet(self.parameters.variant, self.items.len());
        for cluster in (0..self.parameters.layout.clusters).rev() {
            let first = cluster * self.parameters.layout.cluster_columns();
            self.store.decode_cluster(self.items, &self.order, cluster, &c[first..], |numbers, values| {
                hashes.tags(self.items, numbers, values, &mut proofs);
                numbers.iter().zip(values).for_each(|(&number, tag)| tags[number as usize] = *tag);
            });
            give_back(&mut c, first);
        }
        (tags, proofs)
    }
}

/// Matches by this party's items, of which there are `items`: each with the first of its positions. A sender that
/// repeats a tag is not told so: an end of the run would say whether this party has that tag's item.
fn by_own_items(matches: &[Match], items: usize) -> Vec<Match> {
    const NONE: u32 = u32::MAX;
    let mut theirs = vec![NONE; items];
    for found in matches {
        let first = &mut theirs[found.mine as usize];
        *first = found.theirs.min(*first);
    }
    (0..).zip(theirs).filter(|&(_, theirs)| theirs != NONE).map(|(mine, theirs)| Match { mine, theirs }).collect()
}

/// Adds bytes to bytes.
fn add(out: &mut [u8], other: &[u8]) {
    out.iter_mut().zip(other).for_each(|(out, other)| *out ^= other);
}

impl From<Dependent> for PsiError {
    fn from(_: Dependent) -> Self {
        WrongInput::EqualItems.into()
    }
}
