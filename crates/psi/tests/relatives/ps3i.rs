//! PS3I: opened shares against the clear join, for one and for several identifiers.

use crate::pair::{Party, RECEIVER, SENDER, SIZES, generator, run, sets};
use std::collections::HashSet;
use tacit_math::Prg;
use tacit_psi::blind_join::{Rule, Shape};
use tacit_psi::ps3i::{self, SharedPairs, Table};
use tacit_psi::{Item, PsiError, Role, Sizes, WrongInput};

/// A table whose payload names its rows, so that opened pairs tell which rows were paired.
pub struct Rows {
    pub identifiers: Vec<Option<Item>>,
    pub columns: usize,
    payload: Vec<Vec<u64>>,
}

impl Rows {
    /// Rows of `columns` identifiers each, with `payload` columns: the row's number, and random numbers.
    pub fn new(identifiers: Vec<Option<Item>>, columns: usize, payload: usize, prg: &mut Prg) -> Self {
        let rows = identifiers.len() / columns;
        let column = |number| if number == 0 { (0..rows as u64).collect() } else { prg.vector(rows) };
        Self { columns, payload: (0..payload).map(column).collect(), identifiers }
    }

    pub fn len(&self) -> usize {
        self.identifiers.len() / self.columns
    }

    fn table(&self) -> Table<'_> {
        Table { identifiers: &self.identifiers, payload: &self.payload }
    }
}

pub fn shape(sender: &Rows, receiver: &Rows) -> Shape {
    let rows = Sizes { sender: sender.len(), receiver: receiver.len() };
    Shape { rows, columns: Sizes { sender: sender.columns, receiver: receiver.columns } }
}

fn share(sender: &Rows, receiver: &Rows, rule: Rule) -> (Party<SharedPairs>, Party<SharedPairs>) {
    let shape = shape(sender, receiver);
    let payload = Sizes { sender: sender.payload.len(), receiver: receiver.payload.len() };
    let party = |session: &mut _, peer, role, rows: &Rows| {
        ps3i::run(session, peer, role, rows.table(), shape, payload, rule).expect("shares")
    };
    let (a, b) = run(
        |session| party(session, RECEIVER, Role::Sender, sender),
        |session| party(session, SENDER, Role::Receiver, receiver),
    );
    let declared = ps3i::cost(shape, payload);
    assert_eq!((a.traffic, b.traffic), (declared, declared), "{shape:?}");
    (a, b)
}

/// The pairs of rows after opening, ascending; asserts that all payload columns are those of the named rows.
fn opened(sender: &Rows, receiver: &Rows, shares: [&SharedPairs; 2]) -> Vec<(u64, u64)> {
    let open = |a: &[Vec<u64>], b: &[Vec<u64>]| -> Vec<Vec<u64>> {
        let add = |(a, b): (&Vec<u64>, &Vec<u64>)| a.iter().zip(b).map(|(a, b)| a.wrapping_add(*b)).collect();
        a.iter().zip(b).map(add).collect()
    };
    let sides = [open(&shares[0].sender, &shares[1].sender), open(&shares[0].receiver, &shares[1].receiver)];
    for (columns, rows) in sides.iter().zip([sender, receiver]) {
        for (column, payload) in columns.iter().zip(&rows.payload) {
            let expected: Vec<u64> = columns[0].iter().map(|&row| payload[row as usize]).collect();
            assert_eq!(column, &expected);
        }
    }
    let mut pairs: Vec<(u64, u64)> = sides[0][0].iter().copied().zip(sides[1][0].iter().copied()).collect();
    assert_eq!((pairs.len(), pairs.len()), (shares[0].pairs, shares[1].pairs));
    pairs.sort_unstable();
    pairs
}

#[test]
fn shares_are_of_the_intersection_at_the_declared_cost() {
    let mut prg = generator("ps3i");
    for (sizes, common) in SIZES {
        let (sender, receiver) = sets(&mut prg, sizes, common);
        let places = |(i, x): (usize, &Item)| Some((i as u64, receiver.iter().position(|y| y == x)? as u64));
        let expected: Vec<(u64, u64)> = sender.iter().enumerate().filter_map(places).collect();
        let mut rows =
            |items: &[Item], payload| Rows::new(items.iter().copied().map(Some).collect(), 1, payload, &mut prg);
        let (sender, receiver) = (rows(&sender, 2), rows(&receiver, 1));
        let (a, b) = share(&sender, &receiver, Rule::Single);
        assert_eq!(opened(&sender, &receiver, [&a.result, &b.result]), expected);
        assert_eq!((a.result.contaminated, b.result.contaminated), ((0, 0), (0, 0)));
    }
}

