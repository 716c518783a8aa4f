//! Private-ID by several identifiers: ids against the clear match by priority.

use crate::pair::{Party, RECEIVER, SENDER, SIZES, generator, run, sets};
use crate::private_id::check;
use crate::ps3i::{Rows, crowded, shape};
use std::collections::HashSet;
use tacit_psi::private_id::Identified;
use tacit_psi::{Item, Role, multi_key};

type Result = (Identified, (usize, usize));

fn identify(sender: &Rows, receiver: &Rows) -> (Party<Result>, Party<Result>) {
    let shape = shape(sender, receiver);
    let party = |session: &mut _, peer, role, rows: &Rows| {
        multi_key::run(session, peer, role, &rows.identifiers, shape).expect("ids")
    };
    let (a, b) = run(
        |session| party(session, RECEIVER, Role::Sender, sender),
        |session| party(session, SENDER, Role::Receiver, receiver),
    );
    let declared = multi_key::cost(shape, a.result.0.union.len());
    assert_eq!((a.traffic, b.traffic), (declared, declared), "{shape:?}");
    assert_eq!((&a.result.0.union, a.result.1), (&b.result.0.union, b.result.1));
    (a, b)
}

#[test]
fn with_one_identifier_it_is_private_id() {
    let mut prg = generator("multi-key, one identifier");
    for (sizes, common) in SIZES {
        let (sender, receiver) = sets(&mut prg, sizes, common);
        let mut rows = |items: &[Item]| Rows::new(items.iter().copied().map(Some).collect(), 1, 0, &mut prg);
        let (a, b) = identify(&rows(&sender), &rows(&receiver));
        check(&sender, &receiver, [&a.result.0, &b.result.0]);
        assert_eq!(a.result.1, (0, 0));
    }
}

/// Whatever the orders, a match by priorities is maximal column by column, and paired rows share that column's
/// identifier.
#[test]
fn rows_are_paired_by_priority() {
    let mut prg = generator("multi-key");
    for (n, m) in [(30, 40), (40, 10), (5, 60)] {
        let mut rows = |rows, columns| Rows::new(crowded(rows, columns, &mut prg), columns, 0, &mut prg);
        let (sender, receiver) = (rows(n, 3), rows(m, 2));
        let (a, b) = identify(&sender, &receiver);
        let (mine, theirs) = (&a.result.0.rows, &b.result.0.rows);
        let distinct = |ids: &[u128]| ids.iter().collect::<HashSet<_>>().len();
        assert_eq!((distinct(mine), distinct(theirs)), (n, m), "rows of one party have ids of their own");
        let priority = |i: usize, j: usize| {
            let own = &sender.identifiers[3 * i..3 * i + 3];
            own.iter().position(|x| x.is_some() && receiver.identifiers[2 * j..2 * j + 2].contains(x))
        };
        let level = |i: usize, j: usize| if mine[i] == theirs[j] { priority(i, j) } else { None };
        let best = |pairs: &mut dyn Iterator<Item = (usize, usize)>| pairs.filter_map(|(i, j)| level(i, j)).min();
        let of_sender: Vec<_> = (0..n).map(|i| best(&mut (0..m).map(|j| (i, j)))).collect();
        let of_receiver: Vec<_> = (0..m).map(|j| best(&mut (0..n).map(|i| (i, j)))).collect();
        for (i, j) in (0..n).flat_map(|i| (0..m).map(move |j| (i, j))) {
            let Some(possible) = priority(i, j) else {
                assert_ne!(mine[i], theirs[j], "rows without a common identifier are not paired");
                continue;
            };
            let taken = |level: Option<usize>| level.is_some_and(|level| level <= possible);
            assert!(taken(of_sender[i]) || taken(of_receiver[j]), "two rows were free to be paired at {possible}");
        }
    }
}

#[test]
fn messages_depend_on_the_sizes_of_tables_and_union_alone() {
    let mut prg = generator("multi-key messages");
    let [one, other] = [0, 1].map(|empty| {
        let (sender, receiver) = sets(&mut prg, (60, 40), 20);
        let with_holes = |items: Vec<Item>| -> Vec<Option<Item>> {
            items.into_iter().flat_map(|x| [Some(x), (empty == 0).then_some(x ^ 1)]).collect()
        };
        let mut rows = |items| Rows::new(with_holes(items), 2, 0, &mut prg);
        let (a, b) = identify(&rows(sender), &rows(receiver));
        (a.messages, b.messages)
    });
    assert_eq!(one, other);
}
