//! Runs programs hundreds of times over an engine and looks at every call of every node with the battery.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

use tacit_math::plane::words_for;
use tacit_math::{Plane, Prg};
use tacit_mpc::backends::two::prices::{Prices, Work};
use tacit_mpc::backends::{Components, Four, Networked, Rep3, Two, clients};
use tacit_mpc::{Backend, Block, Link, Result, Rows, Shape, linear};
use tacit_net::{Options, Record, Session, memory};
use tacit_views::{Kind, Part, Run, View, biased, constants, correlated, leaks, repeats, runs_needed, seed};

use crate::watched::{Call, Shared, Watched, bundle, unwrapped};

/// The parties; an engine's nodes are the first of them.
pub const PARTIES: [&str; 4] = ["a", "b", "c", "d"];

/// A bundle of `rows` rows without columns.
pub fn shape(rows: usize) -> Shape {
    Shape { rows, ..Shape::default() }
}

/// A computation on shared columns of a shape, written once for all engines.
pub trait Program: Sync {
    /// The columns it takes, of `rows` rows.
    fn shape(&self, rows: usize) -> Shape;

    /// The computation.
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>>;

    /// Input drawn for one run.
    fn input(&self, shape: Shape, prg: &mut Prg) -> Block {
        Block::random(shape, prg)
    }
}

/// How the rows that a program gets came about, by maps that need no message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// As they were shared.
    Dealt,
    /// From the middle of more rows.
    Slice,
    /// The first of more rows, as a limit or a bound on groups leaves them.
    Limit,
    /// Two halves one after the other, cut out of more rows, the second one behind nothing.
    Concat,
    /// In another, public order.
    Gather,
    /// Prefix sums of the first of more rows.
    Sums,
    /// All of these, one after the other.
    Worked,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Dealt, Self::Slice, Self::Limit, Self::Concat, Self::Gather, Self::Sums, Self::Worked];

    /// How many rows it takes to make `rows` rows.
    pub fn takes(self, rows: usize) -> usize {
        match self {
            Self::Dealt | Self::Gather => rows,
            Self::Slice => rows + 37,
            Self::Limit | Self::Sums | Self::Worked => rows + 70,
            Self::Concat => rows + 64,
        }
    }

    /// Makes them.
    pub fn make<B: Backend>(self, b: &B, x: Rows<B>, rows: usize) -> Rows<B> {
        match self {
            Self::Dealt => x,
            Self::Slice => x.slice(5, rows),
            Self::Limit => x.slice(0, rows),
            Self::Concat => {
                let half = rows / 2;
                concat(&[x.slice(0, 0), x.slice(1, half), x.slice(60, rows - half), x.slice(3, 0)])
            }
            Self::Gather => {
                x.gather_public(&(0..rows as u32).map(|row| (row * 7 + 3) % rows.max(1) as u32).collect::<Vec<_>>())
            }
            Self::Sums => x.slice(0, rows).prefix_sums(),
            Self::Worked => {
                let cut = concat(&[x.slice(0, rows / 3), x.slice(64, 0), x.slice(30, rows - rows / 3)]);
                let mut worked = cut.prefix_sums().pad_zeros(3).slice(0, rows);
                worked.bits = worked.bits.iter().map(|plane| b.not(plane)).collect();
                worked
            }
        }
    }
}

fn concat<B: Backend>(parts: &[Rows<B>]) -> Rows<B> {
    let each = |columns: fn(&Rows<B>) -> usize| 0..columns(&parts[0]);
    Rows {
        rows: parts.iter().map(|part| part.rows).sum(),
        bits: each(|p| p.bits.len())
            .map(|j| linear::concat_bits(&parts.iter().map(|p| &p.bits[j]).collect::<Vec<_>>()))
            .collect(),
        r32: each(|p| p.r32.len())
            .map(|j| linear::concat_vectors::<u32, _>(&parts.iter().map(|p| &p.r32[j]).collect::<Vec<_>>()))
            .collect(),
        r64: each(|p| p.r64.len())
            .map(|j| linear::concat_vectors::<u64, _>(&parts.iter().map(|p| &p.r64[j]).collect::<Vec<_>>()))
            .collect(),
        r128: each(|p| p.r128.len())
            .map(|j| linear::concat_vectors::<u128, _>(&parts.iter().map(|p| &p.r128[j]).collect::<Vec<_>>()))
            .collect(),
    }
}

