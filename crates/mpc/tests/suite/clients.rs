//! What nodes and clients see of inputs that clients deal and of what is opened to them.

use std::thread;

use super::permits::{permit, size_permit};
use tacit_math::{Plane, Prg, Seed};
use tacit_mpc::backends::{Components, Four, Networked, Rep3, Two, clients};
use tacit_mpc::{Block, Result, Shape};
use tacit_net::{Fault, Options, PartyId, Record, Session, memory};
use tacit_views::{Kind, Run, View, leaks, repeats, runs_needed};

/// Clients: dan deals, eve gets.
const CLIENTS: [&str; 2] = ["dan", "eve"];

const SHAPE: Shape = Shape { rows: 3, bits: 2, r32: 1, r64: 1, r128: 0 };

fn nodes<B: Networked>() -> &'static [&'static str] {
    &["ann", "bob", "cyd", "deb"][..B::NODES]
}

/// How many of the nodes hold shares: the first ones.
fn holders<B: Networked>() -> usize {
    clients::holders::<B::Formulas>(B::NODES)
}

/// What dan gives in a run.
fn given(run: usize) -> Block {
    let seed = Seed::from_bytes([run.to_le_bytes(), [9; 8]].concat().try_into().expect("16 bytes"));
    let mut block = Block::random(SHAPE, &mut Prg::new(&seed));
    block.bits.iter_mut().for_each(|plane| *plane = Plane::from_fn(SHAPE.rows, |row| plane.get(row)));
    block
}

fn bytes(block: &Block) -> Vec<u8> {
    block.bytes().collect::<Vec<_>>().concat()
}

/// What one party saw of an input and of the opening after it, and what it held or got: a node its components, eve the
/// value.
struct Seen {
    input: View,
    opening: View,
    own: Vec<Block>,
}

/// As many inputs by dan, each opened to eve.
fn at_a_node<B: Components>(mut sessions: Vec<Session>, runs: usize) -> Result<Vec<Seen>> {
    let mut b = B::start(sessions.remove(0))?;
    let transcripts = [b.session(), b.session().clients().expect("there are clients")]
        .map(|session| session.transcript().expect("contents are recorded"));
    let view = || {
        let mut view = View::of(&transcripts[0]);
        view.extend(View::of(&transcripts[1]));
        view
    };
    let dan = PartyId(B::NODES);
    let mut seen = Vec::new();
    view();
    for _ in 0..runs {
        let rows = b.announce(dan, None, size_permit(nodes::<B>()))? as usize;
        view();
        let shared = b.input(dan, Shape { rows, ..SHAPE }, None)?;
        let (input, own) = (view(), B::take_apart(shared.clone()));
        assert!(b.open(&shared, permit(&["eve"], shared_shape(rows)))?.is_none(), "nodes are told nothing");
        seen.push(Seen { input, opening: view(), own });
    }
    b.into_session().close()?;
    Ok(seen)
}

fn shared_shape(rows: usize) -> Shape {
    Shape { rows, ..SHAPE }
}

fn at_a_client<B: Components>(mut session: Session, runs: usize) -> Result<Vec<Seen>> {
    let transcript = session.transcript().expect("contents are recorded");
    let mut seen = Vec::new();
    for run in 0..runs {
        if session.name(session.me()) == "dan" {
            let me = session.me();
            clients::announce(&mut session, B::NODES, me, Some(3), &size_permit(nodes::<B>()))?;
            clients::deal::<B>(&mut session, given(run))?;
            let input = View::of(&transcript);
            session.next_round();
            seen.push(Seen { input, opening: View::of(&transcript), own: vec![] });
        } else {
            session.next_round();
            session.next_round();
            let input = View::of(&transcript);
            let opened = clients::collect(&mut session, holders::<B>(), SHAPE, &permit(&["eve"], SHAPE))?;
            seen.push(Seen { input, opening: View::of(&transcript), own: vec![opened] });
        }
    }
    session.close()?;
    Ok(seen)
}

/// Everybody's view: nodes, dan, eve.
fn played<B: Components + 'static>(runs: usize) -> Vec<Vec<Seen>> {
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let ends = memory::mesh_with_clients(nodes::<B>(), &CLIENTS, 1, &options);
    thread::scope(|scope| {
        let party = |(place, mut sessions): (usize, Vec<Session>)| {
            scope.spawn(move || match place < B::NODES {
                true => at_a_node::<B>(sessions, runs),
                false => at_a_client::<B>(sessions.remove(0), runs),
            })
        };
        let threads: Vec<_> = ends.into_iter().enumerate().map(party).collect();
        threads.into_iter().map(|end| end.join().expect("no panic").expect("an orderly end")).collect()
    })
}

fn blocks(kind: Kind, name: &str, blocks: &[Block]) -> View {
    blocks.iter().fold(View::default(), |view, block| view.with(kind, name, bytes(block)))
}

/// Those parts of a view that say anything: what a party sent itself follows from what it has.
fn received(view: &View) -> View {
    view.only(&[Kind::Received, Kind::Drawn])
}

