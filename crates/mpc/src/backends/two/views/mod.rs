//! What can a node of this engine compute from everything that it saw? One file for each kind of protocol.
//!
//! Given ideal correlations: a node's view is the messages of the protocol, its own shares in and out, and what the
//! correlations gave it. The latter is hashed as the protocol does: the strings that it can decode, and both of those
//! that it offered. How correlations are made is for the views of crates/ot; the messages of that are left out. A
//! simulator stands beside the protocol's test: from a node's own shares in and out it makes the view, without anything
//! of the peer.

mod faults;
mod gates;
mod matrices;
mod moves;
mod numbers;
mod streamed;
mod whole;

use std::collections::HashMap;
use std::thread;

use tacit_math::plane::words_for;
use tacit_math::{CorrelationRobustHash, Prg, Seed, network, permutation};
use tacit_net::{Options, Record, memory};
use tacit_views::{
    Difference, Kind, Part, Run, View, biased, constants, correlated, indistinguishable, leaks, repeats, runs_needed,
    seed,
};

use super::rows::{component, share_rows};
use super::transfers::Stock;
use super::{NODES, Two};
use crate::backends::{Components, Networked};
use crate::{Block, Link, Result, Rows, Shape, linear};

/// Row counts around the ends of words and tiles, for `make test`.
pub(super) const FEW: [usize; 6] = [1, 3, 10, 63, 64, 65];

/// The others.
pub(super) const MANY: [usize; 3] = [130, 513, 577];

/// How a protocol's input came about: rows that were cut off must not come back.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Dealt,
    Slice,
    Concat,
    Gather,
    Kept,
}

impl Source {
    pub(super) const ALL: [Self; 5] = [Self::Dealt, Self::Slice, Self::Concat, Self::Gather, Self::Kept];

    /// Rows that are dealt.
    fn takes(self, rows: usize) -> usize {
        if matches!(self, Self::Slice | Self::Gather) { rows + 70 } else { rows }
    }

    fn make(self, dealt: Rows<Two>, rows: usize) -> Rows<Two> {
        match self {
            Self::Dealt => dealt,
            Self::Slice => dealt.slice(5, rows),
            Self::Gather => {
                let from: Vec<u32> = (0..rows as u32).map(|i| rows as u32 + 69 - i).collect();
                dealt.gather_public(&from)
            }
            Self::Concat => {
                let [first, rest] = [dealt.slice(0, rows / 3), dealt.slice(rows / 3, rows - rows / 3)];
                let bits = first.bits.iter().zip(&rest.bits).map(|(x, y)| linear::concat_bits(&[x, y])).collect();
                Rows { bits, ..dealt }
            }
            Self::Kept => {
                // As the file of a kept table whose bits behind the last row are those of other rows.
                let [mut own] = Two::take_apart(dealt).try_into().expect("one component");
                let mut content: Vec<u8> = own.bytes().flatten().copied().collect();
                for plane in 0..own.bits.len() {
                    let end = 8 * words_for(rows) * (plane + 1);
                    content[end - 1] |= if rows.is_multiple_of(64) { 0 } else { 0x80 };
                }
                let mut content = &content[..];
                let mut take = |bytes: &mut [u8]| {
                    let (now, later) = content.split_at(bytes.len());
                    bytes.copy_from_slice(now);
                    content = later;
                    Ok::<_, ()>(())
                };
                own.fill_bytes(&mut take).expect("as many bytes");
                Two::put_together(vec![own])
            }
        }
    }
}

/// What the OTs that a protocol takes of the stock are strings of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strings {
    /// A number of bits, 64 strings to a word.
    Bits(usize),
    /// Ring elements of this number of bytes.
    Elements(usize),
    /// Rows of this number of blocks.
    Blocks(usize),
    /// It takes none: what it draws is noted.
    None,
}

