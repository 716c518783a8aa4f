//! Intersection into shares: which items match, and both payloads, without anybody learning a match.
//!
//! **Computes** for every bin of the receiver's table a shared bit, whether the receiver's item there is one of the
//! sender's, and both items' payloads, of any widths. Bits and payloads are shared under any engine of which both
//! parties are nodes. Where there is no match, the payloads are meaningless (the sender's random, the receiver's its
//! own), as in any row that is not valid. **Adversary** semi-honest, either party. **Discloses** both sizes. Which bin
//! an item is in depends on the items. So what is opened of the rows later must be shuffled first, or be something that
//! does not tell rows apart.
//!
//! **How**:
//! 1. The parties toss a seed, now that both sets are fixed. A permutation under it turns each item into a number,
//!    which says which three of m bins are the item's ([`crate::cuckoo`]). The receiver puts each of its items into one
//!    of its bins, at most one into a bin, and a random number into each bin that stays empty.
//! 2. The parties evaluate an oblivious function F of a number and a bin ([`crate::vole_psi::oprf`]). The receiver gets
//!    F at the one number of each bin, the sender F at each of its items in each of the item's three bins.
//! 3. A value is a tag of zeros and the payload, in whole words of 128 bits, the rest zeros. The sender draws for each
//!    bin a mask of as many whole words. It sends a store in which each of its items, for each of its three bins, has
//!    its value minus the bin's mask. The entry's key and pad are hashes of F there. What the receiver decodes is, if
//!    the sender has the item, with the bin's mask a sharing of its value, else random.
//! 4. Under the engine the tags' bits are compared with zero; payloads are shared as they are.
//!
//! **Why the receiver sees nothing**: it has F at one number of each bin. So of all that is stored under a bin's mask
//! it can read one value at most. A uniform mask hides all bits of that one, those that hold nothing too. With F at a
//! second number of the same bin it would see two equal tags where both items are the sender's.
//!
//! **Bounds** of a whole run ([`crate::chance`]):
//! - a tag of 42 + log2 m bits is zero where nothing matches: 2^-42;
//! - an item that is not in the function's store passes for one that is: 20 2^-45 ([`crate::vole_psi`]);
//! - items find no place in the bins, over the seed, whatever they are; the store cannot be encoded; the function's
//!   store cannot: 2^-45 each. These three end the run with an error.
//!
//! Together 31 2^-45, below 2^-40.
//!
//! **Cost** [`CircuitPsi::declared`] is exact: 1 round with 16 bytes each; the function, with the receiver's m numbers
//! and three for each item of the sender. Then 1 round with 16 bytes for each of about 3.3 columns a sender's item and
//! each begun 128 bits of tag and payload. Then under the engine two inputs and a conjunction of the tags' bits for
//! each of about 1.3 n bins.
//!
//! **Source** Rindal, Schoppmann, "VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE" (EUROCRYPT 2021), section 5;
//! Pinkas, Schneider, Tkachenko, Yanai, "Efficient Circuit-Based PSI with Linear Communication" (EUROCRYPT 2019).
//! **Departures** payloads lie behind the tags in one value instead of a store of their own.

use crate::error::PsiError;
use crate::interface::protocol::{Item, Sizes};
use crate::interface::role::Role;
use crate::intersection::vole_psi::oprf::{self, Function};
use crate::parts::chance::TAG_BITS;
use crate::parts::cuckoo;
use crate::parts::masking::{AGREE_BYTES, agree};
use crate::parts::okvs::{Layout, Okvs, Order};
use crate::wrong_input::WrongInput;
use tacit_math::{BlockCipher, Plane, Prg, Seed, TweakableCircularHash};
use tacit_mpc::{Backend, Block, Rows, Shape, circuits, linear};
use tacit_net::{PartyId, Session, Traffic};

mod words;

/// Bytes of a seed.
const SEED: usize = 16;

/// Words of a band.
const BAND: usize = 4;

/// What each party brings for each of its items: planes, and vectors over Z/2^64 and Z/2^128. Rows are not looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Payloads {
    /// What the sender brings.
    pub sender: Shape,
    /// What the receiver brings.
    pub receiver: Shape,
}