/// What an engine's node knows of the shares of a call by the engine's design: it dealt a mask, or holds all that a
/// value is made of.
pub trait Told: Components {
    /// Sets the engine up. The second session is for what an engine makes beside its protocols, whose views are looked
    /// at elsewhere.
    fn begin(session: Session, _beside: Session) -> Self {
        Self::start(session).expect("an engine")
    }

    /// Whether messages may have bits that are always zero, which say nothing, elsewhere than behind the last row of
    /// planes.
    const FILLED: bool = false;

    /// The names of those shares, and what of them it knows.
    fn told(call: &str, node: usize) -> &'static [(&'static str, Form)];
}

/// What of a share a node knows by design.
#[derive(Clone, Copy)]
pub enum Form {
    /// The value.
    Value,
    /// The value in the rows that this node deals ([`third`]).
    Dealt(usize),
    /// That the value in question is this component of its own.
    Component(usize),
}

/// The rows that a node of three deals.
pub fn third(rows: usize, dealer: usize) -> Range<usize> {
    dealer * rows / 3..(dealer + 1) * rows / 3
}

impl Told for Rep3 {
    fn told(call: &str, node: usize) -> &'static [(&'static str, Form)] {
        use Form::{Component, Dealt, Value};
        match (call, node) {
            ("summands", 0) => &[("first", Value)],
            ("summands", _) => &[("second", Value)],
            ("mask", 0) => &[("mask", Value), ("negated", Value)],
            ("unmask", 1) => &[("difference", Value), ("unmasked", Component(1))],
            ("unmask", 2) => &[("difference", Value), ("unmasked", Component(0))],
            ("truncate_apart", 0) => &[("first", Dealt(0)), ("second", Dealt(1)), ("second", Dealt(2))],
            ("truncate_apart", 1) => &[("first", Dealt(1)), ("second", Dealt(2)), ("second", Dealt(0))],
            ("truncate_apart", _) => &[("first", Dealt(2)), ("second", Dealt(0)), ("second", Dealt(1))],
            _ => &[],
        }
    }
}

impl Told for Two {
    /// Garbling is so dear that circuits of few rows go gate by gate, too. Garbled ones have views of their own: their
    /// transfers are set up, and made by the thousand, in whichever run is in need of them.
    fn begin(session: Session, beside: Session) -> Self {
        let mut table = Prices::default().table();
        table.insert(Work::GarbledInput, 1_000_000_000_000);
        let mut engine = Self::with_stock_ahead(session, beside).expect("an engine");
        engine.price(Prices::try_from(table).expect("a table"));
        engine
    }

    const FILLED: bool = true;

    fn told(call: &str, node: usize) -> &'static [(&'static str, Form)] {
        use Form::{Component, Value};
        match (call, node) {
            ("summands", 0) => &[("first", Value)],
            ("summands", _) => &[("second", Value)],
            ("mask", 0) => &[("mask", Value), ("negated", Value)],
            ("unmask", 1) => &[("difference", Value), ("unmasked", Component(0))],
            ("truncate_apart", 0) => &[("first", Value)],
            ("truncate_apart", _) => &[("second", Value)],
            _ => &[],
        }
    }
}

