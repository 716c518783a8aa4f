//! The network between two parties, by which protocols that compute the same are chosen.

/// The speed of the network between two parties, as all declare it alike: public, and a part of what they agree on
/// before a run. The default is [`Link::UNDECLARED`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Seconds that a message takes, one way.
    pub latency: f64,
    /// Bytes a second in each direction.
    pub bandwidth: f64,
}

impl Link {
    /// The network that stands for an undeclared one, wherever seconds are predicted or protocols are chosen: two
    /// machines of one place, or processes of one machine.
    pub const UNDECLARED: Self = Self { latency: 0.00005, bandwidth: 400e6 };

    /// A declared network, if there is one like that: seconds of latency from 0, and bytes a second above 0.
    pub fn declared(latency: f64, bandwidth: f64) -> Option<Self> {
        let (waits, carries) = (latency.is_finite() && latency >= 0.0, bandwidth.is_finite() && bandwidth > 0.0);
        (waits && carries).then_some(Self { latency, bandwidth })
    }

    /// Seconds that rounds, and bytes in one direction, take.
    pub fn seconds(self, rounds: u64, bytes: u64) -> f64 {
        rounds as f64 * self.latency + bytes as f64 / self.bandwidth
    }
}

impl Default for Link {
    fn default() -> Self {
        Self::UNDECLARED
    }
}
