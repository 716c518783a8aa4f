//! No branch and no address depends on a share: every method of the engines and everything written once above them,
//! under memcheck.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;

use tacit_marks::findings;
use tacit_math::{Prg, Seed};
use tacit_mpc::backends::{Components, Rep3, Two};
use tacit_mpc::{Backend, Block, Link, Result, Rows, Shape};
use tacit_net::{Options, PartyId, memory};

use crate::methods::{Before, Method};
use crate::permits::{permit, size_permit};
use crate::programs::Function;
use crate::world::{PARTIES, Program, THIN, shape};

/// A network so slow that every circuit which can be garbled is.
const FAR: Link = Link { latency: 1e6, bandwidth: 1e9 };

/// A network on which transfers are streamed where they are many.
const NEAR: Link = Link { latency: 0.0, bandwidth: 1e9 };

/// Ends the process if a node panics: the others would wait for it.
struct Alive;

impl Drop for Alive {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::exit(101);
        }
    }
}

fn secret(mut block: Block) -> Block {
    let marked = block.fill_bytes(|column| {
        tacit_marks::secret(column);
        Ok::<(), std::convert::Infallible>(())
    });
    marked.map_or_else(|never| match never {}, |()| block)
}

/// What a node does with shared columns.
type Work<B> = dyn Fn(&mut B, Rows<B>) -> Result<Rows<B>> + Sync;

/// One computation: its name, its input in clear, and what it does.
struct Item<B: Components> {
    name: String,
    input: Block,
    work: Box<Work<B>>,
}

fn item<B: Components>(
    name: &str,
    input: Block,
    work: impl Fn(&mut B, Rows<B>) -> Result<Rows<B>> + Sync + 'static,
) -> Item<B> {
    Item { name: name.to_owned(), input, work: Box::new(work) }
}

fn program<B: Components>(name: String, program: impl Program + 'static, rows: usize) -> Item<B> {
    let input = program.input(program.shape(rows), &mut Prg::new(&Seed::from_bytes([3; 16])));
    item(&name, input, move |b: &mut B, x| b.step("program", |b| program.run(b, x)))
}

/// A method on this many rows.
fn at_rows<B: Components>((method, rows): (Method, usize)) -> Item<B> {
    program(format!("{method:?} of {rows} rows"), method, rows)
}

/// Runs everything in one session and returns what memcheck found where.
fn found<B: Components + 'static>(link: Link, items: &[Item<B>]) -> Vec<(String, usize)> {
    let sessions = memory::mesh(&PARTIES[..B::NODES], &Options::default());
    let turn = Barrier::new(B::NODES + 1);
    let node = |session| {
        let _alive = Alive;
        turn.wait();
        let mut b = B::start(session).expect("an engine");
        b.declare(link);
        turn.wait();
        for item in items {
            turn.wait();
            let data = (b.session().me() == PartyId(0)).then(|| secret(item.input.clone()));
            let shared = b.input(PartyId(0), item.input.shape(), data).expect("input");
            let out = (item.work)(&mut b, shared).expect("a result");
            let opened =
                b.open(&out, permit(&PARTIES[..B::NODES], out.shape())).expect("opened").expect("all are recipients");
            // What is opened may steer what comes then.
            black_box(opened.bytes().flatten().position(|&byte| byte == 77));
            turn.wait();
        }
        turn.wait();
        b.into_session().close().expect("an orderly end");
        turn.wait();
    };
    thread::scope(|scope| {
        sessions.into_iter().for_each(|session| drop(scope.spawn(|| node(session))));
        let during = |name: &str| {
            let name = format!("{}: {name}", B::NAME);
            let work = || {
                turn.wait();
                turn.wait();
            };
            let count = findings(&name, work);
            (name, count)
        };
        let mut found = vec![during("start")];
        found.extend(items.iter().map(|item| during(&item.name)));
        found.push(during("end"));
        found.retain(|&(_, count)| count > 0);
        found
    })
}

/// Rows of every program: more than one word of a plane, and not a whole number of words.
const ROWS: usize = 70;

/// Rows of programs of many calls.
const FEW: usize = 6;

fn all<B: Components + 'static>() -> Vec<Item<B>> {
    let methods = Method::ALL.into_iter().map(|method| program(format!("{method:?}"), method, ROWS));
    let functions = Function::ALL
        .into_iter()
        .map(|function| program(format!("{function:?}"), function, if function.is_long() { FEW } else { ROWS }));
    let announced = item("announcement", Block::zeros(shape(1)), |b: &mut B, x| {
        let own = (b.session().me() == PartyId(0)).then(|| tacit_marks::marked(vec![77])[0]);
        black_box(b.announce(PartyId(0), own, size_permit(&PARTIES[..B::NODES]))?);
        Ok(x)
    });
    [announced].into_iter().chain(methods).chain(functions).collect()
}

