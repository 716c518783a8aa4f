//! What a protocol between a sender and a receiver costs.

/// Rounds and payload bytes of one protocol, as functions of public sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Communication rounds.
    pub rounds: u64,
    /// Bytes that the sender of the OTs sends.
    pub sender: u64,
    /// Bytes that the receiver of the OTs sends.
    pub receiver: u64,
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            rounds: self.rounds + other.rounds,
            sender: self.sender + other.sender,
            receiver: self.receiver + other.receiver,
        }
    }
}