/// What both parties derive from the sizes.
#[derive(Clone, Copy, Debug)]
pub struct CircuitPsi {
    sizes: Sizes,
    payloads: Payloads,
    bins: usize,
    tag_bits: usize,
}

/// What a party knows of every bin after the stores are exchanged.
pub struct Binned {
    role: Role,
    /// Both parties' add up to a tag of zeros, and behind it the sender's payload, where there is a match.
    share: Block,
    /// The receiver's payloads.
    own: Block,
}

/// Shared bins: which match, and what both parties brought to each match.
pub struct Joined<B: Backend> {
    /// Where the receiver's item is one of the sender's.
    pub matches: B::Bits,
    /// The sender's payloads; anything where there is no match.
    pub of_sender: Rows<B>,
    /// The receiver's payloads; anything where there is no match.
    pub of_receiver: Rows<B>,
}

impl CircuitPsi {
    /// The parameters for two sets and what is brought for their items.
    ///
    /// # Panics
    /// If a payload has vectors over Z/2^32.
    pub fn new(sizes: Sizes, payloads: Payloads) -> Self {
        assert!(payloads.sender.r32 + payloads.receiver.r32 == 0, "payloads are planes and vectors of 64 or 128 bits");
        let bins = if sizes.sender == 0 || sizes.receiver == 0 { 0 } else { cuckoo::bins(sizes.receiver, 1) };
        let tag_bits = (TAG_BITS + (usize::BITS - bins.leading_zeros())) as usize;
        Self { sizes, payloads, bins, tag_bits }
    }

    /// Rows of the result.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Bits of a tag.
    pub fn tag_bits(&self) -> usize {
        self.tag_bits
    }

    /// Tags and the sender's payloads, in every bin.
    fn values(&self) -> Shape {
        let Shape { bits, r64, r128, .. } = self.payloads.sender;
        Shape { rows: self.bins, bits: self.tag_bits + bits, r64, r128, ..Shape::default() }
    }

    /// How many stores of 128-bit values hold the values.
    fn stores(&self) -> usize {
        words::pairs_of(self.values())
    }

    /// Columns of each of the sender's stores.
    pub fn layout(&self) -> Layout {
        Layout::new(cuckoo::CHOICES * self.sizes.sender, 64 * BAND)
    }

    /// The function, which each party evaluates at numbers in bins.
    pub fn function(&self) -> Function {
        Function::only(Sizes { sender: cuckoo::CHOICES * self.sizes.sender, receiver: self.bins })
    }

    /// The exact cost of [`Self::bin`].
    pub fn declared(&self) -> Traffic {
        if self.bins == 0 {
            return Traffic::default();
        }
        let stores = (SEED + self.stores() * 16 * self.layout().columns()) as u64;
        self.function().cost() + Traffic { rounds: 2, sender: AGREE_BYTES + stores, receiver: AGREE_BYTES }
    }

    /// Exchanges the stores. Items of one set are distinct; row i of the payload belongs to item i.
    ///
    /// # Errors
    /// The connection's failure, items that do not fit the announced sizes or are not distinct, or too unlucky a seed
    /// (probability 3 2^-45).
    pub fn bin(
        &self,
        role: Role,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        payload: &Block,
    ) -> Result<Binned, PsiError> {
        let (announced, shape) = match role {
            Role::Sender => (self.sizes.sender, self.payloads.sender),
            Role::Receiver => (self.sizes.receiver, self.payloads.receiver),
        };
        if items.len() != announced || payload.shape() != (Shape { rows: announced, ..shape }) {
            return Err(WrongInput::Payloads { items: items.len(), payloads: payload.rows, announced }.into());
        }
        if self.bins == 0 {
            let own = if role == Role::Receiver { payload.gather(&[]) } else { Block::default() };
            return Ok(Binned { role, share: Block::zeros(self.values()), own });
        }
        match role {
            Role::Sender => self.send(session, peer, items, payload),
            Role::Receiver => self.receive(session, peer, items, payload),
        }
    }

