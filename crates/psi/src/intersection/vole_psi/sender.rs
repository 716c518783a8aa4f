//! The sender: it evaluates the function on its items and sends their tags.

use super::hashes::{Hashes, commitment};
use super::{Parameters, SEED, Scalar, Variant, VolePsi, give_back, no_proofs_yet};
use crate::error::PsiError;
use crate::interface::protocol::{Item, Outcome};
use crate::parts::okvs::Okvs;
use crate::parts::tags::{SortedTags, sorted_places};
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{MAX_FRAME_PAYLOAD, PartyId, Session};
use tacit_ot::silent::vole;
use tacit_ot::vole::VoleSender;
use tacit_ot::{OtError, softspoken};

/// Items whose scalars are multiplied at once.
const BATCH: usize = 128;

pub(super) struct Sender {
    pub psi: VolePsi,
    pub peer: PartyId,
    /// None after an error: a receiver that could go on after a wrong guess would learn delta a few bits a try.
    ots: Option<softspoken::Sender>,
    /// Of the last pair of sets, by the number of the item.
    pub proofs: Vec<u64>,
}

impl Sender {
    pub(super) fn new(psi: VolePsi, peer: PartyId, ots: softspoken::Sender) -> Self {
        Self { psi, peer, ots: Some(ots), proofs: Vec::new() }
    }

    /// The outcome when nothing is exchanged: a random order all the same.
    pub(super) fn order_of_nothing_sent(&self, items: &[Item]) -> Result<Outcome, PsiError> {
        Ok(Outcome::Sender { order: permutation::random(items.len(), &mut Prg::new(&Seed::random()?)) })
    }

    /// VOLE; columns; tags.
    pub(super) fn run<F: Scalar, const W: usize>(
        &mut self,
        session: &mut Session,
        items: &[Item],
        parameters: Parameters,
    ) -> Result<Outcome, PsiError> {
        let mut ots = self.ots.take().ok_or_else(|| OtError::ended(session, self.peer))?;
        let mut tags = Tags::new(&parameters)?;
        let take = |numbers: &[u32], values: &[u128]| tags.take(numbers, values);
        let (half, proofs) = self.exchange::<F, W>(session, &mut ots, items, &parameters, take)?;
        self.proofs = proofs;
        session.enter("tags");
        let order = self.send_tags(session, &parameters, tags, half)?;
        session.leave();
        self.ots = Some(ots);
        Ok(Outcome::Sender { order })
    }

    /// The function's values at its items, by their numbers, for a semi-honest protocol above this one.
    pub(super) fn values<F: Scalar, const W: usize>(
        &mut self,
        session: &mut Session,
        items: &[Item],
        parameters: Parameters,
    ) -> Result<Vec<u128>, PsiError> {
        let mut ots = self.ots.take().ok_or_else(|| OtError::ended(session, self.peer))?;
        let mut all = vec![0; items.len()];
        self.exchange::<F, W>(session, &mut ots, items, &parameters, |numbers, values| {
            numbers.iter().zip(values).for_each(|(&number, value)| all[number as usize] = *value);
        })?;
        self.ots = Some(ots);
        Ok(all)
    }

    /// VOLE; columns. Returns this party's half of the coins, and the items' proofs.
    fn exchange<F: Scalar, const W: usize>(
        &self,
        session: &mut Session,
        ots: &mut softspoken::Sender,
        items: &[Item],
        parameters: &Parameters,
        take: impl FnMut(&[u32], &[u128]),
    ) -> Result<(u128, Vec<u64>), PsiError> {
        session.enter("vole");
        // Step 1.
        let ots = ots.extend(session, parameters.ots::<F>())?;
        let columns = parameters.layout.columns();
        let vole = vole::send_with::<F>(session, self.peer, columns, self.psi.variant.adversary(), &ots)?;
        session.leave();
        session.enter("columns");
        // Steps 2 and 3.
        let half = self.commit(session)?;
        let proofs = self.evaluate::<F, W>(session, items, parameters, vole, half, take)?;
        session.leave();
        Ok((half, proofs))
    }

    /// In the malicious variant: commit to this party's half of the coins.
    fn commit(&self, session: &mut Session) -> Result<u128, PsiError> {
        if self.psi.variant != Variant::Malicious {
            return Ok(0);
        }
        let half = u128::from_le_bytes(*Seed::random()?.expose());
        session.next_round();
        session.send(self.peer, commitment(half).to_vec())?;
        Ok(half)
    }

