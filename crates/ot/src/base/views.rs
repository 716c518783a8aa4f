//! What each party of base OTs can compute from its view, and a program that makes such views without the other party's
//! secret.

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE as G;
use curve25519_dalek::ristretto::RistrettoPoint;
use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_views::{Kind, Run, View, correlated, indistinguishable, leaks, play, repeats};

use super::{Context, POINT, Word, program, receive, scalars, send};
use crate::error::fresh_seed;

const ALICE: PartyId = PartyId(0);
const BOB: PartyId = PartyId(1);
const RUNS: usize = 1_300;

/// One OT of one party: the keys that it has, lowest choice first, and its choice.
struct Outcome {
    keys: Vec<u128>,
    choice: bool,
}

/// Both parties' views of one OT with a random choice.
fn both() -> [Vec<(View, Outcome)>; 2] {
    let choices: Vec<u8> = Prg::new(&Seed::from_bytes([31; 16])).vector(RUNS);
    let played = play(&["alice", "bob"], RUNS, |mut session: Session, run| {
        let choice = choices[run] & 1 == 1;
        let keys = match session.me() {
            ALICE => send(&mut session, BOB, 1).expect("an honest peer")[0].to_vec(),
            _ => receive(&mut session, ALICE, &[choice]).expect("an honest peer"),
        };
        (session, Outcome { keys, choice })
    });
    played.try_into().unwrap_or_else(|_| unreachable!("two parties"))
}

fn bytes(blocks: &[u128]) -> Vec<u8> {
    blocks.iter().flat_map(|block| block.to_le_bytes()).collect()
}

fn random_point(prg: &mut Prg) -> RistrettoPoint {
    let mut uniform = [0; 64];
    prg.fill(&mut uniform);
    RistrettoPoint::from_uniform_bytes(&uniform)
}

fn joined(runs: &[Run]) -> Vec<Run> {
    runs.iter().map(|run| run.seeing(run.view.clone().joined())).collect()
}

/// The sender sees a nonce and two elements of the group. A simulator draws them at random and knows no choice.
// views: crates/ot/src/base.rs
#[test]
fn a_sender_does_not_see_the_choice() {
    let [senders, receivers] = both();
    let mut prg = Prg::new(&fresh_seed().expect("randomness"));
    let (mut real, mut simulated) = (vec![], vec![]);
    for ((view, own), (_, other)) in senders.into_iter().zip(receivers) {
        let secret = View::default().with(Kind::Own, "choice", [u8::from(other.choice)]);
        let secret = secret.cut(|_, bit| bit == 0);
        let of = |message: Vec<u8>| {
            let view = View::default().with(Kind::Received, "message", message);
            let view = view.with(Kind::Own, "keys", bytes(&own.keys));
            Run { view, known: View::default(), secret: secret.clone() }
        };
        let seen: Vec<u8> = view.only(&[Kind::Received]).parts().iter().flat_map(|part| part.bytes.clone()).collect();
        let mut made: Vec<u8> = prg.vector(16);
        made.extend([0; 2].map(|_| random_point(&mut prg).compress().to_bytes()).concat());
        real.push(of(seen));
        simulated.push(of(made));
    }
    assert_eq!(leaks(&real), []);
    assert_eq!(correlated(&real), []);
    assert_eq!(indistinguishable(&real, &simulated), []);
}

/// The receiver sees one element of the group. A simulator draws it at random, and the key too.
#[test]
fn a_receiver_does_not_see_the_other_key() {
    let [senders, receivers] = both();
    let mut prg = Prg::new(&fresh_seed().expect("randomness"));
    let (mut real, mut simulated) = (vec![], vec![]);
    for ((_, other), (view, own)) in senders.into_iter().zip(receivers) {
        let of = |message: Vec<u8>, key: u128| Run {
            view: View::default().with(Kind::Received, "message", message).with(Kind::Own, "key", key.to_le_bytes()),
            known: View::default().with(Kind::Own, "choice", [u8::from(own.choice)]),
            secret: View::default().with(Kind::Own, "other key", bytes(&[other.keys[usize::from(!own.choice)]])),
        };
        assert_eq!(own.keys[0], other.keys[usize::from(own.choice)]);
        let seen: Vec<u8> = view.only(&[Kind::Received]).parts().iter().flat_map(|part| part.bytes.clone()).collect();
        assert_eq!(seen.len(), POINT);
        real.push(of(seen, own.keys[0]));
        simulated.push(of(random_point(&mut prg).compress().to_bytes().to_vec(), prg.vector::<u128>(1)[0]));
    }
    let (real, simulated) = (joined(&real), joined(&simulated));
    assert_eq!(leaks(&real), []);
    assert_eq!(correlated(&real), []);
    assert_eq!(indistinguishable(&real, &simulated), []);
}

/// A receiver whose free element comes from a generator that is used again shows its choice: by where the same element
/// lies.
#[test]
fn a_free_element_that_comes_again_is_found() {
    let context = Context { point: blake3::Hasher::new(), key: blake3::Hasher::new() };
    let words = |prg: &mut dyn FnMut() -> Prg| -> Vec<View> {
        let word = |i: usize| -> Word {
            let secret = scalars(1).expect("randomness")[0];
            program(&context, 0, i % 2 == 1, &(G * &secret), &mut prg())
        };
        (0..50).map(word).map(|word| View::default().with(Kind::Received, "word", word.to_vec())).collect()
    };
    let found = repeats(&words(&mut || Prg::new(&Seed::from_bytes([1; 16]))), 8);
    assert!(!found.is_empty());
    assert_eq!(repeats(&words(&mut || Prg::new(&fresh_seed().expect("randomness"))), 8), []);
}
