//! A receiver of circuit-PSI that follows the protocol, keeps all that it sees, and decodes the sender's store wherever it can.

use tacit_math::{BlockCipher, Prg, Seed, TweakableCircularHash};
use tacit_net::{PartyId, Session};
use tacit_psi::okvs::{Layout, Okvs};
use tacit_psi::vole_psi::oprf;
use tacit_psi::{Item, Sizes, cuckoo};

/// Where the receiver can look: an item of its own, a bin of that item, and the function's value that it has for the item.
#[derive(Clone, Copy)]
pub struct Look {
    pub item: usize,
    pub bin: usize,
    pub number: u128,
}

/// The numbers of items, after the toss of the receiver's part.
pub fn numbers(session: &mut Session, sender: PartyId, items: &[Item]) -> Vec<u128> {
    let mut halves = [[0; 16], Seed::random().expect("randomness").expose()];
    session.next_round();
    session.send(sender, halves[1].to_vec()).expect("sent");
    session.recv(sender, &mut halves[0]).expect("received");
    let mut hasher = blake3::Hasher::new_derive_key("tacit 2026 psi: a context of two parties");
    hasher.update(halves.as_flattened()).update(b"circuit-psi");
    let seed = *hasher.finalize().as_bytes().first_chunk().expect("32 bytes");
    let mut numbers = items.to_vec();
    BlockCipher::new(&Seed::from_bytes(seed)).encrypt(&mut numbers);
    numbers
}

/// The receiver's messages, and all places at which what it then knows lets it look: it has one value for each of its items, and tries it in all
/// of the item's bins, by item.
pub fn looks(session: &mut Session, sender: PartyId, items: &[Item], sizes: Sizes, random: &mut Prg) -> Vec<Look> {
    let numbers = numbers(session, sender, items);
    let table = cuckoo::table(&numbers, cuckoo::bins(items.len(), 1)).expect("an assignment");
    let points = cuckoo::in_own_bins(&numbers, &table, random);
    let evaluations = Sizes { sender: cuckoo::CHOICES * sizes.sender, receiver: table.len() };
    let values = oprf::receive(session, sender, &points, evaluations).expect("values");
    let mut looks = Vec::new();
    for (item, &number) in numbers.iter().enumerate() {
        let home = table.iter().position(|&index| index as usize == item).expect("a bin");
        looks.extend(cuckoo::choices(number, table.len()).map(|bin| Look { item, bin, number: values[home] }));
    }
    looks
}

/// What the receiver decodes at each of them, from the store that the sender sends: a tag and the sender's payload behind it, less a mask.
pub fn decoded(session: &mut Session, sender: PartyId, looks: &[Look], sizes: Sizes) -> Vec<u128> {
    let layout = Layout::new(cuckoo::CHOICES * sizes.sender, 256);
    let (mut seed, mut columns) = ([0; 16], vec![0u128; layout.columns()]);
    session.next_round();
    session.recv(sender, &mut seed).expect("a seed");
    for cluster in columns.chunks_mut(layout.cluster_columns()).rev() {
        session.recv(sender, bytemuck::cast_slice_mut(cluster)).expect("columns");
    }
    let store = Okvs::<4>::with_layout(layout, &Seed::from_bytes(seed));
    let [keys, pads] = [0, 1].map(|purpose| hashes(looks, purpose));
    let values = store.decode(&keys, &store.order(&keys), &columns);
    values.iter().zip(pads).map(|(value, pad)| value ^ pad).collect()
}

/// Keys in the store (purpose 0), or pads of what is stored (purpose 1), of values of 128 bits at most.
pub fn hashes(looks: &[Look], purpose: usize) -> Vec<u128> {
    let mut out: Vec<u128> = looks.iter().map(|look| look.number).collect();
    TweakableCircularHash::new().hash_blocks(&mut out, |i| (2 * looks[i].bin + purpose) as u128);
    out
}