impl Told for Four {
    fn told(call: &str, node: usize) -> &'static [(&'static str, Form)] {
        use Form::{Component, Value};
        match (call, node) {
            ("summands", 0) => &[("first", Value)],
            ("summands", 1) => &[("second", Value)],
            ("mask", 0) => &[("mask", Value), ("negated", Value)],
            ("unmask", 1) => &[("difference", Value), ("unmasked", Component(0))],
            ("truncate_apart", 0) => &[("first", Value)],
            ("truncate_apart", 1) => &[("second", Value)],
            _ => &[],
        }
    }
}

/// Row counts around the ends of words and of squares of words.
pub const SIZES: [usize; 10] = [0, 1, 3, 10, 63, 64, 65, 130, 513, 577];

/// How much is looked at.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Bits of a call, at most about as many; of more, some lanes are looked at, and of many more some words.
    pub bits: usize,
    /// The least number of lanes.
    pub lanes: usize,
    /// The least number of runs.
    pub runs: usize,
    /// Bits of a whole run in one lane of every word, at most; of more, windows of calls are looked at.
    pub whole: usize,
}

/// What `make test` has time for.
pub const SMALL: Effort = Effort { bits: 300, lanes: 1, runs: 240, whole: usize::MAX };

/// The effort of `make nightly`, bounded by memory as well as time: a test holds all runs in memory.
pub const LARGE: Effort = Effort { bits: 1200, lanes: 1, runs: 300, whole: 1200 };

/// A block of which the bits behind the last row are zero.
pub fn tidy(mut block: Block) -> Block {
    block.bits = block.bits.iter().map(|plane| Plane::from_fn(block.rows, |row| plane.get(row))).collect();
    block
}

/// A node's shares of a block, by a dealer whose random numbers all nodes of the test have: any sharing must do.
pub fn dealt<B: Components>(plain: &Block, node: usize, prg: &mut Prg) -> Rows<B> {
    let holders = clients::holders::<B::Formulas>(B::NODES);
    let mut components: Vec<Block> = (1..holders).map(|_| tidy(Block::random(plain.shape(), prg))).collect();
    components.push(components.iter().fold(plain.clone(), Block::minus));
    if node >= holders {
        return B::holding_none(plain.shape());
    }
    B::put_together((node..node + B::COUNT).map(|which| components[which % holders].clone()).collect())
}

/// What one node saw in each run: first the shares it began with, then its calls, at last the shares it ended with.
type Runs = Vec<Vec<Call>>;

/// What a run began and ended with at a node, and what the node may know by it.
pub struct Ends {
    /// Shares of what is secret.
    pub begin: Vec<Shared>,
    /// Shares of what became of it.
    pub end: Vec<Shared>,
    /// Declared outputs and disclosures, and the node's own input.
    pub declared: View,
}

/// A network so thin that every circuit goes gate by gate.
pub const THIN: Link = Link { latency: 0.0, bandwidth: 1e6 };

/// What each node of an engine saw in `runs` runs of one session.
pub fn watch<B: Told + 'static>(
    runs: usize,
    link: Link,
    program: impl Fn(Watched<B>, usize) -> Result<(Watched<B>, Ends)> + Sync,
) -> Vec<Runs> {
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let sessions = memory::mesh(&PARTIES[..B::NODES], &options);
    let beside = memory::mesh(&PARTIES[..B::NODES], &Options::default());
    let node = &|session, beside| {
        let mut engine = B::begin(session, beside);
        engine.declare(link);
        let mut b = Watched::new(engine);
        let mut seen = Runs::with_capacity(runs);
        for run in 0..runs {
            let (watched, Ends { begin, end, declared }) = program(b, run).expect("a result");
            b = watched;
            let nothing = View::default;
            let mut calls = b.take();
            calls.insert(0, Call { name: "begin", shared: begin, public: declared, seen: nothing() });
            calls.push(Call { name: "end", shared: end, public: nothing(), seen: nothing() });
            seen.push(calls);
        }
        b.into_inner().into_session().close().expect("an orderly end");
        seen
    };
    thread::scope(|scope| {
        let sessions = sessions.into_iter().zip(beside);
        let threads: Vec<_> = sessions.map(|(session, beside)| scope.spawn(move || node(session, beside))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    })
}

/// Runs a program on dealt rows that came about in some way, and asserts that no node's view tells anything.
pub fn check<B: Told + 'static>(name: &str, program: &impl Program, rows: usize, source: Source, effort: Effort) {
    check_on::<B>(name, program, rows, source, effort, THIN);
}

