//! Runs an operator hundreds of times and asks what each node could compute.

use bytemuck::pod_collect_to_vec;
use serde_json::{Value as Json, json};
use tacit_math::plane::words_for;
use tacit_math::{Plane, Prg, Seed, transpose};
use tacit_mpc::backends::Clear;
use tacit_mpc::{Backend, Block, Permits};
use tacit_net::PartyId;
use tacit_table::operator::{GroupBy, Join, Kept};
use tacit_table::{DataTable, Executor, Operator, Table};
use tacit_views::{Difference, Kind, Run, View, indistinguishable, runs_needed, seed};

use crate::files::through_a_file;
use crate::ideal::{Dealing, Disclosed, Engine, Public};
use crate::permits::permit;
use crate::plain::{Shape, Sorting, operator, sort_by, sorted};
use crate::watched::{Call, Shared, Watched, bundle, clear, unwrapped};
use crate::world::{
    DISCLOSING, Effort, Ends, Findings, PARTIES, Source, THIN, dealt, findings, plain, runs_for, watch,
};

/// What `make test` has time for.
pub const EFFORT: Effort = Effort { bits: 150, lanes: 2, runs: 300, whole: usize::MAX };

/// The same where something is opened: all of a few rows.
pub const OPENED: Effort = Effort { bits: 150, lanes: 4, runs: 400, whole: usize::MAX };

/// What `make nightly` has time for.
pub const MORE: Effort = Effort { bits: 900, lanes: 5, runs: 1000, whole: 2000 };

/// Row counts around the end of a word, for tables of narrow columns.
pub const SIZES: [usize; 5] = [0, 1, 3, 10, 65];

/// Those for tables of numbers, each row of which takes whole words.
pub const FEW: [usize; 3] = [0, 1, 3];

/// How rows came about.
#[derive(Clone, Copy, Debug)]
pub enum From {
    /// By maps that need no message.
    Made(Source),
    /// Out of the file of a kept table.
    File,
}

impl From {
    /// All ways.
    pub const ALL: [Self; 6] = [
        Self::Made(Source::Dealt),
        Self::Made(Source::Slice),
        Self::Made(Source::Limit),
        Self::Made(Source::Concat),
        Self::Made(Source::Gather),
        Self::File,
    ];

    fn source(self) -> Source {
        if let Self::Made(source) = self { source } else { Source::Dealt }
    }
}

