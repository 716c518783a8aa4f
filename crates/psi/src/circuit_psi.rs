//! Intersection into shares: which items match, and both payloads, without anybody learning a match.
//!
//! **Computes** for every bin of the receiver's table a shared bit, whether the receiver's item there is one of the sender's, and both
//! items' payloads (64 bits each, zero where there is no match), shared under any engine of which both parties are nodes.
//! **Adversary** semi-honest, either party. **Discloses** both sizes. Which bin an item is in depends on the items, so what is opened
//! of the rows later must be shuffled first, or be something that does not tell rows apart.
//!
//! **How**: an oblivious function F ([`crate::vole_psi::oprf`]) gives each party a number of 128 bits for each of its items. The receiver puts its
//! numbers into m bins with three choices each ([`crate::cuckoo`]). The sender draws a tag r and a mask for each bin, and sends a store in which each of
//! its items, for each of its three bins, has the value (r, payload XOR mask) under a key and a pad that are hashes of number and bin.
//! What the receiver decodes is its bin's r and the masked payload if the sender has the item, else random. Tags are compared under the
//! engine, and payloads, which the mask shares, are multiplied by the result.
//!
//! **False matches**: tags have 40 + log2 m bits, so a match appears where there is none with probability 2^-40 in the whole run; the function's own
//! collisions are far rarer ([`crate::vole_psi`]).
//!
//! **Cost** [`CircuitPsi::declared`] is exact: the function; then 1 round with 16 bytes for each of about 3.3 columns a sender's item. Then under the
//! engine a comparison of tags for each of about 1.3 n bins, one after the other in log2 of their bits, and an AND with 128 planes.
//!
//! **Source** Rindal, Schoppmann, "VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE" (EUROCRYPT 2021), section 5; Pinkas, Schneider, Tkachenko,
//! Yanai, "Efficient Circuit-Based PSI with Linear Communication" (EUROCRYPT 2019). **Departures** the function is evaluated once an item and not once
//! an item and bin; payloads lie behind the tags in one value instead of a store of their own.

use crate::cuckoo;
use crate::error::PsiError;
use crate::okvs::{Layout, Okvs};
use crate::protocol::{Item, Role, Sizes, Traffic};
use crate::vole_psi::oprf;
use tacit_math::{Plane, Prg, Seed, Tccr, transpose};
use tacit_mpc::{Backend, Block, Rows, Shape, circuits, linear};
use tacit_net::{PartyId, Session};

/// Bytes of a seed.
const SEED: usize = 16;

/// Words of a band.
const BAND: usize = 4;

/// Planes of a payload.
pub const PAYLOAD_PLANES: usize = 64;

/// What both parties derive from the sizes.
#[derive(Clone, Copy, Debug)]
pub struct CircuitPsi {
    sizes: Sizes,
    bins: usize,
    tag_bits: usize,
}

/// What a party knows of every bin after the stores are exchanged: the sender its tag and mask, the receiver what it decoded. A
/// tag is in the low half, a payload or its mask in the high half. The receiver also has its own payload.
pub struct Binned {
    role: Role,
    values: Vec<u128>,
    payloads: Vec<u64>,
}

/// Shared bins: which match, and what both parties brought to each match.
pub struct Joined<B: Backend> {
    /// Where the receiver's item is one of the sender's.
    pub matches: B::Bits,
    /// The sender's payloads, zero where there is no match.
    pub of_sender: Vec<B::Bits>,
    /// The receiver's payloads, zero where there is no match.
    pub of_receiver: Vec<B::Bits>,
}

impl CircuitPsi {
    /// The parameters for two sets.
    pub fn new(sizes: Sizes) -> Self {
        let bins = if sizes.sender == 0 { 0 } else { cuckoo::bins(sizes.receiver) };
        let tag_bits = 40 + (usize::BITS - bins.leading_zeros()) as usize;
        Self { sizes, bins, tag_bits }
    }

    /// Rows of the result.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Columns of the sender's store.
    fn layout(&self) -> Layout {
        Layout::new(cuckoo::CHOICES * self.sizes.sender, 64 * BAND)
    }

    /// The exact cost of [`Self::bin`].
    pub fn declared(&self) -> Traffic {
        let mut cost = oprf::cost(self.sizes);
        if self.bins > 0 {
            cost.rounds += 1;
            cost.sender += (SEED + 16 * self.layout().columns()) as u64;
        }
        cost
    }

    /// Exchanges the stores. Items of one set are distinct; there is one payload for each.
    ///
    /// # Errors
    /// The connection's failure, items that do not fit the announced sizes, or too unlucky a hash (probability 2^-40).
    pub fn bin(
        &self,
        role: Role,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        payloads: &[u64],
    ) -> Result<Binned, PsiError> {
        let announced = if role == Role::Sender { self.sizes.sender } else { self.sizes.receiver };
        if items.len() != announced || payloads.len() != announced {
            let counts = format!("{} items and {} payloads", items.len(), payloads.len());
            return Err(PsiError::Input(format!(
                "{counts} are given where {announced} were announced; give one payload for each item"
            )));
        }
        if self.bins == 0 {
            return Ok(Binned { role, values: vec![], payloads: vec![] });
        }
        match role {
            Role::Sender => self.send(session, peer, items, payloads),
            Role::Receiver => self.receive(session, peer, items, payloads),
        }
    }

