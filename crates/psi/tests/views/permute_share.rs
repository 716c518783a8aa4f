//! Permute and share, through a network of switches: the permuter sees nothing of the data, the owner nothing of the
//! order.

use crate::world::{Played, inputs, play_once};
use std::convert::Infallible;
use std::ops::Range;
use tacit_math::network::{self, Switches};
use tacit_math::{Prg, packed, permutation};
use tacit_net::{PartyId, Session};
use tacit_ot::{Adversary, softspoken};
use tacit_psi::permute_share::Owner;
use tacit_views::{Kind, Part, Run, View, biased, correlated, indistinguishable, leaks, repeats, runs_needed};

const WIRES: usize = 6;
const RUNS: usize = 400;
/// The top bit of a number.
const TOP: u64 = 1 << 63;

fn data(run: usize) -> Vec<u64> {
    inputs("data", run).vector(WIRES)
}

fn order(run: usize) -> Vec<u32> {
    permutation::random(WIRES, &mut inputs("order", run))
}

fn settings(run: usize) -> u64 {
    network::settings(&permutation::invert(&order(run)).expect("an order"))[0]
}

/// Something done at each switch, from its number and both rows.
struct Each<F>(usize, F);

impl<F: FnMut(usize, [u64; 2]) -> [u64; 2]> Switches for Each<F> {
    type Error = Infallible;

    fn lanes(&self) -> usize {
        1
    }

    fn ready(&mut self, most: usize) -> Result<Range<usize>, Infallible> {
        self.0 += most;
        Ok(self.0 - most..self.0)
    }

    fn switch(&mut self, [a, b]: [&mut [u64]; 2], switches: Range<usize>) {
        for (number, (a, b)) in switches.zip(a.iter_mut().zip(b)) {
            [*a, *b] = (self.1)(number, [*a, *b]);
        }
    }
}

fn through(mut rows: Vec<u64>, each: impl FnMut(usize, [u64; 2]) -> [u64; 2]) -> Vec<u64> {
    let Ok(()) = network::evaluate(&mut rows, &mut Each(0, each));
    rows
}

/// The rows before the network, of those behind it. undo: both rows before a switch, of its number and those behind it.
fn backwards(rows: &[u64], undo: impl Fn(usize, [u64; 2]) -> [u64; 2]) -> Vec<u64> {
    let mut meetings = Vec::new();
    let ends = through((0..rows.len() as u64).collect(), |_, wires| {
        meetings.push(wires.map(|wire| wire as usize));
        wires
    });
    let mut wires = vec![0; rows.len()];
    ends.iter().zip(rows).for_each(|(&wire, &row)| wires[wire as usize] = row);
    for (number, &[a, b]) in meetings.iter().enumerate().rev() {
        [wires[a], wires[b]] = undo(number, [wires[a], wires[b]]);
    }
    wires
}

/// What the permuter has in the end: the key of each switch, and its shares.
struct Permuted {
    keys: Vec<u64>,
    share: Vec<u64>,
}

/// The permuter, made of the parts of the protocol, with its keys in the open.
fn permute(ots: &mut softspoken::Receiver, session: &mut Session, owner: PartyId, run: usize) -> Permuted {
    let (mut masked, settings) = (vec![0u64; WIRES], settings(run));
    session.next_round();
    session.recv(owner, bytemuck::cast_slice_mut(&mut masked)).expect("masked data");
    let mut batch = ots.extend(session, network::switches(WIRES)).expect("transfers");
    batch.choose(session, owner, &[settings]).expect("chosen");
    session.next_round();
    let mut e = vec![0u64; network::switches(WIRES)];
    session.recv(owner, bytemuck::cast_slice_mut(&mut e)).expect("corrections");
    let keys: Vec<u64> = batch.random().into_iter().map(|key| key as u64).collect();
    let switch = |at: usize, rows| packed::known(TOP, rows, e[at], keys[at], (settings >> at & 1).wrapping_neg());
    Permuted { share: through(masked, switch), keys }
}

/// Uniform keys, corrections and shares; the masked data is what they lead to before the switches.
fn simulated_permuter(run: usize, real: &View, prg: &mut Prg) -> View {
    let [e, k] = [(); 2].map(|()| prg.vector::<u64>(network::switches(WIRES)));
    let share: Vec<u64> = prg.vector(WIRES);
    // s = 0: a + k, b - k. s = 1: b + e + k, a - e - k.
    let masked = backwards(&share, |at, [a, b]| match settings(run) >> at & 1 {
        0 => [a.wrapping_sub(k[at]), b.wrapping_add(k[at])],
        _ => [b.wrapping_add(e[at]).wrapping_add(k[at]), a.wrapping_sub(e[at]).wrapping_sub(k[at])],
    });
    made_of(real, &[&masked, &e, &k, &share].map(|words| bytemuck::cast_slice(words).to_vec()))
}

/// Uniform choices and shares.
fn simulated_owner(_: usize, real: &View, prg: &mut Prg) -> View {
    let choices = prg.vector::<u64>(1)[0] & ((1 << network::switches(WIRES)) - 1);
    made_of(real, &[choices.to_le_bytes()[..2].to_vec(), bytemuck::cast_slice(&prg.vector::<u64>(WIRES)).to_vec()])
}

fn made_of(real: &View, parts: &[Vec<u8>]) -> View {
    assert_eq!(real.parts().len(), parts.len(), "{real:?}");
    real.parts().iter().zip(parts).fold(View::default(), |view, (part, bytes)| {
        assert_eq!(part.bytes.len(), bytes.len(), "{}", part.name);
        view.with(part.kind, &part.name, bytes.clone())
    })
}

