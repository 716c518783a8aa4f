//! What three nodes receive while they run a plan: uniform words, as many and the same whatever the numbers are.

use tacit_array::functions::{Angle, Circle, Curve, Exp, Interval, Odd};
use tacit_mpc::Backend;
use tacit_mpc::backends::{Components, Networked, Rep3};
use tacit_views::{Kind, Run, View, biased, correlated, leaks, play, repeats};

use super::world::{Columned, Plan};

/// A row for each dealer.
const ROWS: usize = 3;

/// More than there are bits in what a node receives.
const RUNS: usize = 2000;

/// Components of the numbers of each run: those of one of two sets, which are the same in all of its runs. In one all
/// summands are zero. In the other numbers are at an end, and summands where digits and parts of a turn begin.
fn components(run: usize, low: i64) -> [Vec<u64>; 3] {
    if run.is_multiple_of(2) {
        return [(); 3].map(|()| vec![0; ROWS]);
    }
    let edges = [u64::MAX, 1 << 63, 1 << 61];
    [edges.to_vec(), edges.iter().map(|edge| edge.wrapping_neg()).collect(), vec![low as u64; ROWS]]
}

/// What each node received in each run.
fn received(plan: &Plan, low: i64) -> Vec<Vec<View>> {
    let played = play(&["a", "b", "c"], RUNS, |session, run| {
        let mut b = Rep3::start(session).expect("an engine");
        let (me, shares) = (b.session().me().0, components(run, low));
        let held = (me..me + 2).map(|which| u64::block(vec![shares[which % 3].clone()])).collect();
        let x = Rep3::put_together(held);
        let _ = b.step("plan", |b| plan.run::<u64, _>(b, &x)).expect("peers");
        (b.into_session(), ())
    });
    let of_plan = |own: Vec<(View, ())>| own.into_iter().map(|(view, ())| view.only(&[Kind::Received])).collect();
    played.into_iter().map(of_plan).collect()
}

fn tells_nothing(name: &str, plan: &Plan, low: i64) {
    for (node, views) in received(plan, low).into_iter().enumerate() {
        assert!(views[0].bits() > 64 * ROWS, "{name}: node {node} receives something");
        assert_eq!(biased(&views), [], "{name}: every bit that node {node} receives is uniform");
        assert_eq!(repeats(&views, 8), [], "{name}: node {node} sees fresh words");
        let which = |run: usize| View::default().with(Kind::Own, "numbers", vec![(run % 2) as u8]);
        let runs = views.into_iter().enumerate();
        let runs: Vec<Run> = runs.map(|(i, view)| Run { view, known: View::default(), secret: which(i) }).collect();
        assert_eq!(correlated(&runs), [], "{name}: no bit that node {node} receives leans to the numbers");
        assert_eq!(leaks(&runs), [], "{name}: no combination of bits does");
    }
}

#[test]
fn what_nodes_receive_is_uniform_whatever_the_numbers_are() {
    let of = |low: i128, high: i128| Interval::new(low << 16, high << 16);
    let exp = |low| Plan::Exp(Exp::new(64, 16, of(low, 0), 16).expect("a plan"));
    tells_nothing("exp of one digit", &exp(-1), -1 << 16);
    tells_nothing("exp of two digits", &exp(-18), -18 << 16);
    let sine = Circle::new(64, 16, of(-100, 100), 16, Angle::Sine).expect("a plan");
    tells_nothing("sin", &Plan::Circle(sine), -100 << 16);
    let sigmoid = Odd::new(64, 13, Interval::new(-4 << 13, 4 << 13), 13, Curve::Sigmoid).expect("a plan");
    tells_nothing("sigmoid", &Plan::Odd(sigmoid), -4 << 13);
}
