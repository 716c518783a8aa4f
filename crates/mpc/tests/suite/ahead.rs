//! Stock made ahead, in a session of its own: the same results, exactly the declared cost of both sessions, and one
//! clear end.

use std::thread;
use std::time::{Duration, Instant};

use super::permits::permit;
use tacit_math::{Plane, Prg, Seed};
use tacit_mpc::backends::two::{Order, TwoCosts};
use tacit_mpc::backends::{Clear, Networked, Ordered, Tally, Two};
use tacit_mpc::circuits::and_all;
use tacit_mpc::{Backend, Block, Linear, Link, MpcError, Result, Rows, Shape};
use tacit_net::{Cost, Direction, Message, NetError, Options, PartyId, Record, Session, memory};

const NODES: [&str; 2] = ["a", "b"];
const STEPS: [&str; 3] = ["1.and", "2.shuffle", "3.conjoin"];

/// What "within seconds" means in these tests.
const SOON: Duration = Duration::from_secs(25);

/// One step of a program that takes stock in both directions, in many ways.
fn step<B: Backend>(b: &mut B, name: &str, mut rows: Rows<B>) -> Result<Rows<B>> {
    b.step(name, |b| match name {
        "1.and" => {
            let products = b.and(&[&rows.bits[0], &rows.bits[2]], &[&rows.bits[1], &rows.bits[3]])?;
            rows.r64 = b.select(&[&products[0]], &[&rows.r64[0]])?;
            rows.bits.extend(products);
            Ok(rows)
        }
        "2.shuffle" => b.shuffle(rows),
        _ => {
            let all = and_all(b, rows.rows, rows.bits[..6].to_vec())?;
            let count = b.inject::<u64>(&[&all])?;
            // The order of the rows is random: a sum does not show it.
            let sum = |values: &Vec<u64>| vec![values.iter().fold(0, |sum: u64, value| sum.wrapping_add(*value))];
            let sums = |column: &B::Vector<u64>| B::Vector::map_many(&[column], 1, 1, |inputs| vec![sum(inputs[0])]);
            let r64 = [&rows.r64[0], &count[0]].into_iter().flat_map(sums).collect();
            Ok(Rows { r64, ..Rows::empty(1) })
        }
    })
}

fn shape(rows: usize) -> Shape {
    Shape { rows, bits: 4, r64: 1, ..Shape::default() }
}

/// Declared costs of the steps without their stock, what is made ahead, and declared costs with it.
fn declared(rows: usize, link: Link) -> (Vec<Cost>, Vec<Ordered<Order>>, Vec<Cost>) {
    let costs = |ahead: bool| {
        let mut b = Tally::<TwoCosts>::new(NODES.map(String::from).to_vec());
        b.declare(link);
        if ahead {
            b.make_ahead();
        }
        let (mut state, mut costs, mut needs) = (b.columns(shape(rows)), vec![], vec![]);
        for name in STEPS {
            b.take();
            state = step(&mut b, name, state).expect("a tally");
            costs.push(b.take());
            needs.push(b.take_needs());
        }
        (costs, b.orders(&needs))
    };
    let (online, orders) = costs(true);
    (online, orders, costs(false).0)
}

/// What is made ahead when each step is foreseen only when the one before is: more and smaller fillings.
fn step_by_step(rows: usize) -> Vec<Ordered<Order>> {
    let mut b = Tally::<TwoCosts>::new(NODES.map(String::from).to_vec());
    b.make_ahead();
    let (mut state, mut orders) = (b.columns(shape(rows)), vec![]);
    for (place, name) in STEPS.iter().enumerate() {
        state = step(&mut b, name, state).expect("a tally");
        let needs = b.take_needs();
        orders.extend(b.orders(&[needs]).into_iter().map(|ordered| Ordered { step: place, ..ordered }));
    }
    orders
}

/// What a node saw of a run.
struct View {
    opened: Block,
    online: Vec<(u64, u64)>,
    ahead: Vec<(u64, u64)>,
    messages: Vec<Vec<Message>>,
}

