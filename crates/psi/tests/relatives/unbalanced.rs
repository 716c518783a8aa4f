//! The unbalanced mode: one prepared set, many queries.

use crate::pair::{RECEIVER, SENDER, against, generator, run, sets};
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_COMPRESSED;
use proptest::prelude::*;
use tacit_net::Traffic;
use tacit_psi::unbalanced::{
    LARGEST_BUDGET, PreparedSet, PublishedSet, published_bytes, query_cost, receive_set, send_set,
};
use tacit_psi::{Item, PsiError, WrongInput};

/// The client's answers as (its index, the server's index).
fn pairs(set: &PreparedSet, found: &[tacit_psi::Match]) -> Vec<(usize, usize)> {
    found.iter().map(|m| (m.mine as usize, set.order()[m.theirs as usize] as usize)).collect()
}

fn expected(asked: &[Item], items: &[Item]) -> Vec<(usize, usize)> {
    let places = asked.iter().enumerate().filter_map(|(i, x)| Some((i, items.iter().position(|y| y == x)?)));
    places.collect()
}

#[test]
fn one_prepared_set_answers_many_queries_at_the_declared_cost() {
    let mut prg = generator("unbalanced");
    let (items, _) = sets(&mut prg, (1000, 0), 0);
    let (mut set, published) = PreparedSet::prepare(&items, 10_000).expect("prepared");
    assert_eq!(published.len(), published_bytes(1000, 10_000));
    let queries = [(0, 0), (1, 1), (1, 0), (40, 17), (300, 300)].map(|(asked, common)| {
        let (mut own, known) = (prg.vector::<Item>(asked - common), &items[..common]);
        own.extend(known);
        own
    });
    let (server, client) = run(
        |session| {
            send_set(session, RECEIVER, &published).expect("sent");
            for query in &queries {
                set.answer(session, RECEIVER, query.len()).expect("answered");
            }
            set
        },
        |session| {
            let bytes = receive_set(session, SENDER, 1000, 10_000).expect("received");
            let set = PublishedSet::from_bytes(&bytes).expect("a set");
            assert_eq!(set.items(), 1000);
            queries.iter().map(|query| set.query(session, SENDER, query).expect("asked")).collect::<Vec<_>>()
        },
    );
    for (query, found) in queries.iter().zip(&client.result) {
        assert_eq!(pairs(&server.result, found), expected(query, &items));
    }
    assert_eq!(server.result.left(), 10_000 - queries.iter().map(Vec::len).sum::<usize>() as u64);
    let publishing = Traffic { rounds: 1, sender: published.len() as u64, receiver: 0 };
    let declared = publishing + queries.iter().map(|query| query_cost(query.len())).sum();
    assert_eq!((server.traffic, client.traffic), (declared, declared));
}

#[test]
fn the_servers_file_keeps_key_order_and_budget() {
    let items: Vec<Item> = (0..50).collect();
    let (set, published) = PreparedSet::prepare(&items, 20).expect("prepared");
    let file = set.to_bytes();
    let mut again = PreparedSet::from_bytes(&file).expect("its own file");
    let (server, client) = run(
        |session| {
            again.answer(session, RECEIVER, 20).expect("answered");
            again
        },
        |session| {
            let asked: Vec<Item> = (40..60).collect();
            PublishedSet::from_bytes(&published).expect("a set").query(session, SENDER, &asked).expect("asked")
        },
    );
    assert_eq!(pairs(&server.result, &client.result), (0..10).map(|i| (i, i + 40)).collect::<Vec<_>>());
    assert_eq!(PreparedSet::from_bytes(&server.result.to_bytes()).expect("its own file").left(), 0);
    assert!(PreparedSet::from_bytes(&file[..file.len() - 1]).is_err() && PreparedSet::from_bytes(&published).is_err());
}

