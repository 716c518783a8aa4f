//! Every intersection protocol against the same functionality: one line a protocol in [`protocols`].

mod clear;
mod reports;
mod sets;
mod tampering;

use clear::{Clear, intersection};
use sets::{Sets, awkward};
use std::sync::Arc;
use tacit_math::{Prg, Seed};
use tacit_net::{Message, Options, PartyId, Record, Session, Traffic, memory};
use tacit_psi::vole_psi::Variant;
use tacit_psi::{
    Declared, DhPsi, Driven, Kkrt, Match, Outcome, Protocol, PsiError, Relayed, Role, Rounds, Sizes, VolePsi,
};

/// Every protocol, with the size of the larger set in its most unequal run.
fn protocols() -> Vec<(Arc<dyn Protocol>, usize)> {
    vec![
        (Arc::new(Clear), 100_000),
        (Arc::new(DhPsi { bins: 1 }), 10_000),
        (Arc::new(Kkrt { bins: 1 }), 100_000),
        (Arc::new(VolePsi { variant: Variant::Fast, bins: 1 }), 100_000),
        (Arc::new(VolePsi { variant: Variant::Compact, bins: 1 }), 100_000),
        (Arc::new(VolePsi { variant: Variant::Malicious, bins: 1 }), 100_000),
    ]
}

/// Protocols of runs of many bins, which have wider tags, tables, codes and scalars.
fn in_many_bins() -> Vec<(Arc<dyn Protocol>, usize)> {
    let bins = 1 << 14;
    vec![
        (Arc::new(DhPsi { bins }), 300),
        (Arc::new(Kkrt { bins }), 5000),
        (Arc::new(VolePsi { variant: Variant::Fast, bins }), 5000),
        (Arc::new(VolePsi { variant: Variant::Compact, bins }), 5000),
    ]
}

/// What one party did and saw.
struct Party {
    setup: Traffic,
    online: Vec<Traffic>,
    outcomes: Vec<Outcome>,
    messages: Vec<Message>,
}

/// Bytes sent by one party, in the field of its role.
fn traffic(session: &Session, role: Role) -> Traffic {
    let total = session.meter().snapshot().total;
    let sender = Traffic { rounds: total.rounds, sender: total.bytes_sent, receiver: total.bytes_received };
    if role == Role::Sender { sender } else { sender.swapped() }
}

fn minus(a: Traffic, b: Traffic) -> Traffic {
    Traffic { rounds: a.rounds - b.rounds, sender: a.sender - b.sender, receiver: a.receiver - b.receiver }
}

fn play(mut session: Session, protocol: &dyn Protocol, role: Role, runs: &[Sets]) -> Result<Party, PsiError> {
    let peer = PartyId(1 - session.me().0);
    let mut prepared = protocol.setup(role, &mut session, peer)?;
    let mut before = traffic(&session, role);
    let (setup, mut online, mut outcomes) = (before, Vec::new(), Vec::new());
    for sets in runs {
        let items = if role == Role::Sender { &sets.sender } else { &sets.receiver };
        outcomes.push(prepared.online(&mut session, items, sets.sizes())?);
        let after = traffic(&session, role);
        online.push(minus(after, before));
        before = after;
    }
    let messages = session.transcript().expect("recorded").messages();
    session.close()?;
    Ok(Party { setup, online, outcomes, messages })
}

/// Run setup once and all of `runs` after it: the sender, then the receiver.
fn run(protocol: &dyn Protocol, runs: &[Sets]) -> [Party; 2] {
    let options = Options { record: Record::Sizes, ..Options::default() };
    let mut sessions = memory::mesh(&["sender", "receiver"], &options).into_iter();
    let (first, second) = (sessions.next().expect("two"), sessions.next().expect("two"));
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| play(first, protocol, Role::Sender, runs));
        let receiver = play(second, protocol, Role::Receiver, runs);
        let sender = sender.join().expect("no panic");
        match (sender, receiver) {
            (Ok(sender), Ok(receiver)) => [sender, receiver],
            (sender, receiver) => panic!("{}: {:?}, {:?}", protocol.name(), sender.err(), receiver.err()),
        }
    })
}

