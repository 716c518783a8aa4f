//! Every decoder of this room against changed messages.

mod tampered;

use std::panic::RefUnwindSafe;

use tacit_math::gf::Gf64;
use tacit_net::PartyId;
use tacit_ot::Adversary::{Malicious, SemiHonest};
use tacit_ot::ole::Ole;
use tacit_ot::ole::matrices::{Product, Sizes};
use tacit_ot::silent::{cot, vole};
use tacit_ot::{Adversary, base, iknp, softspoken};
use tampered::{Network, Target, fuzz};

const ALICE: PartyId = PartyId(0);
const BOB: PartyId = PartyId(1);

/// Elements of a batch.
const N: usize = 100;

fn target(run: impl Fn(&Network<'_>) -> bool + RefUnwindSafe + 'static) -> Target {
    Box::new(run)
}

fn extensions(adversary: Adversary) -> [Target; 2] {
    let iknp = target(move |network| {
        let (sent, received) = network.run(
            |session| iknp::Sender::setup(session, BOB, adversary)?.extend(session, N),
            |session| iknp::Receiver::setup(session, ALICE, adversary)?.extend(session, N),
        );
        sent.is_ok() && received.is_ok()
    });
    let softspoken = target(move |network| {
        let (sent, received) = network.run(
            |session| softspoken::Sender::setup(session, BOB, adversary, 4)?.extend(session, N),
            |session| softspoken::Receiver::setup(session, ALICE, adversary, 4)?.extend(session, N),
        );
        sent.is_ok() && received.is_ok()
    });
    [iknp, softspoken]
}

fn silent(adversary: Adversary) -> [Target; 2] {
    let vole = target(move |network| {
        let (sent, received) = network.run(
            |session| vole::send::<Gf64>(session, BOB, N, adversary),
            |session| vole::receive::<Gf64>(session, ALICE, N, adversary),
        );
        sent.is_ok() && received.is_ok()
    });
    let cot = target(move |network| {
        let (sent, received) = network
            .run(|session| cot::send(session, BOB, N, adversary), |session| cot::receive(session, ALICE, N, adversary));
        sent.is_ok() && received.is_ok()
    });
    [vole, cot]
}

#[test]
fn no_message_of_a_peer_makes_a_panic() {
    let base = target(|network| {
        let choices: Vec<bool> = (0..20).map(|i| i % 3 == 0).collect();
        let (sent, received) =
            network.run(|session| base::send(session, BOB, 20), |session| base::receive(session, ALICE, &choices));
        sent.is_ok() && received.is_ok()
    });
    let ole = target(|network| {
        let party = |peer: PartyId| {
            move |session: &mut tacit_net::Session| {
                let numbers = |range: std::ops::Range<usize>| vec![1; range.len()];
                Ole::setup(session, peer)?.cross_products::<u64>(session, N, numbers, numbers)
            }
        };
        let (sent, received) = network.run(party(BOB), party(ALICE));
        sent.is_ok() && received.is_ok()
    });
    let matrices = target(|network| {
        let party = |peer: PartyId| {
            move |session: &mut tacit_net::Session| {
                let one = |_, _| 1_u64;
                let product = Product { sizes: Sizes { rows: 3, inner: 4, columns: 5 }, left: &one, right: &one };
                Ole::setup(session, peer)?.matrix_products(session, &[product])
            }
        };
        let (sent, received) = network.run(party(BOB), party(ALICE));
        sent.is_ok() && received.is_ok()
    });
    let mut targets = vec![("base", base), ("ole", ole), ("matrices", matrices)];
    for adversary in [SemiHonest, Malicious] {
        targets.extend(["iknp", "softspoken"].into_iter().zip(extensions(adversary)));
        targets.extend(["vole", "cot"].into_iter().zip(silent(adversary)));
    }
    fuzz(&targets);
}

#[test]
#[should_panic(expected = "test failed")]
fn a_panic_of_a_party_is_noticed() {
    let faulty = target(|network| {
        let (sent, received) = network.run(
            |session| base::send(session, BOB, 1),
            |session| match base::receive(session, ALICE, &[true]) {
                Err(_) => panic!("a fault in a decoder"),
                received => received,
            },
        );
        sent.is_ok() && received.is_ok()
    });
    fuzz(&[("base", faulty)]);
}
