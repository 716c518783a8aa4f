//! What a session tells about itself: metered costs and the transcript, as lists of dictionaries.

use pyo3::prelude::*;
use tacit_net::Direction;
use tacit_run::Session;

/// What one step has cost this party so far.
#[derive(IntoPyObject)]
pub struct StepMetrics {
    step: String,
    bytes_sent: u64,
    bytes_received: u64,
    rounds: u64,
    rounds_ahead: u64,
    seconds: f64,
    waiting_seconds: f64,
}

impl From<tacit_run::StepMetrics> for StepMetrics {
    fn from(metrics: tacit_run::StepMetrics) -> Self {
        Self {
            step: metrics.step,
            bytes_sent: metrics.bytes_sent,
            bytes_received: metrics.bytes_received,
            rounds: metrics.rounds,
            rounds_ahead: metrics.rounds_ahead,
            seconds: metrics.wall.as_secs_f64(),
            waiting_seconds: metrics.waiting.as_secs_f64(),
        }
    }
}

/// The cost per step of the plan, each with everything nested in it; or with `nested`, of every nested step by itself.
pub fn metrics(session: &Session, nested: bool) -> Vec<StepMetrics> {
    session.metrics(nested).into_iter().map(StepMetrics::from).collect()
}

/// One entry of a transcript.
#[derive(IntoPyObject)]
pub enum Entry {
    /// A message: its size, never its content.
    Message(MessageEntry),
    /// What became clear to this party.
    Opened(OpenedEntry),
}

/// One call of send or receive.
#[derive(IntoPyObject)]
pub struct MessageEntry {
    step: String,
    round: u64,
    peer: String,
    direction: &'static str,
    bytes: usize,
}

/// One opened value.
#[derive(IntoPyObject)]
pub struct OpenedEntry {
    step: String,
    opened: Vec<u8>,
}

/// All messages, then all opened values, each in order; of one session after the other.
pub fn transcript(session: &Session) -> Vec<Entry> {
    let (transcripts, parties) = (session.transcripts(), session.parties());
    let messages = transcripts.iter().flat_map(|transcript| transcript.messages()).map(|message| {
        let direction = match message.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        };
        let (step, round, bytes) = (message.step, message.round, message.bytes);
        Entry::Message(MessageEntry { step, round, peer: parties[message.peer.0].to_owned(), direction, bytes })
    });
    let opened = transcripts.iter().flat_map(|transcript| transcript.opened());
    messages.chain(opened.map(|o| Entry::Opened(OpenedEntry { step: o.step, opened: o.bytes }))).collect()
}
