//! What the stock hands out, and what a node sees while it is made: ahead and in the session, in every way, for every
//! kind of use.
//!
//! Sessions here make correlations for nothing, so that each OT is seen with both of its ends. A node's view is the
//! messages of both sessions and the OTs that it was given. The peer's offset, its choices and the strings that the
//! node did not choose are secret.

use std::thread;

use tacit_math::{CorrelationRobustHash, Prg, Seed};
use tacit_net::{Options, Record, Session, memory};
use tacit_ot::correlated::CotReceiver;
use tacit_ot::silent::lookup::{LOOKUP_STRINGS, WIDTH, multiples};
use tacit_views::{Kind, Run, View, biased, constants, correlated, indistinguishable, leaks};

use super::account::{Filling, Maker, Order};
use super::lookups::Elements;
use super::{Handed, NODES, Stock};
use crate::backends::two::views::{blocks, meetings};

/// OTs of a filling.
const OTS: usize = 1 << 10;

/// Lookups of a call.
const LOOKUPS: usize = 448;

/// How each direction's fillings are made, in order.
const MAKERS: [Maker; 5] = [Maker::Extended, Maker::FirstSilent, Maker::Silent, Maker::Streamed, Maker::Extended];

/// What one node had of a session.
struct Node {
    offset: u128,
    /// Blocks of all messages to it, of both sessions.
    messages: Vec<u128>,
    /// What it was given of the stock, the OTs of each of [`MAKERS`] first, one behind the other.
    handed: Handed,
    /// What was made when it was used.
    streamed: Handed,
    elements: Elements<u128>,
}

/// Words of one bit for each OT.
fn random_words(count: usize) -> Vec<u64> {
    Prg::new(&Seed::random().expect("randomness")).vector(count / 64)
}

/// Makes and takes OTs for all uses; what comes from `background` is ordered before.
fn node(mut session: Session, background: Option<Session>, twice: bool) -> Node {
    let transcripts: Vec<_> = [Some(&session), background.as_ref()]
        .into_iter()
        .flatten()
        .map(|session| session.transcript().expect("contents are recorded"))
        .collect();
    let is_ahead = background.is_some();
    let mut stock = match background {
        Some(background) => Stock::made_ahead(&session, background),
        None => Stock::new(&mut session),
    }
    .expect("an honest peer");
    let orders = MAKERS.map(|maker| [0, 1].map(|direction| Order { direction, filling: Filling { ots: OTS, maker } }));
    if is_ahead {
        orders.as_flattened().iter().for_each(|&order| stock.order("ordered", order));
    }
    for of_maker in orders {
        of_maker.into_iter().for_each(|order| stock.fill(&mut session, order).expect("an honest peer"));
        let quarter = OTS / 4;
        let _ = stock.sent_blocks(quarter);
        let _ = stock.received_blocks(quarter);
        stock.sent_long(quarter, 2, &mut [vec![], vec![]]);
        stock.received_long(quarter, 2, &mut vec![]);
        if twice {
            stock.rewind(stock.used().map(|used| used - 64));
        }
        let _ = (stock.offered(2 * quarter), stock.chosen(2 * quarter));
        if twice {
            stock.rewind(stock.used().map(|used| used + 64));
        }
    }
    let streamed = stream(&mut stock, &mut session);
    // Some of two bits in between.
    let mut elements: Elements<u128> = stock.elements(&mut session, [LOOKUPS; NODES]).expect("an honest peer");
    let _ = stock.lookups::<2>(&mut session, [64; NODES]).expect("an honest peer");
    let more: Elements<u128> = stock.elements(&mut session, [LOOKUPS; NODES]).expect("an honest peer");
    elements.found.extend(more.found);
    elements.tables.extend(more.tables);
    elements.places.iter_mut().zip(more.places).for_each(|(places, more)| places.extend(more));
    let (offset, handed) = (*stock.delta, std::mem::take(&mut stock.handed));
    stock.end();
    session.close().expect("an orderly end");
    let received =
        transcripts.iter().flat_map(|transcript| View::of(transcript).only(&[Kind::Received]).parts().to_vec());
    let messages = received.flat_map(|part| blocks(&part.bytes)).collect();
    Node { offset, messages, handed, streamed, elements }
}

/// Three calls, the last one of which has choices of the receiver's own.
fn stream(stock: &mut Stock, session: &mut Session) -> Handed {
    stock.begin_streams(session).expect("an honest peer");
    for _ in 0..2 {
        session.next_round();
        stock.stream(session, [OTS; NODES], |_, _, _| (), |_, _, _| ()).expect("an honest peer");
    }
    let own = random_words(OTS);
    session.next_round();
    stock.stream_chosen(session, (OTS, &own), |_, _, _| (), |_, _, _| ()).expect("an honest peer");
    let streamed = std::mem::take(&mut stock.streamed);
    assert!(streamed.received.choices.ends_with(&own), "the receiver's choices");
    streamed
}