#[test]
fn nothing_is_answered_beyond_the_budget() {
    let (mut set, _) = PreparedSet::prepare(&[1, 2, 3], 4).expect("prepared");
    let (server, ()) = {
        let (server, client) = run(|session| set.answer(session, RECEIVER, 5), |_| ());
        (server, client.result)
    };
    assert!(matches!(server.result, Err(PsiError::Input(WrongInput::Budget { asked: 5, left: 4 }))));
    assert_eq!(server.traffic, Traffic::default());
    for budget in [0, LARGEST_BUDGET + 1, u64::MAX] {
        assert!(matches!(PreparedSet::prepare(&[1], budget), Err(PsiError::Input(WrongInput::PreparedSize))));
    }
    assert!(PreparedSet::prepare(&[1], LARGEST_BUDGET).is_ok());
}

#[test]
fn the_servers_account_of_asked_items_only_grows() {
    let (mut set, _) = PreparedSet::prepare(&[1, 2, 3], 10).expect("prepared");
    set.go_on(7).expect("within the budget");
    assert_eq!(set.left(), 3);
    for answered in [6, 11] {
        assert!(matches!(set.go_on(answered), Err(PsiError::Input(WrongInput::Answered { .. }))));
    }
    assert_eq!(PreparedSet::from_bytes(&set.to_bytes()).expect("its own file").left(), 3);
}

#[test]
fn a_malformed_set_or_answer_names_the_server() {
    let (_, published) = PreparedSet::prepare(&[1, 2, 3], 1 << 30).expect("prepared");
    let named =
        |result: Result<Vec<u8>, PsiError>| matches!(result, Err(PsiError::Cheating { peer, .. }) if peer == "sender");
    assert!(named(against(vec![published.clone()], |session| receive_set(session, SENDER, 2, 1 << 30))));
    // Its length would follow from the budget that it claims.
    assert!(named(against(vec![published.clone()], |session| receive_set(session, SENDER, 3, 1 << 20))));
    let mut damaged = published.clone();
    *damaged.last_mut().expect("bytes") ^= 0xff;
    assert!(named(against(vec![damaged.clone()], |session| receive_set(session, SENDER, 3, 1 << 30))));
    assert!(PublishedSet::from_bytes(&damaged).is_err() && PublishedSet::from_bytes(&published[1..]).is_err());
    let mut without_key = published.clone();
    without_key[56..88].fill(0);
    assert!(named(against(vec![without_key], |session| receive_set(session, SENDER, 3, 1 << 30))));

    let set = PublishedSet::from_bytes(&published).expect("a set");
    let answer = against(vec![vec![], vec![0xff; 32]], |session| set.query(session, SENDER, &[1]));
    let Err(error) = answer else { panic!("no point of the group is taken for one") };
    assert!(error.to_string().contains("point 0"), "{error}");
}

proptest! {
    /// Files come from outside: whatever they hold, reading ends in a set or an error.
    #[test]
    fn any_bytes_are_a_file_or_refused(start in 0usize..3, mut bytes in prop::collection::vec(any::<u8>(), 0..300), items in 0u8..20) {
        let magic: [&[u8]; 3] = [b"", b"tacitSE3", b"tacitSK2"];
        let known = magic[start].len().min(bytes.len());
        bytes[..known].copy_from_slice(&magic[start][..known]);
        if start == 1 && bytes.len() > 88 {
            bytes[56..88].copy_from_slice(&RISTRETTO_BASEPOINT_COMPRESSED.to_bytes());
        }
        if start > 0 && bytes.len() > 56 {
            bytes[40..48].copy_from_slice(&u64::from(items).to_le_bytes());
            bytes[54..56].fill(0);
        }
        if let Ok(set) = PublishedSet::from_bytes(&bytes) {
            prop_assert_eq!(set.items(), usize::from(items));
        }
        if let Ok(set) = PreparedSet::from_bytes(&bytes) {
            prop_assert_eq!(set.order().len(), usize::from(items));
        }
    }
}
