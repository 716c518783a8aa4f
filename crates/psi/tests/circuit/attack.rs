//! What a curious receiver computes from what it saw.
//!
//! In one bin every item of the sender has the same tag minus the bin's mask. Whoever decodes two of the sender's items in one bin sees
//! equal tags, and the difference of their payloads behind them.

use super::curious::{decoded, looks};
use super::pair::{RECEIVER, SENDER, generator, run, sets};
use super::payload;
use std::collections::{BTreeSet, HashMap};
use tacit_math::transpose;
use tacit_mpc::{Block, Shape};
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::{Role, Sizes, cuckoo};

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
            let looks = looks(session, SENDER, &receiver, sizes, &mut generator("empty bins"));
            let values = decoded(session, SENDER, &looks, sizes);
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
