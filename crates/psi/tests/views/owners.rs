//! Intersection of three owners' sets: from the leader's view with all that it can decode, and from that of a recipient
//! beside it.

use crate::relatives::{compare, words};
use crate::world::inputs;
use tacit_math::{BlockCipher, Prg, Seed, permutation};
use tacit_net::{PartyId, Session};
use tacit_psi::Item;
use tacit_psi::multi_party::{Owners, intersect};
use tacit_psi::okvs::Okvs;
use tacit_psi::vole_psi::oprf;
use tacit_views::{Kind, Part, Run, View, biased, correlated, indistinguishable, leaks, play, repeats};

const ITEMS: usize = 6;
/// The leader's first items are those that all have.
const COMMON: usize = 2;
const LEADER: PartyId = PartyId(2);
const NAMES: [&str; 3] = ["owner", "recipient", "leader"];

/// All three sets. Each other owner has the leader's further items by coin flips of its own, but none is in all three.
fn sets(run: usize) -> [Vec<Item>; 3] {
    let mut prg = inputs("owners", run);
    let leader: Vec<Item> = prg.vector(ITEMS);
    let [mut first, mut second]: [Vec<Item>; 2] = [prg.vector(ITEMS), prg.vector(ITEMS)];
    first[..COMMON].copy_from_slice(&leader[..COMMON]);
    second[..COMMON].copy_from_slice(&leader[..COMMON]);
    for (at, coin) in prg.vector::<u8>(ITEMS).into_iter().enumerate().skip(COMMON) {
        match coin % 3 {
            0 => first[at] = leader[at],
            1 => second[at] = leader[at],
            _ => {}
        }
    }
    [first, second, leader]
}

fn owners(recipients: &[PartyId]) -> Owners {
    Owners { sizes: vec![ITEMS; 3], leader: LEADER, recipients: recipients.to_vec() }
}

/// Who of the others has each of the leader's items that not all have.
fn memberships(sets: &[Vec<Item>; 3]) -> View {
    let of = |owner: usize| sets[LEADER.0][COMMON..].iter().map(move |item| sets[owner].contains(item));
    View::default().with(Kind::Own, "who has what", words((0..2).flat_map(of)))
}

/// A leader's part. What it decodes of each owner at each of its items, less the owner's oblivious function and the key
/// that both share.
fn lead(session: &mut Session, items: &[Item]) -> [Vec<u64>; 2] {
    let keys = [0, 1].map(|owner| {
        let secret = session.pair_secret(PartyId(owner), "zero shares of an intersection").expect("a peer");
        BlockCipher::new(&Seed::from_secret(&secret))
    });
    session.enter("functions");
    let owners = owners(&[LEADER]);
    let functions =
        [0, 1].map(PartyId).map(|owner| oprf::receive(session, owner, items, owners.function(owner)).expect("values"));
    session.leave();
    session.enter("shares");
    session.next_round();
    let decoded = [0, 1].map(|owner| {
        let mut seed = [0; 16];
        session.recv(PartyId(owner), &mut seed).expect("a seed");
        let store = Okvs::<4>::with_layout(owners.layout(PartyId(owner)), &Seed::from_bytes(seed));
        let mut columns = vec![0u64; store.layout().columns()];
        session.recv(PartyId(owner), bytemuck::cast_slice_mut(&mut columns)).expect("columns");
        store.decode(items, &store.order(items), &columns)
    });
    session.leave();
    [0, 1].map(|owner| {
        let shared = encrypted(&keys[owner], items);
        (0..ITEMS).map(|at| decoded[owner][at] ^ functions[owner][at] as u64 ^ shared[at]).collect()
    })
}

fn encrypted(key: &BlockCipher, items: &[Item]) -> Vec<u64> {
    let mut images = items.to_vec();
    key.encrypt(&mut images);
    images.into_iter().map(|image| image as u64).collect()
}

fn derived(values: &[Vec<u64>; 2]) -> View {
    View::default().with(Kind::Derived, "of both owners", bytemuck::cast_slice(&values.concat()))
}

/// Uniform words, both owners' equal where all have the item.
fn simulated(prg: &mut Prg) -> View {
    let first: Vec<u64> = prg.vector(ITEMS);
    let second = [&first[..COMMON], &prg.vector(ITEMS - COMMON)].concat();
    derived(&[first, second])
}

