//! Private-ID: ids of rows and of the union against the clear union.

use crate::pair::{Party, RECEIVER, SENDER, SIZES, against, generator, run, sets};
use std::collections::{BTreeSet, HashMap};
use tacit_psi::private_id::{self, Identified};
use tacit_psi::{Item, PsiError, WrongInput};

fn identify(sender: &[Item], receiver: &[Item]) -> (Party<Identified>, Party<Identified>) {
    run(
        |session| private_id::run(session, RECEIVER, sender, receiver.len()).expect("ids"),
        |session| private_id::run(session, SENDER, receiver, sender.len()).expect("ids"),
    )
}

/// Asserts that ids name items one to one and that both unions are the ids of all items.
pub fn check(sender: &[Item], receiver: &[Item], ids: [&Identified; 2]) {
    let rows = sender.iter().zip(&ids[0].rows).chain(receiver.iter().zip(&ids[1].rows));
    let mut of_item: HashMap<Item, u128> = HashMap::new();
    for (&item, &id) in rows {
        assert_eq!(*of_item.entry(item).or_insert(id), id, "equal items have equal ids");
    }
    let union: BTreeSet<u128> = of_item.values().copied().collect();
    assert_eq!(union.len(), of_item.len(), "different items have different ids");
    let union: Vec<u128> = union.into_iter().collect();
    assert_eq!((&ids[0].union, &ids[1].union), (&union, &union));
    assert_eq!((ids[0].rows.len(), ids[1].rows.len()), (sender.len(), receiver.len()));
}

#[test]
fn ids_are_those_of_the_union_at_the_declared_cost() {
    let mut prg = generator("private-id");
    for (sizes, common) in SIZES {
        let (sender, receiver) = sets(&mut prg, sizes, common);
        let (a, b) = identify(&sender, &receiver);
        check(&sender, &receiver, [&a.result, &b.result]);
        let declared = private_id::cost(sizes.0, sizes.1, sizes.0 + sizes.1 - common);
        assert_eq!((a.traffic, b.traffic), (declared, declared), "{sizes:?}");
    }
}

#[test]
fn messages_depend_on_the_sizes_of_sets_and_union_alone() {
    let mut prg = generator("private-id messages");
    let [one, other] = [(); 2].map(|()| {
        let (sender, receiver) = sets(&mut prg, (90, 70), 30);
        let (a, b) = identify(&sender, &receiver);
        (a.messages, b.messages)
    });
    assert_eq!(one, other);
}

#[test]
fn ids_of_another_run_are_others() {
    let items: Vec<Item> = (0..20).collect();
    let [one, other] = [(); 2].map(|()| identify(&items, &items).0.result);
    assert!(one.rows.iter().all(|id| !other.union.contains(id)));
}

#[test]
fn what_is_no_point_names_the_peer() {
    let rounds = vec![vec![0; 16], vec![0; 32]];
    let result = against(rounds, |session| private_id::run(session, SENDER, &[1], 1));
    assert!(matches!(result, Err(PsiError::Cheating { peer, .. }) if peer == "sender"));
}

#[test]
fn equal_items_are_refused_before_anything_is_sent() {
    let (sender, _) = run(|session| private_id::run(session, RECEIVER, &[4, 5, 4], 1), |_| ());
    assert!(matches!(sender.result, Err(PsiError::Input(WrongInput::EqualItems))) && sender.traffic.rounds == 0);
}