fn nobody_sees_more<B: Components + 'static>() {
    let one = played::<B>(1);
    let secret = |run: usize| View::default().with(Kind::Own, "dan's data", bytes(&given(run)));
    let at_node = |node: &Seen, run: usize| {
        let view = received(&node.input);
        let view = blocks(Kind::Own, "own components", &node.own)
            .parts()
            .iter()
            .fold(view, |view, part| view.with(part.kind, &part.name, part.bytes.clone()));
        Run { view, known: View::default(), secret: secret(run) }
    };
    // Eve may know the value; the nodes' components say how it came about.
    let first = |parties: &[Vec<Seen>], run: usize| -> Vec<Block> {
        parties[..holders::<B>()].iter().map(|node| node[run].own[0].clone()).collect()
    };
    let at_eve = |parties: &[Vec<Seen>], run: usize, view: View| Run {
        view,
        known: blocks(Kind::Opened, "the value", &parties[B::NODES + 1][run].own),
        secret: blocks(Kind::Own, "the nodes' components", &first(parties, run)),
    };
    let eve = |parties: &[Vec<Seen>], run: usize| received(&parties[B::NODES + 1][run].opening);
    let runs = 100 + runs_needed(&at_node(&one[0][0], 0)).max(runs_needed(&at_eve(&one, 0, eve(&one, 0))));
    let parties = played::<B>(runs);
    for (run, seen) in parties[B::NODES + 1].iter().enumerate() {
        assert_eq!(bytes(&seen.own[0]), bytes(&given(run)), "eve gets what dan gave");
    }
    for node in &parties[..B::NODES] {
        let runs: Vec<Run> = node.iter().enumerate().map(|(run, seen)| at_node(seen, run)).collect();
        assert_eq!(leaks(&runs), [], "a node learns nothing of an input");
        let words: Vec<View> = node.iter().map(|seen| seen.input.only(&[Kind::Received])).collect();
        assert_eq!(repeats(&words, 16), [], "fresh seeds for every input");
        assert!(node.iter().all(|seen| seen.opening.only(&[Kind::Received]).bits() == 0), "nodes only send");
    }
    let of_eve: Vec<Run> = (0..runs).map(|run| at_eve(&parties, run, eve(&parties, run))).collect();
    assert_eq!(leaks(&of_eve), [], "eve learns the value alone");
    assert!(parties[B::NODES + 1].iter().all(|seen| received(&seen.input).bits() == 0), "of the input nothing");
    assert!(parties[B::NODES].iter().all(|seen| received(&seen.opening).bits() == 0), "dan of the opening nothing");
    // The test can fail: components as the nodes hold them say more than the value.
    let raw = |run| at_eve(&parties, run, blocks(Kind::Received, "components", &first(&parties, run)));
    assert_ne!(leaks(&(0..runs).map(raw).collect::<Vec<_>>()), []);
}

// views: crates/mpc/src/backends/clients.rs
#[test]
fn clients_of_three_nodes_and_the_nodes_see_no_more_than_they_may() {
    nobody_sees_more::<Rep3>();
}

#[test]
fn clients_of_four_nodes_and_the_nodes_see_no_more_than_they_may() {
    nobody_sees_more::<Four>();
}

#[test]
fn clients_of_two_nodes_and_the_nodes_see_no_more_than_they_may() {
    nobody_sees_more::<Two>();
}

/// A node that opens more rows than the others, or than approved, is refused and named.
#[test]
fn parts_of_another_shape_are_refused() {
    let names = nodes::<Two>();
    for (told, reason) in [([2, 3], "bob"), ([1 << 40, 1 << 40], "ann")] {
        let mut ends = memory::mesh_with_clients(names, &["eve"], 1, &Options::default());
        let mut eve = ends.pop().and_then(|mut sessions| sessions.pop()).expect("a client");
        for (sessions, rows) in ends.iter_mut().zip(told) {
            let session = sessions[0].clients_mut().expect("there are clients");
            session.next_round();
            session.send(PartyId(2), u64::to_le_bytes(rows).to_vec()).expect("eve is there");
        }
        let refused = clients::collect(&mut eve, 2, SHAPE, &permit(&["eve"], SHAPE)).expect_err("it is refused");
        assert_eq!(refused.fault(), Fault::Misbehaved, "{refused}");
        assert!(refused.to_string().contains(reason), "{refused}");
    }
}

/// Clients have links with nodes only.
#[test]
fn clients_do_not_meet() {
    let ends = memory::mesh_with_clients(nodes::<Two>(), &CLIENTS, 2, &Options::default());
    let parties: Vec<usize> = ends.iter().map(|sessions| sessions[0].parties()).collect();
    assert_eq!(parties, [2, 2, 4, 4], "nodes are among themselves");
    for mut session in ends.into_iter().skip(2).flatten() {
        let other = PartyId(5 - session.me().0);
        session.next_round();
        assert!(session.send(other, vec![1]).is_err());
    }
}