/// As [`check`], over a declared network.
pub fn check_on<B: Told + 'static>(
    name: &str,
    program: &impl Program,
    rows: usize,
    source: Source,
    effort: Effort,
    link: Link,
) {
    let name = format!("{name}, {rows} rows, {source:?}, {}", B::NAME);
    assert_silent::<B>(&name, effort, link, on_dealt(&name, program, rows, source));
}

/// A program on dealt rows that came about in some way.
fn on_dealt<B: Told + 'static>(
    name: &str,
    program: &impl Program,
    rows: usize,
    source: Source,
) -> impl Fn(Watched<B>, usize) -> Result<(Watched<B>, Ends)> + Sync {
    let seed = seed(name);
    move |mut b: Watched<B>, run: usize| {
        let mut prg = Prg::new(&seed.derive(&run.to_string()));
        let plain = tidy(program.input(program.shape(source.takes(rows)), &mut prg));
        let node = b.node();
        let shares: Rows<B> = dealt(&plain, node, &mut prg);
        let begin = bundle("begin", &shares);
        let x = source.make(&b, unwrapped(shares), rows);
        let out = b.step("program", |b| program.run(b, x))?;
        Ok((b, Ends { begin, end: bundle("end", &out), declared: View::default() }))
    }
}

/// Asserts that no word of 16 bytes comes twice among all that a node receives in one run on many rows: masks are
/// fresh in each chunk of a message.
pub fn check_words<B: Told + 'static>(name: &str, program: &impl Program, rows: usize) {
    let mut most = 0;
    for (node, runs) in watch::<B>(1, THIN, on_dealt(name, program, rows, Source::Dealt)).iter().enumerate() {
        let received: Vec<View> = runs[0].iter().map(|call| call.seen.only(&[Kind::Received])).collect();
        let parts = received.iter().flat_map(View::parts);
        let words: Vec<&[u8; 16]> = parts.flat_map(|part| part.bytes.as_chunks().0).collect();
        assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len(), "{name}: words at node {node}");
        most = most.max(16 * words.len());
    }
    assert!(most >= MANY_BYTES, "{name}: no node receives more than {most} bytes");
}

/// More than one chunk of a message has.
const MANY_BYTES: usize = 256 << 10;

/// Runs something many times, which returns the shares it began and ended with, and asserts that no node's view tells
/// anything.
pub fn assert_silent<B: Told + 'static>(
    name: &str,
    effort: Effort,
    link: Link,
    body: impl Fn(Watched<B>, usize) -> Result<(Watched<B>, Ends)> + Sync,
) {
    let runs = runs_for::<B>(&watch::<B>(1, link, &body), effort);
    let Findings(found) = findings::<B>(&watch::<B>(runs, link, body), effort);
    assert!(found.is_empty(), "{name}, {runs} runs:\n{}", found.join("\n"));
}

/// What was found, in words.
#[derive(Default)]
pub struct Findings(pub Vec<String>);

impl Findings {
    fn add(&mut self, place: &str, what: &str, found: Vec<impl std::fmt::Debug>) {
        if let Some(first) = found.first() {
            self.0.push(format!("{place}: {} {what}, the first: {first:?}", found.len()));
        }
    }
}

/// Words of a column that are looked at, if not all are.
const WORDS: usize = 3;

/// The most rows that count as few.
const FEW: usize = 3;

