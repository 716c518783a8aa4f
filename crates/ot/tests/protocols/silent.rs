use crate::pair::{ALICE, BOB, cost, generator, run};
use crate::relay;
use crate::softspoken::assert_correlated as assert_ots;
use tacit_math::Prg;
use tacit_math::code::Symbol;
use tacit_math::gf::{Field, Gf64, Gf128};
use tacit_net::{Direction, Message, Session, Traffic};
use tacit_ot::Adversary::{Malicious, SemiHonest};
use tacit_ot::OtError;
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::silent::{cot, vole};
use tacit_ot::vole::{VoleReceiver, VoleSender};

/// Correlated OTs from a dealer.
pub fn deal(prg: &mut Prg, delta: u128, n: usize) -> (CotSender, CotReceiver) {
    let zero: Vec<u128> = prg.vector(n);
    let choices: Vec<u64> = prg.vector(n.div_ceil(64));
    let chosen = |i: usize| if choices[i / 64] >> (i % 64) & 1 == 1 { delta } else { 0 };
    let blocks = zero.iter().enumerate().map(|(i, zero)| zero ^ chosen(i)).collect();
    (CotSender { first: 0, delta, zero }, CotReceiver { first: 0, choices, blocks })
}

/// The correlation, element by element.
fn assert_correlated<F: Field>(sender: &VoleSender, receiver: &VoleReceiver<F>, n: usize) {
    assert_eq!((sender.b.len(), receiver.a.len(), receiver.c.len()), (n, n, n));
    for (i, ((a, b), c)) in receiver.a.iter().zip(&sender.b).zip(&receiver.c).enumerate() {
        assert_eq!(*c, a.scale(sender.delta) ^ b, "correlation {i} of {n}");
    }
}

fn vole_from_a_dealer<F: Field + Symbol>(sizes: &[usize]) {
    let mut prg = generator("silent VOLE from a dealer");
    for &n in sizes {
        for adversary in [SemiHonest, Malicious] {
            let delta = prg.vector::<u128>(1)[0];
            let (ours, theirs) = deal(&mut prg, delta, vole::ots::<F>(n, adversary));
            let sender = |session: &mut Session| {
                vole::send_with::<F>(session, BOB, n, adversary, &ours).expect("an honest peer")
            };
            let receiver = |session: &mut Session| {
                vole::receive_with::<F>(session, ALICE, n, adversary, &theirs).expect("an honest peer")
            };
            let ((sent, sent_cost), (received, received_cost)) = run(sender, receiver);
            assert_eq!(sent.delta, ours.delta);
            assert_correlated(&sent, &received, n);
            let declared = vole::expansion_cost::<F>(n, adversary);
            assert_eq!(cost(&sent_cost), (declared.rounds, declared.sender), "{n} {adversary:?}");
            assert_eq!(cost(&received_cost), (declared.rounds, declared.receiver), "{n} {adversary:?}");
        }
    }
}

#[test]
fn vole_over_64_bits() {
    vole_from_a_dealer::<Gf64>(&[0, 1, 2, 31, 32, 33, 4095, 4096, 4097, 1 << 16, 29_882, 29_883, 1 << 18]);
}

#[test]
fn vole_over_128_bits() {
    vole_from_a_dealer::<Gf128>(&[1, 4097, 39_492, 39_493]);
}

#[test]
fn vole_from_nothing() {
    for n in [0, 1, 5000] {
        for adversary in [SemiHonest, Malicious] {
            let sender =
                |session: &mut Session| vole::send::<Gf64>(session, BOB, n, adversary).expect("an honest peer");
            let receiver =
                |session: &mut Session| vole::receive::<Gf64>(session, ALICE, n, adversary).expect("an honest peer");
            let ((sent, sent_cost), (received, received_cost)) = run(sender, receiver);
            assert_correlated(&sent, &received, n);
            let declared = vole::cost::<Gf64>(n, adversary);
            assert_eq!(cost(&sent_cost), (declared.rounds, declared.sender), "{n} {adversary:?}");
            assert_eq!(cost(&received_cost), (declared.rounds, declared.receiver), "{n} {adversary:?}");
        }
    }
}

