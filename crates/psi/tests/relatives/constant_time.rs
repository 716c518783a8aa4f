//! No branch and no address depends on a key, a mask, a share or a random choice of these protocols, under memcheck. A
//! party's own items steer its local computations by design (docs/security/constant-time.md): they are not marked.
//! Payloads are.

mod large;
mod rounds;

use std::hint::black_box;
use std::thread;

use crate::pair::{RECEIVER, SENDER, generator, run, sets};
use tacit_marks::{found, marked};
use tacit_math::{network, permutation};
use tacit_net::{Options, PartyId, Session, memory};
use tacit_psi::alignment::{Learns, intersect};
use tacit_psi::blind_join::Rule;
use tacit_psi::cardinality_sum::{Sums, choices};
use tacit_psi::multi_party::{self, Owners};
use tacit_psi::permute_share::{Owner, Permuter};
use tacit_psi::relatives::{Cardinality, MultiKeyPrivateId, PrivateId, Ps3i};
use tacit_psi::unbalanced::{PreparedSet, PublishedSet, receive_set, send_set};
use tacit_psi::vole_psi::Variant;
use tacit_psi::vole_psi::oprf::{self, Function};
use tacit_psi::{DhPsi, Item, Kkrt, Protocol, PsiError, Role, Sizes, VolePsi, tokens};

/// Items of both parties, and of both at once.
const ITEMS: ((usize, usize), usize) = ((12, 9), 4);

const SIZES: Sizes = Sizes { sender: ITEMS.0.0, receiver: ITEMS.0.1 };

/// What memcheck finds in a run of two parties.
fn of_pair<A: Send, B: Send>(
    name: &str,
    sender: impl FnOnce(&mut Session) -> Result<A, PsiError> + Send,
    receiver: impl FnOnce(&mut Session) -> Result<B, PsiError> + Send,
) -> Vec<(String, usize)> {
    found(name, || {
        let (a, b) = run(sender, receiver);
        assert!(a.result.is_ok() && b.result.is_ok(), "{name}: {:?}, {:?}", a.result.err(), b.result.err());
    })
}

/// Of a protocol that both know by these objects.
fn between<O: Send + 'static>(name: &str, [a, b]: [&dyn Protocol<O>; 2]) -> Vec<(String, usize)> {
    let (sender, receiver) = sets(&mut generator(name), ITEMS.0, ITEMS.1);
    of_pair(
        name,
        |session| a.setup(Role::Sender, session, RECEIVER)?.online(session, &sender, SIZES),
        |session| b.setup(Role::Receiver, session, SENDER)?.online(session, &receiver, SIZES),
    )
}

/// Of an intersection that both learn.
fn of(protocol: &impl Protocol) -> Vec<(String, usize)> {
    of_sets(protocol.name(), protocol, ITEMS)
}

/// The same for sets of these sizes.
fn of_sets(name: &str, protocol: &impl Protocol, (counts, common): ((usize, usize), usize)) -> Vec<(String, usize)> {
    let (sender, receiver) = sets(&mut generator(name), counts, common);
    let sizes = Sizes { sender: counts.0, receiver: counts.1 };
    let party = |role, session: &mut Session, peer, items: &[Item]| {
        let mut prepared = protocol.setup(role, session, peer)?;
        let matches = intersect(&mut *prepared, Learns::Both, session, peer, items, sizes)?;
        assert_eq!(matches.len(), common);
        Ok::<(), PsiError>(())
    };
    of_pair(
        name,
        |session| party(Role::Sender, session, RECEIVER, &sender),
        |session| party(Role::Receiver, session, SENDER, &receiver),
    )
}

#[test]
fn intersections() {
    let vole = |variant| of(&VolePsi { variant, bins: 1 });
    let all = [
        of(&DhPsi { bins: 1 }),
        of(&Kkrt { bins: 1 }),
        vole(Variant::Fast),
        vole(Variant::Compact),
        vole(Variant::Malicious),
    ];
    assert_eq!(all.concat(), []);
}

#[test]
fn cardinalities_and_sums() {
    let sums = |to, least| {
        let of = |values| Cardinality { sums: Some(Sums { columns: 2, to, least }), values };
        let values = marked((0..12).collect());
        between(&format!("sums to the {to:?}, at least {least}"), [&of(vec![values.clone(), values]), &of(vec![])])
    };
    let none = Cardinality::default();
    let all = [between("cardinality", [&none, &none]), sums(Role::Sender, 0), sums(Role::Receiver, 5)];
    assert_eq!(all.concat(), []);
}

/// Those by functions are a union, too.
#[test]
fn universal_ids() {
    let several = MultiKeyPrivateId { columns: Sizes { sender: 2, receiver: 3 } };
    let (sender, receiver) = sets(&mut generator("ids of several keys"), ITEMS.0, ITEMS.1);
    let rows = Sizes { sender: 6, receiver: 3 };
    let all = [
        between("ids by exponents", [&PrivateId::Ddh, &PrivateId::Ddh]),
        between("ids by functions", [&PrivateId::Oprf, &PrivateId::Oprf]),
        of_pair(
            "ids of several keys",
            |session| several.setup(Role::Sender, session, RECEIVER)?.online(session, &sender, rows),
            |session| several.setup(Role::Receiver, session, SENDER)?.online(session, &receiver, rows),
        ),
    ];
    assert_eq!(all.concat(), []);
}

