//! Both parties of VOLE-PSI put together from its parts, so that what they hold is in the open and they may deviate.
//! Each step takes what the party does there from the test.

use tacit_math::band::Word;
use tacit_math::code::Symbol;
use tacit_math::gf::{Field, Gf64, Gf128};
use tacit_math::{BlockCipher, CorrelationRobustHash, KeyedHash, Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_ot::silent::vole;
use tacit_ot::vole::{VoleReceiver, VoleSender};
use tacit_ot::{Adversary, softspoken};
use tacit_psi::okvs::Okvs;
use tacit_psi::vole_psi::oprf::Function;
use tacit_psi::vole_psi::{Strength, Variant, VolePsi};
use tacit_psi::{Item, Sizes};

/// SoftSpokenOT's k.
const EXTENSION: usize = 4;

/// The scalars of a variant, as words of a store.
pub trait Scalar: Field + Symbol {
    type Word: Word;
    const VARIANT: Variant;
}

impl Scalar for Gf64 {
    type Word = u64;
    const VARIANT: Variant = Variant::Fast;
}

impl Scalar for Gf128 {
    type Word = u128;
    const VARIANT: Variant = Variant::Malicious;
}

fn adversary<F: Scalar>() -> Adversary {
    if F::VARIANT == Variant::Malicious { Adversary::Malicious } else { Adversary::SemiHonest }
}

/// The lengths that both parties derive.
pub fn strength<F: Scalar>(sizes: Sizes) -> Strength {
    VolePsi { variant: F::VARIANT, bins: 1 }.strength(sizes)
}

/// The public functions of a run.
pub struct Functions {
    variant: Variant,
    pub store: Okvs<4>,
    seed: Seed,
    /// The sum of both parties' coins, once it is known.
    pub coins: u128,
}

impl Functions {
    fn new<F: Scalar>(sizes: Sizes, seed: [u8; 16]) -> Self {
        let seed = Seed::from_bytes(seed);
        let store = Okvs::with_layout(strength::<F>(sizes).layout, &seed);
        Self { variant: F::VARIANT, store, seed, coins: 0 }
    }

    /// Those of a function that is called from another protocol.
    pub fn of(function: Function, seed: [u8; 16]) -> Self {
        let seed = Seed::from_bytes(seed);
        let store = Okvs::with_layout(function.strength().layout, &seed);
        Self { variant: Variant::Fast, store, seed, coins: 0 }
    }

    /// Of a fresh seed.
    pub fn drawn<F: Scalar>(sizes: Sizes) -> Self {
        Self::new::<F>(sizes, fresh())
    }

    fn oracle(&self, purpose: &str) -> KeyedHash {
        KeyedHash::new(&blake3::derive_key(&format!("tacit 2026 vole-psi: {purpose}"), self.seed.expose()))
    }

    /// h of items.
    pub fn scalars<F: Scalar>(&self, items: &[Item]) -> Vec<F> {
        let mut images = items.to_vec();
        match self.variant {
            Variant::Malicious => self.oracle("scalars").hash_blocks([items], &mut images),
            _ => BlockCipher::new(&self.seed.derive("vole-psi/scalars")).encrypt(&mut images),
        }
        images.into_iter().map(F::from_bits).collect()
    }

    /// Tags of items with these values.
    pub fn tags(&self, items: &[Item], values: &[u128]) -> Vec<u128> {
        let mut tags: Vec<u128> = values.iter().map(|value| value ^ self.coins).collect();
        match self.variant {
            Variant::Malicious => {
                let masked = tags.clone();
                self.oracle("tags").hash_blocks([&masked, items], &mut tags);
            }
            _ => CorrelationRobustHash::new().hash_blocks(&mut tags),
        }
        tags
    }

    /// What columns have for items.
    pub fn decode<T: Word>(&self, items: &[Item], columns: &[T]) -> Vec<T> {
        self.store.decode(items, &self.store.order(items), columns)
    }

    /// What columns have for items less h of the items: zero if they are a receiver's without masks, and it has the
    /// item.
    pub fn rest(&self, items: &[Item], columns: &[u64]) -> Vec<u64> {
        let scalars = self.scalars::<Gf64>(items);
        self.decode(items, columns).iter().zip(scalars).map(|(value, scalar)| value ^ scalar.0).collect()
    }

    /// Columns that have these values for items, if there are any.
    pub fn encode<F: Scalar>(&self, items: &[Item], values: &[F], random: &mut Prg) -> Option<Vec<F>> {
        let values: &[F::Word] = bytemuck::cast_slice(values);
        let place = |numbers: &[u32], out: &mut [F::Word]| {
            numbers.iter().zip(out).for_each(|(&number, out)| *out = values[number as usize]);
        };
        let columns = self.store.encode(items, &self.store.order(items), random, place).ok()?;
        Some(bytemuck::cast_slice(&columns).to_vec())
    }
}

fn fresh() -> [u8; 16] {
    *Seed::random().expect("randomness").expose()
}

/// What a receiver has after a run.
pub struct Asked<F> {
    pub functions: Functions,
    pub vole: VoleReceiver<F>,
    /// The sender's tags, in its order.
    pub tags: Vec<u128>,
    mask: u128,
}

impl<F: Scalar> Asked<F> {
    /// The tags that the receiver computes of any items: the sender's where its columns have h of the item.
    pub fn tags_of(&self, items: &[Item]) -> Vec<u128> {
        let tags = self.functions.tags(items, &self.functions.decode(items, &self.vole.c));
        tags.into_iter().map(|tag| tag & self.mask).collect()
    }

    /// Which items' tags are among the sender's.
    pub fn found(&self, items: &[Item]) -> Vec<Item> {
        let tags = self.tags_of(items);
        items.iter().zip(tags).filter(|(_, tag)| self.tags.contains(tag)).map(|(&item, _)| item).collect()
    }
}

/// A receiver's part. `columns`: what it encodes under the functions of a seed that it draws; None draws another seed.
pub fn receive<F: Scalar>(
    session: &mut Session,
    sender: PartyId,
    sizes: Sizes,
    mut columns: impl FnMut(&Functions) -> Option<Vec<F>>,
) -> Asked<F> {
    let strength = strength::<F>(sizes);
    let count = strength.layout.columns();
    // What transfers hash is bound to the names of steps.
    session.enter("ot");
    let mut ots = softspoken::Receiver::setup(session, sender, adversary::<F>(), EXTENSION).expect("set up");
    session.leave();
    session.enter("vole");
    let ots = ots.extend(session, vole::ots::<F>(count, adversary::<F>())).expect("transfers");
    let vole = vole::receive_with::<F>(session, sender, count, adversary::<F>(), &ots).expect("correlations");
    session.leave();
    let mut half = [0; 16];
    if F::VARIANT == Variant::Malicious {
        session.next_round();
        session.recv(sender, &mut [0; 32]).expect("a commitment");
        half = fresh();
    }
    let (seed, mut functions, encoded) = std::iter::repeat_with(fresh)
        .find_map(|seed| {
            let functions = Functions::new::<F>(sizes, seed);
            columns(&functions).map(|columns| (seed, functions, columns))
        })
        .expect("a seed");
    session.next_round();
    let head = if F::VARIANT == Variant::Malicious { [seed, half].concat() } else { seed.to_vec() };
    session.send(sender, head).expect("sent");
    let masked: Vec<F> = encoded.iter().zip(&vole.a).map(|(&column, &a)| column ^ a).collect();
    session.send(sender, bytemuck::cast_slice(&masked).to_vec()).expect("sent");
    session.next_round();
    if F::VARIANT == Variant::Malicious {
        let mut other = [0; 16];
        session.recv(sender, &mut other).expect("coins");
        functions.coins = u128::from_le_bytes(half) ^ u128::from_le_bytes(other);
    }
    let bytes = strength.tag_bits as usize / 8;
    let mut received = vec![0; bytes * sizes.sender];
    session.recv(sender, &mut received).expect("tags");
    let tag = |chunk: &[u8]| {
        let mut wide = [0; 16];
        wide[..bytes].copy_from_slice(chunk);
        u128::from_le_bytes(wide)
    };
    let tags = received.chunks(bytes).map(tag).collect();
    Asked { functions, vole, tags, mask: u128::MAX >> (128 - strength.tag_bits) }
}

/// What a sender of the malicious variant has when it is to send tags.
pub struct Held {
    pub functions: Functions,
    pub vole: VoleSender,
    /// What the receiver sent: its columns plus a.
    pub columns: Vec<Gf128>,
    /// This party's half of the coins.
    pub half: u128,
}

impl Held {
    /// The tags of items as if the receiver's columns or delta were others.
    pub fn tags_under(&self, items: &[Item], columns: &[Gf128], delta: u128) -> Vec<u128> {
        let mut keys = self.vole.b.clone();
        Gf128::add_scaled(&mut keys, columns, delta);
        let mut values = self.functions.decode(items, &keys);
        Gf128::add_scaled(&mut values, &self.functions.scalars::<Gf128>(items), delta);
        self.functions.tags(items, &values)
    }

    /// The true tags of items.
    pub fn tags_of(&self, items: &[Item]) -> Vec<u128> {
        self.tags_under(items, &self.columns, self.vole.delta)
    }

    /// All that the receiver's columns say of items: what they have for an item, less h of the item. If the receiver
    /// has the item, that is what `a` has for it, which the sender does not know.
    pub fn masked(&self, items: &[Item]) -> Vec<u128> {
        let values = self.functions.decode(items, bytemuck::cast_slice::<Gf128, u128>(&self.columns));
        let scalars = self.functions.scalars::<Gf128>(items);
        values.into_iter().zip(scalars).map(|(value, scalar)| value ^ scalar.0).collect()
    }
}

/// A malicious sender's part. delta: of its choice. `last`: the half of the coins that it opens, and its tags.
pub fn send(
    session: &mut Session,
    receiver: PartyId,
    sizes: Sizes,
    delta: u128,
    last: impl FnOnce(&Held) -> (u128, Vec<u128>),
) -> Held {
    let adversary = Adversary::Malicious;
    let count = strength::<Gf128>(sizes).layout.columns();
    session.enter("ot");
    let mut ots = softspoken::Sender::setup_with(session, receiver, adversary, EXTENSION, delta).expect("set up");
    session.leave();
    session.enter("vole");
    let ots = ots.extend(session, vole::ots::<Gf128>(count, adversary)).expect("transfers");
    let vole = vole::send_with::<Gf128>(session, receiver, count, adversary, &ots).expect("correlations");
    session.leave();
    let half = u128::from_le_bytes(fresh());
    session.next_round();
    let committed = blake3::derive_key("tacit 2026 vole-psi: commitment", &half.to_le_bytes());
    session.send(receiver, committed.to_vec()).expect("sent");
    session.next_round();
    let (mut seed, mut other, mut columns) = ([0; 16], [0; 16], vec![Gf128(0); count]);
    session.recv(receiver, &mut seed).expect("a seed");
    session.recv(receiver, &mut other).expect("coins");
    session.recv(receiver, bytemuck::cast_slice_mut(&mut columns)).expect("columns");
    let mut functions = Functions::new::<Gf128>(sizes, seed);
    functions.coins = half ^ u128::from_le_bytes(other);
    let held = Held { functions, vole, columns, half };
    let (opened, tags) = last(&held);
    session.next_round();
    session.send(receiver, opened.to_le_bytes().to_vec()).expect("sent");
    session.send(receiver, bytemuck::cast_slice(&tags).to_vec()).expect("sent");
    held
}
