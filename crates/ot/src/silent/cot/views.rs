//! What either party of silent OTs can compute from its view of two vectors, where the OTs before them are ideal: those
//! of a dealer.
//!
//! The trees of a vector are made alike, so messages and blocks of the first one are looked at, some bits of each
//! block; choices of all OTs.

use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_views::{Kind, Run, View, biased, constants, correlated, indistinguishable, leaks, play, repeats};

use super::{
    Answers, Codes, CotReceiver, CotSender, Memory, Noise, Product, Questions, Receiver, SEED_BYTES, Sender, Trees,
    kept, lowest_bits,
};
use crate::Adversary;

const ALICE: PartyId = PartyId(0);
const BOB: PartyId = PartyId(1);
const RUNS: usize = 480;

/// OTs of each vector.
const N: usize = 64;

/// OTs of a vector whose blocks are looked at.
const LOOKED_AT: usize = 4;

/// What the parties do at a vector's beginning, and who the sender is.
#[derive(Clone, Copy, PartialEq)]
enum Play {
    Right,
    /// The sender is a simulator: it sends random blocks.
    Simulated,
    /// The second vector is grown from the OTs of the first.
    Again,
    /// So it is, by trees of the same numbers.
    SameTrees,
}

/// The OTs of the setup.
struct Dealt {
    sender: CotSender,
    receiver: CotReceiver,
}

fn deal(prg: &mut Prg) -> Dealt {
    let n = kept();
    let delta = prg.vector::<u128>(1)[0] | 1;
    let (zero, choices): (Vec<u128>, Vec<u64>) = (prg.vector(n), prg.vector(n.div_ceil(64)));
    let chosen = |i: usize| delta * u128::from(choices[i / 64] >> (i % 64) & 1);
    let blocks = zero.iter().enumerate().map(|(i, zero)| zero ^ chosen(i)).collect();
    Dealt { sender: CotSender { first: 0, delta, zero }, receiver: CotReceiver { first: 0, choices, blocks } }
}

/// What a party has of one vector: the blocks and choices of its OTs, and the OTs that the next one is made of.
#[derive(Default)]
struct Made {
    blocks: Vec<u128>,
    choices: Vec<u64>,
    next: Vec<u128>,
}

fn noise() -> Noise {
    Noise::new(N + kept(), 1)
}

fn send(session: &mut Session, dealt: &Dealt, play: Play) -> Vec<Made> {
    session.next_round();
    let memory = Memory::new(Codes::hear(session, BOB).expect("a peer"));
    if play == Play::Simulated {
        for _ in 0..2 {
            session.next_round();
            let random = Seed::random().expect("randomness");
            let blocks: Vec<u128> = Prg::new(&random).vector(noise().segments * corrections());
            // In pieces, as trees are grown.
            for piece in blocks.chunks(32 * corrections()) {
                session.send(BOB, bytemuck::cast_slice(piece).to_vec()).expect("a peer");
            }
        }
        return vec![];
    }
    let checks = Answers::new(BOB, Adversary::SemiHonest, dealt.sender.delta);
    let trees = Trees::of(Product::Transfers, 0);
    let mut sender = Sender { peer: BOB, kept: dealt.sender.clone(), trees, used: 0, checks, memory };
    let vector = |_| {
        let blocks = sender.extend(session, N).expect("a peer").zero.clone();
        if matches!(play, Play::Again | Play::SameTrees) {
            sender.kept = dealt.sender.clone();
        }
        if play == Play::SameTrees {
            sender.trees = Trees::of(Product::Transfers, 0);
        }
        Made { blocks, next: sender.kept.zero.clone(), ..Made::default() }
    };
    (0..2).map(vector).collect()
}

fn receive(session: &mut Session, dealt: &Dealt, play: Play) -> Vec<Made> {
    session.next_round();
    let memory = Memory::new(Codes::draw(session, ALICE).expect("a peer"));
    let checks = Questions::new(ALICE, Adversary::SemiHonest);
    let trees = Trees::of(Product::Transfers, 0);
    let mut receiver = Receiver { peer: ALICE, kept: Some(dealt.receiver.clone()), trees, used: 0, checks, memory };
    let vector = |_| {
        let ots = receiver.extend(session, N).expect("a peer");
        if matches!(play, Play::Again | Play::SameTrees) {
            receiver.kept = Some(dealt.receiver.clone());
        }
        if play == Play::SameTrees {
            receiver.trees = Trees::of(Product::Transfers, 0);
        }
        let next = receiver.kept.as_ref().expect("no error").blocks.clone();
        Made { blocks: ots.blocks.clone(), choices: ots.choices.clone(), next }
    };
    (0..2).map(vector).collect()
}

/// Blocks of a tree's message.
fn corrections() -> usize {
    noise().depth as usize - 1
}

/// Some bits of every block: the lowest ones, which say what was chosen, the highest ones, and others.
fn some_bits(blocks: &[u128]) -> Vec<u8> {
    let places = [0, 1, 2, 31, 63, 64, 126, 127];
    let one = |block: &u128| places.iter().enumerate().map(|(i, place)| (block >> place & 1) << i).sum::<u128>() as u8;
    blocks.iter().map(one).collect()
}

/// One run of both parties.
struct Played {
    dealt: Dealt,
    /// What each party received, in one piece.
    received: [Vec<u8>; 2],
    sender: Vec<Made>,
    receiver: Vec<Made>,
}

