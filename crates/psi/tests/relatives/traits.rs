//! The relatives behind the traits of intersections: over a session and as rounds without a transport they give what
//! they are to give.

use crate::pair::{Party, RECEIVER, SENDER, SIZES, generator, run, sets};
use crate::private_id::check;
use std::sync::Arc;
use tacit_math::Prg;
use tacit_psi::blind_join::Rule;
use tacit_psi::cardinality_sum::Sums;
use tacit_psi::ps3i::SharedPairs;
use tacit_psi::relatives::{Cardinality, MultiKeyPrivateId, PrivateId, Ps3i};
use tacit_psi::{DhPsi, Item, Protocol, PsiError, Relayed, Role, Rounds, Sizes};

/// Items of a party in runs that move.
const LARGEST_MOVED: usize = 9;

const ONE: Sizes = Sizes { sender: 1, receiver: 1 };

/// Both parties' outcomes over a session at the declared rounds, by rounds without a transport, and by runs that stay
/// and that move.
fn every_way<O: Send + 'static>(parties: [Arc<dyn Protocol<O>>; 2], sets: [&[Item]; 2]) -> Vec<[O; 2]> {
    let sizes = Sizes { sender: sets[0].len(), receiver: sets[1].len() };
    let play = |session: &mut _, role, peer, at: usize| {
        let mut prepared = parties[at].setup(role, session, peer).expect("a setup");
        prepared.online(session, sets[at], sizes).expect("an outcome")
    };
    let (a, b) =
        run(|session| play(session, Role::Sender, RECEIVER, 0), |session| play(session, Role::Receiver, SENDER, 1));
    let declared = parties[0].declared(sizes).online;
    let within = |party: &Party<O>| {
        let spent = party.traffic;
        spent.rounds == declared.rounds && spent.sender <= declared.sender && spent.receiver <= declared.receiver
    };
    assert!(within(&a) && within(&b), "{}: {declared:?}", parties[0].name());
    let by_rounds = by_rounds(&parties, sets, sizes).unwrap_or_else(|error| panic!("{}: {error}", parties[0].name()));
    let mut outcomes = vec![[a.result, b.result], by_rounds];
    // To move a run is to compute it again for every call.
    if sizes.sender.max(sizes.receiver) <= LARGEST_MOVED {
        outcomes.extend(moving(&parties, sets, sizes));
    }
    outcomes
}

pub fn by_rounds<O: Send + 'static>(
    parties: &[Arc<dyn Protocol<O>>; 2],
    sets: [&[Item]; 2],
    sizes: Sizes,
) -> Result<[O; 2], PsiError> {
    let mut a = Relayed::new(Arc::clone(&parties[0]), Role::Sender)?;
    let mut b = Relayed::new(Arc::clone(&parties[1]), Role::Receiver)?;
    let (mut to_a, mut to_b) = (Vec::new(), Vec::new());
    for id in 0..a.setup_round_count() {
        (to_b, to_a) = (a.setup(id, &to_a)?, b.setup(id, &to_b)?);
    }
    a.begin(sets[0], sizes)?;
    b.begin(sets[1], sizes)?;
    for id in 0..a.online_round_count() {
        (to_b, to_a) = (a.round(id, &to_a)?, b.round(id, &to_b)?);
    }
    Ok([a.outcome()?, b.outcome()?])
}

