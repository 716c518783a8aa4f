//! A receiver that computes with what it sees: it looks for the sender's delta in its own view.
//!
//! Of every tree a receiver knows the sum s of all leaves but one, thus that one is s + delta. By the protocol's design
//! a receiver also knows w = H(s + delta) + a delta for its own value a. If a = 1 and H feeds its input forward, delta
//! cancels, and what is left is a published permutation, which anyone inverts.

use std::thread;

use aes::cipher::{BlockCipherDecrypt, KeyInit};
use tacit_math::gf::{Field, Gf64, Gf128};
use tacit_math::{CorrelationRobustHash, Prg, Seed};
use tacit_net::{Options, PartyId, Session, memory};

use super::noise::Noise;
use super::supply::{Chosen, Offered};
use super::tree::{self, Grower, Hole, LeafHash, Product, Trees};
use super::{cot, lookup, vole};
use crate::correlated::{CotReceiver, CotSender};
use crate::{Adversary, OtError, softspoken};

const ALICE: PartyId = PartyId(0);
const BOB: PartyId = PartyId(1);

/// The published keys of the block hashes: the first 384 bits of the fraction of pi.
const KEYS: [u128; 3] = [
    0x243f6a88_85a308d3_13198a2e_03707344,
    0xa4093822_299f31d0_082efa98_ec4e6c89,
    0x452821e6_38d01377_be5466cf_34e90c6c,
];

/// What the receiver holds of one tree.
pub(super) struct Seen {
    /// The sum of the leaves that it has.
    pub(super) sum: u128,
    /// The leaves' hashes that it has, the messages and its own value, summed: what lies at the hole, H(s + delta) + a
    /// delta.
    pub(super) at_hole: u128,
}

/// Runs an honest alice and bob, who may end when he has seen enough. A session outlives its party, whose messages are
/// still to be read, unless the party has failed.
fn run<A: Send, B: Send>(
    alice: impl FnOnce(&mut Session) -> Result<A, OtError> + Send,
    bob: impl FnOnce(&mut Session) -> B + Send,
) -> (Result<A, OtError>, B) {
    let [mut a, mut b]: [Session; 2] =
        memory::mesh(&["alice", "bob"], &Options::default()).try_into().expect("two parties");
    thread::scope(|scope| {
        let alice = scope.spawn(move || alice(&mut a).map(|result| (result, a)));
        let bob = scope.spawn(move || bob(&mut b));
        let (alice, bob) = (alice.join().expect("alice"), bob.join().expect("bob"));
        (alice.map(|(result, _session)| result), bob)
    })
}

fn inverse(key: u128, image: u128) -> u128 {
    let mut block = image.to_le_bytes().into();
    aes::Aes128::new(&key.to_be_bytes().into()).decrypt_block(&mut block);
    u128::from_le_bytes(block.into())
}

/// The deltas for which H(s + delta) + delta would be what is seen, if H fed its input forward under one of the
/// published keys. There is one for each key and each value of the lowest `hidden` bits, which the protocol clears.
pub(super) fn candidates(seen: &Seen, hidden: u32) -> Vec<u128> {
    let low = (1 << hidden) - 1;
    let image = |low_part: u128| (seen.at_hole ^ seen.sum) & !low | low_part;
    let of_key = |key: u128| (0..=low).map(move |part| inverse(key, image(part)) ^ seen.sum);
    KEYS.into_iter().flat_map(of_key).collect()
}

/// OTs of a dealer.
fn deal(prg: &mut Prg, delta: u128, choices: Vec<u64>, n: usize) -> (CotSender, CotReceiver) {
    let zero: Vec<u128> = prg.vector(n);
    let chosen = |i: usize| (delta) * u128::from(choices[i / 64] >> (i % 64) & 1);
    let blocks = zero.iter().enumerate().map(|(i, zero)| zero ^ chosen(i)).collect();
    (CotSender { first: 0, delta, zero }, CotReceiver { first: 0, choices, blocks })
}

/// The protocol's hash of leaves.
fn leaf_hash(product: Product) -> impl FnMut(&mut [u128]) + Send {
    let mut hash = LeafHash::of(product, 0);
    move |leaves| hash.hash(leaves)
}

fn generator(number: u8) -> Prg {
    Prg::new(&Seed::from_bytes([number; 16]))
}

