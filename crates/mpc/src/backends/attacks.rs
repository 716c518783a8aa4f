//! Nodes that deviate where shuffled rows reveal their numbers: each waits for what the others reveal, and then sends
//! what makes them see other numbers.
//!
//! Game: a node that knows everything but the honest nodes' secrets, and chooses what is revealed. It must not have
//! rows moved by numbers that are not every row's, each once, and must learn nothing by the refusal.

use std::thread;

use tacit_math::{Plane, Prg, Seed, permutation};
use tacit_net::{Direction, Fault, Message, Options, PartyId, Record, memory};

use super::{Components, Rep3, Two};
use crate::{Backend, Block, Result, Rows, Shape, ops};

/// What a node has the others see in place of the numbers that are revealed, in their order.
#[derive(Clone, Copy)]
pub(super) struct Script(fn(&mut [u64]));

impl Script {
    /// What the others see.
    pub(super) fn of(self, revealed: Block) -> Block {
        let rows = revealed.rows;
        let planes: Vec<&Plane> = revealed.bits.iter().collect();
        let mut numbers: Vec<u64> = match &revealed.r32[..] {
            [numbers] => numbers.iter().map(|&number| number.into()).collect(),
            _ => tacit_math::transpose::rows_of_planes(&planes, rows),
        };
        self.0(&mut numbers);
        let plane = |j: usize| Plane::from_fn(rows, |i| numbers[i] >> j & 1 == 1);
        let bits = (0..planes.len()).map(plane).collect();
        let r32 = revealed.r32.iter().map(|_| numbers.iter().map(|&number| number as u32).collect()).collect();
        Block { bits, r32, ..revealed }
    }
}

/// An engine of which a node can be scripted.
pub(super) trait Liar: Components + Send {
    /// The nodes that can.
    const LIARS: &'static [usize];

    /// As [`Backend::shuffle_reveal`], up to what is revealed; and what the others see.
    fn reveal_falsely(&mut self, rows: Rows<Self>, reveal: Rows<Self>, script: Script) -> Result<(Rows<Self>, Block)>;
}

/// Rows on the left and on the right of a join, numbered as it does: those of the right from a power of two on.
const LEFT: usize = 40;
const RIGHT: usize = 30;
const FIRST_RIGHT: usize = 64;
const ROWS: usize = LEFT + RIGHT;

/// Planes of a label.
const WIDTH: usize = 7;

/// Where rows are moved to by numbers that are revealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    /// Each row to a secret place: [`ops::apply`].
    Destinations,
    /// Each row to that of its secret label: [`ops::place_by_labels`].
    Labels,
}

fn row_of(label: u64) -> Option<u32> {
    let label = label as usize;
    let row =
        if label < FIRST_RIGHT { Some(label).filter(|&row| row < LEFT) } else { Some(label - FIRST_RIGHT + LEFT) };
    row.map(|row| row as u32)
}

fn label_of(row: u32) -> usize {
    let row = row as usize;
    if row < LEFT { row } else { row - LEFT + FIRST_RIGHT }
}

impl Moves {
    const ALL: [Self; 2] = [Self::Destinations, Self::Labels];

    /// The numbers that a secret order stands for, and a column of other secrets.
    fn secrets(self, secret: u8) -> Block {
        let mut prg = Prg::new(&Seed::from_bytes([secret; 16]));
        let order = permutation::random(ROWS, &mut prg);
        let plane = |j: usize| Plane::from_fn(ROWS, |i| label_of(order[i]) >> j & 1 == 1);
        let (bits, r32) = match self {
            Self::Destinations => (vec![], vec![order]),
            Self::Labels => ((0..WIDTH).map(plane).collect(), vec![]),
        };
        Block { rows: ROWS, bits, r32, r64: vec![prg.vector(ROWS)], r128: vec![] }
    }

    fn shape(self) -> Shape {
        self.secrets(0).shape()
    }

    /// The step in which they are.
    fn step(self) -> &'static str {
        if self == Self::Destinations { "apply" } else { "place" }
    }

    /// What is revealed, and what moves.
    fn split<B: Backend>(x: Rows<B>) -> [Rows<B>; 2] {
        [Rows { r64: vec![], ..x.clone() }, Rows { r64: x.r64, ..Rows::empty(ROWS) }]
    }

    fn honestly<B: Backend>(self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let [mut reveal, moving] = Self::split(x);
        match self {
            Self::Destinations => ops::apply(b, moving, reveal.r32.remove(0)),
            Self::Labels => ops::place_by_labels(b, moving, reveal.bits, row_of),
        }
    }

    /// None where what the others see makes them end.
    fn falsely<B: Liar>(self, b: &mut B, x: Rows<B>, script: Script) -> Result<Option<Rows<B>>> {
        let [reveal, moving] = Self::split(x);
        let (moved, shown) = b.step(self.step(), |b| b.reveal_falsely(moving, reveal, script))?;
        let places: Option<Vec<u32>> = match self {
            Self::Destinations => Some(shown.r32[0].clone()),
            Self::Labels => ops::numbers_of(&shown).into_iter().map(row_of).collect(),
        };
        Ok(places.and_then(|places| moved.permute_public(&places)))
    }
}

/// How an honest node's run ended: its error and whose fault it is, if any; its messages.
#[derive(Debug, PartialEq)]
struct End {
    error: Option<(Fault, String)>,
    messages: Vec<Message>,
}