    fn send(&self, session: &mut Session, peer: PartyId, items: &[Item], payload: &Block) -> Result<Binned, PsiError> {
        // 1. Each item in all of its bins.
        let numbers = numbers(session, peer, items)?;
        let (points, bins) = cuckoo::in_all_bins(&numbers, self.bins);
        drop(numbers);
        // 2. The function at all of them.
        let values = oprf::send(session, peer, &points, self.function())?;
        drop(points);
        // 3. Values minus masks, in a store.
        session.enter("store");
        let masks = self.masks()?;
        let keys = self.keys(&values, &bins);
        let mut tagged = payload.clone();
        tagged.bits.splice(..0, (0..self.tag_bits).map(|_| Plane::zeros(payload.rows)));
        let difference = words::Difference::new(&tagged, &masks);
        let seed = Seed::random()?.published();
        let store = Okvs::<BAND>::with_layout(self.layout(), &seed);
        let order = store.order(&keys);
        session.next_round();
        session.send(peer, seed.expose().to_vec())?;
        for pair in 0..self.stores() {
            let mut stored = self.hashes(&values, &bins, 1 + pair);
            for (item, (stored, bins)) in
                stored.chunks_mut(cuckoo::CHOICES).zip(bins.chunks(cuckoo::CHOICES)).enumerate()
            {
                stored
                    .iter_mut()
                    .zip(bins)
                    .for_each(|(value, &bin)| *value ^= difference.pair(item, bin as usize, pair));
            }
            send_store(session, peer, &store, &keys, &order, &stored)?;
        }
        session.leave();
        Ok(Binned { role: Role::Sender, share: words::block(self.values(), &masks), own: Block::default() })
    }

    fn receive(
        &self,
        session: &mut Session,
        peer: PartyId,
        items: &[Item],
        payload: &Block,
    ) -> Result<Binned, PsiError> {
        // 1. One number in each bin.
        let numbers = numbers(session, peer, items)?;
        let table = cuckoo::table(&numbers, self.bins).ok_or(WrongInput::EqualItems)?;
        let points = cuckoo::in_own_bins(&numbers, &table, &mut Prg::new(&Seed::random()?));
        drop(numbers);
        // 2. The function at each.
        let values = oprf::receive(session, peer, &points, self.function())?;
        drop(points);
        // 3. What the store has for each.
        session.enter("store");
        let bins: Vec<u32> = (0..self.bins as u32).collect();
        let keys = self.keys(&values, &bins);
        let mut seed = [0; SEED];
        session.next_round();
        session.recv(peer, &mut seed)?;
        let store = Okvs::<BAND>::with_layout(self.layout(), &Seed::from_bytes(seed));
        let order = store.order(&keys);
        let mut columns = vec![0u128; self.layout().cluster_columns()];
        let mut decoded = Vec::new();
        for pair in 0..self.stores() {
            let mut unpadded = self.hashes(&values, &bins, 1 + pair);
            for cluster in (0..self.layout().clusters).rev() {
                session.recv(peer, bytemuck::cast_slice_mut(&mut columns))?;
                store.decode_cluster(&keys, &order, cluster, &columns, |bins, stored| {
                    bins.iter().zip(stored).for_each(|(&bin, stored)| unpadded[bin as usize] ^= *stored);
                });
            }
            decoded.push(unpadded);
        }
        session.leave();
        Ok(Binned { role: Role::Receiver, share: words::block(self.values(), &decoded), own: placed(payload, &table) })
    }

    /// A mask for each bin, store by store. It is as wide as what the store carries, whatever the values fill of it. A
    /// bit without a mask would be the same wherever the receiver has an item of the sender, and would name the
    /// matches.
    fn masks(&self) -> Result<Vec<Vec<u128>>, PsiError> {
        let mut prg = Prg::new(&Seed::random()?);
        Ok((0..self.stores()).map(|_| prg.vector(self.bins)).collect())
    }

    /// The keys in the stores. They stand for this party's items, and like those of items their places in stores follow
    /// from them; pads stay secret.
    fn keys(&self, values: &[u128], bins: &[u32]) -> Vec<u128> {
        let mut keys = self.hashes(values, bins, 0);
        tacit_marks::public(&mut keys);
        keys
    }

