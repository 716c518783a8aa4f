//! What a receiver reports to the sender: at its declared cost, and under a protocol against malicious parties nothing
//! that it does not prove.

use super::clear::{self, Clear};
use super::sets::Sets;
use super::{protocols, traffic};
use std::sync::Arc;
use tacit_net::{Options, PartyId, Session, memory};
use tacit_psi::alignment::{Learns, declared, intersect};
use tacit_psi::vole_psi::Variant;
use tacit_psi::{Driven, Outcome, Protocol, PsiError, Relayed, Role, Rounds, Sizes, VolePsi};

/// A sender that is to learn the matches, and what the receiver makes of its end of the session.
fn with_sender<T: Send>(
    protocol: &Arc<dyn Protocol>,
    sets: &Sets,
    receiver: impl FnOnce(&mut Session, PartyId) -> T + Send,
) -> (Result<Vec<u32>, PsiError>, T, u64) {
    let mut sessions = memory::mesh(&["sender", "receiver"], &Options::default()).into_iter();
    let (mut first, mut second) = (sessions.next().expect("two"), sessions.next().expect("two"));
    std::thread::scope(|scope| {
        let honest = scope.spawn(move || {
            let mut pair = protocol.setup(Role::Sender, &mut first, PartyId(1)).expect("setup");
            let before = traffic(&first, Role::Sender);
            let found = intersect(&mut *pair, Learns::Both, &mut first, PartyId(1), &sets.sender, sets.sizes());
            let bytes = traffic(&first, Role::Sender).receiver - before.receiver;
            (found, bytes, first)
        });
        let made = receiver(&mut second, PartyId(0));
        // Both sessions live until both parties have read everything.
        let (found, bytes, _first) = honest.join().expect("no panic");
        (found, made, bytes)
    })
}

#[test]
fn both_learn_the_matches_at_the_declared_cost() {
    for (protocol, _) in protocols() {
        for (sizes, common) in [((60, 50), 20), ((9, 9), 9), ((16, 3), 0), ((5, 0), 0), ((0, 4), 0)] {
            let sets = Sets::random(Sizes { sender: sizes.0, receiver: sizes.1 }, common, 3);
            let (found, mine, bytes) = with_sender(&protocol, &sets, |session, peer| {
                let mut pair = protocol.setup(Role::Receiver, session, peer).expect("setup");
                intersect(&mut *pair, Learns::Both, session, peer, &sets.receiver, sets.sizes()).expect("matches")
            });
            let pairs = mine.into_iter().zip(found.expect("matches"));
            let mut pairs: Vec<(u32, u32)> = pairs.collect();
            pairs.sort_unstable();
            let name = protocol.name();
            assert_eq!(pairs, clear::intersection(&sets.sender, &sets.receiver), "{name}: in one order");
            assert_eq!(bytes, declared(&*protocol, sets.sizes(), Learns::Both).online.receiver, "{name}: {sizes:?}");
        }
    }
}

/// What a receiver makes of its honest report: of the bits and their proof.
type Deviation<'a> = &'a (dyn Fn(&mut Vec<u8>, &mut Vec<u8>) + Sync);

const MALICIOUS: VolePsi = VolePsi { variant: Variant::Malicious, bins: 1 };

#[test]
fn a_receiver_proves_every_match_that_it_reports() {
    believes_nothing_unproved(&(Arc::new(MALICIOUS) as Arc<dyn Protocol>));
}

/// The same protocol round by round, whose bytes somebody else carries.
#[test]
fn a_receiver_proves_its_matches_over_rounds_too() {
    let party = |role| -> Result<Box<dyn Rounds>, PsiError> { Ok(Box::new(Relayed::new(Arc::new(MALICIOUS), role)?)) };
    // The most that blobs take: the messages, and room for what frames them.
    let most = |sizes| {
        let mut declared = MALICIOUS.declared(sizes);
        for traffic in [&mut declared.setup, &mut declared.online] {
            (traffic.sender, traffic.receiver) = (traffic.sender + 4096, traffic.receiver + 4096);
        }
        declared
    };
    let driven = Driven::new("driven", MALICIOUS.adversary(), most, party).proving();
    believes_nothing_unproved(&(Arc::new(driven) as Arc<dyn Protocol>));
}

