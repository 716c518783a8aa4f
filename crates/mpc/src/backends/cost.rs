//! Declared costs: what every primitive of an engine sends, as formulas of public sizes.

use crate::Shape;

/// Communication rounds and payload bytes sent by each node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Rounds: the longest chain of messages that wait for each other.
    pub rounds: u64,
    /// Payload bytes sent by each node, in engine order.
    pub sent: Vec<u64>,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.sent.resize(self.sent.len().max(other.sent.len()), 0);
        self.sent.iter_mut().zip(other.sent).for_each(|(a, b)| *a += b);
    }
}

/// The formulas of an engine, one for each communicating primitive of [`crate::Backend`]. They may depend on what was called before
/// (nodes may take roles in turn).
pub trait Costs: Default {
    /// AND of planes of these lengths.
    fn and(&mut self, rows: &[usize]) -> Cost;
    /// Inner products with outputs of these lengths over a ring of so many bytes an element.
    fn inner_products(&mut self, rows: &[usize], bytes: usize) -> Cost;
    /// Injection of planes of these lengths.
    fn inject(&mut self, rows: &[usize], bytes: usize) -> Cost;
    /// Decomposition of vectors of these lengths to so many planes.
    fn summands(&mut self, rows: &[usize], width: usize) -> Cost;
    /// A mask of so many planes.
    fn mask(&mut self, rows: usize, width: usize) -> Cost;
    /// Its removal.
    fn unmask(&mut self, rows: usize, width: usize) -> Cost;
    /// A shuffle.
    fn shuffle(&mut self, shape: Shape) -> Cost;
    /// A shuffle that reveals a second bundle.
    fn shuffle_reveal(&mut self, shape: Shape, reveal: Shape) -> Cost;
    /// Input by an owner.
    fn input(&mut self, owner: usize, shape: Shape) -> Cost;
    /// Opening to some nodes.
    fn open(&mut self, shape: Shape, recipients: &[usize]) -> Cost;
    /// A number told to all nodes.
    fn announce(&mut self, owner: usize) -> Cost;
}