/// What the honest nodes get whose rows are moved, and then shuffled, beside a scripted one. After a refusal the
/// scripted node gets nothing.
fn ends<B: Liar>(moves: Moves, liar: usize, script: Script, secret: u8) -> Vec<End> {
    let liar = PartyId(liar);
    let owner = if liar == PartyId(0) { PartyId(1) } else { PartyId(0) };
    let options = Options { record: Record::Sizes, ..Options::default() };
    let run = |session| {
        let mut b = B::start(session).expect("an engine");
        let me = b.session().me();
        let data = (me == owner).then(|| moves.secrets(secret));
        let x = b.input(owner, moves.shape(), data).expect("input");
        let outcome = if me == liar {
            let moved = moves.falsely(&mut b, x, script).expect("honest peers");
            Ok(moved.map(|moved| b.shuffle(moved).expect("honest peers")).is_some())
        } else {
            moves.honestly(&mut b, x).and_then(|moved| b.shuffle(moved)).map(|_| true)
        };
        (b, outcome)
    };
    let end = |(b, outcome): (B, Result<bool>)| {
        let me = b.session().me();
        let messages = b.session().transcript().expect("a transcript").messages();
        let error = match outcome {
            Ok(true) => {
                b.into_session().close().expect("an orderly end");
                None
            }
            Ok(false) => {
                let mut session = b.into_session();
                let mut honest = (0..B::NODES).map(PartyId).filter(|&node| node != me);
                assert!(honest.all(|node| session.recv(node, &mut [0]).is_err()), "a byte after the refusal");
                None
            }
            Err(error) => {
                b.abort(&error.to_string());
                Some((error.fault(), error.to_string()))
            }
        };
        (me != liar).then_some(End { error, messages })
    };
    // No honest node is told of the refusal by another one: all have ended before any says so.
    let ran = on_all(memory::mesh(&["a", "b", "c"][..B::NODES], &options), run);
    on_all(ran, end).into_iter().flatten().collect()
}

/// What all nodes do at once.
fn on_all<T: Send, U: Send>(nodes: Vec<T>, work: impl Fn(T) -> U + Sync) -> Vec<U> {
    thread::scope(|scope| {
        let threads: Vec<_> = nodes.into_iter().map(|node| scope.spawn(|| work(node))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// What is not every row's number once, by the engine's own numbers: of rows, or labels of a join.
const FALSE: [(&str, Moves, fn(&mut [u64])); 10] = [
    ("one number twice", Moves::Destinations, |numbers| numbers[5] = numbers[9]),
    ("all numbers alike", Moves::Destinations, |numbers| numbers.fill(0)),
    ("a number missing, the first one beyond in its place", Moves::Destinations, |numbers| {
        put(numbers, 3, ROWS as u64)
    }),
    ("the last number missing", Moves::Destinations, |numbers| put(numbers, ROWS as u64 - 1, 127)),
    ("a number beyond in the first row", Moves::Destinations, |numbers| numbers[0] = 100),
    ("one label twice", Moves::Labels, |labels| labels[5] = labels[9]),
    ("all labels alike", Moves::Labels, |labels| labels.fill(64)),
    ("a label between the left rows and the right ones", Moves::Labels, |labels| put(labels, 3, LEFT as u64)),
    ("a label behind the right rows", Moves::Labels, |labels| put(labels, 64, (FIRST_RIGHT + RIGHT) as u64)),
    ("the largest label", Moves::Labels, |labels| put(labels, 93, 127)),
];

/// One number in place of another, wherever that is.
fn put(numbers: &mut [u64], number: u64, other: u64) {
    *numbers.iter_mut().find(|found| **found == number).expect("every number is there") = other;
}

const SECRETS: [u8; 2] = [1, 2];

fn check<B: Liar>() {
    let refusal =
        "a peer misbehaves: what was revealed of shuffled rows is no permutation of them; no result was produced";
    for &liar in B::LIARS {
        for moves in Moves::ALL {
            // Two rows that change places are two rows, and nobody can tell.
            let accepted = ends::<B>(moves, liar, Script(|numbers| numbers.swap(0, 1)), SECRETS[0]);
            assert!(accepted.iter().all(|end| end.error.is_none()), "{} {liar} {moves:?}", B::NAME);
            for (case, of, script) in FALSE.into_iter().filter(|&(_, of, _)| of == moves) {
                let case = format!("{} {liar}: {case}", B::NAME);
                let [refused, other] = SECRETS.map(|secret| ends::<B>(of, liar, Script(script), secret));
                assert_eq!(refused, other, "{case}: whatever the secrets are");
                for (end, accepted) in refused.into_iter().zip(&accepted) {
                    assert_eq!(end.error, Some((Fault::Misbehaved, refusal.to_owned())), "{case}");
                    let (now, later) = accepted.messages.split_at(end.messages.len());
                    assert_eq!(end.messages, now, "{case}: up to what is revealed");
                    let moves = |message: &Message| message.step.starts_with(moves.step());
                    assert!(now.last().is_some_and(moves) && !later.iter().any(moves), "{case}: {now:?}");
                    assert!(later.iter().any(|message| message.direction == Direction::Sent), "{case}");
                }
            }
        }
    }
}

#[test]
fn numbers_that_are_not_every_rows_once_end_the_run_and_say_nothing() {
    check::<Rep3>();
    check::<Two>();
}
