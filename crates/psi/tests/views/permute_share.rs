//! Permute and share, through a network of switches: the permuter sees nothing of the data, the owner nothing of the
//! order.

use crate::world::{Played, inputs, play_once};
use tacit_math::{Prg, network, permutation};
use tacit_psi::permute_share::{Owner, Permuter};
use tacit_views::{Kind, Run, View, biased, correlated, indistinguishable, leaks, repeats, runs_needed};

const WIRES: usize = 6;
const RUNS: usize = 400;

fn data(run: usize) -> Vec<u64> {
    inputs("data", run).vector(WIRES)
}

fn order(run: usize) -> Vec<u32> {
    permutation::random(WIRES, &mut inputs("order", run))
}

/// Uniform words in place of what a party receives and of its shares. Switches keep the sum of a party's shares: that
/// of the permuter's is the sum of the masked data, which it receives first.
fn simulated(who: &str, real: &View, prg: &mut Prg) -> View {
    let share: Vec<u64> = prg.vector(WIRES);
    let mut masked: Vec<u64> = prg.vector(WIRES);
    let sum = |words: &[u64]| words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
    masked[0] = masked[0].wrapping_add(sum(&share)).wrapping_sub(sum(&masked));
    real.parts().iter().enumerate().fold(View::default(), |view, (number, part)| {
        let bytes = match (part.kind, number, who) {
            (Kind::Own, ..) => bytemuck::cast_slice(&share).to_vec(),
            (_, 0, "permuter") => bytemuck::cast_slice(&masked).to_vec(),
            _ => prg.vector(part.bytes.len()),
        };
        assert_eq!(bytes.len(), part.bytes.len(), "{who}: {}", part.name);
        view.with(part.kind, &part.name, bytes)
    })
}

// views: crates/psi/src/parts/permute_share.rs
#[test]
fn the_permuter_sees_nothing_of_the_data_and_the_owner_nothing_of_the_order() {
    let Played { sender: owner, receiver: permuter } = play_once(
        |session, peer| Owner::setup(session, peer).expect("set up"),
        |session, peer| Permuter::setup(session, peer).expect("set up"),
        RUNS,
        |owner, session, peer, run| owner.share(session, peer, &data(run)).expect("shared"),
        |permuter, session, peer, run| permuter.share(session, peer, &order(run)).expect("shared"),
    );
    let of_permuter: Vec<Run> = permuter
        .into_iter()
        .enumerate()
        .map(|(run, (seen, share))| {
            let view = seen.only(&[Kind::Received]).with(Kind::Own, "share", bytemuck::cast_slice(&share));
            let secret = View::default().with(Kind::Own, "data", bytemuck::cast_slice(&data(run)));
            Run { view, known: View::default(), secret }
        })
        .collect();
    let of_owner: Vec<Run> = owner
        .into_iter()
        .enumerate()
        .map(|(run, (seen, share))| {
            // The choices, masked; what made the transfers before them does not depend on the order.
            let choices = |part: &tacit_views::Part| {
                part.kind == Kind::Received && part.bytes.len() == network::switches(WIRES).div_ceil(8)
            };
            let view = seen.filter(choices).with(Kind::Own, "share", bytemuck::cast_slice(&share));
            let places = permutation::invert(&order(run)).expect("an order");
            let settings = network::settings(&places);
            let secret = View::default().with(Kind::Own, "settings", settings[0].to_le_bytes());
            Run { view, known: View::default(), secret: secret.lanes((1 << network::switches(WIRES)) - 1) }
        })
        .collect();
    assert!(of_owner[0].view.parts().len() == 2, "choices and a share: {:?}", of_owner[0].view);
    for (who, real) in [("permuter", of_permuter), ("owner", of_owner)] {
        let cut: Vec<Run> = real
            .iter()
            .map(|run| if who == "permuter" { run.lanes(1) } else { run.seeing(run.view.lanes(0xffff)) })
            .collect();
        assert!(RUNS >= runs_needed(&cut[0]), "{who}: {} runs", runs_needed(&cut[0]));
        assert_eq!(leaks(&cut), [], "{who}");
        assert_eq!(correlated(&cut), [], "{who}");
        let mut prg = inputs(who, 0);
        let made: Vec<Run> = cut
            .iter()
            .zip(&real)
            .map(|(cut, real)| {
                let view = simulated(who, &real.view, &mut prg);
                cut.seeing(if who == "permuter" { view.lanes(1) } else { view.lanes(0xffff) })
            })
            .collect();
        if who == "permuter" {
            assert_eq!(indistinguishable(&cut, &made), [], "{who}");
            let views: Vec<View> = real.iter().map(|run| run.view.clone()).collect();
            assert_eq!((biased(&views), repeats(&views, 8)), (vec![], vec![]), "{who}");
        }
    }
}