/// A protocol, as the test calls it.
#[derive(Clone, Copy)]
pub(super) struct Protocol<'a> {
    pub name: &'a str,
    /// Of what it takes, for any number of rows.
    pub shape: Shape,
    pub strings: Strings,
    /// How many of these strings count, by the number of rows, if not all.
    pub used: Option<fn(usize) -> usize>,
    pub run: &'a (dyn Fn(&mut Two, Rows<Two>) -> Result<Rows<Two>> + Sync),
}

/// What one node has of one run.
#[derive(Clone)]
pub(super) struct Own {
    pub input: Block,
    pub output: Block,
    /// What was opened or revealed to it.
    pub public: View,
    /// What it received, and what the correlations gave it.
    pub seen: View,
}

/// Messages and ideal correlations, for simulators in the order of [`Own::seen`].
pub(super) fn words(words: &[u64]) -> Vec<u8> {
    bytemuck::cast_slice(words).to_vec()
}

/// A network so thin that every circuit goes gate by gate.
pub(in crate::backends::two) const THIN: Link = Link { latency: 0.0, bandwidth: 1e6 };

/// OTs that are made before a run at least, so that none are made in it.
fn ahead(rows: usize) -> usize {
    64 * (rows + 64)
}

/// Runs a protocol several times in one session, on new inputs each time, and gives what each node had.
pub(super) fn watch(
    protocol: &Protocol<'_>,
    rows: usize,
    source: Source,
    link: Link,
    runs: usize,
) -> [Vec<Own>; NODES] {
    let seed = seed(protocol.name);
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let node = |session| {
        let mut b = Two::new(session).expect("a session");
        b.declare(link);
        let shape = Shape { rows: source.takes(rows), ..protocol.shape };
        let owns = (0..runs).map(|run| {
            let mut prg = Prg::new(&seed.derive(&run.to_string()));
            let components = [Block::random(shape, &mut prg), Block::random(shape, &mut prg)];
            let input = source.make(share_rows(components[b.me()].clone()), rows);
            watched(&mut b, protocol, input)
        });
        let owns: Vec<Own> = owns.collect();
        b.into_session().close().expect("an orderly end");
        owns
    };
    thread::scope(|scope| {
        let sessions = memory::mesh(&["a", "b"], &options);
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| node(session))).collect();
        let owns: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("a node")).collect();
        owns.try_into().map_err(|_| ()).expect("two nodes")
    })
}

fn watched(b: &mut Two, protocol: &Protocol<'_>, input: Rows<Two>) -> Own {
    if protocol.strings != Strings::None {
        b.stock.prepare(&mut b.session, [ahead(input.rows); NODES]).expect("a peer");
    }
    let transcript = b.session.transcript().expect("contents are recorded");
    transcript.take_seen();
    let own = component(input.clone());
    let used = b.stock.used();
    b.session.enter("program");
    let output = (protocol.run)(b, input).expect("a result");
    b.session.leave();
    let made_by_ot = |part: &Part| ["stock", "labels", "keys"].iter().any(|step| part.name.contains(step));
    let all = View::of(&transcript);
    let public = all.only(&[Kind::Opened]);
    let mut seen = all.only(&[Kind::Received, Kind::Drawn]).filter(|part| !made_by_ot(part));
    if protocol.strings != Strings::None {
        let (sent, received) = b.stock.take_streamed();
        let ((zero, choices, chosen), offset) = (b.stock.taken(used), b.stock.offset());
        let [zero, chosen] = [[zero, &sent].concat(), [chosen, &received.blocks].concat()];
        seen.add(Kind::Drawn, "choices", words(&[choices, &received.choices].concat()));
        for (name, blocks, offset) in [("chosen", &chosen, 0), ("zero", &zero, 0), ("one", &zero, offset)] {
            let used = protocol.used.map_or(blocks.len(), |used| used(own.rows).min(blocks.len()));
            seen.add(Kind::Drawn, name, strings(b, protocol.strings, &blocks[..used], offset));
        }
    }
    Own { input: own, output: component(output), public, seen }
}

