//! What the parties of a match tell each other besides a protocol's own messages. Each message has one layout, and
//! everything in a peer's is held against its bounds before anything is computed with it.
//!
//! | module | what is told |
//! |---|---|
//! | [`announcement`] | a party's rows, memory, workers, network, kinds of key columns and earlier results |
//! | [`kind`] | the kinds of key columns |
//! | [`numbers`] | how many keys match, and a sum |
//! | [`point`] | that a party has come to a point of the run |
//! | [`prepared`] | a question about a prepared table, and the offer to answer |
//! | [`run_name`] | the name of a run, of which nobody tells anything |
//!
//! A message has its length before it (4 bytes). Numbers are little endian.

pub mod announcement;
pub mod kind;
mod layout;
mod misbehaviour;
pub mod numbers;
pub mod point;
pub mod prepared;
pub mod run_name;

use tacit_net::{PartyId, Session};

use crate::error::MatchError;
use crate::wrong_input::WrongInput;

pub use announcement::{Announcement, Resume};
pub use kind::Kind;
pub use misbehaviour::Misbehaviour;
pub use numbers::Numbers;
pub use point::Point;
pub use prepared::{Asked, Offered};
pub use run_name::RunName;

/// Bytes of the longest message.
const LONGEST: usize = 1 << 20;

/// Something that is told.
pub trait Message: Sized {
    /// Its bytes.
    fn write(&self) -> Vec<u8>;

    /// A peer's.
    ///
    /// # Errors
    /// What no honest party sends.
    fn read(bytes: &[u8]) -> Result<Self, Misbehaviour>;
}

/// Everybody's message, in the parties' order. One round.
///
/// # Errors
/// The connection's failure; a message that no honest party sends; an own one that is too long.
pub fn exchange<M: Message>(session: &mut Session, mine: M) -> Result<Vec<M>, MatchError> {
    let bytes = mine.write();
    in_one_round(session, |session| {
        let (me, parties) = (session.me(), (0..session.parties()).map(PartyId));
        parties.clone().filter(|&peer| peer != me).try_for_each(|peer| send(session, peer, &bytes))?;
        let mut mine = Some(mine);
        parties.map(|party| mine.take_if(|_| party == me).map_or_else(|| receive(session, party), Ok)).collect()
    })
}

/// Tells a peer something. One round.
///
/// # Errors
/// The connection's failure; a message that is too long.
pub fn tell<M: Message>(session: &mut Session, peer: PartyId, mine: &M) -> Result<(), MatchError> {
    in_one_round(session, |session| send(session, peer, &mine.write()))
}

/// Hears what a peer tells. One round.
///
/// # Errors
/// The connection's failure; a message that no honest party sends.
pub fn hear<M: Message>(session: &mut Session, peer: PartyId) -> Result<M, MatchError> {
    in_one_round(session, |session| receive(session, peer))
}

/// Tells a peer something and hears something else from it. One round.
///
/// # Errors
/// Those of both.
pub fn swap<M: Message, N: Message>(session: &mut Session, peer: PartyId, mine: &M) -> Result<N, MatchError> {
    in_one_round(session, |session| {
        send(session, peer, &mine.write())?;
        receive(session, peer)
    })
}

fn in_one_round<T>(
    session: &mut Session,
    talk: impl FnOnce(&mut Session) -> Result<T, MatchError>,
) -> Result<T, MatchError> {
    session.enter("agreement");
    session.next_round();
    let told = talk(session)?;
    session.leave();
    Ok(told)
}

fn send(session: &mut Session, peer: PartyId, bytes: &[u8]) -> Result<(), MatchError> {
    if bytes.len() > LONGEST {
        return Err(WrongInput::LongNames.into());
    }
    Ok(session.send(peer, [&(bytes.len() as u32).to_le_bytes(), bytes].concat())?)
}

fn receive<M: Message>(session: &mut Session, peer: PartyId) -> Result<M, MatchError> {
    let mut length = [0; 4];
    session.recv(peer, &mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(MatchError::misbehaved(session, peer, Misbehaviour::Length));
    }
    let mut bytes = vec![0; length];
    session.recv(peer, &mut bytes)?;
    M::read(&bytes).map_err(|what| MatchError::misbehaved(session, peer, what))
}