    /// For the function's values in bins the keys in the stores (purpose 0), or the pads in store i (purpose i + 1).
    /// What is hashed is pseudorandom to whoever does not have it, and nothing that depends on it is added to the hash:
    /// tweakable correlation robustness is enough.
    fn hashes(&self, values: &[u128], bins: &[u32], purpose: usize) -> Vec<u128> {
        let mut out = values.to_vec();
        let purposes = self.stores() + 1;
        // Of values of the function that look random to who has not evaluated it, each tweak once for a value; added to
        // them are values minus masks.
        TweakableCircularHash::new().hash_blocks(&mut out, |i| (purposes * bins[i] as usize + purpose) as u128);
        out
    }

    /// Compares the tags of every bin. Called at all nodes; the two parties give what they know.
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
        let (masks, values) = (self.values(), self.values());
        let own = Shape { rows: self.bins, ..self.payloads.receiver };
        let (of_sender, of_receiver) = match binned {
            Some(known) if known.role == Role::Sender => (Some(known.all()), None),
            known => (None, known.map(Binned::all)),
        };
        let masks = b.input(sender, masks, of_sender)?;
        let mut values = b.input(receiver, values.beside(own), of_receiver)?;
        let of_receiver = split_off(&mut values, masks.shape());
        let mut of_sender = sum(&masks, &values);
        let payload = of_sender.bits.split_off(self.tag_bits);
        let tag = std::mem::replace(&mut of_sender.bits, payload);
        let zeros = tag.iter().map(|bit| b.not(bit)).collect();
        let matches = b.step("compare", |b| circuits::and_all(b, self.bins, zeros))?;
        Ok(Joined { matches, of_sender, of_receiver })
    }
}

impl Binned {
    /// All that the party gives to the engine.
    fn all(self) -> Block {
        let (mut out, own) = (self.share, self.own);
        out.bits.extend(own.bits);
        out.r64.extend(own.r64);
        out.r128.extend(own.r128);
        out
    }
}

/// What the bins of items are chosen by: their images under a permutation whose key the parties toss when the items are
/// fixed.
fn numbers(session: &mut Session, peer: PartyId, items: &[Item]) -> Result<Vec<u128>, PsiError> {
    let context = agree(session, peer, "circuit-psi")?;
    let mut numbers = items.to_vec();
    BlockCipher::new(&Seed::from_bytes(*context.first_chunk().expect("32 bytes"))).encrypt(&mut numbers);
    Ok(numbers)
}

fn send_store(
    session: &mut Session,
    peer: PartyId,
    store: &Okvs<BAND>,
    keys: &[Item],
    order: &Order,
    values: &[u128],
) -> Result<(), PsiError> {
    store.encode_clusters::<u128, PsiError>(
        keys,
        order,
        &mut Prg::new(&Seed::random()?),
        |numbers, out| out.iter_mut().zip(numbers).for_each(|(out, &number)| *out = values[number as usize]),
        |_, columns| {
            let mut message = session.buffer(size_of_val(columns));
            message.extend_from_slice(bytemuck::cast_slice(columns));
            Ok(session.send(peer, message)?)
        },
    )
}

/// The payload of every bin's item, zeros where there is none.
fn placed(payload: &Block, table: &[u32]) -> Block {
    let last = payload.rows as u32;
    let from: Vec<u32> = table.iter().map(|&item| if item == cuckoo::EMPTY { last } else { item }).collect();
    payload.pad_zeros(1).gather(&from)
}

/// Keeps the first columns of each kind, as many as a shape has, and gives back the rest.
fn split_off<B: Backend>(rows: &mut Rows<B>, first: Shape) -> Rows<B> {
    Rows {
        rows: rows.rows,
        bits: rows.bits.split_off(first.bits),
        r32: vec![],
        r64: rows.r64.split_off(first.r64),
        r128: rows.r128.split_off(first.r128),
    }
}

/// Column by column.
fn sum<B: Backend>(x: &Rows<B>, y: &Rows<B>) -> Rows<B> {
    Rows {
        rows: x.rows,
        bits: x.bits.iter().zip(&y.bits).map(|(x, y)| linear::xor(x, y)).collect(),
        r32: vec![],
        r64: x.r64.iter().zip(&y.r64).map(|(x, y)| linear::add(x, y)).collect(),
        r128: x.r128.iter().zip(&y.r128).map(|(x, y)| linear::add(x, y)).collect(),
    }
}
