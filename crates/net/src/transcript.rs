//! A record of what this party could observe: every message's size and every opened value.

use crate::lock::lock;
use crate::session::PartyId;
use std::sync::Mutex;

/// Whether a message left or reached this party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// This party sent it.
    Sent,
    /// This party received it.
    Received,
}

/// One call of send or receive. Its content is never recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Step path at the time of the call.
    pub step: String,
    /// Round of the call.
    pub round: u64,
    /// The other party.
    pub peer: PartyId,
    /// Which way.
    pub direction: Direction,
    /// Payload length.
    pub bytes: usize,
}

/// A value that became clear to this party, noted by the layer that opened it.
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    /// Step path of the opening.
    pub step: String,
    /// The clear bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Opened {
    /// Without the value: it is clear to this party, not to whoever reads its logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("step", &self.step).field("length", &self.bytes.len()).finish()
    }
}

/// Messages and opened values of one session, in order. Kept only with [`crate::Options::record`].
#[derive(Debug, Default)]
pub struct Transcript {
    messages: Mutex<Vec<Message>>,
    opened: Mutex<Vec<Opened>>,
}

impl Transcript {
    /// All messages so far.
    pub fn messages(&self) -> Vec<Message> {
        lock(&self.messages).clone()
    }

    /// All opened values so far.
    pub fn opened(&self) -> Vec<Opened> {
        lock(&self.opened).clone()
    }

    /// Note that `bytes` became clear to this party in `step`.
    pub fn note_opened(&self, step: &str, bytes: &[u8]) {
        lock(&self.opened).push(Opened { step: step.to_owned(), bytes: bytes.to_vec() });
    }

    pub(crate) fn note(&self, message: Message) {
        lock(&self.messages).push(message);
    }
}
