//! Permute and share, through a network of switches: the permuter sees nothing of the data, the owner nothing of the
//! order.

use crate::world::{Played, inputs, play_once};
use tacit_math::permutation;
use tacit_psi::permute_share::{Owner, Permuter};
use tacit_psi::switching::{Settings, switches};
use tacit_views::{Kind, Run, View, biased, correlated, indistinguishable, leaks, repeats, runs_needed};

const WIRES: usize = 6;
const RUNS: usize = 400;

fn data(run: usize) -> Vec<u64> {
    inputs("data", run).vector(WIRES)
}

fn order(run: usize) -> Vec<u32> {
    permutation::random(WIRES, &mut inputs("order", run))
}

/// Uniform words in place of what a party receives and of its shares.
fn simulated(real: &View, prg: &mut tacit_math::Prg) -> View {
    real.parts()
        .iter()
        .fold(View::default(), |view, part| view.with(part.kind, &part.name, prg.vector::<u8>(part.bytes.len())))
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
                part.kind == Kind::Received && part.bytes.len() == switches(WIRES).div_ceil(8)
            };
            let view = seen.filter(choices).with(Kind::Own, "share", bytemuck::cast_slice(&share));
            let settings: Vec<u64> = Settings::route(&order(run));
            let secret = View::default().with(Kind::Own, "settings", settings[0].to_le_bytes());
            Run { view, known: View::default(), secret: secret.lanes((1 << switches(WIRES)) - 1) }
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
                let view = simulated(&real.view, &mut prg);
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