/// The same by runs of the same seeds that stay, and that move to another object after every call.
pub fn moving<O: Send + 'static>(parties: &[Arc<dyn Protocol<O>>; 2], sets: [&[Item]; 2], sizes: Sizes) -> [[O; 2]; 2] {
    const ROLES: [Role; 2] = [Role::Sender, Role::Receiver];
    let begun = [0, 1].map(|at| {
        let run = Relayed::movable(Arc::clone(&parties[at]), ROLES[at]).expect("a thread");
        Box::new(run).save().expect("a run that moves")
    });
    let restored =
        |at: usize, state: &[u8]| Relayed::restore(Arc::clone(&parties[at]), ROLES[at], state).expect("a state");
    let moved = |at: usize, run: Relayed<O>| restored(at, &Box::new(run).save().expect("a run that moves"));
    let mut sent = Vec::new();
    let outcomes = [false, true].map(|moves| {
        let on = |runs: [Relayed<O>; 2]| match (moves, runs) {
            (true, [a, b]) => [moved(0, a), moved(1, b)],
            (false, runs) => runs,
        };
        let mut runs = [restored(0, &begun[0]), restored(1, &begun[1])];
        let (mut blobs, mut all) = ([Vec::new(), Vec::new()], Vec::new());
        for id in 0..runs[0].setup_round_count() {
            blobs = [runs[0].setup(id, &blobs[1]).expect("a round"), runs[1].setup(id, &blobs[0]).expect("a round")];
            all.push(blobs.clone());
            runs = on(runs);
        }
        (0..2).for_each(|at| runs[at].begin(sets[at], sizes).expect("a set"));
        runs = on(runs);
        blobs = [Vec::new(), Vec::new()];
        for id in 0..runs[0].online_round_count() {
            blobs = [runs[0].round(id, &blobs[1]).expect("a round"), runs[1].round(id, &blobs[0]).expect("a round")];
            all.push(blobs.clone());
            runs = on(runs);
        }
        sent.push(all);
        runs.map(|mut run| run.outcome().expect("an outcome"))
    });
    assert!(sent[0] == sent[1], "{}: the same bytes", parties[0].name());
    outcomes
}

/// Before anything is sent only the digest in a state tells whether an engine hands in what the run was begun with.
#[test]
fn a_run_is_restored_with_what_it_was_begun_with() {
    fn begun<O: Send + 'static>(protocol: &Arc<dyn Protocol<O>>, role: Role) -> Vec<u8> {
        let run = Relayed::movable(Arc::clone(protocol), role).expect("a thread");
        Box::new(run).save().expect("a run that moves").to_vec()
    }
    /// The first protocol's run goes on with itself, and with none of the others.
    fn check<O: Send + 'static>(role: Role, protocols: Vec<Arc<dyn Protocol<O>>>) {
        let state = begun(&protocols[0], role);
        assert!(Relayed::restore(Arc::clone(&protocols[0]), role, &state).is_ok());
        for (number, other) in protocols.into_iter().enumerate().skip(1) {
            let error =
                Relayed::restore(other, role, &state).err().unwrap_or_else(|| panic!("{number} is another one"));
            assert!(error.to_string().contains("other parameters, values or columns"), "{number}: {error}");
        }
    }
    fn arc<O>(protocol: impl Protocol<O> + 'static) -> Arc<dyn Protocol<O>> {
        Arc::new(protocol)
    }
    let sums = Sums { columns: 1, to: Role::Sender, least: 0 };
    let summed = |sums, values| arc(Cardinality { sums, values });
    check(
        Role::Sender,
        vec![
            summed(Some(sums), vec![vec![3, 4]]),
            summed(Some(sums), vec![vec![3, 5]]),
            summed(Some(sums), vec![vec![3], vec![4]]),
            summed(Some(Sums { least: 1, ..sums }), vec![vec![3, 4]]),
            summed(Some(Sums { to: Role::Receiver, ..sums }), vec![vec![3, 4]]),
            summed(None, vec![vec![3, 4]]),
        ],
    );
    let rule = Rule::Collect { drop_sender: false, drop_receiver: false, most: u64::MAX };
    let shared = |payload, rule| arc(Ps3i { columns: ONE, payload_columns: ONE, payload, rule });
    check(
        Role::Receiver,
        vec![
            shared(vec![vec![3, 4]], rule),
            shared(vec![vec![4, 3]], rule),
            shared(vec![vec![3, 4]], Rule::Single),
            shared(vec![vec![3, 4]], Rule::Collect { drop_sender: true, drop_receiver: false, most: u64::MAX }),
            shared(vec![vec![3, 4]], Rule::Collect { drop_sender: false, drop_receiver: true, most: u64::MAX }),
        ],
    );
    let by_keys = |sender| arc(MultiKeyPrivateId { columns: Sizes { sender, receiver: 1 } });
    check(Role::Sender, vec![by_keys(1), by_keys(2)]);
    check(Role::Sender, [1, 2].map(|bins| arc(DhPsi { bins })).to_vec());
}

/// The same object for both parties.
pub fn same<O>(protocol: impl Protocol<O> + 'static) -> [Arc<dyn Protocol<O>>; 2] {
    let protocol: Arc<dyn Protocol<O>> = Arc::new(protocol);
    [Arc::clone(&protocol), protocol]
}