/// What a receiver with these values sees of the trees of one vector. `hash` is the protocol's of leaves, of which the
/// bits of the mask count.
fn view(
    session: &mut Session,
    noise: &Noise,
    ots: &mut Chosen<'_>,
    (product, values): (Product, &[u128]),
    mask: u128,
    mut hash: impl FnMut(&mut [u128]),
) -> Result<Vec<Seen>, OtError> {
    let (mut seen, mut values) = (vec![], values.iter());
    tree::receive(
        session,
        ALICE,
        noise,
        (ots, &mut Trees::of(product, 0)),
        &mut vec![],
        1,
        |leaves, hole, message| {
            hash(leaves);
            // The leaf that it has not counts as zero.
            leaves[hole.place as usize] = 0;
            let known = leaves.iter().fold(0, |sum, leaf| sum ^ leaf & mask);
            let value = values.next().expect("a value for each tree");
            seen.push(Seen { sum: hole.sum, at_hole: known ^ value ^ message[0] });
        },
    )?;
    Ok(seen)
}

/// An honest receiver of lookups: delta, and its view of the trees whose values are one.
fn lookups(
    sender: impl FnOnce(&mut Session, &Noise, &mut Offered<'_>) -> Result<(), OtError> + Send,
    hash: impl FnMut(&mut [u128]) + Send,
) -> (u128, Vec<Seen>) {
    let mut prg = generator(1);
    let delta = lookup::delta(prg.vector::<u128>(1)[0]);
    let n = lookup::ots(true, 64);
    let choices = prg.vector(n.div_ceil(64));
    let (offered, chosen) = deal(&mut prg, delta, choices, n);
    let noise = lookup::noise(64);
    let (_, seen) = run(
        |session| sender(session, &noise, &mut Offered::new(&offered)),
        |session| {
            let mut chosen = Chosen::new(&chosen);
            let values = lookup::first_values(&mut chosen);
            let seen =
                view(session, &noise, &mut chosen, (Product::Lookups, &values), !7, hash).expect("an honest peer");
            seen.into_iter().zip(values).filter(|(_, value)| value & 7 == 1).map(|(seen, _)| seen).collect::<Vec<_>>()
        },
    );
    assert!(seen.len() > 20, "one tree of eight");
    (delta, seen)
}

/// What an attack on several trees finds: the candidates that all of them have and that have the form of a delta.
fn common(seen: &[Seen], hidden: u32, form: impl Fn(u128) -> bool) -> Vec<u128> {
    let all: Vec<Vec<u128>> = seen.iter().map(|seen| candidates(seen, hidden)).collect();
    let in_all = |delta: &u128| all.iter().all(|candidates| candidates.contains(delta));
    all[0].iter().copied().filter(in_all).filter(|&delta| form(delta)).collect()
}

// views: crates/ot/src/silent/lookup.rs
#[test]
fn a_receiver_of_lookups_does_not_find_delta() {
    let sender = |session: &mut Session, noise: &Noise, ots: &mut Offered<'_>| {
        lookup::Sender::default().vector(session, BOB, noise, ots, &mut vec![])
    };
    let (delta, seen) = lookups(sender, leaf_hash(Product::Lookups));
    assert_eq!(common(&seen, 3, |block| lookup::delta(block) == block), []);
    assert!(seen.iter().all(|seen| !candidates(seen, 3).contains(&delta)));
}

/// The same attack on leaves whose hash feeds its input forward: it finds delta, and nothing else has the form of one.
#[test]
fn delta_is_found_where_the_hash_is_not_circular() {
    let sender = |session: &mut Session, noise: &Noise, ots: &mut Offered<'_>| {
        let mut chosen = ots.take(lookup::WIDTH * lookup::kept()).chunks_exact(lookup::WIDTH);
        let mut value = || lookup::weigh(chosen.next().expect("a value for each tree")) & !7;
        tree::send(session, BOB, noise, (ots, &mut Trees::of(Product::Lookups, 0)), &mut vec![], |leaves, message| {
            CorrelationRobustHash::new().hash_blocks(leaves);
            message.push(leaves.iter().fold(value(), |sum, leaf| sum ^ leaf & !7));
        })
    };
    let (delta, seen) = lookups(sender, |leaves| CorrelationRobustHash::new().hash_blocks(leaves));
    assert_eq!(common(&seen, 3, |block| lookup::delta(block) == block), [delta]);
}

/// Choices that make every value of the first vector's noise one: of the OTs of each value the first is chosen.
fn all_ones<F: Field>(values: usize, ots: usize) -> Vec<u64> {
    let mut choices = vec![0; ots.div_ceil(64)];
    (0..values).for_each(|value| choices[value * F::BITS / 64] = 1);
    choices
}

/// A receiver of VOLE whose values are one; it has these OTs.
fn of_ones<F: Field>(
    session: &mut Session,
    n: usize,
    adversary: Adversary,
    ots: &CotReceiver,
    hash: impl FnMut(&mut [u128]),
) -> Result<Vec<Seen>, OtError> {
    let (noise, _) = vole::vectors::<F>(n).next().expect("a vector");
    let mut chosen = Chosen::new(ots);
    let values: Vec<(F, u128)> = (0..vole::products(&noise, adversary)).map(|_| chosen.take_product()).collect();
    assert!(values.iter().all(|(value, _)| *value == F::ONE));
    let values: Vec<u128> = values.into_iter().map(|(_, product)| product).collect();
    session.next_round();
    view(session, &noise, &mut chosen, (Product::Vole, &values), !0, hash)
}