/// An operator and the tables that it gets.
#[derive(Clone)]
pub struct Case {
    pub name: &'static str,
    pub tables: Vec<Shape>,
    pub step: Json,
    /// The column by which a sort of the plan puts the first table in order, and how wide it is. An order is shown, and
    /// rows are cut off, behind a sort alone.
    pub sorted_by: Option<(&'static str, usize)>,
    /// As [`Play::labels`].
    pub labels: Option<fn(usize) -> Vec<u64>>,
    /// For a release, the columns that are declared, to these nodes.
    pub released: Option<(Vec<&'static str>, &'static [usize])>,
    /// The number of rows, and as [`Play::explained`].
    pub explained: Option<(usize, usize, &'static str)>,
    /// Of a step that shows one node keys.
    pub keys: Option<Keys>,
}

/// Keys that a node sees. to: the node. columns: the key of each table. follows: what follows from the keys, sorted in
/// each table, that the node computes from them in any order.
#[derive(Clone)]
pub struct Keys {
    pub to: &'static [usize],
    pub columns: Vec<&'static str>,
    pub follows: fn(&[Block]) -> Block,
}

impl Case {
    pub fn new(name: &'static str, tables: &[Shape], step: Json) -> Self {
        Self {
            name,
            tables: tables.to_vec(),
            step,
            sorted_by: None,
            labels: None,
            released: None,
            explained: None,
            keys: None,
        }
    }

    pub fn sorted_by(self, column: &'static str, width: usize) -> Self {
        Self { sorted_by: Some((column, width)), ..self }
    }

    pub fn labels(self, labels: fn(usize) -> Vec<u64>) -> Self {
        Self { labels: Some(labels), ..self }
    }

    /// calls: how many have the finding, at every node, with that many rows.
    pub fn explained(self, rows: usize, calls: usize, finding: &'static str) -> Self {
        Self { explained: Some((rows, calls, finding)), ..self }
    }

    pub fn released(self, columns: &[&'static str], to: &'static [usize]) -> Self {
        Self { released: Some((columns.to_vec(), to)), ..self }
    }

    pub fn keys(self, to: &'static [usize], columns: &[&'static str], follows: fn(&[Block]) -> Block) -> Self {
        Self { keys: Some(Keys { to, columns: columns.to_vec(), follows }), ..self }
    }

    /// Whether the number of valid rows is opened to all nodes.
    fn counts(&self) -> bool {
        self.step["op"] == "resize" && self.step["rows"].is_null()
    }

    /// Of a release that says so, as many rows as can be valid.
    fn most(&self) -> Option<usize> {
        self.step["most"].as_u64().map(|most| most as usize)
    }
}

/// The permits of a step on such a table, for the first nodes.
fn permits(step: &Operator, table: &Shape, nodes: &[String]) -> Permits {
    let (kind, recipients, columns) = match step {
        Operator::Release(release) => ("answer", release.to.clone(), table.opened(&release.columns)),
        Operator::Join(Join { trusted: Some(party), left_keys, .. }) => {
            ("keys", vec![party.clone()], never_null(table.opened(left_keys)))
        }
        Operator::GroupBy(GroupBy { trusted: Some(party), keys, .. }) => {
            ("keys", vec![party.clone()], table.opened(keys))
        }
        Operator::Resize(_) => ("count", nodes.to_vec(), vec![]),
        _ => ("size", nodes.to_vec(), vec![]),
    };
    let permit =
        json!([{"site": step.name(), "kind": kind, "recipients": recipients, "columns": columns, "rows": null}]);
    Permits::from_json(&permit.to_string()).expect("a list")
}

/// Rows with a NULL among the keys of a join do not count.
fn never_null(mut columns: Vec<Json>) -> Vec<Json> {
    columns.iter_mut().for_each(|column| column["kind"]["nullable"] = false.into());
    columns
}

pub fn names(nodes: usize) -> Vec<String> {
    PARTIES[..nodes].iter().copied().map(String::from).collect()
}

/// Rows in clear as a source makes them of others.
fn made(plain: &Block, source: Source, rows: usize) -> Block {
    let mut b = Clear::new().expect("randomness");
    let shared = b.input(PartyId(0), plain.shape(), Some(plain.clone())).expect("rows");
    let shared = source.make(&b, shared, rows);
    b.open(&shared, permit(&PARTIES[..1], shared.shape())).expect("opened").expect("rows")
}

/// A node's engine with its notes.
pub type Node<B> = Watched<Engine<B>>;

/// Something that nodes do, written once for engines and the ideal ones beside them.
pub trait Play: Sync {
    /// One run at a node.
    fn run<B: Dealing + 'static>(&self, b: Node<B>, number: usize) -> (Node<B>, Ends);

    /// The calls that disclose something, in their order.
    fn discloses(&self) -> &'static [&'static str] {
        &[]
    }

    /// The numbers by which it reveals shuffled rows as planes, by the number of rows; none: their places.
    fn labels(&self) -> Option<fn(usize) -> Vec<u64>> {
        None
    }

    /// The number of calls with a finding that a public fact explains, at every node, and what the finding has in it.
    fn explained(&self) -> Option<(usize, &'static str)> {
        None
    }

    /// What it is, for messages.
    fn name(&self) -> String;
}

/// A case's operator on rows that came about in some way.
pub struct Operated<'a> {
    case: &'a Case,
    rows: usize,
    from: From,
    seed: Seed,
    step: Operator,
    /// How each table is taken up, and its rows.
    kept: Vec<(Operator, usize)>,
}

