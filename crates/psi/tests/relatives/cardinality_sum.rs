//! Size of the intersection and sums over it against the clear ones.

use crate::pair::{Party, RECEIVER, SENDER, SIZES, generator, run, sets};
use tacit_psi::cardinality_sum::{Aggregates, Sums, cost, receive, send};
use tacit_psi::{Item, PsiError, Role, Sizes};

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
        let two = |to| Some(Sums { columns: 2, to });
        for sums in [None, two(Role::Sender), two(Role::Receiver)] {
            let values: Vec<Vec<u64>> = (0..sums.map_or(0, |s| s.columns)).map(|_| prg.vector(n)).collect();
            let (a, b) = aggregate(&sender, &values, &receiver, sums);
            let sum = |column: &Vec<u64>| {
                let counted = sender.iter().zip(column).filter(|(item, _)| receiver.contains(item));
                counted.fold(0u64, |sum, (_, value)| sum.wrapping_add(*value))
            };
            let expected = |role| sums.filter(|s| s.to == role).map(|_| values.iter().map(sum).collect::<Vec<_>>());
            assert_eq!(a.result, Aggregates { cardinality: None, sums: expected(Role::Sender) });
            assert_eq!(b.result, Aggregates { cardinality: Some(common), sums: expected(Role::Receiver) });
            assert_eq!((a.traffic, b.traffic), (cost(sizes, sums), cost(sizes, sums)), "{sizes:?}, {sums:?}");
        }
    }
}

#[test]
fn messages_depend_on_the_sizes_alone() {
    let mut prg = generator("cardinality messages");
    let sums = Some(Sums { columns: 1, to: Role::Receiver });
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
    let sums = Some(Sums { columns: 1, to: Role::Receiver });
    let (sender, _) = run(|session| send(session, RECEIVER, &[1, 2], &[vec![5]], sizes, sums), |_| ());
    assert!(matches!(sender.result, Err(PsiError::Input(_))) && sender.traffic.rounds == 0);
}