/// VOLE from OTs whose receiver chose its bits, as the functionality of OT allows a corrupted one.
fn vole_from_chosen_ots<F: Field + tacit_math::code::Symbol>() {
    let n = 100;
    let mut prg = generator(2);
    for adversary in [Adversary::SemiHonest, Adversary::Malicious] {
        let delta = prg.vector::<u128>(1)[0];
        let (noise, _) = vole::vectors::<F>(n).next().expect("a vector");
        let ots = vole::ots::<F>(n, adversary);
        let choices = all_ones::<F>(vole::products(&noise, adversary), ots);
        let (offered, chosen) = deal(&mut prg, delta, choices, ots);
        let (_, seen) = run(
            |session| vole::send_with::<F>(session, BOB, n, adversary, &offered),
            |session| of_ones::<F>(session, n, adversary, &chosen, leaf_hash(Product::Vole)),
        );
        let seen = seen.expect("an honest peer");
        assert!(seen.iter().all(|seen| !candidates(seen, 0).contains(&delta)));
        assert_eq!(common(&seen, 0, |_| true), []);
    }
}

// views: crates/ot/src/silent/vole.rs
#[test]
fn a_receiver_of_vole_that_chooses_its_values_does_not_find_delta() {
    vole_from_chosen_ots::<Gf64>();
    vole_from_chosen_ots::<Gf128>();
}

/// The whole deviation against a sender that expects a malicious receiver. In SoftSpokenOT the receiver guesses one
/// block's bits of delta, which passes in one of 16 runs; then it has values of one.
#[test]
fn a_receiver_that_guesses_a_block_of_delta_does_not_find_the_rest() {
    const K: usize = 4;
    let (n, delta, adversary) = (100, generator(3).vector::<u128>(1)[0], Adversary::Malicious);
    let (noise, _) = vole::vectors::<Gf128>(n).next().expect("a vector");
    let ots = vole::ots::<Gf128>(n, adversary);
    let choices = all_ones::<Gf128>(vole::products(&noise, adversary), ots);
    for guess in [delta as u64 & 15, !delta as u64 & 15] {
        let (sent, seen) = run(
            |session| {
                let mut sender = softspoken::Sender::setup_with(session, BOB, adversary, K, delta)?;
                let offered = sender.extend(session, ots)?;
                // What the receiver does not ask for any more is no matter.
                drop(vole::send_with::<Gf128>(session, BOB, n, adversary, &offered));
                Ok(())
            },
            |session| {
                let mut receiver = softspoken::Receiver::setup(session, ALICE, adversary, K)?;
                let chosen = receiver.extend_with_guess(session, &choices, ots, guess)?;
                of_ones::<Gf128>(session, n, adversary, &chosen, leaf_hash(Product::Vole))
            },
        );
        assert_eq!(sent.is_ok(), guess == delta as u64 & 15, "the check passes if the guess is right");
        assert_eq!(seen.is_ok(), sent.is_ok(), "who is caught sees no tree");
        if let Ok(seen) = seen {
            assert_eq!(common(&seen, 0, |_| true), []);
        }
    }
}

/// A receiver that draws the code's seed may draw one under which an output is a sum of whole segments, thus one block
/// in all vectors. Kept, that block becomes the root of a tree in each. If such trees were hashed alike, their
/// corrections would show S and S + delta for one sum S.
// views: crates/ot/src/silent/tree.rs
#[test]
fn roots_that_repeat_do_not_show_delta() {
    const DEPTH: u32 = 5;
    let mut prg = generator(4);
    let delta = prg.vector::<u128>(1)[0] | 1;
    // The sums of left nodes, each plus the offset or not, of a receiver that follows the protocol on trees of one
    // root.
    let mut sums = |number: &mut dyn FnMut() -> u128| -> Vec<u128> {
        let of_tree = |_| {
            let tree = number();
            // The sum of whole segments: delta, less the bit that the sender clears.
            let keys = [&[delta ^ 1][..], &prg.vector(DEPTH as usize - 1)].concat();
            let choices = prg.vector::<u32>(1)[0] & ((1 << DEPTH) - 1) | 1 << (DEPTH - 1);
            let chosen = |i: usize| u128::from(choices >> (DEPTH as usize - 1 - i) & 1);
            let blocks: Vec<u128> = keys.iter().enumerate().map(|(i, key)| key ^ (delta * chosen(i))).collect();
            assert_eq!(blocks[0], 1);
            let (mut leaves, mut corrections) = (vec![0; 1 << DEPTH], vec![]);
            Grower::new(DEPTH).plant(tree, delta, &keys, &mut leaves, &mut corrections);
            let Hole { place, sum } =
                Grower::new(DEPTH).evaluate(tree, choices, &blocks, &corrections, &mut leaves.clone());
            assert_eq!(sum, leaves[place as usize] ^ delta);
            corrections.iter().zip(&blocks[1..]).map(|(correction, block)| correction ^ block).collect::<Vec<_>>()
        };
        (0..8).flat_map(of_tree).collect()
    };
    let differences = |sums: &[u128]| -> Vec<u128> {
        sums.iter().enumerate().flat_map(|(i, sum)| sums[..i].iter().map(move |other| sum ^ other)).collect()
    };
    let mut trees = Trees::of(Product::Transfers, 0);
    assert!(!differences(&sums(&mut || trees.tweak())).contains(&delta));
    assert!(differences(&sums(&mut || 0)).contains(&delta), "the attack works on trees without numbers");
}

