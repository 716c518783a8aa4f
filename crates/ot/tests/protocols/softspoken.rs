use crate::pair::{ALICE, BOB, cost, generator, run};
use crate::relay;
use tacit_net::{PartyId, Session};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::softspoken::{
    Receiver, Sender, chosen_cost, extend_both, extend_both_chosen, extension_cost, setup_cost,
};
use tacit_ot::{Adversary, OtError};

const ADVERSARIES: [Adversary; 2] = [Adversary::SemiHonest, Adversary::Malicious];

/// What the functionality promises of a batch.
pub fn assert_correlated(sender: &CotSender, receiver: &CotReceiver, n: usize) {
    assert_eq!((sender.zero.len(), receiver.blocks.len(), receiver.choices.len()), (n, n, n.div_ceil(64)));
    assert_eq!(sender.first, receiver.first);
    for i in 0..n {
        let expected = sender.zero[i] ^ if receiver.choice(i) { sender.delta } else { 0 };
        assert_eq!(receiver.blocks[i], expected, "OT {i} of {n}");
    }
}

#[test]
fn every_parameter_at_every_size() {
    for adversary in ADVERSARIES {
        for k in 1..=8 {
            batches(k, adversary, &[0, 1, 64, 65, 4031, 4096, 5000]);
        }
        batches(2, adversary, &[16 * 4096 - 64, 16 * 4096, 3 * 16 * 4096 + 1, 7]);
    }
}

/// Extends one setup by several batches; checks correlation, cost, and that batches go on where the last one ended.
fn batches(k: usize, adversary: Adversary, sizes: &[usize]) {
    let alice = |session: &mut Session| {
        session.enter("setup");
        let mut sender = Sender::setup(session, BOB, adversary, k).expect("an honest peer");
        session.leave();
        session.enter("extension");
        let batches: Vec<_> = sizes.iter().map(|&n| sender.extend(session, n).expect("an honest peer")).collect();
        session.leave();
        let snapshot = session.meter().snapshot();
        (batches, snapshot.under("protocol/setup"), snapshot.under("protocol/extension"))
    };
    let bob = |session: &mut Session| {
        session.enter("setup");
        let mut receiver = Receiver::setup(session, ALICE, adversary, k).expect("an honest peer");
        session.leave();
        session.enter("extension");
        let batches: Vec<_> = sizes.iter().map(|&n| receiver.extend(session, n).expect("an honest peer")).collect();
        session.leave();
        let snapshot = session.meter().snapshot();
        (batches, snapshot.under("protocol/setup"), snapshot.under("protocol/extension"))
    };
    let (((sent, a_setup, a_extension), _), ((received, b_setup, b_extension), _)) = run(alice, bob);
    let mut first = 0;
    for ((sent, received), &n) in sent.iter().zip(&received).zip(sizes) {
        assert_correlated(sent, received, n);
        assert_eq!(sent.first, first);
        first += n as u64;
    }
    let declared = setup_cost(k, adversary);
    assert_eq!(cost(&a_setup), (declared.rounds, declared.sender), "sender's setup, k = {k}, {adversary:?}");
    assert_eq!(cost(&b_setup), (declared.rounds, declared.receiver), "receiver's setup, k = {k}, {adversary:?}");
    let declared: Vec<_> = sizes.iter().map(|&n| extension_cost(k, adversary, n)).collect();
    let rounds: u64 = declared.iter().map(|cost| cost.rounds).sum();
    assert_eq!(cost(&a_extension), (rounds, declared.iter().map(|cost| cost.sender).sum()), "k = {k}, {adversary:?}");
    assert_eq!(cost(&b_extension), (rounds, declared.iter().map(|cost| cost.receiver).sum()), "k = {k}, {adversary:?}");
}

