//! Private-ID by OPRF and union, and the union by itself.

use crate::pair::{Party, RECEIVER, SENDER, SIZES, generator, run, sets};
use crate::private_id::check;
use tacit_psi::private_id::Identified;
use tacit_psi::{Item, PsiError, Role, WrongInput, chance, cuckoo, private_id_oprf, set_union};

fn identify(sender: &[Item], receiver: &[Item]) -> (Party<Identified>, Party<Identified>) {
    let (n, m) = (sender.len(), receiver.len());
    run(
        |session| private_id_oprf::run(session, RECEIVER, Role::Sender, sender, m).expect("ids"),
        |session| private_id_oprf::run(session, SENDER, Role::Receiver, receiver, n).expect("ids"),
    )
}

#[test]
fn ids_are_those_of_the_union_at_the_declared_cost() {
    let mut prg = generator("private-id by OPRF");
    for (sizes, common) in SIZES.into_iter().chain([((3000, 2000), 700)]) {
        let (sender, receiver) = sets(&mut prg, sizes, common);
        let (a, b) = identify(&sender, &receiver);
        check(&sender, &receiver, [&a.result, &b.result]);
        let declared = private_id_oprf::cost(sizes.0, sizes.1, sizes.0 + sizes.1 - common);
        assert_eq!((a.traffic, b.traffic), (declared, declared), "{sizes:?}");
    }
}

#[test]
fn messages_depend_on_the_sizes_of_sets_and_union_alone() {
    let mut prg = generator("private-id by OPRF, messages");
    let [one, other] = [(); 2].map(|()| {
        let (sender, receiver) = sets(&mut prg, (90, 70), 30);
        let (a, b) = identify(&sender, &receiver);
        (a.messages, b.messages)
    });
    assert_eq!(one, other);
}

#[test]
fn the_receiver_gets_what_it_does_not_have_at_the_declared_cost() {
    let mut prg = generator("union");
    for (sizes, common) in SIZES {
        let (sender, receiver) = sets(&mut prg, sizes, common);
        let (a, b) = run(
            |session| set_union::send(session, RECEIVER, &sender, sizes.1).expect("sent"),
            |session| set_union::receive(session, SENDER, &receiver, sizes.0).expect("received"),
        );
        let mut found = b.result;
        found.sort_unstable();
        let mut expected: Vec<Item> = sender.iter().copied().filter(|item| !receiver.contains(item)).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
        let declared = set_union::cost(sizes.0, sizes.1);
        assert_eq!((a.traffic, b.traffic), (declared, declared), "{sizes:?}");
    }
}

#[test]
fn equal_items_are_refused() {
    let mut sets = [vec![1, 2, 3, 2], vec![5]].into_iter();
    let (twice, other) = (sets.next().expect("two"), sets.next().expect("two"));
    let refused = std::thread::scope(|scope| {
        let options = tacit_net::Options::default();
        let [mut a, mut b]: [tacit_net::Session; 2] =
            tacit_net::memory::mesh(&["sender", "receiver"], &options).try_into().expect("two parties");
        scope.spawn(move || private_id_oprf::run(&mut b, SENDER, Role::Receiver, &other, 4).is_err());
        private_id_oprf::run(&mut a, RECEIVER, Role::Sender, &twice, 1)
    });
    assert!(matches!(refused, Err(PsiError::Input(WrongInput::EqualItems))));
}

#[test]
fn more_keys_than_secrets_are_long_enough_for_are_refused_before_anything_is_sent() {
    assert!(set_union::check_size(set_union::MOST).is_ok());
    assert!(cuckoo::bins(set_union::MOST, 1) <= chance::MOST_WORDS, "a bin's secret is met more often than it may be");
    let (refused, messages) = std::thread::scope(|scope| {
        let options = tacit_net::Options { record: tacit_net::Record::Sizes, ..tacit_net::Options::default() };
        let [_a, mut b]: [tacit_net::Session; 2] =
            tacit_net::memory::mesh(&["sender", "receiver"], &options).try_into().expect("two parties");
        let run = move || {
            let refused = private_id_oprf::run(&mut b, SENDER, Role::Receiver, &[1, 2], set_union::MOST + 1);
            (refused, b.transcript().expect("a transcript").messages().len())
        };
        scope.spawn(run).join().expect("an error and no panic")
    });
    assert!(matches!(refused, Err(PsiError::Input(WrongInput::UnionSize { .. }))));
    assert_eq!(messages, 0);
}