impl<'a> Operated<'a> {
    pub fn new(case: &'a Case, rows: usize, from: From) -> Self {
        let kept = case.tables.iter().enumerate().map(|(place, shape)| {
            let rows = shape.rows.unwrap_or(rows);
            (shape.kept(place + 1, rows), rows)
        });
        let seed = seed(&format!("{}, {rows} rows, {from:?}", case.name));
        Self { case, rows, from, seed, step: operator(&case.step), kept: kept.collect() }
    }
}

/// How many rows of a padded table are valid, as it is opened.
fn counted(plain: &Block) -> Block {
    let valid = plain.bits.last().expect("valid bits");
    let number = (0..plain.rows).filter(|&row| valid.get(row)).count() as u32;
    Block { rows: 1, r32: vec![vec![number]], ..Block::default() }
}

/// Sorts the first table, if the case says so.
fn put_in_order<B: Dealing + 'static>(executor: &mut Executor<Node<B>>, case: &Case, tables: &mut [Table<Node<B>>]) {
    if let Some((column, _)) = case.sorted_by {
        tables[0] = executor.run(&sort_by(column), vec![tables[0].clone()]).unwrap_or_else(|error| panic!("{error}"));
    }
}

impl Play for Operated<'_> {
    fn run<B: Dealing + 'static>(&self, b: Node<B>, number: usize) -> (Node<B>, Ends) {
        let Self { case, from, step, .. } = self;
        let mut prg = Prg::new(&self.seed.derive(&number.to_string()));
        let (node, parties, source) = (b.node(), names(B::NODES), from.source());
        let mut executor = Executor::new(b, permits(step, &case.tables[0], &parties), parties, [7; 32]);
        let (mut tables, mut plains, mut begin) = (vec![], vec![], vec![]);
        for (shape, (kept, rows)) in case.tables.iter().zip(&self.kept) {
            let deal = |b: &mut Node<B>, _: &Kept| {
                let valid = |row, random| random && case.most().is_none_or(|most| row < most);
                let plain = shape.draw(source.takes(*rows), valid, &mut prg);
                let shares = dealt::<Engine<B>>(&plain, node, &mut prg);
                begin.extend(bundle("begin", &shares));
                plains.push((plain, *rows));
                Ok(source.make(b, unwrapped(shares), *rows))
            };
            let table = executor.kept(kept, deal).unwrap_or_else(|error| panic!("{error}"));
            tables.push(match from {
                From::Made(_) => table,
                From::File => through_a_file(&mut executor, &table, shape, kept),
            });
        }
        let mut public = Public { labels: case.labels, ..Public::default() };
        let (Operator::Release(release), Some((columns, to))) = (step, &case.released) else {
            let mut declared = View::default();
            if let Some(Keys { to, columns, follows }) = &case.keys {
                let tables = case.tables.iter().zip(&plains).zip(columns);
                let parts = tables.map(|((shape, (plain, rows)), key)| {
                    sorted(&shape.counting(&made(plain, source, *rows), key, step.op() == "join"))
                });
                let parts: Vec<Block> = parts.collect();
                if to.contains(&node) {
                    parts.iter().for_each(|part| declared.extend(clear("declared keys", part)));
                    declared.extend(clear("what follows from them", &follows(&parts)));
                }
                public.disclosed.push_back(Disclosed::Opened { parts, to, sorting: None });
            }
            if case.counts() {
                let number = counted(&made(&plains[0].0, source, plains[0].1));
                declared.extend(clear("declared number", &number));
                public.disclosed.push_back(Disclosed::Opened { parts: vec![number], to: &[0, 1, 2], sorting: None });
            }
            executor.backend_mut().inner_mut().hear(public);
            put_in_order(&mut executor, case, &mut tables);
            let _out = executor.make(step, tables).unwrap_or_else(|error| panic!("{error}"));
            let b = executor.into_backend();
            let end = b.latest();
            return (b, Ends { begin, end, declared });
        };
        let shown = case.tables[0].shown(&made(&plains[0].0, source, plains[0].1), columns);
        let opened: Vec<u32> = (0..case.most().unwrap_or(shown.rows).min(shown.rows) as u32).collect();
        let shown = shown.gather(&opened);
        let sorting = case.sorted_by.map(|(_, key)| Sorting { key, padded: case.tables[0].padded });
        let answer = sorting.map_or_else(|| sorted(&shown), |sorting| sorting.sort(&sorted(&shown)));
        let declared = if to.contains(&node) { clear("declared answer", &answer) } else { View::default() };
        public.disclosed.push_back(Disclosed::Opened { parts: vec![answer], to, sorting });
        executor.backend_mut().inner_mut().hear(public);
        put_in_order(&mut executor, case, &mut tables);
        let opened = executor.release(step, tables.swap_remove(0)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(opened.is_some(), release.to.iter().any(|to| *to == PARTIES[node]), "who learns the answer");
        (executor.into_backend(), Ends { begin, end: vec![], declared })
    }

    fn discloses(&self) -> &'static [&'static str] {
        match (&self.case.released, &self.case.keys) {
            _ if self.case.counts() => &["open"],
            (Some(_), _) => &["open"],
            (None, Some(_)) => &["open", "input"],
            (None, None) => &[],
        }
    }

    fn labels(&self) -> Option<fn(usize) -> Vec<u64>> {
        self.case.labels
    }

    fn explained(&self) -> Option<(usize, &'static str)> {
        self.case.explained.filter(|&(rows, ..)| rows == self.rows).map(|(_, calls, finding)| (calls, finding))
    }

    fn name(&self) -> String {
        format!("{}, {} rows, {:?}", self.case.name, self.rows, self.from)
    }
}

