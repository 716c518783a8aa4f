//! The capacity of tacit's own transport: every party sends to both others and receives from both at once. Nothing is
//! computed.

use crate::Result;
use tacit_net::{PartyId, Session};

/// Bytes that go to each peer for every row.
pub const BYTES_PER_ROW: usize = 64;

/// Bytes of one message.
const MESSAGE: usize = 1 << 20;

/// Messages that are on the way before a party receives.
const AHEAD: usize = 8;

/// Exchanges `rows` rows with every peer, in one round.
pub fn run(session: &mut Session, rows: usize) -> Result<()> {
    let (me, parties) = (session.me(), session.parties());
    let peers: Vec<PartyId> = (0..parties).map(PartyId).filter(|&peer| peer != me).collect();
    let total = rows * BYTES_PER_ROW;
    let sizes: Vec<usize> = (0..total).step_by(MESSAGE).map(|at| MESSAGE.min(total - at)).collect();
    let mut received = vec![0; MESSAGE];
    session.next_round();
    for turn in 0..sizes.len() + AHEAD {
        for &peer in &peers {
            if let Some(&size) = sizes.get(turn) {
                let mut message = session.buffer(size);
                message.resize(size, 7);
                session.send(peer, message)?;
            }
            if let Some(&size) = turn.checked_sub(AHEAD).and_then(|turn| sizes.get(turn)) {
                session.recv(peer, &mut received[..size])?;
            }
        }
    }
    Ok(())
}
