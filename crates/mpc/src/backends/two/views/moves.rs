//! Permuting, input and opening.

use serde_json::json;
use tacit_math::packed::{self, minus, plus};
use tacit_math::plane::words_for;
use tacit_math::{Prg, Seed, network, permutation};
use tacit_net::PartyId;
use tacit_views::{Kind, Run, View, correlated, leaks};

use super::{
    NODES, Own, Protocol, Source, Strings, THIN, check, check_simulator, findings, note_order, plane, runs_for,
    runs_of, shape, watch, with_columns, words,
};
use crate::backends::generator::generator;
use crate::backends::two::{Share, Two};
use crate::{Backend, OpenedColumn, OpenedKind, PermitKind, Permits, Result, Rows, Shape, Sharing};

fn shuffled(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    note_order(b, x.rows);
    b.shuffle(x)
}

/// Also reveals where each row was.
fn revealed(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    note_order(b, x.rows);
    let numbers = b.public_vector(x.rows, || (0..x.rows as u32).collect());
    let (shuffled, opened) = b.shuffle_reveal(x, Rows { r32: vec![numbers], ..Rows::empty(ROWS) })?;
    let transcript = b.session.transcript().expect("contents are recorded");
    transcript.note_opened("revealed", bytemuck::cast_slice(&opened.r32[0]));
    Ok(shuffled)
}

/// Both nodes give what they hold: the planes of node 0, then those of node 1.
fn given(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let own = super::component(x);
    let mut out = Rows::empty(own.rows);
    // What both hold is part of either one's view.
    let [now, later] = [(); 2].map(|()| Seed::from_bytes(b.common.vector::<[u8; 16]>(1)[0]));
    b.common = generator(&b.session, "common", &now);
    for owner in 0..NODES {
        let data = (b.me() == owner).then(|| own.clone());
        out.bits.extend(b.input(PartyId(owner), own.shape(), data)?.bits);
    }
    b.common = Prg::new(&later);
    Ok(out)
}

/// Opened to node 0 alone, whose output it is; node 1 has none.
fn opened(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let kind = OpenedKind { repr: Sharing::Bits, width: x.bits.len(), signed: false, nullable: false };
    let columns = [OpenedColumn { name: "x".into(), kind }];
    let list = json!([{"site": "out", "kind": "answer", "recipients": ["a"], "columns": columns, "rows": null}]);
    let mut permits = Permits::from_json(&list.to_string()).expect("a list");
    let permit = permits.take("out", &[PermitKind::Answer], &["a".into()], &columns)?;
    let none = crate::Block::zeros(x.shape());
    Ok(super::share_rows(b.open(&x, permit)?.unwrap_or(none)))
}

/// The strings of rows of two lanes: 64 planes and a number.
const SHUFFLE: Protocol<'_> = Protocol {
    name: "shuffle",
    shape: shape(64, 1),
    strings: Strings::Blocks(1),
    used: Some(network::switches),
    run: &shuffled,
};

/// Rows of a number, which simulators make.
const ROWS: usize = 3;
const NUMBERS: Protocol<'_> = Protocol { name: "shuffle of numbers", shape: shape(0, 1), ..SHUFFLE };
const REVEAL: Protocol<'_> = Protocol { name: "shuffle and reveal", run: &revealed, ..NUMBERS };

/// As rows of more than a block, which are expanded.
const WIDE: Protocol<'_> = Protocol {
    name: "shuffle of long rows",
    shape: Shape { r128: 1, ..shape(1, 1) },
    strings: Strings::Blocks(2),
    used: Some(network::switches),
    run: &shuffled,
};

const INPUT: Protocol<'_> =
    Protocol { name: "input", shape: shape(2, 0), strings: Strings::None, used: None, run: &given };
const OPEN: Protocol<'_> =
    Protocol { name: "open", shape: shape(3, 0), strings: Strings::None, used: None, run: &opened };

// views: Two::shuffle
// views: crates/mpc/src/backends/two/rows/permute.rs
// views: crates/mpc/src/backends/two/rows/lanes.rs
#[test]
fn shuffles_tell_nothing() {
    for protocol in [SHUFFLE, WIDE] {
        check(&protocol, 3, Source::Slice, THIN);
    }
    check(&SHUFFLE, 10, Source::Kept, THIN);
}