#[test]
fn ots_again_and_again() {
    let sizes = [0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 100_000, 600_000, 3];
    for adversary in [SemiHonest, Malicious] {
        let alice = |session: &mut Session| {
            session.enter("setup");
            let mut sender = cot::Sender::setup(session, BOB, adversary).expect("an honest peer");
            session.leave();
            session.enter("extension");
            let batches: Vec<_> = sizes.map(|n| sender.extend(session, n).expect("an honest peer")).into();
            session.leave();
            let snapshot = session.meter().snapshot();
            (batches, snapshot.under("protocol/setup"), snapshot.under("protocol/extension"))
        };
        let bob = |session: &mut Session| {
            session.enter("setup");
            let mut receiver = cot::Receiver::setup(session, ALICE, adversary).expect("an honest peer");
            session.leave();
            session.enter("extension");
            let batches: Vec<_> = sizes.map(|n| receiver.extend(session, n).expect("an honest peer")).into();
            session.leave();
            let snapshot = session.meter().snapshot();
            (batches, snapshot.under("protocol/setup"), snapshot.under("protocol/extension"))
        };
        let (((sent, a_setup, a_extension), _), ((received, b_setup, b_extension), _)) = run(alice, bob);
        let mut first = 0;
        for ((sent, received), n) in sent.iter().zip(&received).zip(sizes) {
            assert_ots(sent, received, n);
            assert_eq!((sent.first, sent.delta & 1), (first, 1));
            assert!(sent.zero.iter().all(|block| block & 1 == 0));
            first += n as u64;
        }
        let declared = cot::setup_cost(adversary);
        assert_eq!(cost(&a_setup), (declared.rounds, declared.sender), "{adversary:?}");
        assert_eq!(cost(&b_setup), (declared.rounds, declared.receiver), "{adversary:?}");
        let declared = sizes.iter().map(|&n| cot::extension_cost(adversary, n)).sum::<Traffic>();
        assert_eq!(cost(&a_extension), (declared.rounds, declared.sender), "{adversary:?}");
        assert_eq!(cost(&b_extension), (declared.rounds, declared.receiver), "{adversary:?}");
    }
}

#[test]
fn the_sender_chooses_delta() {
    let delta = 0x0123_4567_89ab_cdef_u128 << 60 | 1;
    let alice = |session: &mut Session| {
        let mut sender = cot::Sender::setup_with(session, BOB, SemiHonest, delta).expect("an honest peer");
        sender.extend(session, 100).expect("an honest peer")
    };
    let bob = |session: &mut Session| cot::receive(session, ALICE, 100, SemiHonest).expect("an honest peer");
    let ((sent, _), (received, _)) = run(alice, bob);
    assert_eq!(sent.delta, delta);
    assert_ots(&sent, &received, 100);
}

#[test]
fn traffic_is_sublinear() {
    let total = |cost: Traffic| 8.0 * (cost.sender + cost.receiver) as f64;
    let n = 1 << 20;
    // The price of heavier noise (docs/security/departures.md).
    let bits = if cfg!(feature = "heavier-noise") { 1.8 } else { 1.0 } * n as f64;
    for adversary in [SemiHonest, Malicious] {
        assert!(total(cot::setup_cost(adversary) + cot::extension_cost(adversary, n)) < 5.0 * bits, "five bits an OT");
        assert!(total(vole::cost::<Gf64>(n, adversary)) < 20.0 * bits, "twenty bits a correlation");
        assert!(total(vole::cost::<Gf128>(n, adversary)) < 23.0 * bits, "twenty-three bits a correlation");
    }
}

/// Statistics of fixed seeds: a failure is no accident.
#[test]
fn scalars_look_random() {
    let n = 1 << 16;
    let mut prg = Prg::new(&tacit_math::Seed::from_bytes([77; 16]));
    let delta = prg.vector::<u128>(1)[0];
    let (ours, theirs) = deal(&mut prg, delta, vole::ots::<Gf64>(n, SemiHonest));
    let sender = |session: &mut Session| vole::send_with::<Gf64>(session, BOB, n, SemiHonest, &ours).expect("honest");
    let receiver =
        |session: &mut Session| vole::receive_with::<Gf64>(session, ALICE, n, SemiHonest, &theirs).expect("honest");
    let (_, (received, _)) = run(sender, receiver);
    let distinct: std::collections::HashSet<u64> = received.a.iter().map(|a| a.0).collect();
    assert_eq!(distinct.len(), n, "2^16 of 2^64 values collide with probability 2^-33");
    let balanced = |ones: usize, of: usize| (ones as f64 - of as f64 / 2.0).abs() < 5.0 * (of as f64 / 4.0).sqrt();
    for bit in 0..64 {
        assert!(balanced(received.a.iter().filter(|a| a.0 >> bit & 1 == 1).count(), n), "bit {bit}");
        let shifted = received.a.iter().zip(&received.a[1..]);
        assert!(balanced(shifted.filter(|(a, b)| (a.0 ^ b.0) >> bit & 1 == 1).count(), n - 1), "neighbours, bit {bit}");
    }
    let mut counts = [0_usize; 256];
    received.a.iter().flat_map(|a| a.0.to_le_bytes()).for_each(|byte| counts[usize::from(byte)] += 1);
    let mean = (8 * n) as f64 / 256.0;
    let chi: f64 = counts.iter().map(|&count| (count as f64 - mean).powi(2) / mean).sum();
    assert!(chi < 360.0, "chi-square of 255 degrees of freedom is {chi}");
}