/// Assert that the order is a permutation and return the matches as indices of both parties.
fn resolve(name: &str, sender: &Outcome, receiver: &Outcome, sizes: Sizes) -> Vec<(u32, u32)> {
    let (Outcome::Sender { order }, Outcome::Receiver(matches)) = (sender, receiver) else {
        panic!("{name}: outcomes of the wrong roles")
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..sizes.sender as u32), "{name}: the order is no permutation");
    let mut pairs: Vec<_> = matches.iter().map(|&Match { mine, theirs }| (mine, order[theirs as usize])).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn every_protocol_finds_the_intersection_at_its_declared_cost() {
    for (protocol, largest) in protocols().into_iter().chain(in_many_bins()) {
        let name = protocol.name();
        let runs: Vec<Sets> = awkward(largest)
            .iter()
            .zip(0..)
            .map(|(&(sizes, common), seed)| Sets::random(sizes, common, seed))
            .collect();
        let [sender, receiver] = run(&*protocol, &runs);
        for (place, sets) in runs.iter().enumerate() {
            let sizes = sets.sizes();
            let found = resolve(name, &sender.outcomes[place], &receiver.outcomes[place], sizes);
            assert_eq!(found, intersection(&sets.sender, &sets.receiver), "{name}, {sizes:?}");
            let declared = protocol.declared(sizes);
            for party in [&sender, &receiver] {
                assert_eq!(party.setup, declared.setup, "{name}: setup");
                assert_eq!(party.online[place], declared.online, "{name}: online, {sizes:?}");
            }
        }
    }
}

#[test]
fn every_protocol_finds_the_intersection_of_random_sizes() {
    let mut seed = [0; 16];
    seed.copy_from_slice(Seed::random().expect("randomness").expose());
    println!("seed {seed:?}");
    let mut words = Prg::new(&Seed::from_bytes(seed));
    for (protocol, _) in protocols() {
        let draw = |words: &mut Prg| words.vector::<u32>(3).into_iter().map(|word| word as usize).collect::<Vec<_>>();
        let runs: Vec<Sets> = (0..8)
            .map(|number| {
                let [sender, receiver, common] = draw(&mut words)[..] else { unreachable!("three words") };
                let sizes = Sizes { sender: sender % 2000, receiver: receiver % 2000 };
                let common = common % (sizes.sender.min(sizes.receiver) + 1);
                Sets::random(sizes, common, seed[number])
            })
            .collect();
        let [sender, receiver] = run(&*protocol, &runs);
        for (place, sets) in runs.iter().enumerate() {
            let found = resolve(protocol.name(), &sender.outcomes[place], &receiver.outcomes[place], sets.sizes());
            assert_eq!(found, intersection(&sets.sender, &sets.receiver), "{}, {:?}", protocol.name(), sets.sizes());
        }
    }
}

#[test]
fn sizes_and_order_of_messages_depend_on_public_sizes_alone() {
    for (protocol, _) in protocols() {
        let sizes = Sizes { sender: 700, receiver: 900 };
        let seen = [(0, 1), (700, 2)].map(|(common, seed)| run(&*protocol, &[Sets::random(sizes, common, seed)]));
        for party in [0, 1] {
            assert_eq!(seen[0][party].messages, seen[1][party].messages, "{}", protocol.name());
        }
    }
}

/// Call every round of both parties as a cluster engine would: no session between them. `pass` sees every blob on its
/// way.
fn call_rounds(
    parties: &mut [Box<dyn Rounds>; 2],
    sets: &Sets,
    mut pass: impl FnMut(&mut Vec<u8>),
) -> Result<[Outcome; 2], PsiError> {
    let mut blobs = [Vec::new(), Vec::new()];
    for id in 0..parties[0].setup_round_count() {
        blobs = [parties[0].setup(id, &blobs[1])?, parties[1].setup(id, &blobs[0])?];
        blobs.iter_mut().for_each(&mut pass);
    }
    parties[0].begin(&sets.sender, sets.sizes())?;
    parties[1].begin(&sets.receiver, sets.sizes())?;
    assert_eq!(parties[0].online_round_count(), parties[1].online_round_count());
    for id in 0..parties[0].online_round_count() {
        blobs = [parties[0].round(id, &blobs[1])?, parties[1].round(id, &blobs[0])?];
        blobs.iter_mut().for_each(&mut pass);
    }
    Ok([parties[0].outcome()?, parties[1].outcome()?])
}

