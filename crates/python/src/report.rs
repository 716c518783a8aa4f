//! What a session tells about itself: metered costs and the transcript, as lists of dictionaries.

use pyo3::prelude::*;
use tacit_net::{Counters, Direction, Meter, Transcript};

/// What one step has cost this party so far.
#[derive(IntoPyObject)]
pub struct StepMetrics {
    step: String,
    bytes_sent: u64,
    bytes_received: u64,
    rounds: u64,
    seconds: f64,
    waiting_seconds: f64,
}

impl StepMetrics {
    fn new(step: &str, counters: Counters) -> Self {
        Self {
            step: step.to_owned(),
            bytes_sent: counters.bytes_sent,
            bytes_received: counters.bytes_received,
            rounds: counters.rounds,
            seconds: counters.wall.as_secs_f64(),
            waiting_seconds: counters.waiting.as_secs_f64(),
        }
    }
}

/// The cost per step of the plan, each with everything nested in it; or with `nested`, of every nested step by itself.
pub fn metrics(meter: &Meter, nested: bool) -> Vec<StepMetrics> {
    let mut steps: Vec<(String, Counters)> = Vec::new();
    for step in meter.snapshot().steps.into_iter().filter(|step| !step.path.is_empty()) {
        let outermost = step.path.split('/').next().unwrap_or_default();
        let name = if nested { &step.path } else { outermost };
        match steps.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += step.counters,
            None => steps.push((name.to_owned(), step.counters)),
        }
    }
    steps.iter().map(|(step, counters)| StepMetrics::new(step, *counters)).collect()
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

/// All messages, then all opened values, each in order.
pub fn transcript(transcript: &Transcript, nodes: &[String]) -> Vec<Entry> {
    let messages = transcript.messages().into_iter().map(|message| {
        let direction = match message.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        };
        let (step, round, bytes) = (message.step, message.round, message.bytes);
        Entry::Message(MessageEntry { step, round, peer: nodes[message.peer.0].clone(), direction, bytes })
    });
    let opened = transcript.opened().into_iter();
    messages.chain(opened.map(|o| Entry::Opened(OpenedEntry { step: o.step, opened: o.bytes }))).collect()
}