/// What is revealed is public: a random arrangement, whatever a node's own order is.
// views: Two::shuffle_reveal
// views: crates/mpc/src/backends/two/rows/shuffle.rs
#[test]
fn what_is_revealed_is_an_arrangement_and_nothing_else() {
    let runs = runs_for(&REVEAL, ROWS, Source::Dealt, THIN).max(1_500);
    let owns = watch(&REVEAL, ROWS, Source::Dealt, THIN, runs);
    for (node, own) in owns.iter().enumerate() {
        let mut runs = runs_of(&owns, node);
        // The peer's components of three numbers of two bits, of which the last one follows from the others.
        runs.iter_mut().for_each(|run| run.view = run.view.cut(|part, bit| part != 3 || [0, 1, 8, 9].contains(&bit)));
        assert_eq!(findings(&runs, ROWS), Vec::<String>::new(), "node {node}");
        let arrangement = |own: &Own| {
            let mut rows: Vec<u32> = bytemuck::pod_collect_to_vec(&own.public.parts()[0].bytes);
            let code = rows[0] * 3 + rows[1];
            rows.sort_unstable();
            assert_eq!(rows, [0, 1, 2], "the multiset that is public");
            code
        };
        let order = |own: &Own| own.seen.parts()[0].bytes[0];
        let mut counts = std::collections::HashMap::<_, f64>::new();
        own.iter().for_each(|own| *counts.entry((order(own), arrangement(own))).or_default() += 1.0);
        let mean = own.len() as f64 / 36.0;
        let deviation: f64 = counts.values().map(|count| (count - mean).powi(2) / mean).sum();
        // 35 degrees of freedom, of which chance exceeds 130 once in 10^12 tries.
        assert!(counts.len() == 36 && deviation < 130.0, "{} runs: {counts:?}", own.len());
    }
}

/// Numbers of `width` bits in the lowest bits of a lane.
struct Field {
    width: u32,
}

/// A node's components of three rows on their way through the network, in a lane of which one number counts.
struct Passing<'a> {
    top: u64,
    rows: [u64; ROWS],
    prg: &'a mut Prg,
}

/// What one lane of a piece is made of: for the owner e and k, for the other node k_0.
#[derive(Default)]
struct Switched {
    e: [u64; ROWS],
    k: [u64; ROWS],
}

impl Field {
    /// A random word with this number in its lowest bits: what is above has no meaning.
    fn filled(&self, number: u64, prg: &mut Prg) -> u64 {
        let mask = u64::MAX >> (64 - self.width);
        number & mask | prg.vector::<u64>(1)[0] & !mask
    }
}

impl Passing<'_> {
    /// What the three switches add to their first rows and take from their second ones, so that the rows become those
    /// that are asked for, if any are. The first one is random in any case: sums of a node's components stay.
    fn pass(&mut self, wanted: Option<[u64; ROWS]>, mut switch: impl FnMut(usize, [u64; 2], u64, &mut Prg)) {
        for (number, [a, b]) in [[0, 1], [1, 2], [0, 1]].into_iter().enumerate() {
            let random = self.prg.vector::<u64>(1)[0];
            let q = match (wanted, number) {
                (Some(wanted), 1) => minus(self.top, self.rows[2], wanted[2]),
                (Some(wanted), 2) => minus(self.top, wanted[0], self.rows[0]),
                _ => random,
            };
            switch(number, [self.rows[a], self.rows[b]], q, self.prg);
            self.rows[a] = plus(self.top, self.rows[a], q);
            self.rows[b] = minus(self.top, self.rows[b], q);
        }
    }
}

/// One lane of both passes of a node, the first of which is the one by its own order at node 0. It has e and k of that,
/// k_0 of the other one; and the rows that it has in the end.
fn simulated_lane(
    node: usize,
    field: &Field,
    rows: [u64; ROWS],
    wanted: [u64; ROWS],
    settings: u64,
    prg: &mut Prg,
) -> [Switched; 2] {
    let top = packed::top(0, field.width);
    let [mut own, mut other] = [Switched::default(), Switched::default()];
    let mut passing = Passing { top, rows, prg };
    for pass in 0..NODES {
        let wanted = (pass == 1).then_some(wanted);
        if pass == node {
            passing.pass(wanted, |number, [a, b], q, prg| {
                own.e[number] = prg.vector::<u64>(1)[0];
                let exchanged = plus(top, own.e[number], minus(top, b, a)) & (settings >> number & 1).wrapping_neg();
                own.k[number] = field.filled(minus(top, q, exchanged), prg);
            });
        } else {
            passing.pass(wanted, |number, _, q, prg| other.k[number] = field.filled(minus(top, 0, q), prg));
        }
    }
    let kept = u64::MAX >> (64 - field.width);
    assert_eq!(passing.rows.map(|row| row & kept), wanted.map(|row| row & kept), "rows of the same sum");
    [own, other]
}