#[test]
fn three_nodes_branch_on_no_share() {
    assert_eq!(found::<Rep3>(THIN, &all()), []);
}

#[test]
fn two_nodes_branch_on_no_share() {
    assert_eq!(found::<Two>(THIN, &all()), []);
}

#[test]
fn two_nodes_that_garble_branch_on_no_share() {
    assert_eq!(found::<Two>(FAR, &all()), []);
}

/// What `two` takes for many rows alone: products by evaluation, silent lookups and transfers, elements that a digit
/// chooses, permutations of several pieces.
#[test]
fn two_nodes_with_many_rows_branch_on_no_share() {
    const VALUES: usize = 7;
    let digit = Shape { bits: 3, ..shape(1 << 16) };
    let chosen = item("elements chosen by a digit", Block::random(digit, &mut Prg::new(&Seed::from_bytes([3; 16]))), {
        |b: &mut Two, x: Rows<Two>| {
            let r32 = vec![b.scan_product::<Before<VALUES>, VALUES>(&x.bits.iter().collect::<Vec<_>>())?];
            Ok(Rows { r32, ..Rows::empty(x.rows) })
        }
    });
    let methods = [
        (Method::Mul, 1 << 13),
        (Method::Conjoin, 1 << 16),
        (Method::Carries, 1 << 13),
        (Method::Shuffle, 1 << 11),
        (Method::And, 1 << 18),
    ];
    let items: Vec<Item<Two>> = methods.map(at_rows).into_iter().chain([chosen]).collect();
    assert_eq!(found(THIN, &items), []);
}

/// Numbers of 128 bits that fill a message and go on in a second one.
const LONG: usize = (1 << 16) + ROWS;

/// Columns that go in messages of several pieces: those of 128 bits, and many in one stream.
#[test]
fn long_messages_of_three_nodes_branch_on_no_share() {
    let methods = [
        (Method::Mul, LONG),
        (Method::Select, LONG),
        (Method::Inject, LONG),
        (Method::Shuffle, LONG),
        (Method::ShuffleReveal, LONG),
        // Planes of half a message each.
        (Method::And, (1 << 22) + ROWS),
    ];
    assert_eq!(found::<Rep3>(THIN, &methods.map(at_rows)), []);
}

/// The same on a fast link: transfers and tables that are streamed.
#[test]
fn two_nodes_that_stream_branch_on_no_share() {
    let methods = [
        (Method::And, 1 << 18),
        (Method::Inject, 1 << 18),
        (Method::Conjoin, 1 << 17),
        (Method::Carries, 1 << 14),
        (Method::CarriesOfPlanes, 1 << 16),
    ];
    assert_eq!(found::<Two>(NEAR, &methods.map(at_rows)), []);
}

/// Shares are marked: a branch on one, and an address made of one, is found in every engine.
fn planted<B: Components + 'static>() {
    let input = Block::random(Shape { r64: 1, ..shape(ROWS) }, &mut Prg::new(&Seed::from_bytes([5; 16])));
    let wide = Block::random(Shape { bits: 1, r128: 1, ..shape(LONG) }, &mut Prg::new(&Seed::from_bytes([5; 16])));
    let branch = |b: &mut B, x: Rows<B>| {
        let products = b.mul(&[&x.r64[0]], &[&x.r64[0]])?;
        let shares = B::take_apart(Rows { r64: products, ..Rows::empty(ROWS) });
        let zero = shares.iter().any(|share| share.r64[0].contains(&0));
        Ok(if black_box(zero) { Rows::empty(ROWS) } else { x })
    };
    let address = |b: &mut B, x: Rows<B>| {
        let injected = b.mul(&[&x.r64[0]], &[&x.r64[0]])?;
        let shares = B::take_apart(Rows { r64: injected, ..Rows::empty(ROWS) });
        let table = black_box([1_u8; 256]);
        black_box(table[(shares[0].r64[0][0] & 255) as usize]);
        Ok(x)
    };
    // On the last row, which came in the second message.
    let behind = |b: &mut B, x: Rows<B>| {
        let products = b.select(&[&x.bits[0]], &[&x.r128[0]])?;
        let shares = B::take_apart(Rows { r128: products, ..Rows::empty(LONG) });
        let zero = shares.iter().any(|share| share.r128[0].last() == Some(&0));
        Ok(if black_box(zero) { Rows::empty(LONG) } else { x })
    };
    let items = [
        item("branch", input.clone(), branch),
        item("address", input, address),
        item("branch behind a message", wide, behind),
    ];
    let found = found::<B>(THIN, &items);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    let expected = ["branch", "address", "branch behind a message"];
    assert_eq!(names, expected.map(|name| format!("{}: {name}", B::NAME)));
}

#[test]
fn planted_faults_of_three_nodes_are_found() {
    planted::<Rep3>();
}

#[test]
fn planted_faults_of_two_nodes_are_found() {
    planted::<Two>();
}