/// The strings of OTs as a protocol uses them.
fn strings(b: &Two, strings: Strings, blocks: &[u128], offset: u128) -> Vec<u8> {
    let mut hashed = vec![0; blocks.len()];
    match strings {
        Strings::None => vec![],
        Strings::Bits(count) => {
            CorrelationRobustHash::new().hash_to(blocks, offset, &mut hashed);
            let plane =
                |bit: usize| hashed.chunks(64).map(move |row| packed(row.iter().map(|hash| hash >> bit & 1 == 1)));
            words(&(0..count).flat_map(plane).collect::<Vec<_>>())
        }
        Strings::Elements(bytes) => {
            CorrelationRobustHash::new().hash_to(blocks, offset, &mut hashed);
            hashed.iter().flat_map(|hash| hash.to_le_bytes()[..bytes].to_vec()).collect()
        }
        Strings::Blocks(count) => {
            b.stock.strings(blocks, offset, count, &mut hashed);
            bytemuck::cast_slice(&hashed).to_vec()
        }
    }
}

/// Places of two words that are equal or differ by one of some offsets. Of 2^20 random words and seven offsets none do
/// but with 2^-85.
pub(super) fn meetings(words: impl IntoIterator<Item = u128>, offsets: &[u128]) -> Vec<[usize; 2]> {
    let (mut places, mut found) = (HashMap::new(), Vec::new());
    for (place, word) in words.into_iter().enumerate() {
        found.extend(places.insert(word, place).map(|before| [before, place]));
    }
    for offset in offsets {
        found.extend(places.iter().filter_map(|(word, &place)| places.get(&(word ^ offset)).map(|&at| [place, at])));
    }
    found
}

/// Whole blocks of some bytes.
pub(super) fn blocks(bytes: &[u8]) -> Vec<u128> {
    bytes.as_chunks::<16>().0.iter().map(|block| u128::from_le_bytes(*block)).collect()
}

pub(super) fn packed(bits: impl Iterator<Item = bool>) -> u64 {
    bits.enumerate().fold(0, |word, (at, bit)| word | u64::from(bit) << at)
}

/// All content of a block.
fn bytes_of(block: &Block) -> Vec<u8> {
    block.bytes().flatten().copied().collect()
}

/// A view, and the node's own columns.
pub(super) fn with_columns(mut view: View, own: &Block) -> View {
    own.bytes().for_each(|column| view.add(Kind::Own, "column", column));
    view
}

/// A node's runs, for the battery: secret are the values that the inputs and outputs stand for.
pub(super) fn runs_of(owns: &[Vec<Own>; NODES], node: usize) -> Vec<Run> {
    let both = owns[node].iter().zip(&owns[1 - node]);
    both.map(|(own, peer)| Run {
        view: with_columns(own.seen.clone(), &own.input),
        known: known(own),
        secret: View::default().with(Kind::Own, "input", bytes_of(&own.input.clone().plus(&peer.input))).with(
            Kind::Own,
            "output",
            bytes_of(&own.output.clone().plus(&peer.output)),
        ),
    })
    .collect()
}

/// What a node may know: its output and what is public.
fn known(own: &Own) -> View {
    let mut known = View::default().with(Kind::Own, "output", bytes_of(&own.output));
    known.extend(own.public.clone());
    known
}

/// Bits that are looked at, at most about as many.
const BITS: usize = 900;

/// The first lanes of every word, those around the last row, and others, so that not too many bits are looked at.
pub(super) fn lanes(run: &Run, rows: usize) -> u64 {
    let bits = run.view.bits() + run.known.bits() + run.secret.bits();
    let count = (64 * BITS / bits.max(1)).clamp(1, 64) as u32;
    let wanted = [rows % 64, 0, (rows + 63) % 64, 1, 31, 32, 63].into_iter().chain((0..64).map(|lane| lane * 37 % 64));
    wanted.fold(0, |lanes: u64, lane| if lanes.count_ones() < count { lanes | 1 << lane } else { lanes })
}

