//! What intersections take on this machine.

use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

use tacit_net::{Options, PartyId, Session, memory};
use tacit_psi::prices::{Price, Prices};
use tacit_psi::vole_psi::Variant;
use tacit_psi::{DhPsi, Item, Protocol, Role, Sizes, VolePsi};

use crate::error::{Result, RunError};

/// Few items: what a protocol begins with.
const FEW: usize = 16;

/// Items of a party for protocols with keyed hashes, and for those with a curve.
const MANY: [usize; 2] = [1 << 18, 1 << 13];

/// Protocols that are computed on a curve: they follow the one that is measured.
const CURVES: [&str; 5] = ["dh", "dh-cardinality", "private-id-ddh", "multi-key-private-id", "ps3i"];

/// Prices of all intersections: those by Diffie-Hellman and by VOLE are measured, and all others follow the one that
/// computes as they do.
///
/// # Errors
/// When a protocol fails.
pub fn intersections(before: &Prices) -> Result<Prices> {
    let vole = measured(&VolePsi { variant: Variant::Fast, bins: 1 }, MANY[0])?;
    let curve = measured(&DhPsi { bins: 1 }, MANY[1])?;
    let follow = |(name, price): (&String, &Price)| {
        let now = if CURVES.contains(&name.as_str()) { curve } else { vole };
        let then = before.of(if CURVES.contains(&name.as_str()) { "dh" } else { "vole" });
        let (begin, item) = (now.begin / then.begin, now.item / then.item);
        let price = Price { begin: price.begin * begin, item: price.item * item, further: price.further * item };
        (name.clone(), price)
    };
    let table: BTreeMap<String, Price> = before.table().iter().map(follow).collect();
    Prices::try_from(table).map_err(RunError::Prices)
}

/// What a protocol begins with, and what an item of either set takes, of two parties on this machine.
fn measured(protocol: &dyn Protocol, many: usize) -> Result<Price> {
    let begin = seconds(protocol, FEW)?;
    let rest = (seconds(protocol, many)? - begin).max(0.0);
    Ok(Price { begin, item: rest / (2 * many) as f64, further: 0.0 })
}

/// Seconds for sets of as many items, half of them in common. The least of three.
fn seconds(protocol: &dyn Protocol, items: usize) -> Result<f64> {
    (0..3).map(|_| once(protocol, items)).try_fold(f64::INFINITY, |least, now| Ok(now?.min(least)))
}

fn once(protocol: &dyn Protocol, items: usize) -> Result<f64> {
    let sessions = memory::mesh(&["sender", "receiver"], &Options::default());
    let roles = [(Role::Sender, 0), (Role::Receiver, items / 2)];
    let begin = Instant::now();
    let play = |(mut session, (role, start)): (Session, (Role, usize))| {
        let own: Vec<Item> = (start..start + items).map(|item| (item as Item).wrapping_mul(SPREAD)).collect();
        let peer = PartyId(1 - session.me().0);
        let mut prepared = protocol.setup(role, &mut session, peer)?;
        prepared.online(&mut session, &own, Sizes { sender: items, receiver: items })?;
        session.close()?;
        Ok::<_, RunError>(())
    };
    thread::scope(|scope| {
        let ends: Vec<_> = sessions.into_iter().zip(roles).map(|side| scope.spawn(|| play(side))).collect();
        ends.into_iter().try_for_each(|end| end.join().expect("no panic"))
    })?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Spreads numbers over all items, which protocols take for hashes.
const SPREAD: Item = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
