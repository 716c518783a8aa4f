//! What a session has cost so far, step by step.

use std::time::Duration;

use tacit_net::Counters;

use crate::lifecycle::Meters;

/// What one step has cost this party so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepMetrics {
    /// The step's name.
    pub step: String,
    /// Payload bytes sent, those of what is made ahead included.
    pub bytes_sent: u64,
    /// Payload bytes received, likewise.
    pub bytes_received: u64,
    /// Communication rounds.
    pub rounds: u64,
    /// Rounds of what is made ahead, in a session of its own.
    pub rounds_ahead: u64,
    /// Time from its begin to its end.
    pub wall: Duration,
    /// The part of it that this party waited for peers.
    pub waiting: Duration,
}

impl StepMetrics {
    /// What is made in the background takes its own rounds and none of the step's time.
    fn new(step: String, [counters, background]: [Counters; 2]) -> Self {
        Self {
            step,
            bytes_sent: counters.bytes_sent + background.bytes_sent,
            bytes_received: counters.bytes_received + background.bytes_received,
            rounds: counters.rounds,
            rounds_ahead: background.rounds,
            wall: counters.wall,
            waiting: counters.waiting,
        }
    }
}

/// The cost per step of the plan, each with everything nested in it; or with `nested`, of every nested step by itself.
pub fn metrics(meters: &Meters, nested: bool) -> Vec<StepMetrics> {
    let mut steps: Vec<(String, [Counters; 2])> = Vec::new();
    let places = [&meters.steps, &meters.ahead].into_iter().enumerate();
    for (place, meter) in places.flat_map(|(place, meters)| meters.iter().map(move |meter| (place, meter))) {
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
    steps.into_iter().map(|(step, counters)| StepMetrics::new(step, counters)).collect()
}