/// Rows with few distinct identifiers and holes.
pub fn crowded(rows: usize, columns: usize, prg: &mut Prg) -> Vec<Option<Item>> {
    prg.vector::<u8>(rows * columns).into_iter().map(|x| (x % 5 != 0).then_some(Item::from(x / 3))).collect()
}

fn related(sender: &Rows, receiver: &Rows) -> HashSet<(u64, u64)> {
    let rows = |table: &Rows| -> Vec<HashSet<Item>> {
        table.identifiers.chunks(table.columns).map(|row| row.iter().flatten().copied().collect()).collect()
    };
    let (a, b) = (rows(sender), rows(receiver));
    let all = (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
    all.filter(|&(i, j)| !a[i].is_disjoint(&b[j])).map(|(i, j)| (i as u64, j as u64)).collect()
}

#[test]
fn collecting_finds_every_pair_and_drops_contaminated_rows() {
    let mut prg = generator("collecting");
    for (n, m) in [(30, 40), (50, 20), (1, 9)] {
        let mut rows = |rows, columns| Rows::new(crowded(rows, columns, &mut prg), columns, 1, &mut prg);
        let (sender, receiver) = (rows(n, 2), rows(m, 3));
        let all = related(&sender, &receiver);
        let several = |of: fn(&(u64, u64)) -> u64| -> HashSet<u64> {
            let rows: Vec<u64> = all.iter().map(of).collect();
            rows.iter().copied().filter(|row| rows.iter().filter(|other| *other == row).count() > 1).collect()
        };
        let contaminated = (several(|pair| pair.0), several(|pair| pair.1));
        for (drop_sender, drop_receiver) in [(false, false), (true, false), (false, true), (true, true)] {
            let (a, b) = share(&sender, &receiver, Rule::Collect { drop_sender, drop_receiver, most: u64::MAX });
            let kept = |(s, r): &&(u64, u64)| {
                !(drop_sender && contaminated.0.contains(s) || drop_receiver && contaminated.1.contains(r))
            };
            let mut expected: Vec<_> = all.iter().filter(kept).copied().collect();
            expected.sort_unstable();
            assert_eq!(opened(&sender, &receiver, [&a.result, &b.result]), expected);
            assert_eq!(a.result.contaminated, (contaminated.0.len(), contaminated.1.len()));
            assert_eq!(a.result.contaminated, b.result.contaminated);
        }
    }
}

/// The priorities of the sender's columns decide, whoever's rows come first.
#[test]
fn a_single_match_is_by_priority() {
    let mut prg = generator("priority");
    let some = |items: &[Item]| items.iter().map(|&x| (x != 0).then_some(x)).collect::<Vec<_>>();
    // Rows of the sender: (e-mail, phone). The receiver's row 0 knows row 0's phone and row 1's e-mail.
    let sender = Rows::new(some(&[11, 21, 12, 22, 13, 0, 0, 24]), 2, 1, &mut prg);
    let receiver = Rows::new(some(&[21, 12, 22, 0, 24, 13]), 2, 1, &mut prg);
    let (a, b) = share(&sender, &receiver, Rule::Single);
    // By e-mail 12 pairs (1, 0) and 13 pairs (2, 2); by phone, rows 0 and 3 of the sender find their counterparts
    // taken.
    assert_eq!(opened(&sender, &receiver, [&a.result, &b.result]), [(1, 0), (2, 2)]);
    assert_eq!(a.result.contaminated, (1, 2));
}

#[test]
fn a_table_of_another_shape_is_refused_before_anything_is_sent() {
    let mut prg = generator("shape");
    let rows = Rows::new(vec![Some(1), Some(2)], 1, 1, &mut prg);
    let other = Shape { rows: Sizes { sender: 3, receiver: 1 }, columns: Sizes { sender: 1, receiver: 1 } };
    let payload = Sizes { sender: 1, receiver: 0 };
    let run_sender =
        |session: &mut _| ps3i::run(session, RECEIVER, Role::Sender, rows.table(), other, payload, Rule::Single);
    let (sender, ()) = {
        let (sender, receiver) = run(run_sender, |_| ());
        (sender, receiver.result)
    };
    assert!(
        matches!(sender.result, Err(PsiError::Input(WrongInput::PayloadShape { .. }))) && sender.traffic.rounds == 0
    );
}