    fn send(&self, session: &mut Session, peer: PartyId, items: &[Item], payloads: &[u64]) -> Result<Binned, PsiError> {
        let numbers = oprf::send(session, peer, items, self.sizes)?;
        session.enter("store");
        let values: Vec<u128> = Prg::new(&Seed::random()?).vector(self.bins);
        let places: Vec<(u128, usize)> =
            numbers.iter().flat_map(|&x| cuckoo::choices(x, self.bins).map(|bin| (x, bin))).collect();
        let (keys, pads) = keys_and_pads(&places);
        let programmed = |number: u32| {
            let place = number as usize;
            pads[place] ^ values[places[place].1] ^ u128::from(payloads[place / cuckoo::CHOICES]) << 64
        };
        let seed = Seed::random()?;
        let store = Okvs::<BAND>::with_layout(self.layout(), &seed);
        session.next_round();
        session.send(peer, seed.expose().to_vec())?;
        store.encode_clusters::<u128, PsiError>(
            &keys,
            &store.order(&keys),
            &mut Prg::new(&Seed::random()?),
            |numbers, out| out.iter_mut().zip(numbers).for_each(|(out, &number)| *out = programmed(number)),
            |_, columns| {
                let mut message = session.buffer(size_of_val(columns));
                message.extend_from_slice(bytemuck::cast_slice(columns));
                Ok(session.send(peer, message)?)
            },
        )?;
        session.leave();
        Ok(Binned { role: Role::Sender, values, payloads: vec![] })
    }

    fn receive(
        &self,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        payloads: &[u64],
    ) -> Result<Binned, PsiError> {
        let numbers = oprf::receive(session, peer, items, self.sizes)?;
        session.enter("store");
        let table = cuckoo::table(&numbers)
            .ok_or_else(|| PsiError::Input("two of this party's items are equal; give each item once".to_owned()))?;
        let occupied: Vec<(usize, usize)> =
            (0..self.bins).filter(|&bin| table[bin] != cuckoo::EMPTY).map(|bin| (bin, table[bin] as usize)).collect();
        let places: Vec<(u128, usize)> = occupied.iter().map(|&(bin, item)| (numbers[item], bin)).collect();
        let (keys, pads) = keys_and_pads(&places);
        let mut seed = [0; SEED];
        session.next_round();
        session.recv(peer, &mut seed)?;
        let store = Okvs::<BAND>::with_layout(self.layout(), &Seed::from_bytes(seed));
        let order = store.order(&keys);
        let mut values: Vec<u128> = Prg::new(&Seed::random()?).vector(self.bins);
        let mut columns = vec![0u128; self.layout().cluster_columns()];
        for cluster in 0..self.layout().clusters {
            session.recv(peer, bytemuck::cast_slice_mut(&mut columns))?;
            store.decode_cluster(&keys, &order, cluster, &columns, |numbers, decoded| {
                for (&number, decoded) in numbers.iter().zip(decoded) {
                    values[occupied[number as usize].0] = *decoded ^ pads[number as usize];
                }
            });
        }
        session.leave();
        let mut own = vec![0; self.bins];
        occupied.iter().for_each(|&(bin, item)| own[bin] = payloads[item]);
        Ok(Binned { role: Role::Receiver, values, payloads: own })
    }

    /// Compares the tags of every bin and takes the payloads of matches. Called at all nodes; the two parties give what they know.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn join<B: Backend>(
        &self,
        b: &mut B,
        sender: PartyId,
        receiver: PartyId,
        binned: Option<Binned>,
    ) -> tacit_mpc::Result<Joined<B>> {
        let (rows, tags) = (self.bins, self.tag_bits);
        let shape = |bits| Shape { rows, bits, ..Shape::default() };
        let (of_sender, of_receiver) = (shape(tags + PAYLOAD_PLANES), shape(tags + 2 * PAYLOAD_PLANES));
        let known = |role| binned.as_ref().filter(|known| known.role == role).map(|known| known.planes(tags));
        let theirs = b.input(sender, of_sender, known(Role::Sender))?;
        let own = b.input(receiver, of_receiver, known(Role::Receiver))?;
        b.step("compare", |b| join_planes(b, rows, tags, &theirs, &own))
    }
}

fn join_planes<B: Backend>(
    b: &mut B,
    rows: usize,
    tags: usize,
    theirs: &Rows<B>,
    own: &Rows<B>,
) -> tacit_mpc::Result<Joined<B>> {
    let matches = circuits::equal(b, rows, &theirs.bits[..tags], &own.bits[..tags])?;
    let masked = own.bits[tags..].iter().zip(&theirs.bits[tags..]);
    let mut payloads: Vec<B::Bits> = masked.map(|(masked, mask)| linear::xor(masked, mask)).collect();
    payloads.extend_from_slice(&own.bits[tags + PAYLOAD_PLANES..]);
    let mut of_sender = circuits::mask_all(b, &matches, &payloads)?;
    let of_receiver = of_sender.split_off(PAYLOAD_PLANES);
    Ok(Joined { matches, of_sender, of_receiver })
}

impl Binned {
    /// Tag, payload or mask, and the receiver's own payload.
    fn planes(&self, tags: usize) -> Block {
        let half = |shift: u32| self.values.iter().map(|value| (value >> shift) as u64).collect::<Vec<_>>();
        let mut bits: Vec<Plane> = transpose::planes_of_rows(&half(0), tags);
        bits.extend(transpose::planes_of_rows(&half(64), PAYLOAD_PLANES));
        if self.role == Role::Receiver {
            bits.extend(transpose::planes_of_rows(&self.payloads, PAYLOAD_PLANES));
        }
        Block { rows: self.values.len(), bits, ..Block::default() }
    }
}

/// For numbers in bins the key in the store and the pad of the value there.
fn keys_and_pads(places: &[(u128, usize)]) -> (Vec<Item>, Vec<u128>) {
    let hashes = |purpose: u128| {
        let mut out: Vec<u128> = places.iter().map(|(number, _)| *number).collect();
        Tccr::new().hash_blocks(&mut out, |i| 2 * places[i].1 as u128 + purpose);
        out
    };
    (hashes(0), hashes(1))
}