/// The bits of a call that are looked at, if all are too many.
#[derive(Clone, Copy)]
struct Sample {
    /// Lanes of every word.
    lanes: u64,
    /// The rows, if one lane of every word is too much: then three words of every column are looked at.
    rows: Option<usize>,
}

impl Sample {
    /// Of a call on this many rows: the lanes around the last row, and others.
    fn new(run: &Run, rows: usize, effort: Effort) -> Self {
        let all = Self { lanes: u64::MAX, rows: None };
        let every_word = Self { rows: (all.bits(run) / 64 > effort.bits).then_some(rows), ..all };
        let count = (64 * effort.bits / every_word.bits(run).max(1)).clamp(effort.lanes, 64);
        let around = [rows % 64, 0, (rows + 63) % 64];
        // Of few rows all of them, because what is shuffled may show in all rows together.
        let few = 0..if rows <= FEW { rows } else { 0 };
        let others = (0..64).map(|lane| lane * 37 % 64);
        let mut lanes = 0u64;
        for lane in around.into_iter().chain(few).chain([32, 63]).chain(others) {
            if lanes.count_ones() < count as u32 {
                lanes |= 1 << lane;
            }
        }
        Self { lanes, ..every_word }
    }

    /// Whether the sample has a word of a part with this many bits. A column of 64-bit numbers has a word for each
    /// row; a column of bits has one for 64 rows. Any other part counts as one column.
    fn has_word(self, bits: usize, word: usize) -> bool {
        let Some(rows) = self.rows.filter(|&rows| rows > WORDS * 64) else { return true };
        let columns = [rows, words_for(rows), bits.div_ceil(64).max(1)];
        let column = columns.into_iter().find(|&words| bits.is_multiple_of(64 * words)).unwrap_or(columns[2]);
        [0, column / 2, column - 1].contains(&(word % column))
    }

    /// The bits of the words that are looked at, in all lanes.
    fn bits(self, run: &Run) -> usize {
        let parts = [&run.view, &run.known, &run.secret].into_iter().flat_map(View::parts);
        let words = |part: &Arc<Part>| {
            let bits = part.bits();
            (0..bits.div_ceil(64)).filter(|&word| self.has_word(bits, word)).count()
        };
        64 * parts.map(words).sum::<usize>()
    }

    fn of_view(self, view: &View) -> View {
        if self.rows.is_none_or(|rows| rows <= WORDS * 64) {
            return view.lanes(self.lanes);
        }
        let lengths: Vec<usize> = view.parts().iter().map(|part| part.bits()).collect();
        view.cut(|part, bit| self.lanes >> (bit % 64) & 1 == 1 && self.has_word(lengths[part], bit / 64))
    }

    fn of(self, run: &Run) -> Run {
        Run { view: self.of_view(&run.view), known: self.of_view(&run.known), secret: self.of_view(&run.secret) }
    }
}

/// Every call of a node as a run of the battery.
struct Calls<'a> {
    nodes: &'a [Runs],
    node: usize,
}

