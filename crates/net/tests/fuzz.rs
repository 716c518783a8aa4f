//! Frames of a peer against a session. Whatever comes, the session's party has a message of the length that it asked
//! for, is told of the peer's fault, or waits for more.

use bolero::TypeGenerator;
use std::thread;
use tacit_net::relay;
use tacit_net::{FRAME_HEADER, NetError, Options, PartyId, Session};

/// A piece of what a peer sends.
#[derive(Debug, TypeGenerator)]
enum Piece {
    /// A frame that is in order but for its round and its length, perhaps.
    Data { round: u8, payload: [u8; 9], less: u8 },
    /// A header that says anything, and bytes.
    Framed { kind: u8, reserved: u8, length: u32, round: u64, payload: [u8; 5] },
    /// Bytes.
    Raw([u8; 7]),
}

impl Piece {
    fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Data { round, payload, less } => {
                let payload = &payload[usize::from(less % 9)..];
                header(1, 0, payload.len() as u32, u64::from(round % 3), out);
                out.extend_from_slice(payload);
            }
            Self::Framed { kind, reserved, length, round, payload } => {
                header(kind % 9, reserved & 1, length % (3 << 19), round, out);
                out.extend_from_slice(&payload);
            }
            Self::Raw(bytes) => out.extend_from_slice(&bytes),
        }
    }
}

fn header(kind: u8, reserved: u8, length: u32, round: u64, out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend_from_slice(&[kind, reserved, 0, 0]);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&round.to_le_bytes());
    assert_eq!(out.len() - begin, FRAME_HEADER);
}

/// A party that asks for two messages, one a round.
fn listen(session: &mut Session) -> Result<[u8; 11], NetError> {
    let mut heard = [0; 11];
    session.next_round();
    session.recv(PartyId(1), &mut heard[..8])?;
    session.next_round();
    session.recv(PartyId(1), &mut heard[8..])?;
    Ok(heard)
}

/// What the party makes of a peer that sends these bytes, in one go or in two, and nothing more.
fn after(bytes: &[u8], split: usize) -> Result<[u8; 11], NetError> {
    let (mut session, relay) = relay::session(["a", "b"], 0, &Options::default());
    let abort = session.abort_handle();
    thread::scope(|scope| {
        let relay = &relay;
        let party = scope.spawn(move || {
            let heard = listen(&mut session);
            relay.rest();
            heard
        });
        let (first, second) = bytes.split_at(split.min(bytes.len()));
        // An error is the party's, too, and that one is looked at.
        if relay.exchange(first).is_ok() {
            let _ = relay.exchange(second);
        }
        abort.abort("nothing more comes");
        party.join().expect("no panic")
    })
}

#[test]
fn frames_of_a_peer_are_messages_or_its_fault() {
    bolero::check!().with_type::<(Vec<Piece>, u8)>().for_each(|(pieces, split)| {
        let mut bytes = Vec::new();
        pieces.iter().take(6).for_each(|piece| piece.write(&mut bytes));
        match after(&bytes, usize::from(*split)) {
            Ok(_) | Err(NetError::Desynchronised { .. } | NetError::Interrupted { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    });
}

#[test]
fn frames_in_order_are_heard() {
    let mut bytes = Vec::new();
    header(1, 0, 8, 1, &mut bytes);
    bytes.extend_from_slice(b"12345678");
    header(1, 0, 3, 2, &mut bytes);
    bytes.extend_from_slice(b"9ab");
    assert!(matches!(after(&bytes[..24], 24), Err(NetError::Interrupted { .. })));
    assert_eq!(after(&bytes, 24).expect("an honest peer"), *b"123456789ab");
}
