//! Faults planted in operators: the checks find what a node could compute.

use serde_json::json;
use tacit_math::Prg;
use tacit_mpc::backends::Rep3;
use tacit_mpc::{Backend, Block, Rows, ops};
use tacit_views::seed;

use crate::ideal::{Dealing, Disclosed, Engine, Public};
use crate::permits::permit;
use crate::plain::{Shape, Sorting, bits, sorted};
use crate::plays::{From, Node, Operated, Play, differences, watched};
use crate::shown::release;
use crate::watched::{bundle, clear, unwrapped};
use crate::world::{Effort, Ends, Findings, PARTIES, Source, dealt, findings};

const ROWS: usize = 3;

/// What is opened too much shows as a linear relation.
const FAULTS: Effort = Effort { bits: 300, lanes: 4, runs: 300, whole: usize::MAX };

/// Runs enough to see that a bit is one in three quarters of them.
const UNLIKE: Effort = Effort { runs: 1000, ..FAULTS };

/// What a release may do wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Release {
    Right,
    /// It opens rows where they are.
    Unshuffled,
    /// It brings valid rows to the front in the order in which their owner had them, where no sort of the plan made
    /// that order.
    OwnersOrder,
    /// It leaves in what rows hold that are not valid.
    Unmasked,
    /// Before it does as it should, it opens the valid bits.
    ValidOpened,
    /// It brings valid rows to the front, and reveals where they were.
    PlacesOpened,
    /// It opens what lies behind the last row.
    Padding,
}

impl Play for Release {
    fn run<B: Dealing + 'static>(&self, mut b: Node<B>, number: usize) -> (Node<B>, Ends) {
        let mut prg = Prg::new(&seed(&format!("{self:?}")).derive(&number.to_string()));
        let table = Shape::new(&[bits("v", 2)], true);
        let cut = |block: &Block, rows: usize| Block {
            rows,
            bits: block.bits.iter().map(|plane| plane.slice(0, rows)).collect(),
            ..Block::default()
        };
        // Whose first row is valid shows what came first.
        let is_valid = |row: usize, random: bool| random || *self == Self::OwnersOrder && row != 1;
        let plain = table.draw(64, is_valid, &mut prg);
        let shares = dealt::<Engine<B>>(&plain, b.node(), &mut prg);
        let begin = bundle("begin", &shares);
        let answer = sorted(&table.shown(&cut(&plain, ROWS), &["v"]));
        let declared = clear("declared", &answer);
        let sorting = (*self == Self::OwnersOrder).then_some(Sorting { key: 0, padded: true });
        let opened = |rows: Block| Disclosed::Opened { parts: vec![rows], to: &[0, 1, 2], sorting };
        let mut public = Public { disclosed: [opened(answer)].into(), ..Public::default() };
        if *self == Self::PlacesOpened {
            // Were it revealed of shuffled rows, it would be any order.
            let places = (0..ROWS as u32).collect();
            public.disclosed.push_back(opened(Block { rows: ROWS, r32: vec![places], ..Block::default() }));
        }
        b.inner_mut().hear(public);
        let open = |b: &mut Node<B>, rows: &Rows<Node<B>>| {
            b.open(rows, permit(&PARTIES[..B::NODES], rows.shape())).expect("peers");
        };
        let all: Rows<Node<B>> = unwrapped(shares);
        let mut rows = if *self == Self::Padding { all } else { all.slice(0, ROWS) };
        let places = (*self == Self::PlacesOpened).then(|| ops::partition(&mut b, &rows.bits[2]).expect("peers"));
        if *self == Self::ValidOpened {
            open(&mut b, &Rows { bits: vec![rows.bits[2].clone()], ..Rows::empty(rows.rows) });
        }
        match self {
            Self::Unshuffled | Self::Padding => {}
            Self::OwnersOrder => {
                let destinations = ops::partition(&mut b, &rows.bits[2]).expect("peers");
                rows = ops::apply(&mut b, rows, destinations).expect("peers");
            }
            _ => rows = b.shuffle(rows).expect("peers"),
        }
        if *self != Self::Unmasked {
            let [low, high, valid] = [0, 1, 2].map(|plane| &rows.bits[plane]);
            let kept = b.and(&[valid, valid], &[low, high]).expect("peers");
            rows.bits = kept.into_iter().chain([valid.clone()]).collect();
        }
        open(&mut b, &rows);
        if let Some(places) = places {
            open(&mut b, &Rows { r32: vec![places], ..Rows::empty(ROWS) });
        }
        (b, Ends { begin, end: vec![], declared })
    }

    fn name(&self) -> String {
        format!("{self:?}")
    }
}

/// At which nodes the whole run tells something.
fn nodes_that_learn(play: &impl Play) -> Vec<usize> {
    let Findings(found) = findings::<Engine<Rep3>>(&watched::<Rep3>(play, FAULTS), FAULTS);
    let learns = |node: &usize| found.iter().any(|found| found.starts_with(&format!("node {node}, whole run")));
    (0..3).filter(learns).collect()
}

#[test]
fn a_release_that_opens_too_much_is_seen() {
    assert_eq!(nodes_that_learn(&Release::Right), [0; 0]);
    for fault in [Release::Unshuffled, Release::ValidOpened, Release::Padding] {
        assert_eq!(nodes_that_learn(&fault), [0, 1, 2], "{fault:?}");
    }
}

#[test]
fn a_column_or_a_recipient_too_many_is_seen() {
    let mut case = release(&[0, 1, 2]);
    case.step["columns"] = json!(["v", "hidden", "w"]);
    assert_eq!(nodes_that_learn(&Operated::new(&case, 3, From::Made(Source::Dealt))), [0, 1, 2]);
    let mut case = release(&[0]);
    case.step["to"] = json!(["a", "b"]);
    assert_eq!(nodes_that_learn(&Operated::new(&case, 3, From::Made(Source::Dealt))), [1]);
}

/// Which nodes' views an ideal engine does not make.
fn nodes_unlike_the_ideal(play: &impl Play) -> Vec<usize> {
    let found = differences::<Rep3>(play, &watched::<Rep3>(play, UNLIKE), UNLIKE);
    found.into_iter().filter(|(_, found)| !found.is_empty()).map(|(node, _)| node).collect()
}

#[test]
fn what_does_not_follow_from_the_answer_is_told_from_the_ideal() {
    assert_eq!(nodes_unlike_the_ideal(&Release::Right), [0; 0]);
    for fault in [Release::OwnersOrder, Release::Unmasked, Release::PlacesOpened] {
        assert_eq!(nodes_unlike_the_ideal(&fault), [0, 1, 2], "{fault:?}");
    }
}
