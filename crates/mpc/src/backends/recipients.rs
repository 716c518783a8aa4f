//! Who an opened value goes to, and the note of it.

use tacit_net::{PartyId, Session};

use crate::{Block, MpcError, Permit, Result};

/// The permit's recipients as nodes of an engine of so many.
pub(in crate::backends) fn recipients(session: &Session, nodes: usize, permit: &Permit) -> Result<Vec<PartyId>> {
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

/// What was opened to this node, which is public to it from here on; noted in the transcript, when one is kept.
pub(in crate::backends) fn record(session: &Session, opened: Block) -> Block {
    let opened = opened.published();
    if let Some(transcript) = session.transcript() {
        transcript.note_opened(session.path(), &opened.bytes().collect::<Vec<_>>().concat());
    }
    opened
}
