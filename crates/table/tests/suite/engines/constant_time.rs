//! No branch and no address depends on a share: plans of every operator on both engines, under memcheck
//! (docs/security/constant-time.md).

use std::hint::black_box;
use std::thread;

use crate::world::runs::run;
use crate::world::steps::{column, release};
use crate::world::{Cell, HASH_KEY, bits, ring64};
use tacit_marks::found;
use tacit_math::Plane;
use tacit_mpc::backends::{Components, Tally};
use tacit_mpc::{Backend, Block, Rows, Shape};
use tacit_net::{Options, PartyId, Session, memory};
use tacit_table::{CircuitPsi, Executor, Matched, Table};

use super::*;

/// A network so thin that every circuit goes gate by gate.
const THIN: Link = Link { latency: 0.0, bandwidth: 1e6 };

/// What memcheck finds in the plans whose answers and costs the other tests check, one after the other in one session.
/// link: the one that the engine chooses circuits by.
fn of_plans<B: Networked>(link: Link) -> Vec<(String, usize)> {
    let tables = inputs(5, 11, 5);
    let (given, names) = (data(&tables), names::<B>());
    let mut cases = cases(None);
    cases.iter_mut().for_each(|case| case.plan = case.plan.clone().among(&names));
    let node = |session: Session| {
        let name = session.name(session.me()).to_owned();
        let mut engine = B::start(session).expect("an engine");
        engine.declare(link);
        for Case { name: title, plan, .. } in &cases {
            eprintln!("{name}: {title}");
            let mut executor = Executor::new(engine, permits(plan, &names), names.clone(), HASH_KEY);
            let own = |owner: &str, id| (owner == name).then(|| given[&id].clone());
            let learnt = run(&mut executor, plan, own).expect("a good end");
            let expected = model::interpret(plan, &tables);
            assert_eq!(learnt.is_empty(), name != PARTIES[0] && Some(&name) != names.last(), "{title}");
            learnt.into_iter().for_each(|(step, got)| assert_eq!(got.sorted(), expected[&step].clone().sorted()));
            engine = executor.into_backend();
        }
        engine.into_session().close().expect("a good end");
    };
    found(B::NAME, || {
        let sessions = memory::mesh(&PARTIES[..B::NODES], &Options::default());
        thread::scope(|scope| sessions.into_iter().for_each(|session| drop(scope.spawn(|| node(session)))));
    })
}

#[test]
fn three_nodes_branch_on_no_share() {
    assert_eq!(of_plans::<Rep3>(THIN), []);
}

#[test]
fn two_nodes_branch_on_no_share() {
    assert_eq!(of_plans::<Two>(THIN), []);
}

#[test]
fn two_nodes_that_garble_branch_on_no_share() {
    assert_eq!(of_plans::<Two>(Link::UNDECLARED), []);
}

/// Rows of each side of a join, all of which have a key of the other side.
const ROWS: usize = 5;

/// Rows that match where nobody learns which.
const VALID: usize = 3;

