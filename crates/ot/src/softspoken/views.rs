//! What either party of SoftSpokenOT can compute from its view, where trees are ideal: streams under random seeds, of
//! which the sender lacks one in each tree. IKNP is the case k = 1.

use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_views::{Kind, Run, View, biased, constants, correlated, indistinguishable, leaks, play};

use super::{Block, COLUMNS, Receiver, Secret, Sender, depths, key};
use crate::correlated::CotReceiver;
use crate::{Adversary, OtError};

const ALICE: PartyId = PartyId(0);
const BOB: PartyId = PartyId(1);

/// OTs of a run.
const N: usize = 64;

/// Rows of them that are looked at.
const LANES: u64 = 0x8000_0001;

/// Both parties after an ideal setup: every tree's seeds by the number of the leaf, and delta.
struct Setup {
    k: usize,
    delta: u128,
    trees: Vec<Vec<[u8; 16]>>,
    /// Whether the sender is given the missing leaves, which is a fault.
    open: bool,
}

impl Setup {
    fn random(prg: &mut Prg, k: usize) -> Self {
        let trees = depths(k).into_iter().map(|depth| prg.vector(1 << depth)).collect();
        Self { k, delta: prg.vector::<u128>(1)[0], trees, open: false }
    }

    /// Delta's bits behind each tree.
    fn hidden(&self) -> impl Iterator<Item = (&Vec<[u8; 16]>, usize)> {
        let firsts = (0..COLUMNS).step_by(self.k);
        self.trees
            .iter()
            .zip(firsts.map(move |first| (self.delta >> first) as usize))
            .map(|(tree, bits)| (tree, bits & (tree.len() - 1)))
    }

    fn sender(&self, peer: PartyId, adversary: Adversary) -> Sender {
        let block = |(tree, hidden): (&Vec<[u8; 16]>, usize)| {
            let known: Vec<Option<Seed>> =
                (0..tree.len()).map(|y| (y > 0).then(|| Seed::from_bytes(tree[y ^ hidden]))).collect();
            Block::new(known.iter().map(Option::as_ref))
        };
        let (delta, blocks) = (self.delta.into(), self.hidden().map(block).collect());
        Sender { peer, adversary, secret: Some(Secret { peer, adversary, delta, blocks }), used: 0 }
    }

    fn receiver(&self, adversary: Adversary) -> Receiver {
        let block = |tree: &Vec<[u8; 16]>| {
            let seeds: Vec<Seed> = tree.iter().map(|seed| Seed::from_bytes(*seed)).collect();
            Block::new(seeds.iter().map(Some))
        };
        Receiver { peer: ALICE, adversary, blocks: self.trees.iter().map(block).collect(), used: 0 }
    }

    /// The words of all streams that the sender can compute; those that it cannot count as nothing.
    fn known_words(&self, words: usize) -> Vec<u8> {
        let known = self.hidden().flat_map(|(tree, hidden)| {
            (0..tree.len()).filter(move |&leaf| self.open || leaf != hidden).map(|leaf| tree[leaf])
        });
        known
            .flat_map(|seed| bytemuck::cast_slice(&Prg::new(&Seed::from_bytes(seed)).vector::<u64>(words)).to_vec())
            .collect()
    }
}

fn generator(number: u8) -> Prg {
    Prg::new(&Seed::from_bytes([number; 16]))
}