impl Calls<'_> {
    /// A call in one run: `told` is what the node was told before. What the call opens or announces it is told of
    /// values in between; whether that was declared is asked of the whole run.
    fn run<B: Told>(&self, run: usize, call: usize, told: &mut View) -> Run {
        let seen = self.seen::<B>(run, call, told);
        let own = &self.nodes[self.node][run][call];
        if DISCLOSING.contains(&own.name) {
            told.extend(own.public.clone());
            return Run { known: told.clone(), view: seen.view.filter(|part| part.kind != Kind::Opened), ..seen };
        }
        Run { known: told.clone(), ..seen }
    }

    /// What a node sees of a call, all that becomes public by it included; and `told` what it is told by the engine's
    /// design.
    fn seen<B: Told>(&self, run: usize, call: usize, told: &mut View) -> Run {
        let own = &self.nodes[self.node][run][call];
        let mut view = own.seen.filter(is_random);
        let mut secret = View::default();
        for (which, shared) in own.shared.iter().enumerate() {
            let name = format!("{} of {}", shared.name, own.name);
            shared.components.iter().for_each(|component| view.add(Kind::Own, &name, component.clone()));
            // Of two rows, the order that is revealed is the XOR of the old one and of how they were shuffled, as it
            // should be.
            if (own.name, shared.name, shared.rows) != ("shuffle_reveal", "shuffled", 2) {
                secret.add(Kind::Own, &name, self.plain(run, call, which));
            }
        }
        self.tell::<B>(run, call, told);
        if call > 0 {
            view.extend(own.public.clone());
        }
        Run { view, known: View::default(), secret }
    }

    /// Adds what a node is told by the engine's design, and what is declared when a run begins.
    fn tell<B: Told>(&self, run: usize, call: usize, told: &mut View) {
        let own = &self.nodes[self.node][run][call];
        for (which, shared) in own.shared.iter().enumerate() {
            for (_, form) in B::told(own.name, self.node).iter().filter(|(name, _)| *name == shared.name) {
                let clear = match form {
                    Form::Value => self.plain(run, call, which),
                    Form::Dealt(dealer) => dealt_rows(self.plain(run, call, which), shared, *dealer),
                    Form::Component(which) => shared.components[*which].clone(),
                };
                let name = format!("{} of {}", shared.name, own.name);
                told.add(Kind::Opened, &name, without_padding(clear, shared));
            }
        }
        if call == 0 {
            told.extend(own.public.clone());
        }
    }

    /// What the shares of a call stand for. Places are sums modulo a power of two that exceeds them all. What the
    /// components add up to above it is a carry: it follows from the place and from two of them.
    fn plain(&self, run: usize, call: usize, which: usize) -> Vec<u8> {
        let mut plain = plain(&self.nodes.iter().map(|node| &node[run][call].shared[which]).collect::<Vec<_>>());
        let Call { name, shared, .. } = &self.nodes[self.node][run][call];
        if (*name, shared[which].name) == ("scan_product", "places") {
            let bytes = (1..size_of::<u32>()).find(|bytes| shared[which].rows <= 1 << (8 * bytes));
            let above = bytes.unwrap_or(size_of::<u32>());
            plain.chunks_mut(size_of::<u32>()).for_each(|place| place[above..].fill(0));
        }
        plain
    }
}

/// Calls that disclose what they make public. What is revealed of shuffled rows is to say nothing.
pub const DISCLOSING: [&str; 3] = ["input", "open", "announce"];

/// What a call gives a node but its own: messages, and what generators give for anything but a permutation.
fn is_random(part: &Part) -> bool {
    matches!(part.kind, Kind::Received | Kind::Drawn) && !is_permutation(part)
}

/// What a generator gives for a permutation: a buffer of which most is not used.
fn is_permutation(part: &Part) -> bool {
    part.kind == Kind::Drawn && part.bits() > 0 && part.bits().is_multiple_of(8 * 4096)
}

/// What shares stand for, the bits behind the last row included.
pub fn plain(parts: &[&Shared]) -> Vec<u8> {
    let mut sum = vec![0; parts[0].components[0].len()];
    // A node may hold none.
    for part in parts {
        let Some(component) = part.components.first() else { continue };
        match part.cell {
            None => sum.iter_mut().zip(component).for_each(|(a, b)| *a ^= b),
            Some(cell) => sum.chunks_mut(cell).zip(component.chunks(cell)).for_each(|(a, b)| add(a, b)),
        }
    }
    sum
}

/// a += b, as numbers whose lowest byte comes first.
fn add(a: &mut [u8], b: &[u8]) {
    let mut carry = 0;
    for (a, b) in a.iter_mut().zip(b) {
        let sum = u16::from(*a) + u16::from(*b) + carry;
        (*a, carry) = (sum as u8, sum >> 8);
    }
}

