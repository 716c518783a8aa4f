use crate::pair::{ALICE, BOB, cost, generator, run};
use tacit_math::Prg;
use tacit_math::code::Symbol;
use tacit_math::gf::{Field, Gf64, Gf128};
use tacit_net::Session;
use tacit_ot::Adversary::{Malicious, SemiHonest};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::silent::vole;
use tacit_ot::vole::{VoleReceiver, VoleSender};

/// Correlated OTs from a dealer.
fn deal(prg: &mut Prg, n: usize) -> (CotSender, CotReceiver) {
    let delta = prg.vector::<u128>(1)[0];
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
            let (ours, theirs) = deal(&mut prg, vole::ots::<F>(n, adversary));
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
    vole_from_a_dealer::<Gf64>(&[0, 1, 2, 31, 32, 33, 4095, 4096, 4097, 1 << 16]);
}

#[test]
fn vole_over_128_bits() {
    vole_from_a_dealer::<Gf128>(&[1, 4097, 1 << 15]);
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
