//! The declared network between nodes, by which an engine chooses among protocols that compute the same.

/// How fast the network between two nodes is, as all nodes declare it alike: it is public, and part of what they agree
/// on before a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Seconds that a message takes, one way.
    pub latency: f64,
    /// Bytes a second in each direction.
    pub bandwidth: f64,
}