/// The views of the permuter and of the owner.
fn views() -> [Vec<Run>; 2] {
    let Played { sender: owner, receiver: permuter } = play_once(
        |session, peer| Owner::setup(session, peer).expect("set up"),
        |session, peer| softspoken::Receiver::setup(session, peer, Adversary::SemiHonest, 4).expect("set up"),
        RUNS,
        |owner, session, peer, run| owner.share(session, peer, &data(run)).expect("shared"),
        permute,
    );
    for (run, ((_, mine), (_, theirs))) in owner.iter().zip(&permuter).enumerate() {
        let sums: Vec<u64> = mine.iter().zip(&theirs.share).map(|(a, b)| a.wrapping_add(*b)).collect();
        assert_eq!(sums, permutation::gather(&data(run), &order(run)), "run {run}");
    }
    let of_permuter = |(run, (seen, permuted)): (usize, (View, Permuted))| Run {
        view: seen.only(&[Kind::Received]).with(Kind::Derived, "keys", bytemuck::cast_slice(&permuted.keys)).with(
            Kind::Own,
            "share",
            bytemuck::cast_slice(&permuted.share),
        ),
        known: View::default().with(Kind::Own, "settings", settings(run).to_le_bytes()),
        secret: View::default().with(Kind::Own, "data", bytemuck::cast_slice(&data(run))),
    };
    let of_owner = |(run, (seen, share)): (usize, (View, Vec<u64>))| {
        // The choices, masked; what made the transfers before them does not depend on the order.
        let bytes = network::switches(WIRES).div_ceil(8);
        let choices = |part: &Part| part.kind == Kind::Received && part.bytes.len() == bytes;
        Run {
            view: seen.filter(choices).with(Kind::Own, "share", bytemuck::cast_slice(&share)),
            known: View::default(),
            secret: View::default().with(Kind::Own, "settings", settings(run).to_le_bytes()),
        }
    };
    [permuter.into_iter().enumerate().map(of_permuter).collect(), owner.into_iter().enumerate().map(of_owner).collect()]
}

/// Of the permuter's words the lowest bits, where sums are linear; its settings and what the owner has in full.
fn cut(who: &str, run: &Run) -> Run {
    let switches = (1 << network::switches(WIRES)) - 1;
    match who {
        "permuter" => Run { view: run.view.lanes(1), known: run.known.lanes(switches), secret: run.secret.lanes(1) },
        _ => Run { view: run.view.lanes(0xffff), known: View::default(), secret: run.secret.lanes(switches) },
    }
}

// views: crates/psi/src/parts/permute_share.rs
#[test]
fn the_permuter_sees_nothing_of_the_data_and_the_owner_nothing_of_the_order() {
    type Simulator = fn(usize, &View, &mut Prg) -> View;
    let simulators: [(&str, Simulator); 2] = [("permuter", simulated_permuter), ("owner", simulated_owner)];
    for ((who, simulate), real) in simulators.into_iter().zip(views()) {
        let cuts: Vec<Run> = real.iter().map(|run| cut(who, run)).collect();
        assert!(RUNS >= runs_needed(&cuts[0]), "{who}: {} runs", runs_needed(&cuts[0]));
        assert_eq!((leaks(&cuts), correlated(&cuts)), (vec![], vec![]), "{who}");
        let mut prg = inputs(who, 0);
        let made = real.iter().enumerate().map(|(run, real)| real.seeing(simulate(run, &real.view, &mut prg)));
        let made: Vec<Run> = made.map(|made| cut(who, &made)).collect();
        assert_eq!(indistinguishable(&cuts, &made), [], "{who}");
        if who == "permuter" {
            let views: Vec<View> = real.iter().map(|run| run.view.clone()).collect();
            assert_eq!((biased(&views), repeats(&views, 8)), (vec![], vec![]), "{who}");
        }
    }
}

#[test]
fn data_without_a_mask_and_corrections_under_a_key_of_the_permuter_are_found() {
    let [permuter, _] = views();
    let word = |run: &Run, part: usize, at: usize| -> u64 {
        u64::from_le_bytes(run.view.parts()[part].bytes[8 * at..8 * at + 8].try_into().expect("a word"))
    };
    let with = |run: &Run, part: usize, words: Vec<u64>| {
        let parts = run.view.parts().iter().enumerate().map(|(number, old)| match number == part {
            true => bytemuck::cast_slice(&words).to_vec(),
            false => old.bytes.to_vec(),
        });
        run.seeing(made_of(&run.view, &parts.collect::<Vec<_>>()))
    };
    let unmasked: Vec<Run> =
        permuter.iter().enumerate().map(|(run, seen)| cut("permuter", &with(seen, 0, data(run)))).collect();
    assert!(leaks(&unmasked).len() >= WIRES);
    // The owner's rows of the first switch differ by what the data does, but for its mask: known, had that no mask.
    let under_its_key: Vec<Run> = permuter
        .iter()
        .enumerate()
        .map(|(run, seen)| {
            let [x, y] = [data(run)[0], data(run)[1]];
            let corrections = (0..network::switches(WIRES)).map(|at| match at {
                0 => word(seen, 2, 0).wrapping_add(y).wrapping_sub(x),
                _ => word(seen, 1, at),
            });
            cut("permuter", &with(seen, 1, corrections.collect()))
        })
        .collect();
    assert!(!leaks(&under_its_key).is_empty());
}