/// What an owner has, and what becomes known of how much it is.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// The number of rows is announced.
    Announced,
    /// The plan says a number, of which some are its rows.
    Padded,
    /// The number of rows of its source is announced, of which some are its rows.
    Source,
}

/// An input by node 0.
pub struct Owned<'a> {
    pub shape: &'a Shape,
    pub size: Size,
    pub rows: usize,
    pub seed: Seed,
}

impl<'a> Owned<'a> {
    pub fn new(shape: &'a Shape, size: Size, rows: usize) -> Self {
        Self { shape, size, rows, seed: seed(&format!("input of {rows} rows, {size:?}")) }
    }
}

impl Play for Owned<'_> {
    fn run<B: Dealing + 'static>(&self, b: Node<B>, number: usize) -> (Node<B>, Ends) {
        let Self { size, rows, .. } = *self;
        let mut prg = Prg::new(&self.seed.derive(&number.to_string()));
        let own = match size {
            Size::Announced => rows,
            Size::Padded | Size::Source => prg.vector::<u32>(1)[0] as usize % (rows + 1),
        };
        let shape = Shape { padded: !matches!(size, Size::Announced), ..self.shape.clone() };
        let plain = Shape::cut(&shape.draw(rows, |row, _| row < own, &mut prg), own);
        let step = shape.input(matches!(size, Size::Padded).then_some(rows), matches!(size, Size::Source));
        let (node, parties) = (b.node(), names(B::NODES));
        // Any sharing of what the owner has, to name it as the secret.
        let begin = bundle("begin", &dealt::<Engine<B>>(&plain, node, &mut prg));
        let mut executor = Executor::new(b, permits(&step, &shape, &parties), parties, [7; 32]);
        let mut declared = if node == 0 { clear("own input", &plain) } else { View::default() };
        let mut public = Public::default();
        if !matches!(size, Size::Padded) {
            declared.add(Kind::Opened, "size", (rows as u64).to_le_bytes());
            public.disclosed.push_back(Disclosed::Number(rows as u64));
        }
        executor.backend_mut().inner_mut().hear(public);
        let data = DataTable { pad_to: matches!(size, Size::Source).then_some(rows), ..shape.data(&plain, own) };
        let table = executor.input(&step, (node == 0).then_some(data)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(table.rows(), rows, "the declared size");
        let b = executor.into_backend();
        let end = b.latest();
        (b, Ends { begin, end, declared })
    }

    fn discloses(&self) -> &'static [&'static str] {
        if matches!(self.size, Size::Padded) { &["input"] } else { &["announce", "input"] }
    }

    fn name(&self) -> String {
        format!("input, {} rows, {:?}", self.rows, self.size)
    }
}

