//! What either party can compute from its view of chosen OTs, where correlated ones are ideal: those of a dealer.

use tacit_math::{Prg, Seed, TweakableCircularHash};
use tacit_net::{PartyId, Session};
use tacit_views::{Kind, Run, View, biased, constants, correlated, indistinguishable, leaks, play};

use super::{CotReceiver, CotSender};

const ALICE: PartyId = PartyId(0);
const BOB: PartyId = PartyId(1);
const RUNS: usize = 2_200;
const N: usize = 2;

/// One run of random OTs that become chosen ones.
struct Dealt {
    sender: CotSender,
    receiver: CotReceiver,
    /// The receiver's own choices.
    choices: u64,
    messages: [[u128; 2]; N],
}

fn deal() -> Vec<Dealt> {
    let mut prg = Prg::new(&Seed::from_bytes([61; 16]));
    let one = |_| {
        let delta = prg.vector::<u128>(1)[0];
        let (zero, choices): (Vec<u128>, u64) = (prg.vector(N), prg.vector::<u64>(1)[0] & 3);
        let blocks = zero.iter().enumerate().map(|(i, zero)| zero ^ (delta * u128::from(choices >> i & 1))).collect();
        Dealt {
            sender: CotSender { first: 5, delta, zero },
            receiver: CotReceiver { first: 5, choices: vec![choices], blocks },
            choices: prg.vector::<u64>(1)[0] & 3,
            messages: [0; N].map(|_| prg.vector::<[u128; 2]>(1)[0]),
        }
    };
    (0..RUNS).map(one).collect()
}

fn bytes(blocks: &[u128]) -> Vec<u8> {
    blocks.iter().flat_map(|block| block.to_le_bytes()).collect()
}

fn received(view: &View) -> Vec<u8> {
    view.only(&[Kind::Received]).parts().iter().flat_map(|part| part.bytes.clone()).collect()
}

/// What each party receives.
fn both(dealt: &[Dealt]) -> [Vec<Vec<u8>>; 2] {
    let played = play(&["alice", "bob"], dealt.len(), |mut session: Session, run| {
        let Dealt { sender, receiver, choices, messages } = &dealt[run];
        match session.me() {
            ALICE => {
                let mut sender = sender.clone();
                sender.adjust(&mut session, BOB).expect("an honest peer");
                sender.send(&mut session, BOB, messages).expect("an honest peer");
            }
            _ => {
                let mut receiver = receiver.clone();
                receiver.choose(&mut session, ALICE, &[*choices]).expect("an honest peer");
                let got = receiver.receive(&mut session, ALICE).expect("an honest peer");
                let expected = messages.iter().enumerate().map(|(i, pair)| pair[(choices >> i & 1) as usize]);
                assert!(got.into_iter().eq(expected));
            }
        }
        (session, ())
    });
    let seen = |party: Vec<(View, ())>| party.iter().map(|(view, ())| received(view)).collect();
    played.into_iter().map(seen).collect::<Vec<_>>().try_into().expect("two parties")
}

/// The sender sees by how much random choices differ from the receiver's own; a simulator draws these bits.
#[test]
fn a_sender_does_not_see_the_choices() {
    let dealt = deal();
    let [seen, _] = both(&dealt);
    let run = |(dealt, flips): (&Dealt, u8)| {
        let view =
            View::default().with(Kind::Received, "flips", [flips]).with(Kind::Own, "blocks", bytes(&dealt.sender.zero));
        let secret = View::default().with(Kind::Own, "choices", [dealt.choices as u8]);
        Run {
            view: view.cut(|part, bit| part > 0 || bit < N),
            known: View::default(),
            secret: secret.cut(|_, bit| bit < N),
        }
    };
    let real: Vec<Run> = dealt.iter().zip(&seen).map(|(dealt, seen)| run((dealt, seen[0]))).collect();
    assert_eq!(leaks(&real), []);
    assert_eq!(correlated(&real), []);
    assert_eq!(biased(&real.iter().map(|run| run.view.clone()).collect::<Vec<_>>()), []);
    let drawn: Vec<u8> = Prg::new(&Seed::from_bytes([62; 16])).vector(RUNS);
    let simulated: Vec<Run> = dealt.iter().zip(drawn).map(run).collect();
    assert_eq!(indistinguishable(&real, &simulated), []);
}