#[test]
fn shares_of_pairs() {
    let one = Sizes { sender: 1, receiver: 1 };
    let rules = [Rule::Single, Rule::Collect { drop_sender: false, drop_receiver: true, most: u64::MAX }];
    let all = rules.map(|rule| {
        let of = |rows| Ps3i { columns: one, payload_columns: one, payload: vec![marked((0..rows).collect())], rule };
        between(&format!("shares of pairs, {rule:?}"), [&of(12), &of(9)])
    });
    assert_eq!(all.concat(), []);
}

#[test]
fn permuted_shares() {
    let data = marked((0..12).collect());
    let order = permutation::random(12, &mut generator("an order"));
    let found = of_pair(
        "permute and share",
        |session| Owner::setup(session, RECEIVER)?.share(session, RECEIVER, &data),
        |session| Permuter::setup(session, SENDER)?.share(session, SENDER, &order),
    );
    assert_eq!(found, []);
}

#[test]
fn prepared_sets() {
    let (items, asked) = sets(&mut generator("prepared"), ITEMS.0, ITEMS.1);
    let found = of_pair(
        "prepared set",
        |session| {
            let (mut set, published) = PreparedSet::prepare(&items, 100)?;
            send_set(session, RECEIVER, &published)?;
            set.answer(session, RECEIVER, asked.len())
        },
        |session| {
            let bytes = receive_set(session, SENDER, 100, 100)?;
            PublishedSet::from_bytes(&bytes)?.query(session, SENDER, &asked)
        },
    );
    assert_eq!(found, []);
}

#[test]
fn keys_of_tokens() {
    let party = |session: &mut Session| {
        let key = tokens::agree_key(session)?;
        let mut items = vec![];
        tokens::TokenHash::new(&key).hash_rows(b"a row another", &[5, 13], &mut items);
        Ok(())
    };
    assert_eq!(of_pair("token key", party, party), []);
}

/// Of an intersection of three, the first of which has one set and the others the other one.
fn of_several(name: &str, (counts, common): ((usize, usize), usize)) -> Vec<(String, usize)> {
    let (first, second) = sets(&mut generator(name), counts, common);
    let all = [&first, &second, &second];
    let owners =
        Owners { sizes: all.map(Vec::len).to_vec(), leader: PartyId(1), recipients: [1, 2].map(PartyId).to_vec() };
    let party = &|mut session: Session, items: &[Item]| {
        let numbers = multi_party::intersect(&mut session, &owners, items).expect("honest parties");
        assert_eq!(numbers.len(), if session.me() == PartyId(0) { 0 } else { common });
        session.close().expect("an orderly end");
    };
    found(name, || {
        let sessions = memory::mesh(&["a", "b", "c"], &Options::default());
        thread::scope(|scope| {
            sessions.into_iter().zip(all).for_each(|(session, items)| drop(scope.spawn(move || party(session, items))));
        });
    })
}

#[test]
fn intersections_of_several() {
    assert_eq!(of_several("intersection of three", ITEMS), []);
}

/// A call, so that no compiler makes a conditional move of the branch.
#[inline(never)]
fn odd() -> u64 {
    black_box(1)
}

/// A planted branch on a word.
fn branch(word: u64) {
    black_box(if black_box(word) & 1 == 1 { odd() } else { 0 });
}

/// What follows in the open from an order and from tags is marked before transfers choose by it.
#[test]
fn planted_faults_of_choices_are_found() {
    let order = permutation::random(12, &mut generator("an order"));
    assert_eq!(found("planted on a switch", || branch(network::settings(&order)[0])).len(), 1);
    let common = vec![true, false, true];
    assert_eq!(found("planted on a sum's choice", || branch(choices(common, true, 2)[0])).len(), 1);
}

/// What protocols are made of is marked: a branch on a value of the function, at either party, is found.
#[test]
fn planted_faults_of_the_function_are_found() {
    let (sender, receiver) = sets(&mut generator("planted"), ITEMS.0, ITEMS.1);
    let planted = |values: Vec<u128>, plant: bool| {
        black_box(plant && values.iter().any(|value| value & 255 == 77));
        Ok::<(), PsiError>(())
    };
    for at in [Role::Sender, Role::Receiver] {
        let found = of_pair(
            &format!("planted at the {at:?}"),
            |session| planted(oprf::send(session, RECEIVER, &sender, Function::only(SIZES))?, at == Role::Sender),
            |session| planted(oprf::receive(session, SENDER, &receiver, Function::only(SIZES))?, at == Role::Receiver),
        );
        assert_eq!(found.len(), 1, "{at:?}");
    }
}
