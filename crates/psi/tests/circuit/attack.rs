//! What a curious receiver computes from what it saw: it follows the protocol, keeps everything, and decodes the sender's store wherever
//! it can.
//!
//! In one bin every item of the sender has the same tag minus the bin's mask. Whoever decodes two of the sender's items in one bin sees
//! equal tags, and the difference of their payloads behind them.

use super::pair::{RECEIVER, SENDER, generator, run, sets};
use super::payload;
use std::collections::{BTreeSet, HashMap};
use tacit_math::{BlockCipher, Seed, TweakableCircularHash, transpose};
use tacit_mpc::{Block, Shape};
use tacit_net::Session;
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::okvs::{Layout, Okvs};
use tacit_psi::vole_psi::oprf;
use tacit_psi::{Item, Role, Sizes, cuckoo};

/// Where the receiver can look: an item of its own, a bin of that item, and the function's value that it has for the item.
#[derive(Clone, Copy)]
struct Look {
    item: usize,
    bin: usize,
    number: u128,
}

/// The numbers of items, after the toss of the receiver's part.
fn numbers(session: &mut Session, items: &[Item]) -> Vec<u128> {
    let mut halves = [[0; 16], Seed::random().expect("randomness").expose()];
    session.next_round();
    session.send(SENDER, halves[1].to_vec()).expect("sent");
    session.recv(SENDER, &mut halves[0]).expect("received");
    let mut hasher = blake3::Hasher::new_derive_key("tacit 2026 psi: a context of two parties");
    hasher.update(halves.as_flattened()).update(b"circuit-psi");
    let seed = *hasher.finalize().as_bytes().first_chunk().expect("32 bytes");
    let mut numbers = items.to_vec();
    BlockCipher::new(&Seed::from_bytes(seed)).encrypt(&mut numbers);
    numbers
}

/// The receiver's messages, and all places at which what it then knows lets it look: it has one value for each of its items, and tries it in all
/// of the item's bins.
fn looks(session: &mut Session, items: &[Item], sizes: Sizes) -> Vec<Look> {
    let numbers = numbers(session, items);
    let table = cuckoo::table(&numbers, cuckoo::bins(items.len(), 1)).expect("an assignment");
    let points = cuckoo::in_own_bins(&numbers, &table, &mut generator("empty bins"));
    let evaluations = Sizes { sender: cuckoo::CHOICES * sizes.sender, receiver: table.len() };
    let values = oprf::receive(session, SENDER, &points, evaluations).expect("values");
    let occupied = table.iter().zip(values).filter(|&(&item, _)| item != cuckoo::EMPTY);
    let of_item = |(&item, number): (&u32, u128)| {
        let item = item as usize;
        cuckoo::choices(numbers[item], table.len()).map(|bin| Look { item, bin, number })
    };
    occupied.flat_map(of_item).collect()
}

/// What the receiver decodes at each of them, from the store that the sender sends: a tag and the sender's payload behind it, less a mask.
fn decoded(session: &mut Session, looks: &[Look], sizes: Sizes) -> Vec<u128> {
    let hashes = |purpose: usize| {
        let mut out: Vec<u128> = looks.iter().map(|look| look.number).collect();
        TweakableCircularHash::new().hash_blocks(&mut out, |i| (2 * looks[i].bin + purpose) as u128);
        out
    };
    let layout = Layout::new(cuckoo::CHOICES * sizes.sender, 256);
    let (mut seed, mut columns) = ([0; 16], vec![0u128; layout.columns()]);
    session.next_round();
    session.recv(SENDER, &mut seed).expect("a seed");
    for cluster in columns.chunks_mut(layout.cluster_columns()).rev() {
        session.recv(SENDER, bytemuck::cast_slice_mut(cluster)).expect("columns");
    }
    let store = Okvs::<4>::with_layout(layout, &Seed::from_bytes(seed));
    let (keys, pads) = (hashes(0), hashes(1));
    let values = store.decode(&keys, &store.order(&keys), &columns);
    values.iter().zip(pads).map(|(value, pad)| value ^ pad).collect()
}

#[test]
fn a_receiver_that_decodes_wherever_it_can_finds_no_common_item() {
    const COUNT: usize = 2000;
    let sizes = Sizes { sender: COUNT, receiver: COUNT };
    let shape = Shape { bits: 64, ..Shape::default() };
    let psi = CircuitPsi::new(sizes, Payloads { sender: shape, receiver: Shape::default() });
    let tag_bits = 40 + (usize::BITS - psi.bins().leading_zeros());
    let (sender, receiver) = sets(&mut generator("curious receiver"), (COUNT, COUNT), COUNT / 2);
    let payloads: Vec<u64> = sender.iter().map(|&item| payload(item, 1)).collect();
    let block = Block { rows: COUNT, bits: transpose::planes_of_rows(&payloads, 64), ..Block::default() };
    let (_, curious) = run(
        |session| psi.bin(Role::Sender, session, RECEIVER, &sender, &block).map(drop).expect("binned"),
        |session| {
            let looks = looks(session, &receiver, sizes);
            let values = decoded(session, &looks, sizes);
            (looks, values)
        },
    );
    let (looks, values) = curious.result;
    // Equal tags in one bin, and the difference of what is behind them.
    let mut seen: HashMap<(usize, u128), Vec<(usize, u128)>> = HashMap::new();
    for (look, value) in looks.iter().zip(values) {
        seen.entry((look.bin, value & ((1 << tag_bits) - 1))).or_default().push((look.item, value >> tag_bits));
    }
    let mut named = BTreeSet::new();
    let (mut differences, mut right) = (0, 0);
    for together in seen.values().filter(|together| together.len() > 1) {
        let (first, hidden) = together[0];
        for &(item, other) in together {
            named.insert(item);
            differences += usize::from(item != first);
            let true_difference = payload(receiver[first], 1) ^ payload(receiver[item], 1);
            right += usize::from(item != first && (hidden ^ other) as u64 == true_difference);
        }
    }
    let common = named.iter().filter(|&&item| sender.contains(&receiver[item])).count();
    println!(
        "named {common} common items and {} others; payload differences: {right} of {differences} right",
        named.len() - common
    );
    assert_eq!((named.len(), differences), (0, 0), "{common} of {} common items are named", COUNT / 2);
    // Where the receiver may look, the store has the sender's value: one in each bin, behind a mask that it does not know.
    assert_eq!(seen.len(), cuckoo::CHOICES * COUNT);
}