#[test]
fn rounds_that_are_to_prove_matches_and_do_not_are_refused() {
    let party = |role| -> Result<Box<dyn Rounds>, PsiError> { Ok(Box::new(Relayed::new(Arc::new(Clear), role)?)) };
    let protocol: Arc<dyn Protocol> =
        Arc::new(Driven::new("driven", Clear.adversary(), super::clear_blobs, party).proving());
    let sets = Sets::random(Sizes { sender: 8, receiver: 8 }, 3, 5);
    let (found, (), _) = with_sender(&protocol, &sets, |session, peer| {
        let mut pair = protocol.setup(Role::Receiver, session, peer).expect("setup");
        let error = pair.online(session, &sets.receiver, sets.sizes()).expect_err("no proofs").to_string();
        assert!(error.contains("give no proofs"), "{error}");
    });
    assert!(found.expect_err("no proofs").to_string().contains("give no proofs"));
}

fn believes_nothing_unproved(protocol: &Arc<dyn Protocol>) {
    // The first of the 40 places that is reported as a match, or as none.
    let first = |bits: &[u8], set: bool| {
        (0..40).find(|place| (bits[place / 8] >> (place % 8) & 1 == 1) == set).expect("some match, some do not")
    };
    // Changes one place of each of these kinds.
    let flip = |bits: &mut [u8], kinds: &[bool]| {
        let places: Vec<usize> = kinds.iter().map(|&set| first(bits, set)).collect();
        places.into_iter().for_each(|place| bits[place / 8] ^= 1 << (place % 8));
    };
    // Whether the sender believes what is reported of 40 items, of which 20 match.
    let believes = |report: Deviation<'_>| {
        let sets = Sets::random(Sizes { sender: 40, receiver: 40 }, 20, 5);
        let (found, (), _) = with_sender(protocol, &sets, |session, peer| {
            let mut pair = protocol.setup(Role::Receiver, session, peer).expect("setup");
            let Outcome::Receiver(mut matches) =
                pair.online(session, &sets.receiver, sets.sizes()).expect("an outcome")
            else {
                panic!("the outcome of a receiver")
            };
            matches.sort_unstable_by_key(|found| found.theirs);
            let proofs = pair.proofs().expect("a protocol that proves");
            let mut bits = vec![0; 5];
            matches.iter().for_each(|found| bits[found.theirs as usize / 8] |= 1 << (found.theirs % 8));
            let mut hasher = blake3::Hasher::new_derive_key("tacit 2026 psi: proof of matches");
            hasher.update(&bits);
            for found in &matches {
                hasher.update(&proofs[found.mine as usize].to_le_bytes());
            }
            let mut proof = hasher.finalize().as_bytes().to_vec();
            report(&mut bits, &mut proof);
            session.next_round();
            session.send(peer, [bits, proof].concat()).expect("sent");
        });
        found.map(|found| found.len()).map_err(|error| error.to_string())
    };
    assert_eq!(believes(&|_, _| ()), Ok(20), "the truth");
    let scripts: [(&str, Deviation<'_>); 6] = [
        ("all match", &|bits, _| bits.fill(0xff)),
        ("one match more", &|bits, _| flip(bits, &[false])),
        ("one match fewer, its proof among those of the others", &|bits, _| flip(bits, &[true])),
        ("another match in the place of one", &|bits, _| flip(bits, &[true, false])),
        ("no proof", &|_, proof| proof.fill(0)),
        ("none, with the proof of some", &|bits, _| bits.fill(0)),
    ];
    for (what, report) in scripts {
        let error = believes(report).expect_err(what);
        assert!(error.contains("it reports a match that it does not prove"), "{what}: {error}");
    }
}

/// Where the receiver has no items, nothing is evaluated, and any match is made up.
#[test]
fn who_has_no_items_proves_no_match() {
    let protocol: Arc<dyn Protocol> = Arc::new(VolePsi { variant: Variant::Malicious, bins: 1 });
    let sets = Sets::random(Sizes { sender: 8, receiver: 0 }, 0, 5);
    let (found, (), _) = with_sender(&protocol, &sets, |session, peer| {
        let mut pair = protocol.setup(Role::Receiver, session, peer).expect("setup");
        pair.online(session, &[], sets.sizes()).expect("an outcome");
        session.next_round();
        session.send(peer, [vec![0xff], vec![0; 32]].concat()).expect("sent");
    });
    assert!(found.expect_err("made up").to_string().contains("it does not prove"));
}
