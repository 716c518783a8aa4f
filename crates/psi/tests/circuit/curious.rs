//! A receiver of circuit-PSI that follows the protocol, keeps all that it sees, and decodes the sender's store wherever
//! it can.

use tacit_math::{BlockCipher, Prg, Seed, TweakableCircularHash};
use tacit_mpc::Shape;
use tacit_net::{PartyId, Session};
use tacit_psi::circuit_psi::CircuitPsi;
use tacit_psi::okvs::{Layout, Okvs};
use tacit_psi::vole_psi::oprf::{self, Function};
use tacit_psi::{Item, Sizes, cuckoo};

/// Where the receiver can look: an item of its own and a bin of that item. Also whether the receiver has put the item
/// there, and the function's value that it has for the item.
#[derive(Clone, Copy)]
pub struct Look {
    pub item: usize,
    pub bin: usize,
    pub home: bool,
    pub number: u128,
}

/// The numbers of items, after the toss of the receiver's part.
pub fn numbers(session: &mut Session, sender: PartyId, items: &[Item]) -> Vec<u128> {
    let mut halves = [[0; 16], *Seed::random().expect("randomness").expose()];
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

/// The receiver's messages, and all places at which what it then knows lets it look. The receiver has one value for
/// each of its items, and tries it in all of the item's bins, by item.
pub fn looks(session: &mut Session, sender: PartyId, items: &[Item], sizes: Sizes, random: &mut Prg) -> Vec<Look> {
    let numbers = numbers(session, sender, items);
    let table = cuckoo::table(&numbers, cuckoo::bins(items.len(), 1)).expect("an assignment");
    let points = cuckoo::in_own_bins(&numbers, &table, random);
    let function = Function::only(Sizes { sender: cuckoo::CHOICES * sizes.sender, receiver: table.len() });
    let values = oprf::receive(session, sender, &points, function).expect("values");
    let mut looks = Vec::new();
    for (item, &number) in numbers.iter().enumerate() {
        let home = table.iter().position(|&index| index as usize == item).expect("a bin");
        let look = |bin: usize| Look { item, bin, home: bin == home, number: values[home] };
        looks.extend(cuckoo::choices(number, table.len()).map(look));
    }
    looks
}

/// What the receiver decodes at each of them, store by store, from the stores that the sender sends: a tag and the
/// sender's payload behind it, less a mask.
pub fn decoded(session: &mut Session, sender: PartyId, looks: &[Look], sizes: Sizes, stores: usize) -> Vec<Vec<u128>> {
    let layout = Layout::new(cuckoo::CHOICES * sizes.sender, 256);
    let mut seed = [0; 16];
    session.next_round();
    session.recv(sender, &mut seed).expect("a seed");
    let store = Okvs::<4>::with_layout(layout, &Seed::from_bytes(seed));
    let keys = hashes(looks, stores, 0);
    let order = store.order(&keys);
    let mut columns = vec![0u128; layout.columns()];
    let mut decoded = |number: usize| -> Vec<u128> {
        for cluster in columns.chunks_mut(layout.cluster_columns()).rev() {
            session.recv(sender, bytemuck::cast_slice_mut(cluster)).expect("columns");
        }
        let values = store.decode(&keys, &order, &columns);
        values.iter().zip(hashes(looks, stores, 1 + number)).map(|(value, pad)| value ^ pad).collect()
    };
    (0..stores).map(&mut decoded).collect()
}

/// Keys in all stores (purpose 0), or pads of what is stored in store i (purpose i + 1).
pub fn hashes(looks: &[Look], stores: usize, purpose: usize) -> Vec<u128> {
    let mut out: Vec<u128> = looks.iter().map(|look| look.number).collect();
    TweakableCircularHash::new().hash_blocks(&mut out, |i| ((stores + 1) * looks[i].bin + purpose) as u128);
    out
}

/// For each store of tags and such payloads which of its 128 bits hold neither.
pub fn unused(psi: &CircuitPsi, payload: Shape) -> Vec<u128> {
    let planes = psi.tag_bits() + payload.bits;
    let of_word = |k: usize| u64::MAX.unbounded_shl(planes.saturating_sub(64 * k).min(64) as u32);
    let mut words: Vec<u64> = (0..planes.div_ceil(64)).map(of_word).chain(vec![0; payload.r64]).collect();
    words.resize(words.len().next_multiple_of(2), u64::MAX);
    let pairs = words.chunks(2).map(|pair| u128::from(pair[1]) << 64 | u128::from(pair[0]));
    pairs.chain(vec![0; payload.r128]).collect()
}