/// How many runs the battery takes.
pub(super) fn runs_for(protocol: &Protocol<'_>, rows: usize, source: Source, link: Link) -> usize {
    let pilot = watch(protocol, rows, source, link, 1);
    let needed = |node| {
        let run = &runs_of(&pilot, node)[0];
        runs_needed(&run.lanes(lanes(run, rows)))
    };
    needed(0).max(needed(1)).max(400)
}

/// The name of a node's own order of rows, as it is drawn for a permutation: the settings of its switches, which are
/// not uniform.
const ORDER: &str = "order";

/// Has the order that a node permutes by next drawn from a generator of its own, and notes it.
pub(super) fn note_order(b: &mut Two, rows: usize) {
    let seed = Seed::from_bytes(b.own.vector::<[u8; 16]>(1)[0]);
    let settings = network::settings(&permutation::random(rows, &mut Prg::new(&seed)));
    Stock::note(&b.session, ORDER, &settings);
    b.own = Prg::new(&seed);
}

/// What the battery finds in a node's runs, in words.
pub(super) fn findings(runs: &[Run], rows: usize) -> Vec<String> {
    findings_in(runs, rows, lanes(&runs[0], rows))
}

/// As [`findings`], where relations are looked for in these lanes.
pub(super) fn findings_in(runs: &[Run], rows: usize, lanes: u64) -> Vec<String> {
    let cut: Vec<Run> = runs.iter().map(|run| run.lanes(lanes)).collect();
    let random: Vec<View> =
        without_zero_padding(runs.iter().map(|run| run.view.filter(|part| part.name != ORDER)).collect(), rows);
    let random_lanes: Vec<View> = random.iter().map(|view| view.lanes(lanes)).collect();
    let seen: Vec<Run> = cut.iter().map(|run| run.seeing(run.view.only(&[Kind::Received, Kind::Drawn]))).collect();
    let mut found = Vec::new();
    let mut add = |what: &str, findings: Vec<String>| {
        if let Some(first) = findings.first() {
            found.push(format!("{} {what}, the first: {first}", findings.len()));
        }
    };
    let text = |finding: &dyn std::fmt::Debug| format!("{finding:?}");
    add("linear relations with secrets", leaks(&cut).iter().map(|finding| text(finding)).collect());
    add("bits that lean to secrets", correlated(&seen).iter().map(|finding| text(finding)).collect());
    add("biased bits", biased(&random).iter().map(|finding| text(finding)).collect());
    add("relations in what is seen", constants(&random_lanes).iter().map(|finding| text(finding)).collect());
    for bytes in [8, 16] {
        add("repeated words", repeats(&random, bytes).iter().map(|finding| text(finding)).collect());
    }
    found
}

/// Views without the bits of planes behind the last row, where they are zero in all of them. One that is not stays, and
/// has to be random.
fn without_zero_padding(views: Vec<View>, rows: usize) -> Vec<View> {
    let column = 64 * words_for(rows);
    let padding = |part: &Part, bit: usize| part.bits().is_multiple_of(column) && bit % column >= rows;
    let zero = |number: usize, bit: usize| views.iter().all(|view| view.parts()[number].bit(bit) == 0);
    let parts = views[0].parts().iter().enumerate();
    let dropped: Vec<Vec<bool>> = parts
        .map(|(number, part)| (0..part.bits()).map(|bit| padding(part, bit) && zero(number, bit)).collect())
        .collect();
    views.iter().map(|view| view.cut(|part, bit| !dropped[part][bit])).collect()
}