// views: crates/psi/src/intersection/multi_party.rs
#[test]
fn a_leader_decodes_uniform_words_of_what_not_all_have() {
    let runs = 90;
    let played = play(&NAMES, runs, |mut session, run| {
        let sets = sets(run);
        let me = session.me();
        let decoded = match me == LEADER {
            true => Some(lead(&mut session, &sets[me.0])),
            false => {
                assert_eq!(intersect(&mut session, &owners(&[LEADER]), &sets[me.0]).expect("honest"), [] as [u32; 0]);
                None
            }
        };
        (session, decoded)
    });
    let mut prg = inputs("a simulated leader", 0);
    let of_leader: Vec<(View, View)> = played[LEADER.0]
        .iter()
        .map(|(seen, decoded)| {
            let shares = |part: &Part| part.kind == Kind::Received && part.name.contains("shares");
            (seen.filter(shares), derived(decoded.as_ref().expect("the leader's")))
        })
        .collect();
    let real: Vec<Run> = of_leader
        .iter()
        .enumerate()
        .map(|(run, (_, view))| Run { view: view.clone(), known: View::default(), secret: memberships(&sets(run)) })
        .collect();
    compare("the leader", &real, 0b10, |_, _| simulated(&mut prg));
    // Columns are uniform, and of what not all have the decoded words too.
    let columns: Vec<View> = of_leader.iter().map(|(received, _)| received.clone()).collect();
    assert_eq!((biased(&columns), repeats(&columns, 8)), (vec![], vec![]));
    let rest = |number: usize, bit: usize| number == 0 && bit / 64 % ITEMS >= COMMON;
    let rest: Vec<View> = real.iter().map(|run| run.view.cut(rest)).collect();
    assert_eq!((biased(&rest), repeats(&rest, 8)), (vec![], vec![]));
    // The others get what the function's receiver sends: nothing of the leader's items.
    for (owner, seen) in played[..LEADER.0].iter().enumerate() {
        let views: Vec<View> = seen
            .iter()
            .map(|(seen, _)| seen.filter(|part| part.kind == Kind::Received && part.name.contains("columns")))
            .collect();
        assert!(views[0].bits() > 64 * ITEMS, "{owner}: {:?}", views[0]);
        assert_eq!((biased(&views), repeats(&views, 8)), (vec![], vec![]), "{owner}");
    }
}

/// What a leader decodes of stores under ideal functions; `keyed`: whether the two other owners share a key.
fn twin(run: usize, keyed: bool) -> Run {
    let sets = sets(run);
    let mut prg = inputs("owners' twin", run);
    let mut key = || BlockCipher::new(&Seed::from_bytes(prg.vector(16).try_into().expect("16")));
    let between = key();
    let values = [0, 1].map(|owner: usize| {
        let items = &sets[owner];
        let shares = if keyed { encrypted(&between, items) } else { vec![0; ITEMS] };
        let store = Okvs::<4>::new(ITEMS, &Seed::from_bytes([owner as u8; 16]));
        let place = |numbers: &[u32], out: &mut [u64]| {
            numbers.iter().zip(out).for_each(|(&number, out)| *out = shares[number as usize]);
        };
        let mut free = inputs("free columns", 2 * run + owner);
        let columns = store.encode(items, &store.order(items), &mut free, place).expect("distinct keys");
        store.decode(&sets[LEADER.0], &store.order(&sets[LEADER.0]), &columns)
    });
    Run { view: derived(&values), known: View::default(), secret: memberships(&sets) }
}

#[test]
fn owners_without_a_key_of_their_own_are_found() {
    let [sound, broken] = [true, false].map(|keyed| (0..600).map(|run| twin(run, keyed)).collect::<Vec<Run>>());
    let mut prg = inputs("a simulated twin", 0);
    compare("the twin", &sound, 0b10, |_, _| simulated(&mut prg));
    let broken: Vec<Run> = broken.iter().map(|run| run.lanes(0b10)).collect();
    let made: Vec<Run> = broken.iter().map(|run| run.seeing(simulated(&mut prg).lanes(0b10))).collect();
    assert!(!correlated(&broken).is_empty() && !indistinguishable(&broken, &made).is_empty());
}

/// Which of each two common items comes first, in the order of their values.
fn precedence(common: &[Item], place: impl Fn(Item) -> usize) -> Vec<u8> {
    let mut sorted = common.to_vec();
    sorted.sort_unstable();
    let pairs = (0..sorted.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    words(pairs.map(|(i, j)| place(sorted[i]) < place(sorted[j])))
}

/// The leader's items may come in an order that tells more than the items: that of rows, by time or by amount.
// views: crates/psi/src/intersection/multi_party.rs
#[test]
fn a_recipient_sees_no_order_of_the_leaders_items() {
    const SAME: usize = 4;
    let sets = |run: usize| {
        let mut prg = inputs("order of a leader", run);
        let leader: Vec<Item> = prg.vector(ITEMS);
        let order = permutation::random(SAME, &mut prg);
        let other = [permutation::gather(&leader[..SAME], &order), prg.vector(ITEMS - SAME)].concat();
        [other.clone(), other, leader]
    };
    let played = play(&NAMES, 80, |mut session, run| {
        let own = &sets(run)[session.me().0];
        let found = intersect(&mut session, &owners(&[PartyId(1), LEADER]), own).expect("honest");
        assert_eq!(found.len(), if session.me() == PartyId(0) { 0 } else { SAME });
        (session, ())
    });
    let runs: Vec<Run> = played[1]
        .iter()
        .enumerate()
        .map(|(run, (seen, ()))| {
            let sets = sets(run);
            let common = &sets[LEADER.0][..SAME];
            let told = seen.filter(|part| part.kind == Kind::Received && part.name.contains("recipients"));
            let [told] = told.parts() else { panic!("one message of tags: {told:?}") };
            let width = told.bytes.len() / ITEMS;
            let tags: Vec<&[u8]> = told.bytes.chunks(width).collect();
            let seen = |item: Item| {
                tags.iter().position(|tag| **tag == item.to_be_bytes()[..width]).expect("a tag of each common item")
            };
            let has = |item: Item| sets[LEADER.0].iter().position(|own| *own == item).expect("the leader's");
            Run {
                view: View::default().with(Kind::Derived, "order of tags", precedence(common, seen)),
                known: View::default(),
                secret: View::default().with(Kind::Own, "the leader's order", precedence(common, has)),
            }
            .lanes(1)
        })
        .collect();
    assert_eq!(leaks(&runs), []);
    assert_eq!(correlated(&runs), []);
}
