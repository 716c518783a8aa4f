//! Any rounds over a session: a blob with its length before it in each round.

use super::Rounds;
use crate::error::PsiError;
use crate::interface::protocol::{Declared, Held, Item, Outcome, Prepared, Protocol, Sizes};
use crate::interface::role::Role;
use crate::wrong_input::WrongInput;
use std::sync::Arc;
use tacit_net::{MAX_FRAME_PAYLOAD, PartyId, Session, Traffic};
use tacit_ot::Adversary;

/// A [`Protocol`] of [`Rounds`] that know no session: those of another vendor, or of another language.
///
/// Each call but the last of a phase is one round of the session, in which both parties send the blob's length (8
/// bytes) and the blob.
pub struct Driven<O = Outcome> {
    name: &'static str,
    adversary: Adversary,
    proves: bool,
    declared: MostBlobs,
    party: PartyFactory<O>,
}

/// What the blobs of a pair of sets take at most.
type MostBlobs = Arc<dyn Fn(Sizes) -> Declared + Send + Sync>;

/// Makes the party that plays a role.
type PartyFactory<O> = Box<dyn Fn(Role) -> Result<Box<dyn Rounds<O>>, PsiError> + Send + Sync>;

/// Bytes before each blob.
const LENGTH: usize = 8;

impl<O> Driven<O> {
    /// The protocol of the rounds that `party` makes. `declared` is an upper bound on what the blobs of a whole phase
    /// take, lengths not included; a peer that sends more is refused before any of it is kept.
    pub fn new(
        name: &'static str,
        adversary: Adversary,
        declared: impl Fn(Sizes) -> Declared + Send + Sync + 'static,
        party: impl Fn(Role) -> Result<Box<dyn Rounds<O>>, PsiError> + Send + Sync + 'static,
    ) -> Self {
        Self { name, adversary, proves: false, declared: Arc::new(declared), party: Box::new(party) }
    }

    /// The same of rounds that prove matches ([`Rounds::proofs`]).
    #[must_use]
    pub fn proving(self) -> Self {
        Self { proves: true, ..self }
    }
}

impl<O: 'static> Protocol<O> for Driven<O> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn adversary(&self) -> Adversary {
        self.adversary
    }

    fn proves(&self) -> bool {
        self.proves
    }

    /// What rounds of another vendor hold is theirs to compare.
    fn held(&self, _: &mut Held) {}

    fn declared(&self, sizes: Sizes) -> Declared {
        let framed = |traffic: Traffic| {
            let lengths = traffic.rounds * LENGTH as u64;
            Traffic { sender: traffic.sender + lengths, receiver: traffic.receiver + lengths, ..traffic }
        };
        let blobs = (self.declared)(sizes);
        Declared { setup: framed(blobs.setup), online: framed(blobs.online) }
    }

    fn setup(&self, role: Role, session: &mut Session, peer: PartyId) -> Result<Box<dyn Prepared<O>>, PsiError> {
        let mut rounds = (self.party)(role)?;
        let most = incoming((self.declared)(Sizes { sender: 0, receiver: 0 }).setup, role);
        drive(session, peer, rounds.setup_round_count(), most, |id, input| rounds.setup(id, input))?;
        let (proves, declared) = (self.proves, Arc::clone(&self.declared));
        Ok(Box::new(DrivenPair { declared, role, peer, rounds, proves, proofs: None }))
    }
}

struct DrivenPair<O> {
    declared: MostBlobs,
    role: Role,
    peer: PartyId,
    rounds: Box<dyn Rounds<O>>,
    proves: bool,
    /// Of the last pair of sets.
    proofs: Option<Vec<u64>>,
}

impl<O> Prepared<O> for DrivenPair<O> {
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<O, PsiError> {
        self.rounds.begin(items, sizes)?;
        let count = self.rounds.online_round_count();
        let most = incoming((self.declared)(sizes).online, self.role);
        self.proofs = None;
        drive(session, self.peer, count, most, |id, input| self.rounds.round(id, input))?;
        let outcome = self.rounds.outcome()?;
        if self.proves {
            self.proofs = Some(self.rounds.proofs().ok_or(WrongInput::NoProofs)?);
        }
        Ok(outcome)
    }

    fn proofs(&mut self) -> Option<Vec<u64>> {
        self.proofs.take()
    }
}

/// What the peer of `role` sends in a phase.
fn incoming(traffic: Traffic, role: Role) -> u64 {
    match role {
        Role::Sender => traffic.receiver,
        Role::Receiver => traffic.sender,
    }
}

/// Make `count` calls, exchanging blobs between them; the peer's have at most `most` bytes together.
fn drive(
    session: &mut Session,
    peer: PartyId,
    count: u32,
    most: u64,
    mut call: impl FnMut(u32, &[u8]) -> Result<Vec<u8>, PsiError>,
) -> Result<(), PsiError> {
    let mut input = Vec::new();
    let mut left = most;
    for id in 0..count {
        let output = call(id, &input)?;
        if id + 1 < count {
            session.next_round();
            send(session, peer, &output)?;
            input = receive(session, peer, left)?;
            left -= input.len() as u64;
        }
    }
    Ok(())
}

fn send(session: &mut Session, peer: PartyId, blob: &[u8]) -> Result<(), PsiError> {
    session.send(peer, (blob.len() as u64).to_le_bytes().to_vec())?;
    for piece in blob.chunks(MAX_FRAME_PAYLOAD) {
        session.send(peer, piece.to_vec())?;
    }
    Ok(())
}

fn receive(session: &mut Session, peer: PartyId, most: u64) -> Result<Vec<u8>, PsiError> {
    let mut length = [0; LENGTH];
    session.recv(peer, &mut length)?;
    let length = u64::from_le_bytes(length);
    if length > most {
        let detail = format!("a blob of {length} bytes where at most {most} are declared");
        let (peer, step) = (session.name(peer).to_owned(), session.path().to_owned());
        return Err(PsiError::Cheating { peer, step, detail });
    }
    let mut blob = Vec::new();
    session.recv_pieces(peer, length as usize, |piece| blob.extend_from_slice(piece))?;
    Ok(blob)
}