fn relayed(protocol: &Arc<dyn Protocol>, role: Role) -> Box<dyn Rounds> {
    Box::new(Relayed::new(Arc::clone(protocol), role).expect("a thread"))
}

/// Both parties of a run in which each is saved and restored in another object before every call, if `moves`.
struct Moving {
    protocol: Arc<dyn Protocol>,
    states: [Vec<u8>; 2],
    moves: bool,
    running: [Option<Relayed>; 2],
    /// All that was sent.
    blobs: Vec<[Vec<u8>; 2]>,
}

impl Moving {
    const ROLES: [Role; 2] = [Role::Sender, Role::Receiver];

    fn new(protocol: &Arc<dyn Protocol>, states: [Vec<u8>; 2], moves: bool) -> Self {
        Self { protocol: Arc::clone(protocol), states, moves, running: [None, None], blobs: Vec::new() }
    }

    /// A call at one party, which is restored before it and saved behind it.
    fn at<T>(&mut self, party: usize, call: impl FnOnce(&mut Relayed) -> Result<T, PsiError>) -> T {
        let restored = || Relayed::restore(Arc::clone(&self.protocol), Self::ROLES[party], &self.states[party]);
        let mut run = self.running[party].take().unwrap_or_else(|| restored().expect("a state"));
        let given = call(&mut run).unwrap_or_else(|error| panic!("{}: {error}", self.protocol.name()));
        match self.moves {
            true => self.states[party] = Box::new(run).save().expect("a run that moves").to_vec(),
            false => self.running[party] = Some(run),
        }
        given
    }

    /// A pair of sets, after setup if `first`.
    fn pair(&mut self, sets: &Sets, first: bool) -> [Outcome; 2] {
        let mut blobs = [Vec::new(), Vec::new()];
        let setup = if first { self.at(0, |run| Ok(run.setup_round_count())) } else { 0 };
        for id in 0..setup {
            blobs = [self.at(0, |run| run.setup(id, &blobs[1])), self.at(1, |run| run.setup(id, &blobs[0]))];
            self.blobs.push(blobs.clone());
        }
        self.at(0, |run| run.begin(&sets.sender, sets.sizes()));
        self.at(1, |run| run.begin(&sets.receiver, sets.sizes()));
        let rounds = self.at(1, |run| Ok(run.online_round_count()));
        blobs = [Vec::new(), Vec::new()];
        for id in 0..rounds {
            blobs = [self.at(0, |run| run.round(id, &blobs[1])), self.at(1, |run| run.round(id, &blobs[0]))];
            self.blobs.push(blobs.clone());
        }
        [self.at(0, Relayed::outcome), self.at(1, Relayed::outcome)]
    }
}

fn begun(protocol: &Arc<dyn Protocol>) -> [Vec<u8>; 2] {
    Moving::ROLES.map(|role| {
        let run = Relayed::movable(Arc::clone(protocol), role).expect("a thread");
        Box::new(run).save().expect("a run that moves").to_vec()
    })
}

#[test]
fn a_run_that_moves_after_every_round_does_what_one_that_stays_does() {
    for (protocol, _) in protocols() {
        let states = begun(&protocol);
        let sizes = Sizes { sender: 130, receiver: 90 };
        let sets = [Sets::random(sizes, 40, 9), Sets::random(Sizes { sender: 5, receiver: 70 }, 3, 10)];
        let [stays, moves] = [false, true].map(|moves| {
            let mut run = Moving::new(&protocol, states.clone(), moves);
            let outcomes = [run.pair(&sets[0], true), run.pair(&sets[1], false)];
            (outcomes, run.blobs)
        });
        assert_eq!(stays.1, moves.1, "{}: the same bytes", protocol.name());
        assert_eq!(format!("{:?}", stays.0), format!("{:?}", moves.0), "{}", protocol.name());
        for ([sender, receiver], sets) in moves.0.iter().zip(&sets) {
            let found = resolve(protocol.name(), sender, receiver, sets.sizes());
            assert_eq!(found, intersection(&sets.sender, &sets.receiver), "{}", protocol.name());
        }
        // Another run of the same sets has other randomness; `Clear` has none.
        let mut other = Moving::new(&protocol, begun(&protocol), false);
        other.pair(&sets[0], true);
        assert_eq!(other.blobs[..] == stays.1[..other.blobs.len()], protocol.name() == "clear", "{}", protocol.name());
    }
}

