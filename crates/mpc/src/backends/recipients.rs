//! Who an opened value goes to, and the note of it; numbers told to all.

use tacit_net::{NetError, PartyId, Session};

use crate::{Block, MpcError, Permit, Result, Shape};

/// The permit's recipients, as nodes of an engine of `nodes` nodes, if the permit allows a bundle of this shape.
pub(in crate::backends) fn recipients(
    session: &Session,
    nodes: usize,
    permit: &Permit,
    opened: Shape,
) -> Result<Vec<PartyId>> {
    permit.check_open(opened)?;
    let node = |name: &String| (0..nodes).map(PartyId).find(|&id| session.name(id) == name);
    permit
        .recipients()
        .iter()
        .map(|name| {
            node(name).ok_or_else(|| MpcError::NotPermitted {
                site: permit.site().into(),
                what: format!("a value to {name}, who is not a node"),
            })
        })
        .collect()
}

/// A number of rows that its owner tells all nodes, in one round. own: given at the owner.
pub(in crate::backends) fn announce(
    session: &mut Session,
    nodes: usize,
    owner: PartyId,
    own: Option<u64>,
    permit: &Permit,
) -> Result<u64> {
    let names: Vec<&str> = (0..nodes).map(|node| session.name(PartyId(node))).collect();
    permit.check_announcement(&names)?;
    if session.me() != owner {
        session.next_round();
        let mut bytes = [0; 8];
        session.recv(owner, &mut bytes)?;
        let told = u64::from_le_bytes(bytes);
        // The owner has the same permit, and refuses by itself.
        return permit.check_rows(told).map(|()| told).map_err(|_| {
            let (peer, step) = (session.name(owner).to_owned(), session.path().to_owned());
            let detail = format!("it announced {told} rows, more than the approved plan allows");
            NetError::Desynchronised { peer, step, detail }.into()
        });
    }
    let own = own.expect("the owner knows the number");
    permit.check_rows(own)?;
    session.next_round();
    for peer in (0..nodes).map(PartyId).filter(|&peer| peer != owner) {
        session.send(peer, own.to_le_bytes().to_vec())?;
    }
    Ok(own)
}

/// What was opened to this node, which is public to it from here on; noted in the transcript, when one is kept.
pub(in crate::backends) fn record(session: &Session, opened: Block) -> Block {
    let opened = opened.published();
    if let Some(transcript) = session.transcript() {
        transcript.note_opened(session.path(), &opened.bytes().collect::<Vec<_>>().concat());
    }
    opened
}