/// Calls of every node in every run.
pub type Nodes = Vec<Vec<Vec<Call>>>;

/// Runs on an engine, as many as the checks take.
pub fn watched<B: Dealing + 'static>(play: &impl Play, effort: Effort) -> Nodes {
    let body = |b, number| Ok(play.run::<B>(b, number));
    let pilot = watch::<Engine<B>>(1, THIN, body);
    let needed = (0..B::NODES).map(|node| runs_needed(&compared([&pilot, &pilot], node, 0, effort)));
    let runs = needed.fold(runs_for::<Engine<B>>(&pilot, effort), usize::max);
    watch::<Engine<B>>(runs, THIN, body)
}

/// [`check`]s an operator on rows of each number that came about in that way.
pub fn check_case<B: Dealing + 'static>(case: &Case, rows: &[(usize, From)]) {
    let opens = case.released.is_some() || case.keys.is_some() || case.counts();
    let effort = if opens { OPENED } else { EFFORT };
    rows.iter().for_each(|&(rows, from)| check::<B>(&Operated::new(case, rows, from), effort));
}

/// [`check`]s operators at every number of rows, which came about in all ways in turn.
pub fn check_sizes<B: Dealing + 'static>(cases: &[Case], sizes: &[usize]) {
    // There are not as many sizes as ways, so that the next case's sizes meet other ways.
    let mut from = From::ALL.into_iter().cycle();
    for case in cases {
        for (&rows, from) in sizes.iter().zip(from.by_ref()) {
            check::<B>(&Operated::new(case, rows, from), MORE);
        }
    }
}

/// What revealed places tell among three rows if a row's place is public: the row's number is zero where its place is.
pub const PUBLIC_PLACE: &str = "(shuffle_reveal): 2 linear relations with secrets";

/// Asserts that no node learns anything that is not declared.
pub fn check<B: Dealing + 'static>(play: &impl Play, effort: Effort) {
    let real = watched::<B>(play, effort);
    let (name, runs) = (format!("{}, {}", play.name(), B::NAME), real[0].len());
    let Findings(found) = findings::<Engine<B>>(&real, effort);
    let (calls, explanation) = play.explained().unwrap_or_default();
    let is_explained = |found: &String| calls > 0 && found.contains(explanation);
    let (explained, found): (Vec<_>, Vec<_>) = found.into_iter().partition(is_explained);
    assert!(explained.len() <= calls * B::NODES, "{name}: of more calls than are explained:\n{}", explained.join("\n"));
    assert!(found.is_empty(), "{name}, {runs} runs:\n{}", found.join("\n"));
    for run in real.iter().flatten() {
        let disclosing: Vec<&str> = run.iter().map(|call| call.name).filter(|name| DISCLOSING.contains(name)).collect();
        assert_eq!(disclosing, play.discloses(), "{name}: the calls that disclose something");
        run.iter()
            .filter(|call| call.name == "shuffle_reveal")
            .for_each(|call| check_revealed(&name, call, play.labels()));
    }
    for (node, found) in differences::<B>(play, &real, effort) {
        let first = found.first();
        assert!(found.is_empty(), "{name}, node {node}: {} differences from the ideal, {first:?}", found.len());
    }
}

