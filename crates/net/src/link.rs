//! The declared network between two parties, by which protocols that compute the same are chosen.

/// How fast the network between two parties is, as all declare it alike: it is public, and part of what they agree on
/// before a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Seconds that a message takes, one way.
    pub latency: f64,
    /// Bytes a second in each direction.
    pub bandwidth: f64,
}

impl Link {
    /// What times are predicted on where parties declare no network.
    pub const UNDECLARED: Self = Self { latency: 0.00005, bandwidth: 400e6 };

    /// Seconds that rounds, and bytes in one direction, take.
    pub fn seconds(self, rounds: u64, bytes: u64) -> f64 {
        rounds as f64 * self.latency + bytes as f64 / self.bandwidth
    }
}