/// A malicious receiver chooses its OTs' blocks, as the ideal functionality lets it, so that two roots sum up to what
/// it takes for the sum of the trees' tweaks. Such trees would be hashed alike but for delta, and two sums of their
/// left nodes, one with the offset and one without, would show it.
// views: crates/ot/src/silent/tree.rs crates/ot/src/silent/vole.rs
#[test]
fn roots_that_are_chosen_do_not_show_delta() {
    const N: usize = 64;
    let noise = vole::vectors::<Gf64>(N).next().expect("a vector").0;
    let (depth, trees) = (noise.depth as usize, vole::products(&noise, Adversary::Malicious) * Gf64::BITS);
    let mut prg = generator(5);
    let delta = prg.vector::<u128>(1)[0];
    let n = vole::ots::<Gf64>(N, Adversary::Malicious);
    let mut choices: Vec<u64> = prg.vector(n.div_ceil(64));
    let choose = |choices: &mut [u64], i: usize, bit: u64| {
        choices[i / 64] = choices[i / 64] & !(1 << (i % 64)) | bit << (i % 64);
    };
    // The OTs of the second level: of one tree without the offset, of the other one with it.
    choose(&mut choices, trees + 1, 0);
    choose(&mut choices, trees + depth + 1, 1);
    let (mut offered, mut chosen) = deal(&mut prg, delta, choices, n);
    let mut tweaks = Trees::of(Product::Vole, 0);
    let expected = [tweaks.tweak(), tweaks.tweak()];
    let change = chosen.blocks[trees] ^ chosen.blocks[trees + depth] ^ expected[0] ^ expected[1];
    offered.zero[trees + depth] ^= change;
    chosen.blocks[trees + depth] ^= change;
    let shown = |corrections: [u128; 2]| {
        corrections[0] ^ chosen.blocks[trees + 1] ^ corrections[1] ^ chosen.blocks[trees + depth + 1]
    };
    let (_, seen) = run(
        |session| vole::send_with::<Gf64>(session, BOB, N, Adversary::Malicious, &offered),
        |session| {
            session.next_round();
            let (mut factor, mut message) = ([0; 16], vec![0_u128; 32 * depth]);
            session.recv(ALICE, &mut factor).expect("an honest peer");
            session.recv(ALICE, bytemuck::cast_slice_mut(&mut message)).expect("an honest peer");
            shown([message[0], message[depth]])
        },
    );
    assert_ne!(seen, delta);
    // The trees of a sender whose tweaks the receiver knows in advance.
    let known = [0, 1].map(|tree| {
        let keys = &offered.zero[trees + tree * depth..][..depth];
        let mut corrections = vec![];
        Grower::new(noise.depth).plant(expected[tree], delta, keys, &mut vec![0; 1 << depth], &mut corrections);
        corrections[0]
    });
    assert_eq!(shown(known), delta, "the attack works on tweaks that are known");
}

/// After a failed check a receiver of OTs makes no more: a sender would learn a bit about the noise with every try.
#[test]
fn a_receiver_that_caught_its_sender_goes_on_no_more() {
    let (_, errors) = run(
        |session| {
            let mut sender = cot::Sender::setup(session, BOB, Adversary::Malicious)?;
            sender.extend(session, 100)?;
            sender.forget();
            sender.extend(session, 100)
        },
        |session| {
            let mut receiver = cot::Receiver::setup(session, ALICE, Adversary::Malicious).expect("an honest setup");
            receiver.extend(session, 100).expect("an honest vector");
            [0; 2].map(|_| receiver.extend(session, 100).map(|_| ()).expect_err("blocks that do not fit"))
        },
    );
    assert!(matches!(errors[0], OtError::Cheating { .. }), "{:?}", errors[0]);
    assert!(matches!(errors[1], OtError::Ended { .. }), "{:?}", errors[1]);
}