fn random_sets(name: &str) -> (Prg, Vec<(Vec<Item>, Vec<Item>)>) {
    let mut prg = generator(name);
    let all = SIZES.iter().map(|&(sizes, common)| sets(&mut prg, sizes, common)).collect();
    (prg, all)
}

#[test]
fn numbers_in_place_of_the_intersection() {
    let (mut prg, all) = random_sets("cardinality behind the traits");
    for (sender, receiver) in all {
        let common: Vec<usize> = (0..sender.len()).filter(|&at| receiver.contains(&sender[at])).collect();
        for [a, b] in every_way(same(Cardinality::default()), [&sender, &receiver]) {
            assert_eq!((a.cardinality, b.cardinality), (None, Some(common.len())));
        }
        let values: Vec<u64> = prg.vector(sender.len());
        let total = common.iter().fold(0u64, |sum, &at| sum.wrapping_add(values[at]));
        let sums = Some(Sums { columns: 1, to: Role::Sender, least: 0 });
        let parties: [Arc<dyn Protocol<_>>; 2] =
            [Arc::new(Cardinality { sums, values: vec![values] }), Arc::new(Cardinality { sums, values: Vec::new() })];
        for [a, b] in every_way(parties, [&sender, &receiver]) {
            assert_eq!((a.sums, b.sums, b.cardinality), (Some(vec![total]), None, Some(common.len())));
        }
    }
}

#[test]
fn ids_in_place_of_the_intersection() {
    for protocol in [PrivateId::Ddh, PrivateId::Oprf] {
        for (sender, receiver) in random_sets(protocol.name()).1 {
            for [a, b] in every_way(same(protocol), [&sender, &receiver]) {
                check(&sender, &receiver, [&a, &b]);
            }
        }
    }
    for (sender, receiver) in random_sets("multi-key behind the traits").1 {
        for [(a, _), (b, contaminated)] in every_way(same(MultiKeyPrivateId { columns: ONE }), [&sender, &receiver]) {
            check(&sender, &receiver, [&a, &b]);
            assert_eq!(contaminated, (0, 0));
        }
    }
}

#[test]
fn shares_in_place_of_the_intersection() {
    let (mut prg, all) = random_sets("ps3i behind the traits");
    for (sender, receiver) in all {
        let rule = Rule::Collect { drop_sender: false, drop_receiver: false, most: u64::MAX };
        let payloads = [prg.vector::<u64>(sender.len()), prg.vector::<u64>(receiver.len())];
        let party = |payload: &Vec<u64>| -> Arc<dyn Protocol<SharedPairs>> {
            Arc::new(Ps3i { columns: ONE, payload_columns: ONE, payload: vec![payload.clone()], rule })
        };
        let pairs = sender.iter().zip(&payloads[0]);
        let mut expected: Vec<(u64, u64)> = pairs
            .filter_map(|(item, &own)| Some((own, payloads[1][receiver.iter().position(|other| other == item)?])))
            .collect();
        expected.sort_unstable();
        for [a, b] in every_way(payloads.each_ref().map(party), [&sender, &receiver]) {
            let sum = |a: &[Vec<u64>], b: &[Vec<u64>]| -> Vec<u64> {
                a[0].iter().zip(&b[0]).map(|(a, b)| a.wrapping_add(*b)).collect()
            };
            let (of_sender, of_receiver) = (sum(&a.sender, &b.sender), sum(&a.receiver, &b.receiver));
            let mut opened: Vec<(u64, u64)> = of_sender.into_iter().zip(of_receiver).collect();
            opened.sort_unstable();
            assert_eq!(opened, expected);
        }
    }
}

#[test]
fn items_that_do_not_fit_are_refused() {
    let sizes = Sizes { sender: 3, receiver: 2 };
    for protocol in [PrivateId::Ddh, PrivateId::Oprf] {
        let (a, _) = run(
            |session| {
                let mut prepared = protocol.setup(Role::Sender, session, RECEIVER).expect("a setup");
                prepared.online(session, &[1, 2], sizes)
            },
            |_| (),
        );
        assert!(matches!(a.result, Err(PsiError::Input(_))) && a.traffic.rounds == 0);
    }
}