/// The view of a shuffle of lanes, of a node whose components in and out are these. Components are sent in that number
/// of bytes each; `message` is what follows.
fn simulated_passes(
    node: usize,
    lanes: &[(Field, usize, [[u64; ROWS]; 2])],
    message: Option<Vec<u8>>,
    prg: &mut Prg,
) -> Vec<Vec<u8>> {
    let settings = network::settings(&permutation::random(ROWS, prg));
    let [flips, choices] = [(); 2].map(|()| prg.vector::<u64>(1));
    let passes: Vec<_> = lanes
        .iter()
        .map(|(field, _, [rows, wanted])| simulated_lane(node, field, *rows, *wanted, settings[0], prg))
        .collect();
    let mut e = Vec::new();
    let [mut k, mut zero, mut one] = [(); 3].map(|()| Vec::new());
    for number in 0..ROWS {
        let [mut of_own, mut of_other, mut rest] = [(); 3].map(|()| prg.vector::<u64>(2));
        for (lane, ([own, other], (_, bytes, _))) in passes.iter().zip(lanes).enumerate() {
            e.extend(&own.e[number].to_le_bytes()[..*bytes]);
            (of_own[lane], of_other[lane]) = (own.k[number], other.k[number]);
        }
        if flips[0] >> number & 1 == 1 {
            std::mem::swap(&mut of_other, &mut rest);
        }
        k.extend(of_own);
        zero.extend(of_other);
        one.extend(rest);
    }
    let messages = if node == 0 { [e, words(&flips)] } else { [words(&flips), e] };
    let strings = [&choices, &k, &zero, &one].map(|part| words(part));
    [words(&settings)].into_iter().chain(messages).chain(message).chain(strings).collect()
}

fn numbers(column: &[u64]) -> [u64; ROWS] {
    column.try_into().expect("three rows")
}

fn simulated_shuffle(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let rows = [&own.input, &own.output].map(|block| numbers(&block.r64[0]));
    simulated_passes(node, &[(Field { width: 64 }, 8, rows)], None, prg)
}

/// The peer's components of the numbers of rows are what is revealed less its own, which are random but for their sum.
fn simulated_reveal(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let rows = [&own.input, &own.output].map(|block| numbers(&block.r64[0]));
    let begin = if node == 0 { [0, 1, 2] } else { [0; ROWS] };
    let [first, second] = prg.vector::<u64>(2)[..] else { unreachable!("two words") };
    let sum: u64 = begin.iter().sum();
    let end = [first % 4, second % 4, sum.wrapping_sub(first).wrapping_sub(second) % 4];
    let shown: Vec<u32> = bytemuck::pod_collect_to_vec(&own.public.parts()[0].bytes);
    let message = shown.iter().zip(end).map(|(&row, own)| (u64::from(row).wrapping_sub(own) % 4) as u8).collect();
    // Numbers of three rows take two bits, in a lane and a byte of their own.
    simulated_passes(node, &[(Field { width: 2 }, 1, [begin, end]), (Field { width: 64 }, 8, rows)], Some(message), prg)
}

/// The common generator gives the component of who does not own the data; no message.
fn simulated_input(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let rows = own.input.rows;
    let drawn = (0..2 * NODES).map(|which| {
        let share = plane(&own.output, which);
        let data = plane(&own.input, which % 2);
        let of_peer = |(at, share): (usize, &u64)| if which / 2 == node { share ^ data[at] } else { *share };
        let kept = |at: usize| if (at + 1) * 64 <= rows { !0 } else { (1 << (rows % 64)) - 1 };
        let random: Vec<u64> = prg.vector(words_for(rows));
        let words_of =
            share.iter().enumerate().map(|(at, share)| of_peer((at, share)) & kept(at) | random[at] & !kept(at));
        words(&words_of.collect::<Vec<_>>())
    });
    drawn.collect()
}

/// The peer's component is what is opened less one's own; planes arrive together.
fn simulated_opening(node: usize, own: &Own, _prg: &mut Prg) -> Vec<Vec<u8>> {
    let message = own.output.clone().minus(&own.input);
    let planes = message.bits.iter().flat_map(|plane| words(plane.words())).collect();
    if node == 0 { vec![planes] } else { vec![] }
}

#[test]
fn moves_are_simulated() {
    check_simulator(&NUMBERS, ROWS, simulated_shuffle);
    check_simulator(&REVEAL, ROWS, simulated_reveal);
    check_simulator(&INPUT, 3, simulated_input);
    check_simulator(&INPUT, 65, simulated_input);
    check_simulator(&OPEN, 3, simulated_opening);
}

