//! The unit on the wire: a 16-byte header and at most 1 MiB of payload.
//!
//! | bytes | meaning |
//! |---|---|
//! | 0 | kind |
//! | 1..4 | zero |
//! | 4..8 | payload length, little endian |
//! | 8..16 | the sender's round, little endian |

use crate::attendance::SAID;
use std::time::Instant;

/// Bytes before each payload.
pub const FRAME_HEADER: usize = 16;

/// Longest payload of one frame; longer messages travel as several frames.
pub const MAX_FRAME_PAYLOAD: usize = 1 << 20;

/// Longest reason an abort carries.
pub(crate) const MAX_REASON: usize = 1024;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Protocol bytes.
    Data,
    /// A sign of life.
    Heartbeat,
    /// The sender waits; in place of the round, how many data frames have reached it.
    Waiting,
    /// The sender is connected with every other party; the payload is its signed presence, if the run has such.
    Ready,
    /// The sender has received and sent all it wanted.
    Goodbye,
    /// The sender has every party's goodbye.
    Farewell,
    /// The sender ends the run; the payload is its reason.
    Abort,
}

/// A frame between transport and session. In memory the payload may be longer than one frame's on the wire.
pub(crate) struct Frame {
    pub kind: Kind,
    pub round: u64,
    pub payload: Vec<u8>,
    /// Shaping: not to be seen before this moment.
    pub available_at: Option<Instant>,
}

impl Frame {
    pub fn new(kind: Kind, round: u64, payload: Vec<u8>) -> Self {
        Self { kind, round, payload, available_at: None }
    }

    pub fn control(kind: Kind) -> Self {
        Self::new(kind, 0, Vec::new())
    }

    pub fn abort(reason: &str) -> Self {
        Self::new(Kind::Abort, 0, printable(reason).into_bytes())
    }

    /// The reason in an abort frame, fit for a log line whatever the peer sent.
    pub fn reason(&self) -> String {
        printable(&String::from_utf8_lossy(&self.payload))
    }
}

/// One line of at most [`MAX_REASON`] bytes without control characters.
fn printable(text: &str) -> String {
    let mut line = String::new();
    for character in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if line.len() + character.len_utf8() > MAX_REASON {
            break;
        }
        line.push(character);
    }
    line
}

/// A decoded header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub kind: Kind,
    pub length: usize,
    pub round: u64,
}

impl Header {
    pub fn encode(self) -> [u8; FRAME_HEADER] {
        let mut bytes = [0; FRAME_HEADER];
        bytes[0] = match self.kind {
            Kind::Data => 1,
            Kind::Heartbeat => 2,
            Kind::Goodbye => 3,
            Kind::Farewell => 4,
            Kind::Abort => 5,
            Kind::Ready => 6,
            Kind::Waiting => 7,
        };
        let length = u32::try_from(self.length).expect("frames hold at most 1 MiB");
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        bytes[8..].copy_from_slice(&self.round.to_le_bytes());
        bytes
    }

    /// Check everything before a byte of payload is read or reserved.
    ///
    /// # Errors
    /// A sentence saying what is not a tacit frame.
    pub fn decode(bytes: &[u8; FRAME_HEADER]) -> Result<Self, String> {
        let [kind, reserved @ .., l0, l1, l2, l3, r0, r1, r2, r3, r4, r5, r6, r7] = *bytes;
        let (kind, longest) = match kind {
            1 => (Kind::Data, MAX_FRAME_PAYLOAD),
            2 => (Kind::Heartbeat, 0),
            3 => (Kind::Goodbye, 0),
            4 => (Kind::Farewell, 0),
            5 => (Kind::Abort, MAX_REASON),
            6 => (Kind::Ready, SAID),
            7 => (Kind::Waiting, 0),
            other => return Err(format!("it sent a frame of unknown kind {other}")),
        };
        if reserved != [0; 3] {
            return Err("it sent a frame whose reserved bytes are not zero".to_owned());
        }
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if length > longest {
            return Err(format!("it sent a {kind:?} frame of {length} bytes, at most {longest} are allowed"));
        }
        if kind == Kind::Data && length == 0 {
            return Err("it sent a frame of data without data".to_owned());
        }
        Ok(Self { kind, length, round: u64::from_le_bytes([r0, r1, r2, r3, r4, r5, r6, r7]) })
    }
}

/// Bytes that carry a message of `length` bytes on the wire in addition to it, before encryption.
pub(crate) fn overhead(length: usize) -> u64 {
    (length.div_ceil(MAX_FRAME_PAYLOAD) * FRAME_HEADER) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arbitrary_headers_decode_to_bounded_frames_or_an_error(bytes: [u8; FRAME_HEADER]) {
            if let Ok(header) = Header::decode(&bytes) {
                prop_assert!(header.length <= MAX_FRAME_PAYLOAD);
                prop_assert_eq!(header.encode(), bytes);
            }
        }

        #[test]
        fn reasons_become_one_short_line(text in ".*", times in 1usize..200) {
            let reason = Frame::abort(&text.repeat(times)).reason();
            prop_assert!(reason.len() <= MAX_REASON);
            prop_assert!(!reason.chars().any(char::is_control));
        }
    }

    #[test]
    fn overhead_counts_every_started_frame() {
        assert_eq!(overhead(0), 0);
        assert_eq!(overhead(1), 16);
        assert_eq!(overhead(MAX_FRAME_PAYLOAD), 16);
        assert_eq!(overhead(MAX_FRAME_PAYLOAD + 1), 32);
    }
}
