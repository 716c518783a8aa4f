//! What a session tells about itself: metered costs and the transcript, as lists of dictionaries.

use std::sync::Arc;

use pyo3::prelude::*;
use tacit_net::{Counters, Direction, Meter, Transcript};

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

impl StepMetrics {
    /// What is made in the background takes its own rounds and none of the step's time.
    fn new(step: &str, counters: Counters, background: Counters) -> Self {
        Self {
            step: step.to_owned(),
            bytes_sent: counters.bytes_sent + background.bytes_sent,
            bytes_received: counters.bytes_received + background.bytes_received,
            rounds: counters.rounds,
            rounds_ahead: background.rounds,
            seconds: counters.wall.as_secs_f64(),
            waiting_seconds: counters.waiting.as_secs_f64(),
        }
    }
}

/// The cost per step of the plan, each with everything nested in it; or with `nested`, of every nested step by itself. The meters are those of the
/// session and of what is made in the background, if anything is.
pub fn metrics(meters: &[Arc<Meter>], nested: bool) -> Vec<StepMetrics> {
    let mut steps: Vec<(String, [Counters; 2])> = Vec::new();
    for (place, meter) in meters.iter().enumerate() {
        for step in meter.snapshot().steps.into_iter().filter(|step| !step.path.is_empty()) {
            let outermost = step.path.split('/').next().unwrap_or_default();
            let name = if nested { &step.path } else { outermost };
            let known = steps.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                steps.push((name.to_owned(), Default::default()));
                steps.len() - 1
            });
            steps[known].1[place] += step.counters;
        }
    }
    steps.iter().map(|(step, [counters, background])| StepMetrics::new(step, *counters, *background)).collect()
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
pub fn transcript(transcripts: &[Arc<Transcript>], nodes: &[String]) -> Vec<Entry> {
    let messages = transcripts.iter().flat_map(|transcript| transcript.messages()).map(|message| {
        let direction = match message.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        };
        let (step, round, bytes) = (message.step, message.round, message.bytes);
        Entry::Message(MessageEntry { step, round, peer: nodes[message.peer.0].clone(), direction, bytes })
    });
    let opened = transcripts.iter().flat_map(|transcript| transcript.opened());
    messages.chain(opened.map(|o| Entry::Opened(OpenedEntry { step: o.step, opened: o.bytes }))).collect()
}
