//! The first bytes on every connection, both ways: who speaks which version and is about to run which plan.
//!
//! | bytes | meaning |
//! |---|---|
//! | 8 | `TACITNET` |
//! | 2 | length of the rest, little endian |
//! | 1 + n | version, with its length |
//! | 1 + n | the sender's name, with its length |
//! | 1 + n | engine, with its length |
//! | 32 | digest of what the plan reads of earlier sessions |
//! | 32 | plan hash |
//! | 1 | how many sessions the parties have with each other |
//! | 1 | of which of them the connection is, counted from 0, if the sender has dialled it |
//!
//! The version comes first so that parties of different versions can tell, whatever follows it.

use crate::error::NetError;
use std::io::{self, Read};

const MAGIC: [u8; 8] = *b"TACITNET";
const LONGEST: usize = 3 * 256 + 2 * 32 + 2;

/// What a party is about to do; compared with every peer's before anything else is exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    pub(super) version: String,
    plan_hash: [u8; 32],
    engine: String,
    stored: [u8; 32],
    /// In words, for this party's error.
    stored_text: String,
    /// How many sessions the parties have, and which one this is.
    sessions: [u8; 2],
}

impl Hello {
    /// The hello of this version of tacit for a plan and an engine (at most 255 bytes of name).
    pub fn new(plan_hash: [u8; 32], engine: &str) -> Self {
        let (version, engine) = (env!("CARGO_PKG_VERSION").to_owned(), engine.to_owned());
        Self { version, plan_hash, engine, stored: [0; 32], stored_text: String::new(), sessions: [1, 0] }
    }

    /// The same for a plan that reads shares which every party stored in an earlier session. digest: of which ones they are, compared before
    /// the plans are. text: what they are, for this party's error.
    pub fn reading(self, digest: [u8; 32], text: &str) -> Self {
        Self { stored: digest, stored_text: text.to_owned(), ..self }
    }

    /// The same on a connection of one of several sessions.
    pub(super) fn of_session(self, session: usize, of: usize) -> Self {
        let small = |number: usize| u8::try_from(number).expect("parties have few sessions with each other");
        Self { sessions: [small(of), small(session)], ..self }
    }

    /// The bytes of this hello, said by the party `name`.
    pub(super) fn encode(&self, name: &str) -> Result<Vec<u8>, NetError> {
        let mut body = Vec::new();
        for text in [&self.version, name, &self.engine] {
            let length = u8::try_from(text.len()).map_err(|_| NetError::BadConfiguration {
                detail: format!("{text:?} is longer than 255 bytes; shorten it"),
            })?;
            body.push(length);
            body.extend_from_slice(text.as_bytes());
        }
        body.extend_from_slice(&self.stored);
        body.extend_from_slice(&self.plan_hash);
        body.extend_from_slice(&self.sessions);
        let length = u16::try_from(body.len()).expect("three short texts and two hashes");
        Ok([&MAGIC[..], &length.to_le_bytes(), &body].concat())
    }

    /// Compare with the peer's hello.
    ///
    /// # Errors
    /// [`NetError::DifferentVersion`], [`NetError::DifferentShares`] or [`NetError::DifferentPlan`].
    pub(super) fn compare(&self, theirs: &Received, peer: &str) -> Result<(), NetError> {
        let (peer, step) = (peer.to_owned(), String::new());
        let body = match &theirs.body {
            Some(body) if theirs.version == self.version => body,
            _ => {
                let (ours, theirs) = (self.version.clone(), theirs.version.clone());
                return Err(NetError::DifferentVersion { peer, step, ours, theirs });
            }
        };
        if body.engine != self.engine {
            let detail = format!("its engine is {:?}, this party's is {:?}", body.engine, self.engine);
            return Err(NetError::DifferentPlan { peer, step, detail });
        }
        // Parties that read none, or other queries' ones, have another plan altogether.
        if body.stored != self.stored && ![body.stored, self.stored].contains(&[0; 32]) {
            return Err(NetError::DifferentShares { peer, step, what: self.stored_text.clone() });
        }
        if body.plan_hash != self.plan_hash {
            let detail = format!("its hash begins {}, this party's {}", short(&body.plan_hash), short(&self.plan_hash));
            return Err(NetError::DifferentPlan { peer, step, detail });
        }
        let ([of, which], [ours, _]) = (body.sessions, self.sessions);
        if of != ours || which >= ours {
            let detail = format!("it has session {which} of {of}, this party {ours} in all");
            return Err(NetError::DifferentPlan { peer, step, detail });
        }
        Ok(())
    }
}

