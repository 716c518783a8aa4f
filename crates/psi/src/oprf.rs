//! An oblivious pseudorandom function of many items from VOLE and a key-value store.
//!
//! **Computes** for the receiver F(x) for each of its items, for the sender a key with which it can evaluate F anywhere. **Adversary**
//! semi-honest. **Discloses** to the sender how many items the receiver has.
//!
//! **How** VOLE gives the sender delta and b, the receiver a and c = a delta + b for each column of a store. The receiver encodes its items with
//! random-oracle values h(x) to columns p and sends p + a; the sender turns b into k = b + (p + a) delta = c + p delta. Then
//! decode(k, y) - h(y) delta is decode(c, x) for the receiver's items and hidden by delta elsewhere; F is a random oracle of it.
//!
//! **Source** Rindal, Schoppmann, "VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE" (EUROCRYPT 2021), Figure 3, over GF(2^128) with the
//! random-band store of [`crate::okvs`].
//!
//! **Cost** for n items: silent VOLE of as many elements as the store has columns, about 1.09 n, then 1 round: 16 bytes and 16 a column from the
//! receiver.

use crate::error::PsiError;
use crate::okvs::{Layout, Okvs};
use crate::protocol::Item;
use tacit_math::gf::{Field, Gf128};
use tacit_math::{KeyedHash, Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_ot::silent::vole;
use tacit_ot::{Adversary, Cost};

/// Words of a band of the store.
const BAND: usize = 4;

fn columns(n: usize) -> usize {
    Layout::new(n, 64 * BAND).columns()
}

/// The cost for n items.
pub fn cost(n: usize) -> Cost {
    let vole = vole::cost::<Gf128>(columns(n), Adversary::SemiHonest);
    let sent = 16 * (1 + columns(n)) as u64;
    Cost { rounds: vole.rounds + 1, sender: vole.sender, receiver: vole.receiver + sent }
}

/// The two random oracles and the store of one run.
struct Public {
    store: Okvs<BAND>,
    scalars: KeyedHash,
    outputs: KeyedHash,
}

impl Public {
    fn new(n: usize, seed: &Seed) -> Self {
        let oracle = |purpose: &str| KeyedHash::new(&blake3::derive_key(purpose, &seed.expose()));
        Self {
            store: Okvs::new(n, seed),
            scalars: oracle("tacit 2026 oprf: scalars"),
            outputs: oracle("tacit 2026 oprf: outputs"),
        }
    }

    fn scalar(&self, item: Item) -> u128 {
        self.scalars.hash(&item.to_le_bytes())
    }

    fn output(&self, item: Item, value: u128) -> u128 {
        self.outputs.hash([value, item].map(u128::to_le_bytes).as_flattened())
    }
}

/// The receiver's part: F of each of its distinct items.
///
/// # Errors
/// The connection's failure, or a peer that deviates; [`PsiError::Input`] if items are not distinct, and with probability 2^-40
/// if they are.
pub fn evaluate(session: &mut Session, sender: PartyId, items: &[Item]) -> Result<Vec<u128>, PsiError> {
    let vole = vole::receive::<Gf128>(session, sender, columns(items.len()), Adversary::SemiHonest)?;
    let seed = Seed::random()?;
    let public = Public::new(items.len(), &seed);
    let order = public.store.order(items);
    let scalars = |numbers: &[u32], out: &mut [u128]| {
        out.iter_mut().zip(numbers).for_each(|(out, &number)| *out = public.scalar(items[number as usize]));
    };
    let mut columns = public
        .store
        .encode(items, &order, &mut Prg::new(&Seed::random()?), scalars)
        .map_err(|_| PsiError::Input("the items have no key-value store: two of them are equal".to_owned()))?;
    columns.iter_mut().zip(&vole.a).for_each(|(column, a)| *column ^= a.bits());
    session.next_round();
    session.send(sender, seed.expose().to_vec())?;
    for piece in columns.chunks(1 << 16) {
        session.send(sender, bytemuck::cast_slice(piece).to_vec())?;
    }
    let mut values = public.store.decode(items, &order, &vole.c);
    values.iter_mut().zip(items).for_each(|(value, &item)| *value = public.output(item, *value));
    Ok(values)
}

/// The sender's key.
pub struct Key {
    public: Public,
    delta: u128,
    columns: Vec<u128>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(secret)")
    }
}

/// The sender's part: the key under which a receiver of n items has evaluated them.
///
/// # Errors
/// The connection's failure, or a peer that deviates.
pub fn serve(session: &mut Session, receiver: PartyId, n: usize) -> Result<Key, PsiError> {
    let vole = vole::send::<Gf128>(session, receiver, columns(n), Adversary::SemiHonest)?;
    session.next_round();
    let mut seed = [0; 16];
    session.recv(receiver, &mut seed)?;
    let mut sent = vec![Gf128::default(); vole.b.len()];
    session.recv(receiver, bytemuck::cast_slice_mut(&mut sent))?;
    let mut columns = vole.b;
    Gf128::add_scaled(&mut columns, &sent, vole.delta);
    Ok(Key { public: Public::new(n, &Seed::from_bytes(seed)), delta: vole.delta, columns })
}

impl Key {
    /// F of any items.
    pub fn evaluate(&self, items: &[Item]) -> Vec<u128> {
        let order = self.public.store.order(items);
        let mut values = self.public.store.decode(items, &order, &self.columns);
        for (value, &item) in values.iter_mut().zip(items) {
            let masked = *value ^ Gf128::from_bits(self.public.scalar(item)).scale(self.delta);
            *value = self.public.output(item, masked);
        }
        values
    }
}
