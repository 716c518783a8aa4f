//! Rounds and payload bytes of protocols and steps, as they declare them by public sizes.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

use crate::{Link, PartyId};

/// Rounds and payload bytes of a protocol between a sender and a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Communication rounds.
    pub rounds: u64,
    /// Payload bytes that the sender sends.
    pub sender: u64,
    /// Payload bytes that the receiver sends.
    pub receiver: u64,
}

impl Traffic {
    /// The same where the two parties play each other's role.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self { sender: self.receiver, receiver: self.sender, ..self }
    }

    /// What it costs each of `parties` parties where these two of them play the roles.
    ///
    /// # Panics
    /// When one of the two is none of the parties.
    pub fn between(self, sender: PartyId, receiver: PartyId, parties: usize) -> Cost {
        let mut cost = Cost { rounds: self.rounds, sent: vec![0; parties] };
        cost.sent[sender.0] += self.sender;
        cost.sent[receiver.0] += self.receiver;
        cost
    }

    /// Seconds that the network takes. Both directions carry at the same time.
    pub fn seconds(self, link: Link) -> f64 {
        link.seconds(self.rounds, self.sender.max(self.receiver))
    }
}

impl Add for Traffic {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            rounds: self.rounds + other.rounds,
            sender: self.sender + other.sender,
            receiver: self.receiver + other.receiver,
        }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A number of runs, one after the other.
impl Mul<u64> for Traffic {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self { rounds: times * self.rounds, sender: times * self.sender, receiver: times * self.receiver }
    }
}

impl Sum for Traffic {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Rounds and payload bytes of a step among any number of parties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Communication rounds: the longest chain of messages that wait for each other.
    pub rounds: u64,
    /// Payload bytes that each party sends, in the parties' order.
    pub sent: Vec<u64>,
}

impl Cost {
    /// The cost of `rounds` rounds in which each of `parties` parties sends `sent` bytes in all.
    pub fn alike(parties: usize, rounds: u64, sent: u64) -> Self {
        Self { rounds, sent: vec![sent; parties] }
    }

    /// Seconds that the network takes: of rounds, and of the bytes of the party that sends most. All parties send at
    /// the same time.
    pub fn seconds(&self, link: Link) -> f64 {
        link.seconds(self.rounds, self.sent.iter().copied().max().unwrap_or(0))
    }
}

/// Steps follow each other: rounds and each party's bytes add up. A party that one of both does not list sends nothing
/// there.
impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.sent.resize(self.sent.len().max(other.sent.len()), 0);
        self.sent.iter_mut().zip(other.sent).for_each(|(sent, bytes)| *sent += bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, Traffic};
    use crate::{Link, PartyId};

    const ONE: Traffic = Traffic { rounds: 2, sender: 10, receiver: 3 };

    #[test]
    fn runs_follow_each_other_in_either_role() {
        let swapped = Traffic { rounds: 2, sender: 3, receiver: 10 };
        assert_eq!(ONE.swapped(), swapped);
        assert_eq!(ONE + swapped, Traffic { rounds: 4, sender: 13, receiver: 13 });
        assert_eq!(ONE * 3, [ONE; 3].into_iter().sum());
    }

    #[test]
    fn who_is_not_listed_sends_nothing() {
        let mut cost = ONE.between(PartyId(1), PartyId(0), 2);
        cost += Cost::alike(3, 1, 5);
        cost += ONE.between(PartyId(0), PartyId(1), 2);
        assert_eq!(cost, Cost { rounds: 5, sent: vec![18, 18, 5] });
    }

    #[test]
    fn the_party_that_sends_most_takes_the_time() {
        let link = Link { latency: 1.0, bandwidth: 2.0 };
        let seconds = link.seconds(2, 10);
        assert_eq!([ONE.seconds(link), ONE.between(PartyId(2), PartyId(0), 3).seconds(link)], [seconds; 2]);
    }
}