/// Planes of which the rows are zero that a node does not deal.
fn dealt_rows(mut plain: Vec<u8>, shared: &Shared, dealer: usize) -> Vec<u8> {
    assert!(shared.cell.is_none(), "planes");
    let rows = third(shared.rows, dealer);
    for column in plain.chunks_mut(8 * words_for(shared.rows).max(1)) {
        let bit = |row: &usize| rows.contains(row);
        for (at, byte) in column.iter_mut().enumerate() {
            *byte &= (0..8).filter(|i| bit(&(8 * at + i))).map(|i| 1 << i).sum::<u8>();
        }
    }
    plain
}

fn without_padding(mut plain: Vec<u8>, shared: &Shared) -> Vec<u8> {
    if shared.cell.is_none() && shared.rows > 0 {
        for column in plain.chunks_mut(8 * words_for(shared.rows)) {
            for (at, byte) in column.iter_mut().enumerate().skip(shared.rows / 8) {
                *byte &= !(0xff << shared.rows.saturating_sub(8 * at).min(8)) as u8;
            }
        }
    }
    plain
}

/// How many runs a program takes, from one.
pub fn runs_for<B: Told>(pilot: &[Runs], effort: Effort) -> usize {
    let mut most = 0;
    for (node, own) in pilot.iter().enumerate() {
        let calls = Calls { nodes: pilot, node };
        let mut told = View::default();
        for (call, example) in own[0].iter().enumerate() {
            let run = calls.run::<B>(0, call, &mut told);
            most = most.max(runs_needed(&Sample::new(&run, rows(example), effort).of(&run)));
        }
        for window in windows(&calls, effort) {
            most = most.max(runs_needed(&whole::<B>(&calls, 0, effort, &window)));
        }
    }
    most.max(effort.runs)
}

/// The rows of a call: those of its planes, of its numbers if it has no planes.
fn rows(call: &Call) -> usize {
    let planes = call.shared.iter().find(|shared| shared.cell.is_none());
    planes.or(call.shared.first()).map_or(0, |shared| shared.rows)
}

/// The rows of a run's first call with shares. An owner's run begins without shares.
fn rows_of_run(calls: &[Call]) -> usize {
    calls.iter().map(rows).find(|&rows| rows > 0).unwrap_or(0)
}

/// The calls that are looked at together: all of a run, or windows of as many as the effort has bits for. Each window
/// shares half of its calls with the next.
fn windows(calls: &Calls<'_>, effort: Effort) -> Vec<Range<usize>> {
    let own = &calls.nodes[calls.node][0];
    let seen = |call: &Call| {
        let random = call.seen.filter(is_random);
        let run = Run { view: random, known: call.public.clone(), secret: View::default() };
        Sample { lanes: 1, rows: Some(rows_of_run(own)) }.bits(&run) / 64
    };
    let (mut windows, mut first) = (Vec::new(), 0);
    loop {
        let (mut end, mut bits) = (first, 0);
        while end < own.len() && (end == first || bits + seen(&own[end]) <= effort.whole) {
            bits += seen(&own[end]);
            end += 1;
        }
        windows.push(first..end);
        if end == own.len() {
            return windows;
        }
        first += (end - first).div_ceil(2);
    }
}

/// Everything a node received and drew in a window of a run's calls, with the shares it began and ended with; secret
/// are input and output.
fn whole<B: Told>(calls: &Calls<'_>, run: usize, effort: Effort, window: &Range<usize>) -> Run {
    let count = calls.nodes[calls.node][run].len();
    let mut told = View::default();
    let mut all = Run::default();
    for call in 0..count {
        if call == 0 || call + 1 == count {
            let end = calls.seen::<B>(run, call, &mut told);
            all.view.extend(end.view);
            all.secret.extend(end.secret);
            continue;
        }
        calls.tell::<B>(run, call, &mut told);
        if window.contains(&call) {
            let Call { seen, public, .. } = &calls.nodes[calls.node][run][call];
            all.view.extend(seen.filter(is_random));
            all.view.extend(public.only(&[Kind::Received, Kind::Drawn, Kind::Opened]));
        }
    }
    all.known = told;
    Sample::new(&all, rows_of_run(&calls.nodes[calls.node][run]), effort).of(&all)
}

