//! Intersection of two sets: two processes, base OTs included, half of the items common.

use crate::Result;
use crate::arguments::Psi;
use crate::format::{mebibytes, seconds};
use crate::machine;
use crate::message::{Run, hear, say};
use crate::nodes::Transport;
use crate::party::report;
use crate::processes;
use crate::statistics::Both;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::{stdin, stdout};
use std::time::Instant;
use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_psi::vole_psi::Variant;
use tacit_psi::{DhPsi, Item, Kkrt, Outcome, Protocol, Role, Sizes, VolePsi};

/// The parties' names, by role.
const NAMES: [&str; 2] = ["sender", "receiver"];

/// Every protocol, with the largest size that takes seconds, as a power of two.
fn protocols() -> Vec<(Box<dyn Protocol>, u32)> {
    vec![
        (Box::new(VolePsi { variant: Variant::Fast, bins: 1 }), 26),
        (Box::new(VolePsi { variant: Variant::Compact, bins: 1 }), 26),
        (Box::new(VolePsi { variant: Variant::Malicious, bins: 1 }), 26),
        (Box::new(Kkrt { bins: 1 }), 24),
        (Box::new(DhPsi { bins: 1 }), 18),
    ]
}

/// What both parties are to run.
#[derive(Serialize, Deserialize)]
struct Work {
    protocol: String,
    items: usize,
}

/// Measures what is selected and prints a line for each.
///
/// # Errors
/// When a party fails; an unknown protocol.
pub fn run(selection: &Psi) -> Result<()> {
    let known = protocols();
    if let Some(name) = selection.only.iter().find(|name| known.iter().all(|(known, _)| known.name() != **name)) {
        let names: Vec<_> = known.iter().map(|(protocol, _)| protocol.name()).collect();
        return Err(format!("there is no protocol {name:?}; there are {}", names.join(", ")).into());
    }
    for (protocol, largest) in &known {
        let named = selection.only.iter().any(|name| name == protocol.name());
        for &rows in &selection.rows {
            for &transport in &selection.transports {
                if named || selection.only.is_empty() && rows <= *largest {
                    measure(&**protocol, rows, transport, selection)?;
                }
            }
        }
    }
    Ok(())
}

fn measure(protocol: &dyn Protocol, rows: u32, transport: Transport, selection: &Psi) -> Result<()> {
    let items = 1 << rows;
    let work = Work { protocol: protocol.name().to_owned(), items };
    let runs = (0..selection.repeats)
        .map(|_| processes::one_run::<Run>(&NAMES, "psi-party", transport == Transport::Tls, &work))
        .collect::<Result<Vec<_>>>()?;
    let Both { wall, cpu, peak, bytes } = Both::of(&runs);
    let (peak, bytes) = (peak[0].max(peak[1]), bytes / items as f64);
    let (name, transport) = (protocol.name(), transport.name());
    if selection.json {
        println!(
            "{}",
            json!({"protocol": name, "rows": rows, "transport": transport, "seconds": wall.median, "spread": wall.spread(),
                "cpu_sender": cpu[0], "cpu_receiver": cpu[1], "bytes_per_item": bytes, "rounds": runs[0][0].rounds,
                "peak_bytes": peak, "load": machine::load()})
        );
    } else {
        println!(
            "{name:16} 2^{rows:<2} {transport:5}  {:>9} +-{:>3.0} %  cpu {:>9} / {:>9}  {bytes:>6.1} B an item  {:>9}  load {:.1}",
            seconds(wall.median),
            50.0 * wall.spread(),
            seconds(cpu[0]),
            seconds(cpu[1]),
            mebibytes(peak),
            machine::load(),
        );
        if selection.steps {
            steps(&runs[runs.len() / 2]);
        }
    }
    Ok(())
}

fn steps(runs: &[Run; 2]) {
    for (name, run) in NAMES.iter().zip(runs) {
        for step in &run.steps {
            let (wall, waiting) = (seconds(step.seconds), seconds(step.waiting));
            println!("    {name:8} {:12} {wall:>9}, waiting {waiting:>9}  {:>11} B", step.path, step.bytes_sent);
        }
    }
}

/// A party process: the sender is number 0.
///
/// # Errors
/// When the run fails or its outcome is wrong.
pub fn party() -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let (listener, group) = processes::introduce(&mut input, &mut output)?;
    let work: Work = hear(&mut input)?.ok_or("the coordinator is gone")?;
    let (protocol, _) =
        protocols().into_iter().find(|(known, _)| known.name() == work.protocol).ok_or("an unknown protocol")?;
    let items = items(group.me, work.items);
    let mut session = processes::join(&NAMES, listener, &group)?;
    let run = timed(&mut session, &*protocol, &items)?;
    session.close()?;
    say(&mut output, &run)
}

/// The first half is the other party's, too.
pub fn items(me: usize, count: usize) -> Vec<Item> {
    let mut items = vec![0; count];
    let (common, own) = items.split_at_mut(count / 2);
    Prg::new(&Seed::from_bytes([9; 16])).fill(common);
    Prg::new(&Seed::from_bytes([me as u8; 16])).fill(own);
    items
}

fn timed(session: &mut Session, protocol: &dyn Protocol, items: &[Item]) -> Result<Run> {
    let (role, peer) = match session.me() {
        PartyId(0) => (Role::Sender, PartyId(1)),
        _ => (Role::Receiver, PartyId(0)),
    };
    let sizes = Sizes { sender: items.len(), receiver: items.len() };
    barrier(session, peer)?;
    let (before, cpu, start) = (session.meter().snapshot(), machine::cpu_seconds(), Instant::now());
    let outcome = protocol.setup(role, session, peer)?.online(session, items, sizes)?;
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), machine::cpu_seconds() - cpu);
    let run = report(&before, &session.meter().snapshot(), elapsed, cpu);
    match outcome {
        Outcome::Receiver(matches) if matches.len() != items.len() / 2 => Err("a wrong intersection".into()),
        Outcome::Receiver(_) | Outcome::Sender { .. } => Ok(run),
    }
}

/// Returns when the peer has called it, too.
///
/// # Errors
/// When the peer is gone.
pub fn barrier(session: &mut Session, peer: PartyId) -> Result<()> {
    session.next_round();
    session.send(peer, vec![0])?;
    Ok(session.recv(peer, &mut [0])?)
}