fn short(hash: &[u8; 32]) -> String {
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A peer's hello.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Received {
    version: String,
    /// What follows the version, unless another version wrote it in another way.
    body: Option<Body>,
}

#[derive(Debug, PartialEq, Eq)]
struct Body {
    name: String,
    engine: String,
    stored: [u8; 32],
    plan_hash: [u8; 32],
    sessions: [u8; 2],
}

impl Received {
    /// Read a hello; nothing is reserved beyond its short maximum.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut start = [0; 10];
        from.read_exact(&mut start)?;
        let length = usize::from(u16::from_le_bytes([start[8], start[9]]));
        if start[..8] != MAGIC || length > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the other side does not speak tacit's protocol"));
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        Self::parse(&body).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its hello names no version"))
    }

    fn parse(mut rest: &[u8]) -> Option<Self> {
        Some(Self { version: text(&mut rest)?, body: Body::parse(rest) })
    }

    /// The name the peer gives itself, where its version writes it as ours does.
    pub fn name(&self) -> Option<&str> {
        self.body.as_ref().map(|body| body.name.as_str())
    }

    /// Of which session the connection is that the peer dialled.
    pub fn session(&self) -> usize {
        self.body.as_ref().map_or(0, |body| usize::from(body.sessions[1]))
    }
}

impl Body {
    fn parse(mut rest: &[u8]) -> Option<Self> {
        let (name, engine) = (text(&mut rest)?, text(&mut rest)?);
        let (stored, rest) = rest.split_first_chunk()?;
        let (plan_hash, sessions) = rest.split_first_chunk()?;
        Some(Self { name, engine, stored: *stored, plan_hash: *plan_hash, sessions: sessions.try_into().ok()? })
    }
}

/// A short text without control characters, taken from the front of `rest`.
fn text(rest: &mut &[u8]) -> Option<String> {
    let (&length, after) = rest.split_first()?;
    let (text, after) = after.split_at_checked(usize::from(length))?;
    *rest = after;
    let text = std::str::from_utf8(text).ok()?;
    (!text.chars().any(char::is_control)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn received(hello: &Hello, name: &str) -> Received {
        Received::read(&mut &hello.encode(name).expect("short texts")[..]).expect("our own hello")
    }

    #[test]
    fn equal_hellos_agree_and_others_say_what_differs() {
        let ours = Hello::new([7; 32], "rep3");
        assert_eq!(received(&ours, "bob").name(), Some("bob"));
        assert_eq!(ours.compare(&received(&ours, "bob"), "bob"), Ok(()));
        let plan = ours.compare(&received(&Hello::new([8; 32], "rep3"), "bob"), "bob");
        assert!(matches!(plan, Err(NetError::DifferentPlan { .. })));
        let engine = ours.compare(&received(&Hello::new([7; 32], "clear"), "bob"), "bob");
        assert!(matches!(engine, Err(NetError::DifferentPlan { detail, .. }) if detail.contains("clear")));
        let sessions = |session, of| received(&ours.clone().of_session(session, of), "bob");
        assert_eq!(ours.clone().of_session(0, 2).compare(&sessions(1, 2), "bob"), Ok(()));
        for (session, of) in [(0, 2), (1, 1)] {
            let different = ours.compare(&sessions(session, of), "bob");
            assert!(matches!(different, Err(NetError::DifferentPlan { .. })));
        }
        let stored =
            ours.clone().reading([1; 32], "t").compare(&received(&ours.clone().reading([2; 32], "t"), "bob"), "bob");
        assert!(matches!(stored, Err(NetError::DifferentShares { what, .. }) if what == "t"));
        let newer = Hello { version: "9.0.0".to_owned(), ..ours.clone() };
        let version = ours.compare(&received(&newer, "bob"), "bob");
        assert!(matches!(version, Err(NetError::DifferentVersion { theirs, .. }) if theirs == "9.0.0"));
    }

    #[test]
    fn a_version_that_writes_more_is_told_by_its_version() {
        let mut bytes = Hello { version: "9.0.0".to_owned(), ..Hello::new([0; 32], "x") }.encode("bob").expect("short");
        bytes.push(1);
        bytes[8] += 1;
        let theirs = Received::read(&mut &bytes[..]).expect("it names a version");
        assert!(matches!(Hello::new([0; 32], "x").compare(&theirs, "bob"), Err(NetError::DifferentVersion { .. })));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, after_magic: bool) {
            let bytes = if after_magic { [&MAGIC[..], &bytes].concat() } else { bytes };
            let _ = Received::read(&mut &bytes[..]);
        }
    }
}