/// What a node gets of the other one's data says nothing of it; no message is sent.
// views: crates/mpc/src/backends/two/rows/input.rs
// views: Two::input
#[test]
fn inputs_send_nothing() {
    let owns = watch(&INPUT, 3, Source::Dealt, THIN, 500);
    for (node, mine) in owns.iter().enumerate() {
        let runs = mine.iter().zip(&owns[1 - node]).map(|(own, peer)| {
            let gets = &own.output.bits[2 * (1 - node)..][..2];
            let gets = gets.iter().flat_map(|plane| words(plane.words())).collect::<Vec<u8>>();
            // Its own component of its data is what the generator gave and the data.
            Run {
                view: with_columns(View::default().with(Kind::Drawn, "component", gets), &own.input),
                known: View::default(),
                secret: with_columns(View::default(), &peer.input),
            }
        });
        assert_eq!(findings(&runs.collect::<Vec<_>>(), 3), Vec::<String>::new(), "node {node}");
        assert!(mine.iter().all(|own| own.seen.only(&[Kind::Received]).bits() == 0), "no message");
    }
}

/// The recipient sees the opened rows and nothing behind them, however they came about; the other node sees nothing.
// views: Two::open
// views: crates/mpc/src/backends/two/rows/open.rs
#[test]
fn openings_show_their_rows() {
    for source in Source::ALL {
        for rows in [3, 65] {
            let owns = watch(&OPEN, rows, source, THIN, runs_for(&OPEN, rows, source, THIN));
            // The values are opened: node 0 may know them, which are its output.
            let mut runs = runs_of(&owns, 0);
            runs.iter_mut().for_each(|run| run.view = run.view.filter(|part| part.kind != Kind::Opened));
            let found = findings(&runs, rows);
            assert!(found.is_empty(), "{rows} rows, {source:?}: {found:?}");
            assert!(owns[1].iter().all(|own| own.seen.bits() == 0), "node 1 receives nothing");
        }
    }
}

/// Node 1's number, which node 0 is told, beside a plane that stays shared.
fn announced(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let list = r#"[{"site": "out", "kind": "size", "recipients": ["a", "b"], "columns": [], "rows": null}]"#;
    let mut permits = Permits::from_json(list).expect("a list");
    let permit = permits.take("out", &[PermitKind::Size], &["a".into(), "b".into()], &[])?;
    let number = (b.me() == 1).then(|| x.r64[0].0[0]);
    let number = b.announce(PartyId(1), number, permit)?;
    Ok(Rows { bits: x.bits, r64: vec![Share(vec![number])], ..Rows::empty(1) })
}

const ANNOUNCE: Protocol<'_> =
    Protocol { name: "announce", shape: shape(64, 1), strings: Strings::None, used: None, run: &announced };

/// The runs of the node that is told a number: secret is what else there is.
fn told(owns: &[Vec<Own>; NODES]) -> Vec<Run> {
    let row = |own: &Own| (0..64).fold(0, |row, which| row | (plane(&own.input, which)[0] & 1) << which);
    let run = |(own, peer): (&Own, &Own)| Run {
        view: own.seen.clone().with(Kind::Own, "row", words(&[row(own)])),
        known: View::default().with(Kind::Opened, "number", words(&own.output.r64[0])),
        secret: View::default().with(Kind::Own, "row", words(&[row(own) ^ row(peer)])),
    };
    owns[0].iter().zip(&owns[1]).map(run).collect()
}

/// Who is told a number gets the number and nothing else; its owner gets nothing.
// views: Two::announce crates/mpc/src/backends/recipients.rs
#[test]
fn an_announcement_is_a_number() {
    let mut owns = watch(&ANNOUNCE, 1, Source::Dealt, THIN, 500);
    assert!(owns[1].iter().all(|own| own.seen.bits() == 0), "nothing for the owner");
    // The simulator: the message is the number.
    for own in &owns[0] {
        let messages: Vec<_> = own.seen.parts().iter().map(|part| (part.kind, part.bytes.clone())).collect();
        assert_eq!(messages, [(Kind::Received, words(&own.output.r64[0]))]);
    }
    assert_eq!((leaks(&told(&owns)), correlated(&told(&owns))), (vec![], vec![]));
    // A message that has a bit of the plane in place of one of the number.
    let [first, second] = &mut owns;
    for (own, peer) in first.iter_mut().zip(second) {
        let mut bytes = own.seen.parts()[0].bytes.clone();
        bytes[0] = bytes[0] & !1 | plane(&peer.input, 0)[0] as u8 & 1;
        own.seen = View::default().with(Kind::Received, "message", bytes);
    }
    assert_eq!(leaks(&told(&owns)).len(), 1);
}
