//! That a party has come to a point of the run, and waits for the others there.

use super::{Message, Misbehaviour};

/// A point of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Its input is ready to be matched.
    Ready = 1,
    /// It has its results.
    Done = 2,
    /// It refuses to go on, as all do that know what it knows.
    Refused = 3,
}

impl Message for Point {
    fn write(&self) -> Vec<u8> {
        vec![*self as u8]
    }

    fn read(bytes: &[u8]) -> Result<Self, Misbehaviour> {
        let known = [Self::Ready, Self::Done, Self::Refused];
        known.into_iter().find(|&point| *bytes == [point as u8]).ok_or(Misbehaviour::Point)
    }
}
