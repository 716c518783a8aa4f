//! Key-value stores of random values are uniform, whatever the keys.

use crate::world::inputs;
use tacit_math::{Prg, Seed};
use tacit_psi::Item;
use tacit_psi::okvs::Okvs;
use tacit_views::{Kind, Run, View, biased, constants, indistinguishable, leaks, runs_needed};

/// The columns of a store of keys that are the same in all runs, or secret and drawn anew, with random values. `fresh`:
/// whether the columns that no key determines are drawn anew.
fn store(keys: usize, run: usize, fresh: bool) -> Run {
    let mut prg = inputs("stores", run);
    let items: Vec<Item> = prg.vector(keys);
    let values: Vec<u64> = prg.vector(keys);
    let store = Okvs::<4>::new(keys, &Seed::from_bytes(prg.vector(16).try_into().expect("16 bytes")));
    let mut free = if fresh { prg } else { Prg::new(&Seed::from_bytes([1; 16])) };
    let place = |numbers: &[u32], out: &mut [u64]| {
        numbers.iter().zip(out).for_each(|(&number, out)| *out = values[number as usize]);
    };
    let columns = store.encode(&items, &store.order(&items), &mut free, place).expect("independent rows");
    let view = View::default().with(Kind::Received, "columns", bytemuck::cast_slice(&columns));
    let secret = View::default().with(Kind::Own, "keys", bytemuck::cast_slice(&items));
    Run { view: view.lanes(1), known: View::default(), secret: secret.lanes(1) }
}

// views: crates/psi/src/parts/okvs.rs
#[test]
fn stores_of_random_values_are_uniform() {
    // Dense rows, and bands.
    for (keys, runs) in [(5, 200), (260, 1500)] {
        let real: Vec<Run> = (0..runs).map(|run| store(keys, run, true)).collect();
        assert!(runs >= runs_needed(&real[0]), "{keys} keys: {} runs", runs_needed(&real[0]));
        let mut prg = inputs("uniform columns", keys);
        let made: Vec<Run> = real
            .iter()
            .map(|run| {
                let columns: Vec<u64> = prg.vector(run.view.bits());
                run.seeing(View::default().with(Kind::Received, "columns", bytemuck::cast_slice(&columns)).lanes(1))
            })
            .collect();
        let views: Vec<View> = real.iter().map(|run| run.view.clone()).collect();
        assert_eq!(indistinguishable(&real, &made), [], "{keys} keys");
        assert_eq!(leaks(&real), [], "{keys} keys");
        assert_eq!(constants(&views), [], "{keys} keys");
        assert_eq!(biased(&views), [], "{keys} keys");
    }
}

#[test]
fn columns_that_are_not_drawn_anew_are_found() {
    // One key determines one of 41 columns.
    let views: Vec<View> = (0..400).map(|run| store(1, run, false).view).collect();
    assert!(biased(&views).len() >= 30 && constants(&views).len() >= 30);
}