fn run(input: &Block, link: Link, orders: &[Ordered<Order>]) -> Vec<View> {
    let options = Options { record: Record::Sizes, ..Options::default() };
    let node = |[session, background]: [Session; 2]| {
        let (meter, transcript) = (background.meter(), background.transcript().expect("a record"));
        let mut b = Two::with_stock_ahead(session, background).expect("an engine");
        b.declare(link);
        orders.iter().for_each(|ordered| b.order(STEPS[ordered.step], ordered.order));
        let data = (b.session().me().0 == 1).then(|| input.clone());
        let mut rows = b.input(PartyId(1), input.shape(), data).expect("input");
        for name in STEPS {
            rows = step(&mut b, name, rows).expect("a result");
        }
        let opened = b.open(&rows, permit(&NODES, rows.shape())).expect("opened").expect("a recipient");
        let (online, own) = (b.session().meter().snapshot(), b.session().transcript().expect("a record").messages());
        b.into_session().close().expect("an orderly end");
        let background = meter.snapshot();
        let under = |name: &&str| [&online, &background].map(|all| all.under(name)).map(|c| (c.rounds, c.bytes_sent));
        let (online, ahead) = STEPS.iter().map(under).map(|[online, ahead]| (online, ahead)).unzip();
        View { opened, online, ahead, messages: vec![own, transcript.messages()] }
    };
    thread::scope(|scope| {
        let sessions = memory::mesh_of_two(&NODES, &options).into_iter();
        let threads: Vec<_> = sessions.map(|sessions| scope.spawn(|| node(sessions))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    })
}

fn random(rows: usize) -> Block {
    let seed = *Seed::random().expect("randomness").expose();
    println!("{rows} rows: seed {seed:?}");
    Block::random(shape(rows), &mut Prg::new(&Seed::from_bytes(seed)))
}

fn in_clear(input: &Block) -> Block {
    let mut b = Clear::new().expect("an engine");
    let mut rows = b.input(PartyId(0), input.shape(), Some(input.clone())).expect("input");
    for name in STEPS {
        rows = step(&mut b, name, rows).expect("a result");
    }
    b.open(&rows, permit(&NODES, rows.shape())).expect("opened").expect("the clear engine is every recipient")
}

fn check(rows: usize, link: Link) {
    let (online, orders, whole) = declared(rows, link);
    let input = random(rows);
    let views = run(&input, link, &orders);
    let expected = in_clear(&input);
    for (node, view) in views.iter().enumerate() {
        assert_eq!(view.opened.r64, expected.r64);
        for (number, name) in STEPS.iter().enumerate() {
            let declared = (online[number].rounds, online[number].sent[node]);
            assert_eq!(view.online[number], declared, "{name} of {rows} rows, online at node {node}");
            let made = orders.iter().filter(|ordered| ordered.step == number);
            let declared = made.fold((0, 0), |sum, each| (sum.0 + each.cost.rounds, sum.1 + each.cost.sent[node]));
            assert_eq!(view.ahead[number], declared, "{name} of {rows} rows, ahead at node {node}");
        }
    }
    let rounds = |costs: &[Cost]| costs.iter().map(|cost| cost.rounds).sum::<u64>();
    assert!(rounds(&online) < rounds(&whole), "fewer rounds than with stock made when it is used");
}

#[test]
fn both_sessions_send_what_they_declare() {
    check(1, Link::UNDECLARED);
    check(1000, Link::UNDECLARED);
    check(100_000, Link::UNDECLARED);
}

#[test]
fn on_a_fast_link_as_well() {
    check(20_000, Link { latency: 1e-4, bandwidth: 1e9 });
    check(300_000, Link { latency: 1e-4, bandwidth: 1e9 });
}

#[test]
fn what_nobody_ordered_is_made_when_it_is_used() {
    let input = random(5000);
    for view in run(&input, Link::UNDECLARED, &[]) {
        assert_eq!(view.opened.r64, in_clear(&input).r64);
        let rounds = |steps: &[(u64, u64)]| steps.iter().map(|step| step.0).sum::<u64>();
        assert_eq!(
            rounds(&view.online),
            declared(5000, Link::UNDECLARED).0.iter().map(|cost| cost.rounds).sum::<u64>()
        );
        assert!(rounds(&view.ahead) > 0);
    }
}

#[test]
fn a_slow_node_whose_stock_is_full_is_no_standstill() {
    let orders = step_by_step(20_000);
    assert!(orders.len() > 4, "more fillings than wait at a node");
    // Silence of all parties would be a fault after 300 ms.
    let options = Options { idle_timeout: Duration::from_millis(20), ..Options::default() };
    let node = |[session, background]: [Session; 2]| {
        let mut b = Two::with_stock_ahead(session, background)?;
        orders.iter().for_each(|ordered| b.order(STEPS[ordered.step], ordered.order));
        let me = b.session().me();
        let mut rows = b.input(PartyId(1), shape(20_000), (me.0 == 1).then(|| Block::zeros(shape(20_000))))?;
        for name in STEPS {
            if me.0 == 0 {
                thread::sleep(Duration::from_millis(600));
            }
            rows = step(&mut b, name, rows)?;
        }
        Ok::<(), MpcError>(b.into_session().close()?)
    };
    thread::scope(|scope| {
        let sessions = memory::mesh_of_two(&NODES, &options).into_iter();
        let threads: Vec<_> = sessions.map(|sessions| scope.spawn(|| node(sessions))).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("a node").expect("an orderly run"));
    });
}