/// Both nodes of a session.
fn both(is_ahead: bool, twice: bool) -> [Node; NODES] {
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let nodes: Vec<Node> = thread::scope(|scope| {
        let threads: Vec<_> = memory::mesh_of_two(&["a", "b"], &options)
            .into_iter()
            .map(|[session, background]| scope.spawn(move || node(session, is_ahead.then_some(background), twice)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    });
    nodes.try_into().map_err(|_| ()).expect("two nodes")
}

/// All blocks that a node sees or is given.
fn seen(node: &Node) -> impl Iterator<Item = u128> {
    let given = [&node.handed, &node.streamed].map(|given| given.sent.iter().chain(&given.received.blocks));
    node.messages.iter().chain(given.into_iter().flatten()).copied()
}

fn choice(ots: &CotReceiver, i: usize) -> u128 {
    u128::from(ots.choices[i / 64] >> (i % 64) & 1)
}

/// That each OT of the sender is the same one of the receiver.
fn assert_aligned(sender: &Handed, receiver: &Handed, offset: u128) {
    let ots = &receiver.received;
    assert_eq!(sender.sent.len(), ots.blocks.len());
    for (i, (zero, block)) in sender.sent.iter().zip(&ots.blocks).enumerate() {
        assert_eq!(zero ^ block, choice(ots, i) * offset, "OT {i}");
    }
}

/// Every OT is given once, to both ends at the same place, whatever it was made by and for. No message shows an offset,
/// as a difference of two blocks that a node sees, nor a node's choices.
// views: crates/mpc/src/backends/two/transfers/mod.rs
// views: crates/mpc/src/backends/two/transfers/ahead.rs
// views: crates/mpc/src/backends/two/transfers/filler.rs
// views: crates/mpc/src/backends/two/transfers/streams.rs
// views: crates/mpc/src/backends/two/transfers/lookups.rs
#[test]
fn no_correlation_is_taken_twice_and_no_message_shows_one() {
    let sessions = [both(false, false), both(true, false)];
    for nodes in &sessions {
        for (me, node) in nodes.iter().enumerate() {
            let peer = &nodes[1 - me];
            assert_aligned(&node.handed, &peer.handed, node.offset);
            assert_aligned(&node.streamed, &peer.streamed, node.offset);
            assert_eq!(meetings(seen(node), &multiples(peer.offset)[1..]), Vec::<[usize; 2]>::new());
            let hidden =
                [&peer.handed, &peer.streamed].map(|given| blocks(bytemuck::cast_slice(&given.received.choices)));
            let shown: Vec<u128> = seen(node).chain(hidden.into_iter().flatten()).collect();
            assert_eq!(meetings(shown, &[!0]), Vec::<[usize; 2]>::new(), "choices in clear");
        }
    }
    // Nothing of one session comes again in the other one.
    for me in 0..NODES {
        let all = sessions.iter().flat_map(|nodes| seen(&nodes[me]));
        assert_eq!(meetings(all, &[]), Vec::<[usize; 2]>::new());
    }
}

/// The last 64 OTs that one use had are taken again by the next.
#[test]
fn correlations_that_are_taken_twice_are_found() {
    let [node, peer] = both(false, true);
    let found = meetings(seen(&node), &multiples(peer.offset)[1..]);
    assert_eq!(found.len(), 2 * 64 * MAKERS.len(), "as many of each direction");
    // The other string of one OT in a message.
    let [node, peer] = both(false, false);
    let shown = seen(&node).chain([node.handed.received.blocks[5] ^ peer.offset]);
    assert_eq!(meetings(shown, &multiples(peer.offset)[1..]).len(), 2, "from either side");
}

/// One party's runs, an OT each: what it has of it, what it may know and what it must not learn.
fn runs_of(views: impl Iterator<Item = [Vec<u128>; 3]>) -> Vec<Run> {
    let bytes = |blocks: &[u128]| bytemuck::cast_slice::<u128, u8>(blocks).to_vec();
    views
        .map(|[view, known, secret]| Run {
            view: View::default().with(Kind::Derived, "blocks", bytes(&view)),
            known: View::default().with(Kind::Own, "choice", known.iter().map(|&bits| bits as u8).collect::<Vec<_>>()),
            secret: View::default().with(Kind::Own, "secret", bytes(&secret)),
        })
        .map(|run| Run { known: run.known.cut(|_, bit| bit % 8 < WIDTH), ..run })
        .collect()
}

fn hashed(block: u128) -> u128 {
    let mut blocks = [block];
    CorrelationRobustHash::new().hash_blocks(&mut blocks);
    blocks[0]
}

/// The battery on real runs, and beside it simulated ones with the same choices and secrets.
fn assert_random(real: &[Run], simulated: &[Run], what: &str) {
    // The lowest bit of a silent OT's block is its choice.
    let blocks: Vec<View> = real.iter().map(|run| run.view.cut(|_, bit| bit > 0)).collect();
    assert_eq!(leaks(real), [], "{what}");
    assert_eq!(correlated(real), [], "{what}");
    assert_eq!((biased(&blocks), constants(&blocks)), (vec![], vec![]), "{what}");
    assert_eq!(indistinguishable(real, simulated), [], "{what}");
}

/// The OTs of each maker, one after the other, with the choices and the other strings that the receiver lacks.
fn parts(handed: &Handed) -> Vec<std::ops::Range<usize>> {
    (0..handed.received.blocks.len().min(OTS * MAKERS.len())).step_by(OTS).map(|first| first..first + OTS).collect()
}

/// What a receiver has of an OT, its block and string, says nothing of the other string, and what a sender has nothing
/// of the choice. Both are simulated by random blocks, but that the lowest bit of a silent OT's block is its choice.
#[test]
fn ots_are_those_of_a_dealer() {
    let mut prg = Prg::new(&Seed::from_bytes([61; 16]));
    let nodes = both(true, false);
    for (me, node) in nodes.iter().enumerate() {
        let peer = &nodes[1 - me];
        for (from, to) in [(&node.handed, &peer.handed), (&node.streamed, &peer.streamed)] {
            for (number, range) in parts(to).into_iter().enumerate() {
                let silent =
                    matches!(MAKERS[number], Maker::FirstSilent | Maker::Silent) && std::ptr::eq(to, &peer.handed);
                let ots = &to.received;
                let of_receiver = |i: usize, block: u128| {
                    [vec![block, hashed(block)], vec![choice(ots, i)], vec![hashed(ots.blocks[i] ^ node.offset)]]
                };
                let mut made = |i: usize| {
                    let random = prg.vector::<u128>(1)[0];
                    if silent { random & !1 | choice(ots, i) } else { random }
                };
                let real = runs_of(range.clone().map(|i| of_receiver(i, ots.blocks[i])));
                let simulated = runs_of(range.clone().map(|i| of_receiver(i, made(i))));
                assert_random(&real, &simulated, &format!("received by {}, part {number}", 1 - me));
                let of_sender = |i: usize, zero: u128| {
                    [vec![zero >> 1, hashed(zero), hashed(zero ^ node.offset)], vec![], vec![choice(ots, i)]]
                };
                // A sender's zero blocks are even, or their lowest bit is random.
                let cut = |runs: Vec<Run>| -> Vec<Run> {
                    let of = |run: Run| Run {
                        view: run.view.cut(|_, bit| bit != 127),
                        secret: run.secret.cut(|_, bit| bit == 0),
                        ..run
                    };
                    runs.into_iter().map(of).collect()
                };
                let real = cut(runs_of(range.clone().map(|i| of_sender(i, from.sent[i]))));
                let simulated = cut(runs_of(range.map(|i| of_sender(i, prg.vector::<u128>(1)[0]))));
                assert_random(&real, &simulated, &format!("sent by {me}, part {number}"));
            }
        }
    }
}

/// Of a lookup the receiver has the string at its place, and no other one; no string comes twice, in one call or in
/// two.
#[test]
fn lookups_are_those_of_a_dealer() {
    let mut prg = Prg::new(&Seed::from_bytes([62; 16]));
    let nodes = both(false, false);
    for (me, node) in nodes.iter().enumerate() {
        let (tables, peer) = (&node.elements.tables, &nodes[1 - me].elements);
        assert_eq!(tables.len(), 2 * LOOKUPS);
        assert_eq!(
            meetings(tables.as_flattened().iter().copied(), &multiples(node.offset)[1..]),
            Vec::<[usize; 2]>::new()
        );
        let place = |i: usize| {
            (0..WIDTH).fold(0, |place, bit| place | (peer.places[bit][i / 64] >> (i % 64) & 1) << bit) as usize
        };
        let of = |i: usize, found: u128, other: usize| {
            [vec![found], vec![place(i) as u128], vec![tables[i][place(i) ^ other]]]
        };
        for other in 1..LOOKUP_STRINGS {
            let real = runs_of((0..tables.len()).map(|i| of(i, peer.found[i], other)));
            let simulated = runs_of((0..tables.len()).map(|i| of(i, prg.vector::<u128>(1)[0], other)));
            assert_random(&real, &simulated, &format!("looked up by {}", 1 - me));
        }
        assert!((0..tables.len()).all(|i| peer.found[i] == tables[i][place(i)]), "what is at its place");
        let places: Vec<View> = (0..tables.len())
            .map(|i| View::default().with(Kind::Derived, "place", [place(i) as u8]).cut(|_, bit| bit < WIDTH))
            .collect();
        assert_eq!((biased(&places), constants(&places)), (vec![], vec![]));
    }
}