/// The sender's view of one extension, with all streams that it can compute, and the receiver's bits.
fn views_of_sender(k: usize, runs: usize, spoil: impl Fn(&mut Setup)) -> Vec<Run> {
    let mut prg = generator(40 + k as u8);
    let setups: Vec<Setup> = (0..runs)
        .map(|_| {
            let mut setup = Setup::random(&mut prg, k);
            spoil(&mut setup);
            setup
        })
        .collect();
    let played = play(&["alice", "bob"], runs, |mut session: Session, run| {
        let (setup, adversary) = (&setups[run], Adversary::SemiHonest);
        let choices = match session.me() {
            ALICE => {
                setup.sender(BOB, adversary).extend(&mut session, N).expect("an honest peer");
                0
            }
            _ => setup.receiver(adversary).extend(&mut session, N).expect("an honest peer").choices[0],
        };
        (session, choices)
    });
    let [senders, receivers]: [Vec<(View, u64)>; 2] = played.try_into().unwrap_or_else(|_| unreachable!("two parties"));
    let run = |((view, _), ((_, choices), setup)): ((View, u64), ((View, u64), &Setup))| {
        let received: Vec<u8> =
            view.only(&[Kind::Received]).parts().iter().flat_map(|part| part.bytes.clone()).collect();
        let view = View::default().with(Kind::Received, "corrections", received).with(
            Kind::Derived,
            "streams",
            setup.known_words(1),
        );
        let secret = View::default().with(Kind::Own, "choices", choices.to_le_bytes());
        Run { view, known: View::default(), secret }.lanes(LANES)
    };
    senders.into_iter().zip(receivers.into_iter().zip(&setups)).map(run).collect()
}

/// The sender sees b - 1 corrections, each under the stream that it lacks of a tree. A simulator makes random words of
/// them.
// views: crates/ot/src/softspoken.rs crates/ot/src/iknp.rs
#[test]
fn a_sender_does_not_see_the_choices() {
    for (k, runs) in [(1, 800), (2, 900), (4, 1_300)] {
        let real = views_of_sender(k, runs, |_| ());
        assert_eq!(leaks(&real), [], "k = {k}");
        assert_eq!(correlated(&real), [], "k = {k}");
        let views: Vec<View> = real.iter().map(|run| run.view.clone()).collect();
        assert_eq!(constants(&views), [], "k = {k}");
        assert_eq!(biased(&views), [], "k = {k}");
        let mut prg = generator(50);
        let simulate = |run: &Run| {
            let part = &run.view.parts()[0];
            let words: Vec<u8> = prg.vector(part.bytes.len());
            let made = View::default().with(Kind::Received, "corrections", words).cut(|_, bit| bit < part.bits());
            let mut view = made;
            view.extend(run.view.filter(|part| part.kind == Kind::Derived));
            run.seeing(view)
        };
        let simulated: Vec<Run> = real.iter().map(simulate).collect();
        assert_eq!(indistinguishable(&real, &simulated), [], "k = {k}");
    }
}

#[test]
fn two_trees_of_the_same_seeds_are_found() {
    let faulty = views_of_sender(2, 900, |setup| setup.trees[5] = setup.trees[9].clone());
    let views: Vec<View> = faulty.iter().map(|run| run.view.only(&[Kind::Received])).collect();
    assert!(!constants(&views).is_empty());
}

/// How OTs of chosen bits are made.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In one direction.
    Alone,
    /// In both directions at once.
    Both,
    /// Those of random bits in both directions at once.
    BothRandom,
}

/// A sender's view where the receiver chose its bits, or of both directions at once. Bob sends too: the same setup,
/// with the parties changed.
fn views_of_chosen(way: Way, runs: usize) -> Vec<Run> {
    let mut prg = generator(54);
    let setups: Vec<[Setup; 2]> = (0..runs).map(|_| [0; 2].map(|_| Setup::random(&mut prg, 2))).collect();
    let bits: Vec<[u64; 2]> = prg.vector(runs);
    let played = play(&["alice", "bob"], runs, |mut session: Session, run| {
        let (me, semi_honest) = (session.me().0, Adversary::SemiHonest);
        let peer = PartyId(1 - me);
        let mut sender = setups[run][me].sender(peer, semi_honest);
        let mut receiver = Receiver { peer, ..setups[run][1 - me].receiver(semi_honest) };
        let (mut blocks, own, mut choices) = (vec![0; N], [bits[run][me]], bits[run][me]);
        session.next_round();
        match way {
            Way::Alone if me == 0 => sender.extend_chosen(&mut session, &own, &mut blocks),
            Way::Alone => receiver.extend_chosen(&mut session, &own, &mut blocks),
            Way::Both => {
                super::extend_both_chosen(&mut session, (&mut sender, N), (&mut receiver, &own), |_| (), |_, _| ())
            }
            Way::BothRandom => {
                let keep = |random: &[u64], _: &[u128]| choices = random[0];
                super::extend_both(&mut session, (&mut sender, N), (&mut receiver, N), |_| (), keep)
            }
        }
        .expect("an honest peer");
        (session, choices)
    });
    let [alice, bob]: [Vec<(View, u64)>; 2] = played.try_into().unwrap_or_else(|_| unreachable!("two parties"));
    let run = |(((view, own), (_, choices)), [setup, _]): (((View, u64), (View, u64)), &[Setup; 2])| {
        let received: Vec<u8> =
            view.only(&[Kind::Received]).parts().iter().flat_map(|part| part.bytes.clone()).collect();
        let view = View::default()
            .with(Kind::Received, "corrections", received)
            .with(Kind::Own, "own bits", own.to_le_bytes())
            .with(Kind::Derived, "streams", setup.known_words(1));
        let secret = View::default().with(Kind::Own, "choices", choices.to_le_bytes());
        Run { view, known: View::default(), secret }.lanes(LANES)
    };
    alice.into_iter().zip(bob).zip(&setups).map(run).collect()
}