    /// Computes the tags of a cluster's items as soon as its columns are there. Returns the proofs of all.
    fn evaluate<F: Scalar, const W: usize>(
        &self,
        session: &mut Session,
        items: &[Item],
        parameters: &Parameters,
        vole: VoleSender,
        half: u128,
        mut take: impl FnMut(&[u32], &[u128]),
    ) -> Result<Vec<u64>, PsiError> {
        session.next_round();
        let mut seed = [0; SEED];
        session.recv(self.peer, &mut seed)?;
        let seed = Seed::from_bytes(seed);
        let mut other_half = [0; SEED];
        if self.psi.variant == Variant::Malicious {
            session.recv(self.peer, &mut other_half)?;
        }
        let hashes = Hashes::new(self.psi.variant, &seed, half ^ u128::from_le_bytes(other_half));
        let store = Okvs::<W>::with_layout(parameters.layout, &seed);
        let order = store.order(items);
        // b, which becomes k.
        let (delta, mut k) = (vole.delta, vole.b);
        let mut columns = vec![F::zeroed(); parameters.layout.cluster_columns()];
        let mut scalars = [F::zeroed(); BATCH];
        let mut proofs = no_proofs_yet(parameters.variant, items.len());
        for cluster in (0..parameters.layout.clusters).rev() {
            let first = cluster * columns.len();
            // Step 2: p + a. Step 3: k = b + (p + a) delta.
            session.recv(self.peer, bytemuck::cast_slice_mut(&mut columns))?;
            F::add_scaled(&mut k[first..], &columns, delta);
            store.decode_cluster(items, &order, cluster, &k[first..], |numbers, values| {
                let scalars = &mut scalars[..numbers.len()];
                hashes.scalars(items, numbers, scalars);
                // decode(k, y) - h(y) delta, and step 4: its hash.
                F::add_scaled(values, scalars, delta);
                hashes.tags(items, numbers, values, &mut proofs);
                take(numbers, values);
            });
            give_back(&mut k, first);
        }
        Ok(proofs)
    }

    /// Step 4: sends the tags and returns their order; in the malicious variant, opens the commitment before them.
    fn send_tags(
        &self,
        session: &mut Session,
        parameters: &Parameters,
        tags: Tags,
        half: u128,
    ) -> Result<Vec<u32>, PsiError> {
        session.next_round();
        if self.psi.variant == Variant::Malicious {
            session.send(self.peer, half.to_le_bytes().to_vec())?;
        }
        let (bytes, order) = tags.message(parameters);
        for piece in bytes.chunks(MAX_FRAME_PAYLOAD) {
            let mut message = session.buffer(piece.len());
            message.extend_from_slice(piece);
            session.send(self.peer, message)?;
        }
        Ok(order)
    }
}

/// Tags on their way to the receiver.
enum Tags {
    /// Each at a random position, as many bytes as needed.
    Shuffled { bytes: Vec<u8>, positions: Vec<u32>, width: usize },
    /// To be sorted, which is an order that their randomness makes random.
    Sorted { tags: Vec<u128>, mask: u128 },
}

impl Tags {
    fn new(parameters: &Parameters) -> Result<Self, PsiError> {
        let count = parameters.sizes.sender;
        if parameters.variant == Variant::Compact {
            return Ok(Self::Sorted { tags: vec![0; count], mask: u128::MAX >> (128 - parameters.bits) });
        }
        let positions = permutation::random(count, &mut Prg::new(&Seed::random()?));
        Ok(Self::Shuffled { bytes: vec![0; parameters.tags_bytes()], positions, width: parameters.tag_bytes() })
    }

    fn take(&mut self, numbers: &[u32], values: &[u128]) {
        match self {
            Self::Shuffled { bytes, positions, width } => {
                for (&number, value) in numbers.iter().zip(values) {
                    let at = positions[number as usize] as usize * *width;
                    bytes[at..at + *width].copy_from_slice(&value.to_le_bytes()[..*width]);
                }
            }
            Self::Sorted { tags, mask } => {
                numbers.iter().zip(values).for_each(|(&number, value)| tags[number as usize] = value & *mask);
            }
        }
    }

    /// The bytes to send, and the item at each position.
    fn message(self, parameters: &Parameters) -> (Vec<u8>, Vec<u32>) {
        match self {
            Self::Shuffled { bytes, positions, .. } => {
                (bytes, permutation::invert(&positions).expect("this party drew a permutation"))
            }
            Self::Sorted { mut tags, .. } => {
                // Sent in this order: by design branches follow from tags.
                tacit_marks::public(&mut tags);
                let (tags, order): (Vec<u128>, Vec<u32>) = sorted_places(&tags).into_iter().unzip();
                (SortedTags::write(&tags, parameters.bits), order)
            }
        }
    }
}
