//! Who an opened value goes to, and the note of it; numbers told to all.

use tacit_net::{NetError, PartyId, Session};

use crate::{Block, MpcError, Permit, Result, Shape};

/// The permit's recipients that are nodes of an engine of `nodes` nodes, and those that are clients of it, if the
/// permit allows a bundle of this shape.
pub(in crate::backends) fn recipients(
    session: &Session,
    nodes: usize,
    permit: &Permit,
    opened: Shape,
) -> Result<[Vec<PartyId>; 2]> {
    permit.check_open(opened)?;
    // Nodes have the same places in both sessions.
    let all = session.clients().unwrap_or(session);
    let place = |name: &String| {
        let place = (0..all.parties()).map(PartyId).find(|&id| all.name(id) == name);
        place.ok_or_else(|| MpcError::NotPermitted {
            site: permit.site().into(),
            what: format!("a value to {name}, who takes no part"),
        })
    };
    let places = permit.recipients().iter().map(place).collect::<Result<Vec<_>>>()?;
    Ok(places.into_iter().partition::<Vec<_>, _>(|place| place.0 < nodes).into())
}

/// A number of rows that its owner tells all nodes, in one round: at a node, on its session with the others, whoever
/// the owner is. own: given at the owner.
pub(in crate::backends) fn announced(
    session: &mut Session,
    nodes: usize,
    owner: PartyId,
    own: Option<u64>,
    permit: &Permit,
) -> Result<u64> {
    let session = if owner.0 < nodes { session } else { session.clients_mut()? };
    announce(session, nodes, owner, own, permit)
}

/// The same on the session in which the owner is, at the nodes and at the owner.
///
/// # Errors
/// [`MpcError::NotPermitted`] at the owner, and what its peers say, when the permit does not allow it;
/// [`MpcError::Net`].
///
/// # Panics
/// If the owner gives no number.
pub fn announce(session: &mut Session, nodes: usize, owner: PartyId, own: Option<u64>, permit: &Permit) -> Result<u64> {
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