/// Correlations of the runs that are tampered with.
const SIZE: usize = 100;

fn vole_sender(session: &mut Session) -> Result<VoleSender, OtError> {
    vole::send::<Gf64>(session, BOB, SIZE, Malicious)
}

fn vole_receiver(session: &mut Session) -> Result<VoleReceiver<Gf64>, OtError> {
    vole::receive(session, ALICE, SIZE, Malicious)
}

fn cot_sender(session: &mut Session) -> Result<CotSender, OtError> {
    cot::send(session, BOB, SIZE, Malicious)
}

fn cot_receiver(session: &mut Session) -> Result<CotReceiver, OtError> {
    cot::receive(session, ALICE, SIZE, Malicious)
}

/// Runs a protocol once for each message, which `tamper` changes; counts the runs that somebody ended as cheated.
fn tampered<A: Send, B: Send>(
    alice: fn(&mut Session) -> Result<A, OtError>,
    bob: fn(&mut Session) -> Result<B, OtError>,
    mut tamper: impl FnMut(&mut [u8]) + Send,
    unnoticed: impl Fn(&Message, A, B),
) {
    let messages = relay::record(
        move |session| drop(alice(session).expect("an honest peer")),
        move |session| drop(bob(session).expect("an honest peer")),
    );
    for (target, message) in messages.iter().enumerate() {
        let change = |number: usize, bytes: &mut [u8]| {
            if number == target {
                tamper(bytes);
            }
        };
        match relay::run(&messages, alice, bob, change) {
            (Ok(a), Ok(b)) => unnoticed(message, a, b),
            (a, b) => {
                let cheating = |error: Option<&OtError>| matches!(error, Some(OtError::Cheating { .. }));
                assert!(cheating(a.as_ref().err()) || cheating(b.as_ref().err()), "message {target}");
            }
        }
    }
}

#[test]
fn a_message_replaced_by_noise_is_caught() {
    let mut prg = generator("noise in silent correlations");
    let never = |message: &Message| panic!("{message:?} was replaced unnoticed");
    tampered(vole_sender, vole_receiver, |bytes| prg.fill(bytes), |message, _, _| never(message));
    tampered(cot_sender, cot_receiver, |bytes| prg.fill(bytes), |message, _, _| never(message));
}

#[test]
fn a_flipped_bit_is_caught_or_harmless() {
    let mut prg = generator("flips in silent correlations");
    let mut flip = move |bytes: &mut [u8]| {
        let bit = prg.vector::<u32>(1)[0] as usize % (8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    };
    tampered(vole_sender, vole_receiver, &mut flip, |_, sent, received| assert_correlated(&sent, &received, SIZE));
    tampered(cot_sender, cot_receiver, &mut flip, |_, sent, received| assert_ots(&sent, &received, SIZE));
}

/// Changes the trees of each vector in turn: the first message that the sender sends in a round, but for answers.
fn vectors_are_checked<A: Send, B: Send>(
    vectors: usize,
    alice: impl Fn(&mut Session) -> Result<A, OtError> + Sync,
    bob: impl Fn(&mut Session) -> Result<B, OtError> + Sync,
) {
    let (alice, bob) = (&alice, &bob);
    let messages = relay::record(
        move |session| drop(alice(session).expect("an honest peer")),
        move |session| drop(bob(session).expect("an honest peer")),
    );
    let trees = |message: &Message| message.direction == Direction::Sent && message.bytes > 16;
    let mut numbers: Vec<usize> = (0..messages.len()).filter(|&number| trees(&messages[number])).collect();
    numbers.dedup_by_key(|number| messages[*number].round);
    assert!(numbers.len() >= vectors);
    for &target in &numbers[numbers.len() - vectors..] {
        let change = |number: usize, bytes: &mut [u8]| {
            if number == target {
                bytes[16] ^= 4;
            }
        };
        let (_, received) = relay::run(&messages, alice, bob, change);
        assert!(matches!(received.err(), Some(OtError::Cheating { .. })), "message {target}");
    }
}

/// Answers come a vector late, and yet no wrong tree of any vector is missed.
#[test]
fn every_vector_is_checked() {
    let mut prg = generator("wrong trees in every vector");
    let n = 2 * vole::largest::<Gf64>();
    let delta = prg.vector::<u128>(1)[0];
    let (ours, theirs) = deal(&mut prg, delta, vole::ots::<Gf64>(n, Malicious));
    vectors_are_checked(
        3,
        |session| vole::send_with::<Gf64>(session, BOB, n, Malicious, &ours),
        |session| vole::receive_with::<Gf64>(session, ALICE, n, Malicious, &theirs),
    );
    let n = cot::largest() + 1;
    vectors_are_checked(
        2,
        |session| cot::send(session, BOB, n, Malicious),
        |session| cot::receive(session, ALICE, n, Malicious),
    );
}