/// The receiver's view, with what it makes of the messages that are not for it by the keys that it has. `hide` says
/// what is secret.
fn views_of_receiver(dealt: &[Dealt], seen: &[Vec<u8>], secret: impl Fn(&Dealt) -> Vec<u128>) -> Vec<Run> {
    let run = |(dealt, seen): (&Dealt, &Vec<u8>)| {
        let masked: Vec<u128> = seen.as_chunks().0.iter().map(|block| u128::from_le_bytes(*block)).collect();
        let mut keys = dealt.receiver.blocks.clone();
        TweakableCircularHash::new().hash_blocks(&mut keys, |i| 5 + i as u128);
        let tried: Vec<u128> = masked.iter().enumerate().map(|(i, masked)| masked ^ keys[i / 2]).collect();
        let chosen = |i: usize| dealt.messages[i][(dealt.choices >> i & 1) as usize];
        Run {
            view: View::default()
                .with(Kind::Received, "messages", seen.clone())
                .with(Kind::Own, "blocks", bytes(&dealt.receiver.blocks))
                .with(Kind::Derived, "keys", bytes(&keys))
                .with(Kind::Derived, "tried", bytes(&tried)),
            known: View::default().with(Kind::Own, "chosen", bytes(&[chosen(0), chosen(1)])),
            secret: View::default().with(Kind::Own, "secret", bytes(&secret(dealt))),
        }
    };
    dealt.iter().zip(seen).map(run).collect()
}

fn others(dealt: &Dealt) -> Vec<u128> {
    (0..N).map(|i| dealt.messages[i][1 - (dealt.choices >> i & 1) as usize]).collect()
}

// views: crates/ot/src/correlated.rs
#[test]
fn a_receiver_sees_neither_the_other_messages_nor_delta() {
    let dealt = deal();
    let [_, seen] = both(&dealt);
    let secrets: [fn(&Dealt) -> Vec<u128>; 2] = [others, |dealt| vec![dealt.sender.delta]];
    for secret in secrets {
        let runs = views_of_receiver(&dealt, &seen, secret);
        assert_eq!(leaks(&runs), []);
        assert_eq!(correlated(&runs), []);
        // A simulator that has the chosen messages draws the others' places.
        let mut prg = Prg::new(&Seed::from_bytes([63; 16]));
        let simulate = |(dealt, seen): (&Dealt, &Vec<u8>)| {
            let mut made = seen.clone();
            for (i, pair) in made.as_chunks_mut::<32>().0.iter_mut().enumerate() {
                let place = 16 * (1 - (dealt.choices >> i & 1) as usize);
                prg.fill(&mut pair[place..place + 16]);
            }
            made
        };
        let made: Vec<Vec<u8>> = dealt.iter().zip(&seen).map(simulate).collect();
        assert_eq!(indistinguishable(&runs, &views_of_receiver(&dealt, &made, secret)), []);
    }
    let views: Vec<View> =
        seen.iter().map(|seen| View::default().with(Kind::Received, "messages", seen.clone())).collect();
    assert_eq!(constants(&views), []);
}

/// Both messages of an OT under one key.
#[test]
fn a_key_for_both_messages_is_found() {
    let dealt = deal();
    let [_, mut seen] = both(&dealt);
    for (dealt, seen) in dealt.iter().zip(&mut seen) {
        let mut keys = dealt.receiver.blocks.clone();
        TweakableCircularHash::new().hash_blocks(&mut keys, |i| 5 + i as u128);
        let masked = dealt.messages.iter().zip(&keys).flat_map(|(pair, key)| pair.map(|message| message ^ key));
        *seen = bytes(&masked.collect::<Vec<_>>());
    }
    let found = leaks(&views_of_receiver(&dealt, &seen, |dealt| vec![dealt.messages[0][0], dealt.messages[0][1]]));
    assert!(found.len() >= 128, "what the receiver does not choose follows, in every bit");
}