/// What the battery finds in the runs of all nodes.
pub fn findings<B: Told>(nodes: &[Runs], effort: Effort) -> Findings {
    let mut found = Findings::default();
    for (node, own) in nodes.iter().enumerate() {
        let calls = Calls { nodes, node };
        let runs = own.len();
        let mut told = vec![View::default(); runs];
        let mut words = vec![View::default(); runs];
        for (call, example) in own[0].iter().enumerate() {
            let place = format!("node {node}, call {call} ({})", example.name);
            let all: Vec<Run> = (0..runs).map(|run| calls.run::<B>(run, call, &mut told[run])).collect();
            if example.seen.bits() == 0 {
                continue;
            }
            let sample = Sample::new(&all[0], rows(example), effort);
            let cut: Vec<Run> = all.iter().map(|run| sample.of(run)).collect();
            found.add(&place, "linear relations with secrets", leaks(&cut));
            let received = |run: &Run| run.seeing(run.view.only(&[Kind::Received]));
            found.add(&place, "bits that lean to secrets", correlated(&cut.iter().map(received).collect::<Vec<_>>()));
            let random: Vec<View> = all.iter().map(|run| run.view.only(&[Kind::Received, Kind::Drawn])).collect();
            let random = without_zeros::<B>(random, example);
            if example.name != "open" && example.name != "announce" {
                found.add(&place, "biased bits", biased(&random));
            }
            // What is opened or revealed makes messages depend on each other; that is what it says.
            if example.public.bits() == 0 {
                let cut: Vec<View> = random.iter().map(|view| sample.of_view(view)).collect();
                found.add(&place, "relations among messages", constants(&cut));
                words.iter_mut().zip(random).for_each(|(words, random)| words.extend(random));
            }
        }
        let place = format!("node {node}, whole run");
        found.add(&place, "repeated long words", repeats(&words, 16));
        found.add(&place, "repeated words", repeats(&words, 8));
        for window in windows(&calls, effort) {
            let whole: Vec<Run> = (0..runs).map(|run| whole::<B>(&calls, run, effort, &window)).collect();
            found.add(&place, "linear relations with inputs and outputs", leaks(&whole));
        }
    }
    found
}

/// Views without the bits of planes behind the last row that are zero in all of them. One that is not stays, and has to
/// be random.
fn without_zeros<B: Told>(views: Vec<View>, call: &Call) -> Vec<View> {
    let lengths: Vec<usize> = call
        .shared
        .iter()
        .filter(|shared| shared.cell.is_none())
        .map(|shared| shared.rows)
        .flat_map(|rows| {
            // Planes that are dealt are of the rows of one third.
            let thirds = (0..3).map(move |dealer| third(rows, dealer).len()).filter(|_| call.name == "truncate_apart");
            thirds.chain([rows])
        })
        .filter(|rows| rows % 64 != 0)
        .collect();
    let is_padding = |part: &Part, bit: usize| {
        B::FILLED
            || lengths.iter().any(|&rows| {
                let column = 64 * words_for(rows);
                part.bits().is_multiple_of(column) && bit % column >= rows
            })
    };
    let is_zero = |number: usize, bit: usize| views.iter().all(|view| view.parts()[number].bit(bit) == 0);
    let Some(first) = views.first() else { return views };
    let dropped: Vec<Vec<bool>> = first
        .parts()
        .iter()
        .enumerate()
        .map(|(number, part)| (0..part.bits()).map(|bit| is_padding(part, bit) && is_zero(number, bit)).collect())
        .collect();
    views.iter().map(|view| view.cut(|part, bit| !dropped[part][bit])).collect()
}