#[test]
fn a_state_is_continued_with_one_message_alone() {
    let protocol: Arc<dyn Protocol> = Arc::new(DhPsi { bins: 1 });
    let sets = Sets::random(Sizes { sender: 5, receiver: 4 }, 2, 1);
    let mut run = Moving::new(&protocol, begun(&protocol), true);
    let blobs = [run.at(0, |run| run.setup(0, &[])), run.at(1, |run| run.setup(0, &[]))];
    run.at(0, |run| run.setup(1, &blobs[1]));
    let before = run.states[0].clone();
    run.at(0, |run| run.begin(&sets.sender, sets.sizes()));
    let restore = || Relayed::restore(Arc::clone(&protocol), Role::Sender, &before).expect("a state");
    // A task that was lost is run again.
    restore().begin(&sets.sender, sets.sizes()).expect("the same set");
    let other = Sets::random(Sizes { sender: 5, receiver: 4 }, 2, 2);
    let error = restore().begin(&other.sender, other.sizes()).expect_err("another set");
    assert!(error.to_string().contains("again with the same messages alone"), "{error}");
    let tail = run.states[0].clone();
    let refused = |protocol: Arc<dyn Protocol>, role, state: &[u8]| {
        Relayed::restore(protocol, role, state).err().expect("no such state").to_string()
    };
    assert!(refused(Arc::clone(&protocol), Role::Receiver, &tail).contains("restore it where it belongs"));
    assert!(refused(Arc::new(Kkrt { bins: 1 }), Role::Sender, &tail).contains("restore it where it belongs"));
    assert!(refused(Arc::clone(&protocol), Role::Sender, &tail[1..]).contains("no saved state"));
}

#[test]
fn a_state_is_continued_with_the_same_messages_to_the_end() {
    let protocol: Arc<dyn Protocol> = Arc::new(DhPsi { bins: 1 });
    let sizes = Sizes { sender: 9, receiver: 4 };
    // What two receivers send to the sender: in setup, and in the first round of a pair of sets.
    let [first, second] = [1, 2].map(|number| {
        let [mut sender, mut receiver] = Moving::ROLES.map(|role| relayed(&protocol, role));
        let hello = receiver.setup(0, &[]).expect("a round");
        let other = sender.setup(0, &[]).expect("a round");
        receiver.setup(1, &other).expect("set up");
        receiver.begin(&Sets::random(sizes, 2, number).receiver, sizes).expect("a set");
        [hello, receiver.round(0, &[]).expect("a round")]
    });
    let mut sender = Relayed::movable(Arc::clone(&protocol), Role::Sender).expect("a thread");
    sender.setup(0, &[]).expect("a round");
    sender.setup(1, &first[0]).expect("set up");
    let state = Box::new(sender).save().expect("a run that moves");
    let restore = |state: &[u8]| Relayed::restore(Arc::clone(&protocol), Role::Sender, state).expect("a state");
    let begun = || {
        let mut run = restore(&state);
        run.begin(&Sets::random(sizes, 2, 1).sender, sizes).expect("a set");
        run.round(0, &[]).expect("a round");
        run
    };
    let answer = begun().round(1, &first[1]).expect("an answer");
    assert_eq!(begun().round(1, &first[1]).expect("the same answer"), answer);
    // A second answer under one exponent, from the same state or from one that lies between.
    let between = Box::new(begun()).save().expect("a run that moves");
    for mut run in [begun(), restore(&between)] {
        let error = run.round(1, &second[1]).expect_err("another message");
        assert!(error.to_string().contains("again with the same messages alone"), "{error}");
        assert_eq!(run.round(1, &first[1]).expect("the message as it was"), answer);
    }
}

