//! A peer that does not follow the protocol ends the run with an error, not with a panic.

use std::thread;

use tacit_math::Plane;
use tacit_mpc::backends::{Components, Rep3, Two};
use tacit_mpc::{Backend, Block, MpcError, Result, Rows, ops};
use tacit_net::{Options, PartyId, memory};

const ROWS: usize = 70;

/// What a node changes in the last of its components.
type Change = fn(&mut Block);

/// What every node gets that runs a program on shares which node `liar` changed before.
fn outcomes<B: Components>(
    liar: usize,
    change: Change,
    shares: impl Fn(&B) -> Rows<B> + Sync,
    program: impl Fn(&mut B, Rows<B>) -> Result<()> + Sync,
) -> Vec<Result<()>> {
    let names = &["a", "b", "c"][..B::NODES];
    let node = |session| {
        let mut b = B::start(session).expect("an engine");
        let mut rows = shares(&b);
        if b.session().me() == PartyId(liar) {
            let mut components = B::take_apart(rows);
            change(components.last_mut().expect("a component"));
            rows = B::put_together(components);
        }
        let outcome = program(&mut b, rows);
        match &outcome {
            Ok(()) => b.into_session().close().expect("an orderly end"),
            Err(_) => b.abort("a peer misbehaved"),
        }
        outcome
    };
    thread::scope(|scope| {
        let sessions = memory::mesh(names, &Options::default());
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| node(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Honest nodes say that a peer misbehaves, or see that another one ended the run.
fn assert_refused(outcomes: Vec<Result<()>>, case: &str) {
    assert!(outcomes.iter().any(|outcome| matches!(outcome, Err(MpcError::Misbehaved(_)))), "{case}");
    for outcome in outcomes {
        assert!(matches!(outcome, Err(MpcError::Misbehaved(_) | MpcError::Net(_))), "{case}: {outcome:?}");
    }
}

fn destinations<B: Backend>(b: &B) -> Rows<B> {
    let places = b.public_vector(ROWS, || (0..ROWS as u32).rev().collect());
    Rows { r32: vec![places], ..Rows::empty(ROWS) }
}

fn applied<B: Backend>(b: &mut B, mut places: Rows<B>) -> Result<()> {
    let moving = Rows { r64: vec![b.public_vector(ROWS, || vec![1; ROWS])], ..Rows::empty(ROWS) };
    ops::apply(b, moving, places.r32.remove(0)).map(|_| ())
}

/// The labels 0..ROWS as planes.
fn labels<B: Backend>(b: &B) -> Rows<B> {
    let plane = |j: usize| b.public_bits(ROWS, || Plane::from_fn(ROWS, |i| i >> j & 1 == 1));
    Rows { bits: (0..ops::label_width(ROWS)).map(plane).collect(), ..Rows::empty(ROWS) }
}

fn placed<B: Backend>(b: &mut B, labels: Rows<B>) -> Result<()> {
    let moving = Rows { r64: vec![b.public_vector(ROWS, || vec![1; ROWS])], ..Rows::empty(ROWS) };
    ops::place_by_labels(b, moving, labels.bits, |label| u32::try_from(label).ok()).map(|_| ())
}

fn nothing(_: &mut Block) {}

/// A place that another row has too, and one that no row has.
fn twice(block: &mut Block) {
    block.r32[0][3] = block.r32[0][3].wrapping_add(1);
}

fn beyond(block: &mut Block) {
    block.r32[0][0] = block.r32[0][0].wrapping_add(5);
}

/// The same of labels.
fn flipped(block: &mut Block) {
    block.bits[0].change_words(|words| words[0] ^= 1 << 3);
}

fn large(block: &mut Block) {
    let top = block.bits.len() - 1;
    block.bits[top].change_words(|words| words[0] ^= 1 << 63);
}

fn check<B: Components>(liars: &[usize]) {
    assert!(outcomes::<B>(0, nothing, destinations, applied).into_iter().all(|outcome| outcome.is_ok()));
    assert!(outcomes::<B>(0, nothing, labels, placed).into_iter().all(|outcome| outcome.is_ok()));
    for &liar in liars {
        for (change, case) in [(twice as Change, "twice"), (beyond, "beyond")] {
            assert_refused(outcomes::<B>(liar, change, destinations, applied), &format!("{} {liar} {case}", B::NAME));
        }
        for (change, case) in [(flipped as Change, "flipped"), (large, "large")] {
            assert_refused(outcomes::<B>(liar, change, labels, placed), &format!("{} {liar} {case}", B::NAME));
        }
    }
}

#[test]
fn revealed_permutations_are_checked() {
    // The third node's components do not enter the first shuffle.
    check::<Rep3>(&[0, 1]);
    check::<Two>(&[0, 1]);
}