/// As many `words` of bits to choose by.
fn bits(words: usize) -> Vec<u64> {
    (1..=words as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

#[test]
fn both_directions_at_once() {
    both_directions(false);
}

#[test]
fn both_directions_at_once_with_chosen_bits() {
    both_directions(true);
}

fn both_directions(chosen: bool) {
    let calls = [[64, 0], [0, 4096 + 64], [3 * 16 * 4096, 16 * 4096 + 192], [0, 0], [64, 4032]];
    let party = |session: &mut Session| {
        let me = session.me().0;
        let (adversary, peer) = (Adversary::SemiHonest, PartyId(1 - me));
        session.enter("setup");
        let send = |session: &mut Session| Sender::setup(session, peer, adversary, 2).expect("an honest peer");
        let first = (me == 0).then(|| send(session));
        let mut receiver = Receiver::setup(session, peer, adversary, 2).expect("an honest peer");
        let mut sender = first.unwrap_or_else(|| send(session));
        session.leave();
        session.enter("extension");
        let (mut zero, mut choices, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
        for n in calls {
            let received = |bits: &[u64], new: &[u128]| {
                choices.extend_from_slice(bits);
                blocks.extend_from_slice(new);
            };
            let sent = |new: &[u128]| zero.extend_from_slice(new);
            session.next_round();
            let sending = (&mut sender, n[me]);
            let extended = if chosen {
                extend_both_chosen(session, sending, (&mut receiver, &bits(n[1 - me] / 64)), sent, received)
            } else {
                extend_both(session, sending, (&mut receiver, n[1 - me]), sent, received)
            };
            extended.expect("a peer");
        }
        session.leave();
        // Later batches go on from there.
        let (last_sent, last_received) = match me {
            0 => {
                let sent = sender.extend(session, 100).expect("an honest peer");
                (sent, receiver.extend(session, 70).expect("an honest peer"))
            }
            _ => {
                let received = receiver.extend(session, 100).expect("an honest peer");
                (sender.extend(session, 70).expect("an honest peer"), received)
            }
        };
        let made = (CotSender { first: 0, delta: last_sent.delta, zero }, CotReceiver { first: 0, choices, blocks });
        (made, (last_sent, last_received), session.meter().snapshot().under("protocol/extension"))
    };
    let ((alice, _), (bob, _)) = run(party, party);
    for (me, (sender, receiver)) in [(&alice, &bob), (&bob, &alice)].into_iter().enumerate() {
        let n = calls.iter().map(|n| n[me]).sum();
        assert_correlated(&sender.0.0, &receiver.0.1, n);
        assert_correlated(&sender.1.0, &receiver.1.1, [100, 70][me]);
        assert_eq!(sender.1.0.first, n as u64);
        if chosen {
            let chosen: Vec<u64> = calls.iter().flat_map(|n| bits(n[me] / 64)).collect();
            assert_eq!(receiver.0.1.choices, chosen);
        }
        let declared = calls.iter().map(|n| match chosen {
            true => chosen_cost(2, n[1 - me]).receiver,
            false => extension_cost(2, Adversary::SemiHonest, n[1 - me]).receiver,
        });
        assert_eq!(cost(&sender.2), (calls.len() as u64, declared.sum()));
    }
}

#[test]
fn chosen_bits_are_shared_between_both_sides() {
    for k in [1, 2, 3, 8] {
        for words in [1, 64, 65, 16 * 64 + 3] {
            let mut prg = generator("chosen bits");
            let [own, choices]: [Vec<u64>; 2] = std::array::from_fn(|_| prg.vector(words));
            let delta = prg.vector::<u128>(1)[0];
            let ours = |session: &mut Session| {
                let made = Sender::setup_with(session, BOB, Adversary::SemiHonest, k, delta);
                let (mut sender, mut blocks) = (made.expect("an honest peer"), vec![0; 64 * words]);
                session.enter("chosen");
                session.next_round();
                sender.extend_chosen(session, &own, &mut blocks).expect("an honest peer");
                session.leave();
                (sender.extend(session, 70).expect("an honest peer"), blocks, session.meter().snapshot())
            };
            let theirs = |session: &mut Session| {
                let mut receiver = Receiver::setup(session, ALICE, Adversary::SemiHonest, k).expect("an honest peer");
                let mut blocks = vec![0; 64 * words];
                session.enter("chosen");
                session.next_round();
                receiver.extend_chosen(session, &choices, &mut blocks).expect("an honest peer");
                session.leave();
                (receiver.extend(session, 70).expect("an honest peer"), blocks, session.meter().snapshot())
            };
            let (((next, sent, ours), _), ((next_received, received, theirs), _)) = run(ours, theirs);
            for (i, (&sent, &received)) in sent.iter().zip(&received).enumerate() {
                let bit = (own[i / 64] ^ choices[i / 64]) >> (i % 64) & 1;
                assert_eq!(received, sent ^ u128::from(bit).wrapping_neg() & delta, "OT {i} of {words} words, k = {k}");
            }
            assert_correlated(&next, &next_received, 70);
            let declared = chosen_cost(k, 64 * words);
            assert_eq!(cost(&ours.under("protocol/chosen")), (1, declared.sender));
            assert_eq!(cost(&theirs.under("protocol/chosen")), (1, declared.receiver));
        }
    }
}

#[test]
fn bits_and_blocks_look_random() {
    let n = 1 << 16;
    let alice = |session: &mut Session| {
        let mut sender = Sender::setup(session, BOB, Adversary::SemiHonest, 2).expect("an honest peer");
        sender.extend(session, n).expect("an honest peer")
    };
    let bob = |session: &mut Session| {
        let mut receiver = Receiver::setup(session, ALICE, Adversary::SemiHonest, 2).expect("an honest peer");
        receiver.extend(session, n).expect("an honest peer")
    };
    let ((sender, _), (receiver, _)) = run(alice, bob);
    // Ten standard deviations: beyond them with probability below 2^-70 for each of 129 counts.
    let bound = 10.0 * (n as f64 / 4.0).sqrt();
    let fair = |ones: usize| (ones as f64 - n as f64 / 2.0).abs() < bound;
    assert!(fair(receiver.choices.iter().map(|word| word.count_ones() as usize).sum()));
    for j in 0..128 {
        assert!(fair(sender.zero.iter().filter(|block| *block >> j & 1 == 1).count()), "column {j}");
    }
    let (pairs, keys) = (sender.random(), receiver.random());
    assert!((0..n).all(|i| keys[i] == pairs[i][usize::from(receiver.choice(i))]));
}

/// Sizes of two batches of the runs below: a part of a tile, and a tile and more.
const SIZES: [usize; 2] = [70, 5000];

fn sender(k: usize) -> impl Fn(&mut Session) -> Result<Vec<CotSender>, OtError> {
    move |session| {
        let mut sender = Sender::setup(session, BOB, Adversary::Malicious, k)?;
        SIZES.iter().map(|&n| sender.extend(session, n)).collect()
    }
}

fn receiver(k: usize) -> impl Fn(&mut Session) -> Result<Vec<CotReceiver>, OtError> {
    move |session| {
        let mut receiver = Receiver::setup(session, ALICE, Adversary::Malicious, k)?;
        SIZES.iter().map(|&n| receiver.extend(session, n)).collect()
    }
}

fn honest(k: usize) -> Vec<tacit_net::Message> {
    relay::record(
        move |session| drop(sender(k)(session).expect("an honest peer")),
        move |session| drop(receiver(k)(session).expect("an honest peer")),
    )
}

#[test]
fn a_message_replaced_by_noise_is_caught() {
    let mut prg = generator("noise");
    for k in [1, 2, 5] {
        let messages = honest(k);
        for target in 0..messages.len() {
            let noise = |number: usize, bytes: &mut [u8]| {
                if number == target {
                    prg.fill(bytes);
                }
            };
            let (a, b) = relay::run(&messages, sender(k), receiver(k), noise);
            let cheating = |error: Option<&OtError>| matches!(error, Some(OtError::Cheating { .. }));
            assert!(cheating(a.as_ref().err()) || cheating(b.as_ref().err()), "k = {k}, message {target}");
        }
    }
}

#[test]
fn a_flipped_bit_is_caught_or_harmless() {
    let mut prg = generator("flips");
    let messages = honest(3);
    let mut caught = 0;
    for target in 0..messages.len() {
        for _ in 0..6 {
            let flip = |number: usize, bytes: &mut [u8]| {
                if number == target {
                    let bit = prg.vector::<u32>(1)[0] as usize % (8 * bytes.len());
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            };
            match relay::run(&messages, sender(3), receiver(3), flip) {
                (Ok(sent), Ok(received)) => {
                    SIZES.iter().zip(sent.iter().zip(&received)).for_each(|(&n, (s, r))| assert_correlated(s, r, n));
                }
                _ => caught += 1,
            }
        }
    }
    // A flip is harmless where it hits what the receiver of a tree ignores (a half of some messages), or if it stands
    // for a right guess of three bits.
    assert!(caught > 3 * messages.len(), "{caught} flips of {} were caught", 6 * messages.len());
}
