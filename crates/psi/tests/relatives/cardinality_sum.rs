//! Size of the intersection and sums over it against the clear ones.

use crate::pair::{Party, RECEIVER, SENDER, SIZES, generator, run, sets};
use tacit_psi::cardinality_sum::{Aggregates, Sums, cost, receive, send};
use tacit_psi::{Item, PsiError, Role, Sizes, WrongInput};

fn aggregate(
    sender: &[Item],
    values: &[Vec<u64>],
    receiver: &[Item],
    sums: Option<Sums>,
) -> (Party<Aggregates>, Party<Aggregates>) {
    let sizes = Sizes { sender: sender.len(), receiver: receiver.len() };
    run(
        |session| send(session, RECEIVER, sender, values, sizes, sums).expect("aggregates"),
        |session| receive(session, SENDER, receiver, sizes, sums).expect("aggregates"),
    )
}

#[test]
fn the_receiver_learns_the_size_and_the_named_party_the_sums_at_the_declared_cost() {
    let mut prg = generator("cardinality and sums");
    for ((n, m), common) in SIZES {
        let (sender, receiver) = sets(&mut prg, (n, m), common);
        let sizes = Sizes { sender: n, receiver: m };
        let two = |to, least| Some(Sums { columns: 2, to, least });
        let few = common + 1;
        let opened =
            [two(Role::Sender, 0), two(Role::Receiver, 0), two(Role::Sender, common), two(Role::Receiver, common)];
        let all = [None].into_iter().chain(opened).chain([two(Role::Sender, few), two(Role::Receiver, few)]);
        for sums in all {
            let values: Vec<Vec<u64>> = (0..sums.map_or(0, |s| s.columns)).map(|_| prg.vector(n)).collect();
            let (a, b) = aggregate(&sender, &values, &receiver, sums);
            let sum = |column: &Vec<u64>| {
                let counted = sender.iter().zip(column).filter(|(item, _)| receiver.contains(item));
                counted.fold(0u64, |sum, (_, value)| sum.wrapping_add(*value))
            };
            let opens = |s: &Sums, role| s.to == role && common >= s.least;
            let expected = |role| sums.filter(|s| opens(s, role)).map(|_| values.iter().map(sum).collect::<Vec<_>>());
            assert_eq!(a.result, Aggregates { cardinality: None, sums: expected(Role::Sender) });
            assert_eq!(b.result, Aggregates { cardinality: Some(common), sums: expected(Role::Receiver) });
            assert_eq!((a.traffic, b.traffic), (cost(sizes, sums), cost(sizes, sums)), "{sizes:?}, {sums:?}");
        }
    }
}

#[test]
fn messages_depend_on_the_sizes_alone() {
    let mut prg = generator("cardinality messages");
    // Whether a sum is opened shows in no message either.
    let sums = Some(Sums { columns: 1, to: Role::Receiver, least: 30 });
    let [one, other] = [0, 60].map(|common| {
        let (sender, receiver) = sets(&mut prg, (80, 60), common);
        let (a, b) = aggregate(&sender, &[prg.vector(80)], &receiver, sums);
        (a.messages, b.messages)
    });
    assert_eq!(one, other);
}

#[test]
fn values_that_do_not_fit_are_refused_before_anything_is_sent() {
    let sizes = Sizes { sender: 2, receiver: 1 };
    let sums = Some(Sums { columns: 1, to: Role::Receiver, least: 1 });
    let (sender, _) = run(|session| send(session, RECEIVER, &[1, 2], &[vec![5]], sizes, sums), |_| ());
    assert!(
        matches!(sender.result, Err(PsiError::Input(WrongInput::Values { items: 2, columns: 1 })))
            && sender.traffic.rounds == 0
    );
}

/// The sum over one item is that item's value; with a minimum the receiver's whole view has nothing of it.
#[test]
fn a_sum_over_fewer_items_than_agreed_is_in_nobodys_view() {
    let sizes = Sizes { sender: 3, receiver: 2 };
    let (sender, receiver) = ([10, 20, 30], [20, 99]);
    for (to, least) in [(Role::Receiver, 2), (Role::Sender, 2)] {
        let sums = Some(Sums { columns: 1, to, least });
        let (a, b) = aggregate(&sender, &[vec![1111, 2222, 3333]], &receiver, sums);
        assert_eq!((a.result.sums, b.result.sums), (None, None));
        assert_eq!((a.traffic, b.traffic), (cost(sizes, sums), cost(sizes, sums)));
    }
    let one = Some(Sums { columns: 1, to: Role::Receiver, least: 1 });
    assert_eq!(aggregate(&sender, &[vec![1111, 2222, 3333]], &receiver, one).1.result.sums, Some(vec![2222]));
}