#[test]
fn messages_of_both_sessions_depend_on_sizes_only() {
    let (_, orders, _) = declared(3000, Link::UNDECLARED);
    let line = |m: &Message| (m.step.clone(), m.round, m.peer, m.direction == Direction::Sent, m.bytes);
    let lines = |view: &View| view.messages.iter().map(|m| m.iter().map(line).collect::<Vec<_>>()).collect::<Vec<_>>();
    let ones = Plane::ones(3000);
    let other = Block { bits: vec![ones; 4], r64: vec![vec![u64::MAX; 3000]], ..Block::zeros(shape(3000)) };
    let seen = [Block::zeros(shape(3000)), other]
        .map(|input| run(&input, Link::UNDECLARED, &orders).iter().map(lines).collect::<Vec<_>>());
    assert!(seen[0].iter().all(|node| node.iter().all(|session| !session.is_empty())), "both sessions are recorded");
    assert_eq!(seen[0], seen[1]);
}

/// Runs both nodes; gives their errors.
fn fail(nodes: [&(dyn Fn([Session; 2]) -> Option<MpcError> + Sync); 2]) -> Vec<Option<NetError>> {
    let start = Instant::now();
    let errors = thread::scope(|scope| {
        let sessions = memory::mesh_of_two(&NODES, &Options::default()).into_iter();
        let threads: Vec<_> = sessions.zip(nodes).map(|(sessions, node)| scope.spawn(move || node(sessions))).collect();
        let errors = threads.into_iter().map(|thread| match thread.join().expect("a node") {
            Some(MpcError::Net(error)) => Some(error),
            Some(other) => panic!("{other}"),
            None => None,
        });
        errors.collect()
    });
    assert!(start.elapsed() < SOON, "it took {:?}", start.elapsed());
    errors
}

/// An honest node until its end.
fn honest([session, background]: [Session; 2]) -> Option<MpcError> {
    let orders = declared(20_000, Link::UNDECLARED).1;
    let program = || {
        let mut b = Two::with_stock_ahead(session, background)?;
        orders.iter().for_each(|ordered| b.order(STEPS[ordered.step], ordered.order));
        let input = (b.session().me().0 == 1).then(|| Block::zeros(shape(20_000)));
        let mut rows = b.input(PartyId(1), shape(20_000), input)?;
        for name in STEPS {
            rows = step(&mut b, name, rows)?;
        }
        Ok(b.into_session().close()?)
    };
    program().err()
}

#[test]
fn an_abort_of_either_session_ends_the_other() {
    for which in [0, 1] {
        let errors = fail([&honest, &|mut sessions: [Session; 2]| {
            // The other session stays until the honest node has ended both.
            if which == 1 {
                sessions.reverse();
            }
            let [aborted, mut kept] = sessions;
            aborted.abort("enough");
            kept.next_round();
            kept.recv(PartyId(0), &mut [0; 1 << 20]).err().map(MpcError::from)
        }]);
        let Some(NetError::Aborted { peer, reason, .. }) = &errors[0] else { panic!("session {which}: {errors:?}") };
        assert_eq!((peer.as_str(), reason.as_str()), ("b", "enough"), "session {which}");
    }
}

#[test]
fn a_peer_that_deviates_in_the_background_is_named_with_the_place() {
    let errors = fail([&honest, &|[mut session, mut background]| {
        (0..3).for_each(|_| background.next_round());
        session.next_round();
        background.send(PartyId(0), vec![0; 64]).ok();
        let ended = session.recv(PartyId(0), &mut [0; 1 << 20]);
        let ended = ended.and_then(|()| session.recv(PartyId(0), &mut [0]));
        drop(background);
        ended.err().map(MpcError::from)
    }]);
    let Some(NetError::Desynchronised { peer, step, .. }) = &errors[0] else { panic!("{errors:?}") };
    assert_eq!((peer.as_str(), step.as_str()), ("b", "setup"));
}

#[test]
fn an_engine_that_is_aborted_ends_its_thread_and_the_peer() {
    let aborting = |[session, background]: [Session; 2]| {
        let mut b = Two::with_stock_ahead(session, background).expect("an engine");
        declared(3_000_000, Link::UNDECLARED).1.iter().for_each(|ordered| b.order(STEPS[ordered.step], ordered.order));
        b.abort("its own input was refused");
        None
    };
    let errors = fail([&honest, &aborting]);
    let told = errors[0].as_ref().expect("the peer has ended").to_string();
    assert!(told.contains("its own input was refused"), "{told}");
}

#[test]
fn stock_that_nobody_takes_holds_up_nobody() {
    let early = |[session, background]: [Session; 2]| {
        let mut b = Two::with_stock_ahead(session, background).expect("an engine");
        declared(100_000, Link::UNDECLARED).1.iter().for_each(|ordered| b.order(STEPS[ordered.step], ordered.order));
        b.into_session().close().err().map(MpcError::from)
    };
    assert_eq!(fail([&early, &early]), [None, None]);
}