/// That what is revealed of shuffled rows are the numbers that everyone knows, each once.
fn check_revealed(name: &str, call: &Call, labels: Option<fn(usize) -> Vec<u64>>) {
    let [planes, places, others @ ..] = call.public.parts() else { unreachable!("a bundle") };
    assert!(others.iter().all(|part| part.bytes.is_empty()), "{name}: places and labels alone are revealed");
    let rows = call.shared.iter().map(|shared| shared.rows).max().unwrap_or_default();
    let mut expected: Vec<u64> = (0..rows as u64).collect();
    for places in places.bytes.chunks(4 * rows.max(1)) {
        let mut numbers: Vec<u64> = pod_collect_to_vec::<u8, u32>(places).into_iter().map(u64::from).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, expected, "{name}: revealed places");
    }
    if planes.bytes.is_empty() {
        return;
    }
    if let Some(labels) = labels {
        expected = labels(rows);
    }
    let planes =
        planes.bytes.chunks(8 * words_for(rows)).map(|plane| Plane::from_words(rows, pod_collect_to_vec(plane)));
    let planes: Vec<Plane> = planes.collect();
    let mut numbers = transpose::rows_of_planes(&planes.iter().collect::<Vec<_>>(), rows);
    numbers.sort_unstable();
    assert_eq!(numbers, expected, "{name}: revealed labels");
}

/// The names of results in calls.
const RESULTS: [&str; 16] = [
    "drawn",
    "product",
    "conjunctions",
    "outputs",
    "sums",
    "selected",
    "places",
    "elements",
    "first",
    "second",
    "carries",
    "mask",
    "negated",
    "unmasked",
    "shuffled",
    "shared",
];

/// Bits of every word that are compared with the ideal: rows of planes, the first bits behind three or ten rows, low
/// bits of numbers.
fn lanes(effort: Effort) -> u64 {
    match effort.lanes {
        0..=2 => 0x403,
        3..=4 => 0x407,
        _ => 0x1_0000_040f,
    }
}

/// What a node has of every call in a run but for messages: its shares of results, and what became public. Known are
/// its shares of the input and what is declared, secret are the inputs.
fn compared([nodes, real]: [&Nodes; 2], node: usize, run: usize, effort: Effort) -> Run {
    let mut view = View::default();
    for call in nodes[node][run].iter().filter(|call| !["begin", "end"].contains(&call.name)) {
        for shared in call.shared.iter().filter(|shared| RESULTS.contains(&shared.name)) {
            let name = format!("{} of {}", shared.name, call.name);
            shared.components.iter().for_each(|own| view.add(Kind::Own, &name, own.clone()));
        }
        view.extend(call.public.clone());
    }
    let begin = &real[node][run][0];
    let mut known = begin.public.clone();
    let mut secret = View::default();
    for (place, shared) in begin.shared.iter().enumerate() {
        shared.components.iter().for_each(|own| known.add(Kind::Own, "begin", own.clone()));
        let all: Vec<&Shared> = real.iter().map(|own| &own[run][0].shared[place]).collect();
        secret.add(Kind::Own, "begin", plain(&all));
    }
    Run { view, known, secret }.lanes(lanes(effort))
}

/// What tells the ideal engine's views from real ones, node by node.
pub fn differences<B: Dealing + 'static>(
    play: &impl Play,
    real: &Nodes,
    effort: Effort,
) -> Vec<(usize, Vec<Difference>)> {
    let runs = real[0].len();
    let ideal = watch::<Engine<B>>(runs, THIN, |mut b, number| {
        b.inner_mut().become_ideal();
        Ok(play.run::<B>(b, number))
    });
    let of = |nodes: &Nodes, node| (0..runs).map(|run| compared([nodes, real], node, run, effort)).collect::<Vec<_>>();
    (0..B::NODES).map(|node| (node, indistinguishable(&of(real, node), &of(&ideal, node)))).collect()
}