#[test]
fn a_run_that_stays_or_has_failed_is_not_saved() {
    let protocol: Arc<dyn Protocol> = Arc::new(DhPsi { bins: 1 });
    let error = relayed(&protocol, Role::Sender).save().expect_err("it stays");
    assert!(error.to_string().contains("not begun as one that moves"), "{error}");
    let mut run = Box::new(Relayed::movable(protocol, Role::Sender).expect("a thread"));
    run.setup(0, &[1, 2, 3]).expect_err("no frames");
    assert!(run.save().is_err());
}

#[test]
fn rounds_without_a_transport_give_the_same_outcome() {
    for (protocol, _) in protocols() {
        for (sizes, common) in [((0, 0), 0), ((300, 200), 150), ((1, 400), 1)] {
            let sets = Sets::random(Sizes { sender: sizes.0, receiver: sizes.1 }, common, 9);
            let mut parties = [relayed(&protocol, Role::Sender), relayed(&protocol, Role::Receiver)];
            let [sender, receiver] =
                call_rounds(&mut parties, &sets, |_| ()).unwrap_or_else(|error| panic!("{}: {error}", protocol.name()));
            let found = resolve(protocol.name(), &sender, &receiver, sets.sizes());
            assert_eq!(found, intersection(&sets.sender, &sets.receiver), "{}", protocol.name());
        }
    }
}

/// What the blobs of [`Clear`] take: the items and frame headers.
fn clear_blobs(sizes: Sizes) -> Declared {
    let mut declared = Clear.declared(sizes);
    declared.online.sender += 16 * (declared.online.sender.div_ceil(1 << 20));
    declared
}

#[test]
fn rounds_of_another_vendor_run_over_a_session() {
    let party = |role| -> Result<Box<dyn Rounds>, PsiError> { Ok(Box::new(Relayed::new(Arc::new(Clear), role)?)) };
    let driven = Driven::new("driven", Clear.adversary(), clear_blobs, party);
    let sizes = Sizes { sender: 70_000, receiver: 10 };
    let sets = [Sets::random(sizes, 5, 1), Sets::random(sizes, 0, 2)];
    let [sender, receiver] = run(&driven, &sets);
    for (place, sets) in sets.iter().enumerate() {
        let found = resolve("driven", &sender.outcomes[place], &receiver.outcomes[place], sizes);
        assert_eq!(found, intersection(&sets.sender, &sets.receiver));
        assert_eq!(sender.online[place], driven.declared(sizes).online);
    }
}

#[test]
fn a_blob_longer_than_declared_is_refused() {
    let party = |role| -> Result<Box<dyn Rounds>, PsiError> { Ok(Box::new(Relayed::new(Arc::new(Clear), role)?)) };
    let driven = Driven::new("driven", Clear.adversary(), |sizes| Clear.declared(sizes), party);
    let sets = [Sets::random(Sizes { sender: 100, receiver: 10 }, 5, 1)];
    let mut sessions = memory::mesh(&["sender", "receiver"], &Options { record: Record::Sizes, ..Options::default() });
    let (second, first) = (sessions.pop().expect("two"), sessions.pop().expect("two"));
    std::thread::scope(|scope| {
        scope.spawn(|| play(first, &driven, Role::Sender, &sets).err());
        let refused = play(second, &driven, Role::Receiver, &sets).err().expect("too long");
        assert!(matches!(refused, PsiError::Cheating { .. }), "{refused}");
    });
}

#[test]
fn rounds_out_of_order_and_tampered_blobs_are_errors() {
    for (protocol, _) in protocols() {
        let mut party = relayed(&protocol, Role::Sender);
        assert!(party.begin(&[], Sizes { sender: 0, receiver: 0 }).is_err(), "before setup");
        assert!(party.round(0, &[]).is_err(), "before setup");
        assert!(party.setup(1, &[]).is_err(), "before round 0");
        assert!(party.outcome().is_err(), "before any round");
        assert!(party.setup(0, &[1, 2, 3]).is_err(), "no frames");
    }
}