// views: crates/ot/src/softspoken/chosen.rs crates/ot/src/softspoken/duplex.rs
#[test]
fn a_sender_does_not_see_bits_that_were_chosen() {
    for way in [Way::Alone, Way::Both, Way::BothRandom] {
        let real = views_of_chosen(way, 1_000);
        assert_eq!(leaks(&real), [], "{way:?}");
        assert_eq!(correlated(&real), [], "{way:?}");
        let views: Vec<View> = real.iter().map(|run| run.view.clone()).collect();
        assert_eq!((constants(&views), biased(&views)), (vec![], vec![]), "{way:?}");
    }
}

/// A sender that has every leaf of one tree has the choices.
#[test]
fn a_tree_without_a_missing_leaf_is_found() {
    assert!(!leaks(&views_of_sender(2, 900, |setup| setup.open = true)).is_empty());
}

/// A sender that expects a malicious receiver asks for hashes under a challenge of its choice, the same one in every
/// run. Then what comes back is linear in the receiver's bits. The word that masks it hides it all the same, and
/// without that word it is found.
#[test]
fn hashes_of_a_chosen_challenge_do_not_show_the_choices() {
    const RUNS: usize = 600;
    const CHALLENGE: [u8; 16] = [7; 16];
    let mut prg = generator(51);
    let setups: Vec<Setup> = (0..RUNS).map(|_| Setup::random(&mut prg, 2)).collect();
    let words = 2;
    let played = play(&["alice", "bob"], RUNS, |mut session: Session, run| {
        let setup = &setups[run];
        let out = match session.me() {
            ALICE => {
                session.next_round();
                session.recv(BOB, &mut vec![0; 8 * words * (setup.trees.len() - 1)]).expect("corrections");
                session.next_round();
                session.send(BOB, CHALLENGE.to_vec()).expect("sent");
                session.next_round();
                let mut proof = vec![0; 8 * (1 + COLUMNS)];
                session.recv(BOB, &mut proof).expect("hashes");
                (proof, CotReceiver::default())
            }
            _ => (vec![], setup.receiver(Adversary::Malicious).extend(&mut session, N).expect("an honest peer")),
        };
        (session, out)
    });
    let [senders, receivers]: [Vec<(View, (Vec<u8>, CotReceiver))>; 2] =
        played.try_into().unwrap_or_else(|_| unreachable!("two parties"));
    let runs: Vec<Run> = senders
        .into_iter()
        .zip(&receivers)
        .map(|((_, (proof, _)), (_, (_, ots)))| Run {
            view: View::default().with(Kind::Received, "of bits", &proof[..8]).with(
                Kind::Received,
                "of columns",
                &proof[8..40],
            ),
            known: View::default(),
            secret: View::default().with(Kind::Own, "choices", ots.choices[0].to_le_bytes()),
        })
        .collect();
    assert_eq!(leaks(&runs), []);
    assert_eq!(correlated(&runs), []);
    // What the hash would be without the mask: its first word's part alone.
    let coefficients = key(&Seed::from_bytes(CHALLENGE), words);
    let unmasked = |run: &Run, (_, (_, ots)): &(View, (Vec<u8>, CotReceiver))| {
        let mut sum = [0_u128];
        tacit_math::universal::accumulate(&mut sum, &ots.choices, &coefficients[..1]);
        run.seeing(View::default().with(Kind::Received, "of bits", tacit_math::universal::reduce(sum[0]).to_le_bytes()))
    };
    let faulty: Vec<Run> = runs.iter().zip(&receivers).map(|(run, own)| unmasked(run, own)).collect();
    assert_eq!(leaks(&faulty).len(), 64);
}

