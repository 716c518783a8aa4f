//! A record of what this party could observe: every message's size and every opened value; in tests the contents too.

use crate::lock::lock;
use crate::options::Record;
use crate::party::PartyId;
use std::sync::Mutex;

/// Whether a message left or reached this party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// This party sent it.
    Sent,
    /// This party received it.
    Received,
}

/// One call of send or receive, without its content.
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

/// How a party came to know some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// It sent them to this party.
    Sent(PartyId),
    /// It received them from this party.
    Received(PartyId),
    /// They became clear to it.
    Opened,
    /// It drew them, from a generator that it holds alone or with a peer.
    Drawn,
}

/// Bytes that a party knows, below the protection of the wire. Only tests have them: [`Record::ContentsForTests`].
#[derive(Clone, PartialEq, Eq)]
pub struct Seen {
    /// Step path at the time.
    pub step: String,
    /// Where the bytes come from.
    pub source: Source,
    /// The bytes; of a message, what one call of send or receive had.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Seen {
    /// Without the bytes, as [`Opened`].
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let length = self.bytes.len();
        f.debug_struct("Seen").field("step", &self.step).field("source", &self.source).field("length", &length).finish()
    }
}

/// Messages and opened values of one session, in order, and in tests their contents. Kept only with
/// [`crate::Options::record`].
#[derive(Debug)]
pub struct Transcript {
    messages: Mutex<Vec<Message>>,
    opened: Mutex<Vec<Opened>>,
    seen: Option<Mutex<Vec<Seen>>>,
}

impl Transcript {
    /// An empty one, if any is to be kept.
    pub(crate) fn of(record: Record) -> Option<Self> {
        let seen = (record == Record::ContentsForTests).then(Mutex::default);
        (record != Record::Nothing).then(|| Self { messages: Mutex::default(), opened: Mutex::default(), seen })
    }

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
        self.note_seen(step, Source::Opened, bytes);
    }

    /// Whether contents are recorded: whether [`Self::note_drawn`] does anything.
    pub fn has_contents(&self) -> bool {
        self.seen.is_some()
    }

    /// Note that this party drew `bytes` from the generator or the secret of this name. Nothing without contents.
    pub fn note_drawn(&self, name: &str, bytes: &[u8]) {
        self.note_seen(name, Source::Drawn, bytes);
    }

    /// Takes out what was seen since the last call, in order; empty without contents.
    pub fn take_seen(&self) -> Vec<Seen> {
        self.seen.as_ref().map(|seen| std::mem::take(&mut *lock(seen))).unwrap_or_default()
    }

    pub(crate) fn note(&self, message: Message) {
        lock(&self.messages).push(message);
    }

    pub(crate) fn note_seen(&self, step: &str, source: Source, bytes: &[u8]) {
        if let Some(seen) = &self.seen {
            lock(seen).push(Seen { step: step.to_owned(), source, bytes: bytes.to_vec() });
        }
    }
}