/// Asserts that neither node's view of a protocol tells anything.
pub(super) fn check(protocol: &Protocol<'_>, rows: usize, source: Source, link: Link) -> [Vec<Own>; NODES] {
    let owns = watch(protocol, rows, source, link, runs_for(protocol, rows, source, link));
    for node in 0..NODES {
        let found = findings(&runs_of(&owns, node), rows);
        assert!(found.is_empty(), "{}, {rows} rows, {source:?}, node {node}:\n{}", protocol.name, found.join("\n"));
    }
    owns
}

/// As [`check`], with inputs that came about in every way.
pub(super) fn check_sources(protocol: &Protocol<'_>, rows: usize) {
    Source::ALL.into_iter().for_each(|source| drop(check(protocol, rows, source, THIN)));
}

/// As [`check`], for each row count with an input that came about in another way.
pub(super) fn check_rows(protocol: &Protocol<'_>, rows: impl Iterator<Item = usize>) {
    for (rows, source) in rows.zip(Source::ALL.into_iter().cycle()) {
        check(protocol, rows, source, THIN);
    }
}

/// Every `count` runs as one.
fn joined(runs: &[Run], count: usize) -> Vec<Run> {
    let join = |runs: &[Run]| {
        let (first, rest) = runs.split_first().expect("a run");
        rest.iter().fold(first.clone(), |mut all, run| {
            all.view.extend(run.view.clone());
            all.known.extend(run.known.clone());
            all.secret.extend(run.secret.clone());
            all
        })
    };
    runs.chunks_exact(count).map(join).collect()
}

/// A simulator: from a node's own shares in and out, the parts of its view in their order.
pub(super) type Simulator = fn(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>>;

/// Asserts that the battery cannot tell a node's view from a simulated one, beside the values of inputs and outputs.
pub(super) fn check_simulator(protocol: &Protocol<'_>, rows: usize, simulator: Simulator) {
    let runs = runs_for(protocol, rows, Source::Dealt, THIN);
    let owns = watch(protocol, rows, Source::Dealt, THIN, runs);
    let found = told_apart(protocol.name, &owns, simulator, 1);
    assert_eq!(found, [const { vec![] }; NODES], "{}, {rows} rows", protocol.name);
}

/// What tells each node's views from simulated ones, if every `count` calls are a run.
pub(super) fn told_apart(
    name: &str,
    owns: &[Vec<Own>; NODES],
    simulator: Simulator,
    count: usize,
) -> [Vec<Difference>; NODES] {
    let mut prg = Prg::new(&seed("simulator"));
    std::array::from_fn(|node| {
        let real = runs_of(owns, node);
        let simulated = real.iter().zip(&owns[node]).map(|(run, own)| {
            let mut parts = simulator(node, own, &mut prg).into_iter().filter(|bytes| !bytes.is_empty());
            let mut view = View::default();
            for part in own.seen.parts() {
                let bytes = if part.bytes.is_empty() { Some(vec![]) } else { parts.next() };
                let bytes = bytes.unwrap_or_else(|| panic!("{name}: no {} at node {node}", part.name));
                assert_eq!(bytes.len(), part.bytes.len(), "{name}: {} at node {node}", part.name);
                view.add(part.kind, &part.name, bytes);
            }
            assert!(parts.next().is_none(), "{name}: more than there is at node {node}");
            run.seeing(with_columns(view, &own.input))
        });
        let simulated = joined(&simulated.collect::<Vec<_>>(), count);
        let real = joined(&real, count);
        let lanes = lanes(&real[0], owns[node][0].input.rows);
        let [real, simulated] =
            [real, simulated].map(|runs| -> Vec<Run> { runs.iter().map(|run| run.lanes(lanes)).collect() });
        indistinguishable(&real, &simulated)
    })
}

/// The words of a plane among a block's.
pub(super) fn plane(block: &Block, which: usize) -> &[u64] {
    block.bits[which].words()
}

/// The shape of some columns, without rows.
pub(super) const fn shape(bits: usize, r64: usize) -> Shape {
    Shape { rows: 0, bits, r32: 0, r64, r128: 0 }
}
