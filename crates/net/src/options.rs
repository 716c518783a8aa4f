//! How a session behaves: time limits, artificial slowness, recording, transport security.

use std::time::Duration;

/// An artificially slower network, applied by the receiver to every link of a session. The default is no shaping.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shape {
    /// One-way delay of every message.
    pub latency: Duration,
    /// Bytes per second that one link passes in one direction; `None` is unlimited.
    pub bandwidth: Option<u64>,
}

impl Shape {
    /// How long `bytes` occupy the link.
    pub(crate) fn occupies(&self, bytes: usize) -> Duration {
        match self.bandwidth {
            Some(rate) => Duration::from_secs_f64(bytes as f64 / rate.max(1) as f64),
            None => Duration::ZERO,
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.latency.is_zero() && self.bandwidth.is_none()
    }
}

/// What protects the bytes between two parties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// TLS 1.3, both sides authenticated by the exact certificate agreed for them.
    #[default]
    MutualTls,
    /// No encryption and no authentication whatever: anybody on the path reads and changes shares. For measurements.
    PlaintextForBenchmarks,
}

/// What a session keeps of what its party could observe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// Nothing.
    #[default]
    Nothing,
    /// Step, round, peer and size of every message, and opened values: a [`crate::Transcript`] that holds no share.
    Sizes,
    /// The bytes of every message too, and what a protocol says that the party knows besides: all that a test needs to
    /// attack a protocol from one party's view. Shares, seeds and keys stand in it, so no program but a test asks for
    /// it.
    ContentsForTests,
}

/// Settings of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How long to wait until all parties are connected.
    pub connect_timeout: Duration,
    /// How long a peer may be without a sign of life. A peer that computes gives signs of life.
    pub idle_timeout: Duration,
    /// Artificial latency and bandwidth.
    pub shape: Shape,
    /// What to keep in a [`crate::Transcript`].
    pub record: Record,
    /// Protection of the bytes between hosts; without effect for parties in one process.
    pub security: Security,
}

/// Longest pause between signs of life.
const PULSE: Duration = Duration::from_secs(2);

impl Options {
    /// The pause between signs of life: several fit in the idle timeout, so that one delayed is no silence.
    pub(crate) fn pulse(&self) -> Duration {
        PULSE.min(self.idle_timeout / 4).max(Duration::from_millis(1))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            shape: Shape::default(),
            record: Record::Nothing,
            security: Security::MutualTls,
        }
    }
}
