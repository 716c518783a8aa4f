//! What a curious receiver computes from what it saw.
//!
//! In one bin every item of the sender has the same tag minus the bin's mask. Whoever decodes two of the sender's items
//! in one bin sees equal tags, and the difference of their payloads behind them. Whoever decodes bits that no mask
//! covers sees of each item whether it is a match.

use super::curious::{decoded, looks, unused};
use super::pair::{RECEIVER, SENDER, generator, run, sets};
use super::payload;
use std::collections::{BTreeSet, HashMap};
use tacit_math::{Prg, Seed, transpose};
use tacit_mpc::{Block, Shape};
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::{Role, Sizes, cuckoo};

#[test]
fn a_receiver_that_decodes_wherever_it_can_finds_no_common_item() {
    const COUNT: usize = 2000;
    let sizes = Sizes { sender: COUNT, receiver: COUNT };
    let shape = Shape { bits: 64, ..Shape::default() };
    let psi = CircuitPsi::new(sizes, Payloads { sender: shape, receiver: Shape::default() });
    let tag_bits = psi.tag_bits();
    let (sender, receiver) = sets(&mut generator("curious receiver"), (COUNT, COUNT), COUNT / 2);
    let payloads: Vec<u64> = sender.iter().map(|&item| payload(item, 1)).collect();
    let block = Block { rows: COUNT, bits: transpose::planes_of_rows(&payloads, 64), ..Block::default() };
    let (_, curious) = run(
        |session| psi.bin(Role::Sender, session, RECEIVER, &sender, &block).map(drop).expect("binned"),
        |session| {
            let looks = looks(session, SENDER, &receiver, sizes, &mut generator("empty bins"));
            let values = decoded(session, SENDER, &looks, sizes, 1).remove(0);
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
    // Where the receiver may look, the store has the sender's value: one in each bin, behind a mask that it does not
    // know.
    assert_eq!(seen.len(), cuckoo::CHOICES * COUNT);
}

#[test]
fn bits_beyond_tags_and_payloads_name_no_match() {
    const COUNT: usize = 500;
    let sizes = Sizes { sender: COUNT, receiver: COUNT };
    for (bits, r64, r128) in [(0, 0, 0), (32, 0, 0), (64, 0, 0), (100, 0, 0), (0, 1, 0), (0, 2, 0), (0, 1, 1)] {
        let shape = Shape { bits, r64, r128, ..Shape::default() };
        let psi = CircuitPsi::new(sizes, Payloads { sender: shape, receiver: Shape::default() });
        let unused = unused(&psi, shape);
        let (sender, receiver) = sets(&mut generator("unused bits"), (COUNT, COUNT), COUNT / 2);
        let payloads = Block::random(Shape { rows: COUNT, ..shape }, &mut Prg::new(&Seed::from_bytes([7; 16])));
        let (_, curious) = run(
            |session| psi.bin(Role::Sender, session, RECEIVER, &sender, &payloads).map(drop).expect("binned"),
            |session| {
                let looks = looks(session, SENDER, &receiver, sizes, &mut generator("empty bins"));
                let values = decoded(session, SENDER, &looks, sizes, unused.len());
                (looks, values)
            },
        );
        let (looks, values) = curious.result;
        let zeros = |look: usize| values.iter().zip(&unused).all(|(values, unused)| values[look] & unused == 0);
        let named: BTreeSet<usize> =
            (0..looks.len()).filter(|&look| zeros(look)).map(|look| looks[look].item).collect();
        let common = named.iter().filter(|&&item| sender.contains(&receiver[item])).count();
        let bits: u32 = unused.iter().map(|unused| unused.count_ones()).sum();
        let found =
            format!("{bits} unused bits name {common} of {} common items, {} others", COUNT / 2, named.len() - common);
        println!("{found}");
        // Ten bits or more are zero by chance at two places or fewer of 1,500; at 30 of them with a probability below
        // 2^-80.
        assert!(bits >= 10 && named.len() < 30, "{found}");
    }
}
