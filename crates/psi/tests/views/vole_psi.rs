//! The semi-honest VOLE-PSI from the receiver's view, with all tags that it can compute.

use crate::enacted::{self, Functions};
use crate::world::{inputs, pair};
use tacit_math::Prg;
use tacit_math::gf::Gf64;
use tacit_psi::vole_psi::{Variant, VolePsi};
use tacit_psi::{Item, Protocol, Role, Sizes};
use tacit_views::{Kind, View, biased, repeats};

const ITEMS: usize = 8;
const COMMON: usize = 3;
const SIZES: Sizes = Sizes { sender: ITEMS, receiver: ITEMS };

// views: crates/psi/src/intersection/vole_psi/oprf.rs
// views: crates/psi/src/intersection/vole_psi/hashes.rs
#[test]
fn a_receiver_computes_no_tag_but_those_of_its_items() {
    let psi = VolePsi { variant: Variant::Fast, bins: 1 };
    let views: Vec<View> = (0..64)
        .map(|run| {
            let mut prg = inputs("a curious receiver", run);
            // The sender's items are the same neighbours in every run.
            let sender: Vec<Item> = (0..ITEMS as u128).collect();
            let mut receiver: Vec<Item> = prg.vector(ITEMS);
            receiver[..COMMON].copy_from_slice(&sender[..COMMON]);
            let ((), seen) = pair(
                |session, peer| {
                    let mut prepared = psi.setup(Role::Sender, session, peer).expect("set up");
                    prepared.online(session, &sender, SIZES).map(drop).expect("an outcome");
                },
                |session, peer| {
                    enacted::receive::<Gf64>(session, peer, SIZES, |functions| {
                        functions.encode(&receiver, &functions.scalars::<Gf64>(&receiver), &mut prg)
                    })
                },
            );
            assert_eq!(
                seen.found(&[&sender[..], &receiver].concat()),
                [&sender[..COMMON], &receiver[..COMMON]].concat()
            );
            // What it computes of items that it has not, and the tags that are not of its own.
            let values =
                seen.functions.tags(&sender[COMMON..], &seen.functions.decode(&sender[COMMON..], &seen.vole.c));
            let own = seen.tags_of(&receiver);
            let others: Vec<u8> = seen
                .tags
                .iter()
                .filter(|tag| !own.contains(tag))
                .flat_map(|tag| tag.to_le_bytes()[..6].to_vec())
                .collect();
            View::default().with(Kind::Derived, "of the sender's other items", bytemuck::cast_slice(&values)).with(
                Kind::Received,
                "tags of others",
                others,
            )
        })
        .collect();
    assert_eq!(biased(&views), []);
    assert_eq!(repeats(&views, 8), []);
}

/// Columns that travel without their masks say of every item whether the receiver has it.
#[test]
fn columns_without_masks_are_found() {
    let view = |run: usize, masked: bool| {
        let mut prg = inputs("columns", run);
        let functions = Functions::drawn::<Gf64>(SIZES);
        let items: Vec<Item> = prg.vector(ITEMS);
        let scalars = functions.scalars::<Gf64>(&items);
        let mut columns = functions.encode(&items, &scalars, &mut prg).expect("distinct items");
        if masked {
            let masks: Vec<Gf64> = Prg::vector(&mut prg, columns.len());
            columns.iter_mut().zip(masks).for_each(|(column, mask)| *column ^= mask);
        }
        let rest = functions.rest(&items, bytemuck::cast_slice(&columns));
        View::default().with(Kind::Derived, "decoded less h", bytemuck::cast_slice(&rest))
    };
    let [masked, bare] = [true, false].map(|masked| (0..100).map(|run| view(run, masked)).collect::<Vec<_>>());
    assert_eq!((biased(&masked), repeats(&masked, 8)), (vec![], vec![]));
    assert!(biased(&bare).len() >= 64 * ITEMS);
}