/// A malicious receiver that makes its choices with a guess of one block's k bits passes for one value of these bits,
/// and for all values of the others alike. That is one run in 2^k, and what it learns are these bits.
#[test]
fn a_guess_of_a_block_passes_for_one_value_of_its_bits() {
    for k in [1, 2, 4] {
        let guess = 1;
        for block in 0..1_u128 << k {
            for rest in generator(52).vector::<u128>(2) {
                let mut setup = Setup::random(&mut generator(53), k);
                setup.delta = rest >> k << k | block;
                let passed = plays_with(&setup, guess).0.is_ok();
                assert_eq!(passed, block == u128::from(guess), "k = {k}, bits {block}");
            }
        }
    }
}

/// What both parties end with, when the receiver guesses the first block's bits: its OTs have the choices that it
/// wanted.
fn plays_with(setup: &Setup, guess: u64) -> (Result<(), OtError>, Option<CotReceiver>) {
    let choices = [0x0f0f_1234_5678_9abc];
    let [mut a, mut b]: [Session; 2] =
        tacit_net::memory::mesh(&["alice", "bob"], &tacit_net::Options::default()).try_into().expect("two parties");
    let (sent, received) = std::thread::scope(|scope| {
        let alice = scope.spawn(move || setup.sender(BOB, Adversary::Malicious).extend(&mut a, N).map(|ots| (ots, a)));
        let bob = scope.spawn(move || {
            let received = setup.receiver(Adversary::Malicious).extend_with_guess(&mut b, &choices, N, guess);
            received.map(|ots| (ots, b))
        });
        (alice.join().expect("alice"), bob.join().expect("bob"))
    });
    match (sent, received) {
        (Ok((sent, _alice)), Ok((received, _bob))) => {
            assert_eq!(received.choices, choices);
            for i in 0..N {
                let expected = sent.zero[i] ^ if received.choice(i) { sent.delta } else { 0 };
                assert_eq!(received.blocks[i], expected, "the deviation makes OTs of chosen bits");
            }
            (Ok(()), Some(received))
        }
        (sent, _) => (sent.map(|_| ()), None),
    }
}

/// A receiver whose guess was wrong tries another one, which is right, as if nothing had happened: the sender that has
/// failed once takes part in nothing more.
#[test]
fn a_wrong_guess_is_the_last_one() {
    let k = 2;
    let mut setup = Setup::random(&mut generator(55), k);
    setup.delta = setup.delta >> k << k | 2;
    let choices = [0x0f0f_1234_5678_9abc];
    let [mut a, mut b]: [Session; 2] =
        tacit_net::memory::mesh(&["alice", "bob"], &tacit_net::Options::default()).try_into().expect("two parties");
    let setup = &setup;
    let tries = std::thread::scope(|scope| {
        let alice = scope.spawn(move || {
            let mut sender = setup.sender(BOB, Adversary::Malicious);
            let tries = [(); 2].map(|()| sender.extend(&mut a, N).map(drop));
            assert!(sender.secret.is_none(), "delta is erased");
            tries
        });
        scope.spawn(move || {
            let mut receiver = setup.receiver(Adversary::Malicious);
            // The second one waits for a challenge until the sender's session is gone.
            [1, 2].map(|guess| receiver.extend_with_guess(&mut b, &choices, N, guess).is_ok())
        });
        alice.join().expect("alice")
    });
    let [first, second] = tries.map(|tried| tried.expect_err("a wrong guess, and nothing after it").to_string());
    assert!(first.contains("contradict each other"), "{first}");
    assert!(second.contains("have ended with an earlier error"), "{second}");
}