fn side(owner: &str, local: usize, columns: &[String]) -> String {
    let (columns, keys) = (columns.join(","), r#"[{"source":"k","encode":"int"}]"#);
    format!(r#"{{"local":{local},"owner":"{owner}","rows":null,"keys":{keys},"columns":[{columns}]}}"#)
}

/// The step 3 that joins both owners' tables.
fn join_by(op: &str, more: &str) -> Operator {
    let left = [column("k", "int", &bits(8, false, true)), column("v", "int", &ring64(20, false))];
    let right = [column("s", "bytes", &bits(24, false, true)), column("w", "int", &bits(9, true, false))];
    let (left, right) = (side("ann", 1, &left), side("bob", 2, &right));
    let text = format!(r#"{{"id":3,"op":"{op}","left":{left},"right":{right}{more}}}"#);
    Operator::from_json(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Both owners' tables.
fn tables() -> [DataTable; 2] {
    let rows = |cells: fn(usize) -> Vec<Cell>| (0..ROWS).map(cells).collect();
    let left = rows(|i| vec![Cell::Int(i as i128), Cell::Int(100 + i as i128)]);
    let right = rows(|i| vec![Cell::Int(i as i128), Cell::Text(format!("r{i}")), Cell::Int(-(i as i128))]);
    [Clear::new(&["k", "v"], left), Clear::new(&["k", "s", "w"], right)].map(|table| table.to_data(&TEXTS))
}

fn sizes(data: &[Option<DataTable>; 2]) -> [Option<usize>; 2] {
    data.each_ref().map(|data| data.as_ref().map(|data| data.rows))
}

/// In place of the protocol between the owners, of which crates/psi has its own checks: its result, each side given by
/// its owner.
fn matched<B: Backend>(b: &mut B, psi: &CircuitPsi, own: [Option<Block>; 2]) -> Result<Matched<B>, TableError> {
    let valid = Block { rows: ROWS, bits: vec![Plane::from_fn(ROWS, |i| i < VALID)], ..Block::default() };
    let valid = b.input(PartyId(0), valid.shape(), own[0].is_some().then_some(valid))?.bits.swap_remove(0);
    let [left, right] = psi.sides().map(|side| Shape { rows: ROWS, ..side.shape() });
    let [own_left, own_right] = own;
    Ok(Matched { valid, sides: [b.input(PartyId(0), left, own_left)?, b.input(PartyId(1), right, own_right)?] })
}

/// The same, of owners' data.
fn given<B: Backend>(
    executor: &mut Executor<B>,
    psi: &CircuitPsi,
    data: &[Option<DataTable>; 2],
) -> Result<Matched<B>, TableError> {
    let items = executor.circuit_sizes(psi, sizes(data))?;
    let mut own = [None, None];
    for (side, data) in data.iter().enumerate() {
        if let Some(data) = data {
            own[side] = Some(executor.circuit_side(psi, side, data, items[side])?.1);
        }
    }
    matched(executor.backend_mut(), psi, own)
}

/// What memcheck finds while both owners' tables are joined, and `rows` rows released.
fn of_join<B: Networked>(
    operator: &Operator,
    rows: usize,
    join: impl Fn(&mut Executor<B>, [Option<DataTable>; 2]) -> Result<Table<B>, TableError> + Sync,
) -> Vec<(String, usize)> {
    let release = Operator::from_json(&release(9, operator.id(), &["k", "v", "s", "w"], false)).expect("an operator");
    let plan = Plan { operators: vec![operator.clone(), release] }.among(&names::<B>());
    let none = |b: &mut Tally<B::Formulas>, psi: &CircuitPsi, _: [usize; 2]| matched(b, psi, [None, None]);
    let permits = cost::permits(&names::<B>().into(), &plan.operators, none).expect("a plan");
    let node = |session: Session| {
        let me = session.me().0;
        let mut engine = B::start(session).expect("an engine");
        engine.declare(THIN);
        let mut executor = Executor::new(engine, Permits::from_json(&permits).expect("a list"), names::<B>(), HASH_KEY);
        let mut places = 0..;
        let data = tables().map(|table| (places.next() == Some(me)).then_some(table));
        let table = join(&mut executor, data).expect("a join");
        let opened = executor.release(&plan.operators[1], table).expect("a permit");
        assert!(opened.is_none_or(|opened| opened.rows == rows));
        executor.into_backend().into_session().close().expect("a good end");
    };
    found(&format!("{} {}", B::NAME, operator.name()), || {
        let sessions = memory::mesh(&PARTIES[..B::NODES], &Options::default());
        thread::scope(|scope| sessions.into_iter().for_each(|session| drop(scope.spawn(|| node(session)))));
    })
}

fn of_joins<B: Networked>() -> Vec<(String, usize)> {
    let known = join_by("psi", r#","right_unique":true"#);
    let Operator::Psi(psi) = &known else { unreachable!() };
    let mut all = of_join::<B>(&known, ROWS, |executor, data| {
        let (items, permit) = executor.psi_sizes(psi, sizes(&data))?;
        let rows = executor.psi_rows(psi, permit, sizes(&data)[1])?;
        // All items match, and both have them in one order.
        let matching: Vec<u32> = (0..ROWS as u32).collect();
        let mut share = [None, None];
        for (side, data) in data.iter().enumerate() {
            if let Some(data) = data {
                let keys = executor.psi_keys(psi, side, data, items[side])?;
                share[side] = Some(data.gather(&keys.rows(&matching, &[1; ROWS])));
            }
        }
        executor.psi_share(psi, rows, share)
    });
    let hidden = join_by("circuit_psi", "");
    let Operator::CircuitPsi(psi) = &hidden else { unreachable!() };
    all.extend(of_join::<B>(&hidden, VALID, |executor, data| {
        let matched = given(executor, psi, &data)?;
        executor.circuit_table(psi, matched)
    }));
    all
}

#[test]
fn joins_of_two_owners_branch_on_no_share() {
    assert_eq!([of_joins::<Rep3>(), of_joins::<Two>()].concat(), []);
}

/// A call, so that no compiler makes a conditional move of the branch.
#[inline(never)]
fn odd() -> u64 {
    black_box(1)
}

/// What operators work on is marked: one branch on a share of a table is found, at each node.
fn planted<B: Components>() {
    let operator = join_by("circuit_psi", "");
    let Operator::CircuitPsi(psi) = &operator else { unreachable!() };
    let found = of_join::<B>(&operator, VALID, |executor, data| {
        let matched = given(executor, psi, &data)?;
        let shares = B::take_apart(Rows { bits: vec![matched.valid.clone()], ..Rows::empty(ROWS) });
        // Not every component of an owner's input is secret: one is zero.
        let of_all = shares.iter().fold(0, |all, share| all ^ share.bits[0].words()[0]);
        black_box(if black_box(of_all) & 1 == 1 { odd() } else { 0 });
        executor.circuit_table(psi, matched)
    });
    assert_eq!(found, [(format!("{} {}", B::NAME, operator.name()), B::NODES)]);
}

#[test]
fn planted_faults_of_tables_are_found() {
    planted::<Rep3>();
    planted::<Two>();
}