fn played(number: u8, runs: usize, play_as: Play) -> Vec<Played> {
    let mut prg = Prg::new(&Seed::from_bytes([number; 16]));
    let dealt: Vec<Dealt> = (0..runs).map(|_| deal(&mut prg)).collect();
    let parties = play(&["alice", "bob"], runs, |mut session, run| {
        let dealt = &dealt[run];
        let made = match session.me() {
            ALICE => send(&mut session, dealt, play_as),
            _ => receive(&mut session, dealt, play_as),
        };
        (session, made)
    });
    let [alice, bob]: [Vec<(View, Vec<Made>)>; 2] = parties.try_into().unwrap_or_else(|_| unreachable!("two parties"));
    let received = |view: &View| -> Vec<u8> {
        view.only(&[Kind::Received]).parts().iter().flat_map(|part| part.bytes.clone()).collect()
    };
    let one = |((dealt, (of_alice, sender)), (of_bob, receiver)): ((Dealt, (View, Vec<Made>)), (View, Vec<Made>))| {
        Played { dealt, received: [received(&of_alice), received(&of_bob)], sender, receiver }
    };
    dealt.into_iter().zip(alice).zip(bob).map(one).collect()
}

impl Played {
    /// The receiver's view and the sender's secrets. Where the sender is simulated, these are what an ideal
    /// functionality gives it: delta, and what fits the receiver's blocks.
    fn of_receiver(&self) -> Run {
        let Self { dealt, receiver, .. } = self;
        let (delta, used) = (dealt.sender.delta, noise().depth as usize);
        let mut view = View::default().with(Kind::Own, "dealt", some_bits(&dealt.receiver.blocks[..used]));
        let mut secret = View::default().with(Kind::Own, "delta", some_bits(&[delta]));
        let vector = 16 * noise().segments * corrections();
        assert_eq!(self.received[1].len(), 2 * vector, "a receiver gets corrections alone");
        for (number, made) in receiver.iter().enumerate() {
            let message: Vec<u128> =
                bytemuck::pod_collect_to_vec(&self.received[1][number * vector..][..16 * corrections()]);
            view.add(Kind::Received, "corrections", some_bits(&message));
            view.add(Kind::Derived, "blocks", some_bits(&made.blocks[..LOOKED_AT]));
            view.add(Kind::Derived, "next", some_bits(&made.next[..LOOKED_AT]));
            let zero = |(i, block): (usize, &u128)| block ^ (delta * u128::from(made.choices[0] >> i & 1));
            let zero: Vec<u128> = made.blocks.iter().enumerate().map(zero).collect();
            if let Some(of_sender) = self.sender.get(number) {
                assert_eq!(of_sender.blocks, zero, "the sender's blocks");
            }
            secret.add(Kind::Own, "zero blocks", some_bits(&zero[..LOOKED_AT]));
        }
        let choices = (0..used).map(|i| u8::from(dealt.receiver.choice(i))).collect::<Vec<u8>>();
        let known = View::default().with(Kind::Own, "choices", choices).cut(|_, bit| bit % 8 == 0);
        Run { view, known, secret }
    }

    /// The receiver's choices: of both vectors, and of OTs that the next one is made of. None of them may follow from
    /// others.
    fn choices(&self) -> View {
        let mut choices = View::default();
        for made in &self.receiver {
            let next: Vec<u64> = lowest_bits(&made.next[..64]).collect();
            choices.add(Kind::Own, "choices", [made.choices[0], next[0]].map(u64::to_le_bytes).concat());
        }
        choices
    }
}

/// The corrections of the first tree of each vector.
fn messages(played: &[Played]) -> Vec<View> {
    let piece = 16 * corrections();
    let of = |run: &Played| {
        let (first, second) = run.received[1].split_at(run.received[1].len() / 2);
        View::default().with(Kind::Received, "corrections", [&first[..piece], &second[..piece]].concat())
    };
    played.iter().map(of).collect()
}

/// The receiver sees neither delta nor blocks that it did not choose. The sender hears the seed of the code and nothing
/// else, so it knows of choices what their distribution says.
// views: crates/ot/src/silent/cot.rs
#[test]
fn neither_party_sees_what_the_other_has() {
    let played_right = played(81, RUNS, Play::Right);
    let real: Vec<Run> = played_right.iter().map(Played::of_receiver).collect();
    assert_eq!(leaks(&real), []);
    // Its own block is the zero block of half of all OTs, as it should be: messages must not lean to any.
    let messages_of = |run: &Run| run.seeing(run.view.only(&[Kind::Received]));
    assert_eq!(correlated(&real.iter().map(messages_of).collect::<Vec<_>>()), []);
    let received: Vec<View> = real.iter().map(|run| run.view.only(&[Kind::Received])).collect();
    assert_eq!(constants(&received), []);
    assert_eq!(biased(&received), []);
    assert_eq!(repeats(&messages(&played_right), 16), []);
    let simulated: Vec<Run> = played(82, RUNS, Play::Simulated).iter().map(Played::of_receiver).collect();
    assert_eq!(indistinguishable(&real, &simulated), []);
    for run in &played_right {
        assert_eq!(run.received[0].len() as u64, SEED_BYTES, "a sender gets the seed of the code alone");
    }
    let choices: Vec<View> = played_right.iter().map(Played::choices).collect();
    assert_eq!(constants(&choices), []);
    assert_eq!(biased(&choices), []);
}

#[test]
fn ots_that_are_used_again_are_found() {
    // With one code, equal noise gives equal choices.
    let choices: Vec<View> = played(83, RUNS, Play::Again).iter().map(Played::choices).collect();
    assert!(constants(&choices).len() >= N);
    // Enough that no bit of a random block is the same in all of them.
    let same = played(84, 60, Play::SameTrees);
    assert_ne!(repeats(&messages(&same), 16), []);
}
