//! What both ends say first on every connection: who speaks which version and is about to run which plan.
//!
//! Both commit before either reveals, so that agreement means that both had the same plan beforehand, and not that one
//! repeated what the other said. First each says its greeting:
//!
//! | bytes | meaning |
//! |---|---|
//! | 8 | `TACITNET` |
//! | 2 | length of the rest, little endian |
//! | 1 + n | version, with its length |
//! | 1 + n | the sender's name, with its length |
//! | 32 | commitment |
//!
//! and when it has read the other's, its opening:
//!
//! | bytes | meaning |
//! |---|---|
//! | 2 | length of the rest, little endian |
//! | 32 | nonce |
//! | 1 + n | engine, with its length |
//! | 32 | digest of what the plan reads of earlier sessions |
//! | 32 | plan hash |
//! | 32 | digest of what the sender has approved under that plan |
//! | 32 | the sender's part of what the nodes draw together, the same on all its connections |
//! | 1 | how many sessions the parties have with each other |
//! | 1 | of which of them the connection is, counted from 0, if the sender has dialled it |
//!
//! The commitment is a hash of the sender's end of the connection (whether it dialled) and of a key of the connection
//! that TLS exports. The greeting before it and the opening are hashed with them. So it binds (BLAKE3 is collision
//! resistant), shows nothing beforehand (the nonce is fresh), and is worthless on the other end or on another
//! connection.
//!
//! The nodes' parts together are random numbers that all parties know ([`crate::Session::drawn`]) and nobody knew when
//! the plan was written.
//!
//! The version comes first so that parties of different versions can tell, whatever follows it.

use super::exporter::Exported;
use crate::VERSION;
use crate::error::NetError;
use std::io::{self, Read};

const MAGIC: [u8; 8] = *b"TACITNET";
/// Longer than any of this version, so that another version's is read up to its name.
const LONGEST_GREETING: usize = 1024;
const LONGEST_OPENING: usize = 256 + 5 * 32 + 2;

/// Domain of commitments to openings.
const COMMITMENT: &str = "tacit 2026-11-21 net: commitment to a hello";

/// Domain of the digest of what two parties agreed on.
const AGREED: &str = "tacit 2026-11-21 net: what a pair agreed on";

/// Domain of what two ends without TLS draw together.
const DRAWN: &str = "tacit 2026-11-21 net: drawn in plaintext";

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Dialler,
    Answerer,
}

impl End {
    /// The end of the peer.
    pub fn other(self) -> Self {
        match self {
            Self::Dialler => Self::Answerer,
            Self::Answerer => Self::Dialler,
        }
    }

    /// Of what this end and the other one drew, the same key at both: without TLS, and known to whoever listens.
    pub fn in_order(self, [ours, theirs]: [&[u8; 32]; 2]) -> Exported {
        let drawn = match self {
            Self::Dialler => [ours, theirs],
            Self::Answerer => [theirs, ours],
        };
        Exported::new(blake3::derive_key(DRAWN, &drawn.map(|part| *part).concat()))
    }
}

/// What a party is about to do; compared with every peer's before anything else is exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    pub(super) version: String,
    plan_hash: [u8; 32],
    approved: [u8; 32],
    engine: String,
    stored: [u8; 32],
    /// In words, for this party's error.
    stored_text: String,
    /// The hash of the last entry of this party's ledger, if all sign their presence.
    pub(super) head: Option<[u8; 32]>,
    /// How many sessions the parties have, and which one this is.
    sessions: [u8; 2],
}

impl Hello {
    /// The hello of this version of tacit for a plan and an engine (at most 255 bytes of name).
    pub fn new(plan_hash: [u8; 32], engine: &str) -> Self {
        let (version, engine) = (VERSION.to_owned(), engine.to_owned());
        let (approved, stored) = ([0; 32], [0; 32]);
        Self { version, plan_hash, approved, engine, stored, stored_text: String::new(), head: None, sessions: [1, 0] }
    }

    /// The same for a party that will do nothing but what this digest is of, compared after the plans are.
    pub fn approving(self, digest: [u8; 32]) -> Self {
        Self { approved: digest, ..self }
    }

    /// The same for a run in which all parties sign their presence ([`crate::attendance`]). head: the hash of the last
    /// entry of this party's ledger. Without TLS nobody signs.
    pub fn attesting(self, head: [u8; 32]) -> Self {
        Self { head: Some(head), ..self }
    }

    /// Plan and approval, and what the nodes have drawn for them.
    pub(super) fn roll(&self, drawn: [u8; 32]) -> [[u8; 32]; 3] {
        [self.plan_hash, self.approved, drawn]
    }

    /// The same for a plan that reads shares which every party stored in an earlier session. digest: of which ones they
    /// are, compared before the plans are. text: what they are, for this party's error.
    pub fn reading(self, digest: [u8; 32], text: &str) -> Self {
        Self { stored: digest, stored_text: text.to_owned(), ..self }
    }

    /// The same on a connection of one of several sessions.
    pub(super) fn of_session(self, session: usize, of: usize) -> Self {
        let small = |number: usize| u8::try_from(number).expect("parties have few sessions with each other");
        Self { sessions: [small(of), small(session)], ..self }
    }

    /// What the party `name` says on its connections. part: of what the nodes draw together.
    ///
    /// # Errors
    /// [`NetError::BadConfiguration`] if a text is too long.
    pub(super) fn said_by(&self, name: &str, part: &[u8; 32]) -> Result<Said, NetError> {
        let mut head = prefixed(&self.version)?;
        head.extend(prefixed(name)?);
        let mut body = prefixed(&self.engine)?;
        body.extend_from_slice(&self.stored);
        body.extend_from_slice(&self.plan_hash);
        body.extend_from_slice(&self.approved);
        body.extend_from_slice(part);
        body.extend_from_slice(&self.sessions);
        Ok(Said { head, body })
    }

    /// Compare with the version in the peer's greeting.
    ///
    /// # Errors
    /// [`NetError::DifferentVersion`].
    pub(super) fn compare_version(&self, theirs: &Greeting, peer: &str) -> Result<(), NetError> {
        if theirs.body.is_some() && theirs.version == self.version {
            return Ok(());
        }
        let (peer, step, ours, theirs) = (peer.to_owned(), String::new(), self.version.clone(), theirs.version.clone());
        Err(NetError::DifferentVersion { peer, step, ours, theirs })
    }

    /// Compare with what the peer has revealed.
    ///
    /// # Errors
    /// [`NetError::DifferentShares`], [`NetError::DifferentPlan`] or [`NetError::DifferentApproval`].
    pub(super) fn compare(&self, theirs: &Opening, peer: &str) -> Result<(), NetError> {
        let (peer, step) = (peer.to_owned(), String::new());
        if theirs.engine != self.engine {
            let detail = format!("its engine is {:?}, this party's is {:?}", theirs.engine, self.engine);
            return Err(NetError::DifferentPlan { peer, step, detail });
        }
        // Parties that read none, or other queries' ones, have another plan altogether.
        if theirs.stored != self.stored && ![theirs.stored, self.stored].contains(&[0; 32]) {
            return Err(NetError::DifferentShares { peer, step, what: self.stored_text.clone() });
        }
        if theirs.plan_hash != self.plan_hash {
            let detail =
                format!("its hash begins {}, this party's {}", short(&theirs.plan_hash), short(&self.plan_hash));
            return Err(NetError::DifferentPlan { peer, step, detail });
        }
        if theirs.approved != self.approved {
            return Err(NetError::DifferentApproval { peer, step });
        }
        let ([of, which], [ours, _]) = (theirs.sessions, self.sessions);
        if of != ours || which >= ours {
            let detail = format!("it has session {which} of {of}, this party {ours} in all");
            return Err(NetError::DifferentPlan { peer, step, detail });
        }
        Ok(())
    }

    /// The digest of what this party and a peer agree on, once they have compared it.
    pub(super) fn agreed(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(AGREED);
        for text in [&self.version, &self.engine] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.update(&self.stored).update(&self.plan_hash).update(&self.approved).update(&self.sessions[..1]);
        *hasher.finalize().as_bytes()
    }
}

fn prefixed(text: &str) -> Result<Vec<u8>, NetError> {
    let length = u8::try_from(text.len())
        .map_err(|_| NetError::BadConfiguration { detail: format!("{text:?} is longer than 255 bytes; shorten it") })?;
    Ok([&[length], text.as_bytes()].concat())
}

fn length(bytes: usize) -> [u8; 2] {
    u16::try_from(bytes).expect("three short texts and some hashes").to_le_bytes()
}

fn short(hash: &[u8; 32]) -> String {
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a party says on every connection of a session, but for commitment and nonce.
pub(super) struct Said {
    head: Vec<u8>,
    body: Vec<u8>,
}

impl Said {
    /// What is said on one connection, at an `end` of it.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn on(&self, end: End, channel: &Exported) -> Result<Words, NetError> {
        let nonce = random()?;
        let opening = [&nonce[..], &self.body].concat();
        let commitment = commitment(end, channel, &self.head, &opening);
        let greeting = [&MAGIC[..], &length(self.head.len() + 32), &self.head, &commitment].concat();
        Ok(Words { greeting, opening: [&length(opening.len())[..], &opening].concat(), nonce })
    }
}

/// 32 random bytes.
///
/// # Errors
/// When the operating system gives no randomness.
pub(super) fn random() -> Result<[u8; 32], NetError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes[..]).map_err(|error| NetError::BadConfiguration {
        detail: format!("the operating system gives no randomness ({error}); start again"),
    })?;
    Ok(bytes)
}

/// What a party says on one connection.
pub(super) struct Words {
    pub greeting: Vec<u8>,
    pub opening: Vec<u8>,
    /// Within the opening; fresh.
    pub nonce: [u8; 32],
}

fn commitment(end: End, channel: &Exported, head: &[u8], opening: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(COMMITMENT);
    hasher.update(&[end as u8]).update(&channel[..]);
    for part in [head, opening] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    *hasher.finalize().as_bytes()
}

/// A peer's greeting.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    version: String,
    /// What follows the version, unless another version wrote it in another way.
    body: Option<Body>,
    /// All before the commitment.
    head: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
struct Body {
    name: String,
    commitment: [u8; 32],
}

impl Greeting {
    /// Read a greeting; nothing is reserved beyond its short maximum.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut magic = [0; 8];
        from.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(nonsense("the other side does not speak tacit's protocol"));
        }
        let bytes = read_short(from, LONGEST_GREETING)?;
        Self::parse(&bytes).ok_or_else(|| nonsense("its hello names no version"))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let version = text(&mut rest)?;
        let body = Body::parse(rest);
        let head = bytes[..bytes.len().saturating_sub(32)].to_vec();
        Some(Self { version, body, head })
    }

    /// The name the peer gives itself, where its version writes it as ours does.
    pub fn name(&self) -> Option<&str> {
        self.body.as_ref().map(|body| body.name.as_str())
    }
}

impl Body {
    fn parse(mut rest: &[u8]) -> Option<Self> {
        Some(Self { name: text(&mut rest)?, commitment: rest.try_into().ok()? })
    }
}

/// What a peer has revealed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opening {
    nonce: [u8; 32],
    engine: String,
    stored: [u8; 32],
    plan_hash: [u8; 32],
    approved: [u8; 32],
    part: [u8; 32],
    sessions: [u8; 2],
}

impl Opening {
    /// Read the opening that follows a greeting; `None` if it is not what the greeting, said at an `end` of the
    /// connection with this key, committed to.
    pub fn read(from: &mut impl Read, after: &Greeting, end: End, channel: &Exported) -> io::Result<Option<Self>> {
        let bytes = read_short(from, LONGEST_OPENING)?;
        let committed = after.body.as_ref().map(|body| body.commitment);
        if committed != Some(commitment(end, channel, &after.head, &bytes)) {
            return Ok(None);
        }
        Self::parse(&bytes).map(Some).ok_or_else(|| nonsense("its hello does not say what it should"))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (nonce, mut rest) = bytes.split_first_chunk()?;
        let engine = text(&mut rest)?;
        let (stored, rest) = rest.split_first_chunk()?;
        let (plan_hash, rest) = rest.split_first_chunk()?;
        let (approved, rest) = rest.split_first_chunk()?;
        let (part, sessions) = rest.split_first_chunk()?;
        Some(Self {
            nonce: *nonce,
            engine,
            stored: *stored,
            plan_hash: *plan_hash,
            approved: *approved,
            part: *part,
            sessions: sessions.try_into().ok()?,
        })
    }

    /// Of which session the connection is that the peer dialled.
    pub fn session(&self) -> usize {
        usize::from(self.sessions[1])
    }

    /// The peer's part of what the nodes draw together.
    pub fn part(&self) -> &[u8; 32] {
        &self.part
    }

    /// What the peer drew for this connection.
    pub fn nonce(&self) -> &[u8; 32] {
        &self.nonce
    }
}

/// Bytes behind their length of two bytes.
fn read_short(from: &mut impl Read, longest: usize) -> io::Result<Vec<u8>> {
    let mut start = [0; 2];
    from.read_exact(&mut start)?;
    let length = usize::from(u16::from_le_bytes(start));
    if length > longest {
        return Err(nonsense("its hello is too long"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn nonsense(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
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

    const CHANNEL: [u8; 32] = [3; 32];
    const PART: [u8; 32] = [5; 32];

    fn words(hello: &Hello, end: End) -> Words {
        hello.said_by("bob", &PART).expect("short texts").on(end, &Exported::new(CHANNEL)).expect("randomness")
    }

    fn greeted(hello: &Hello) -> Greeting {
        Greeting::read(&mut &words(hello, End::Dialler).greeting[..]).expect("our own greeting")
    }

    /// What an answerer makes of these words of a dialler on this channel.
    fn heard(greeting: &[u8], opening: &[u8], channel: [u8; 32]) -> Option<Opening> {
        let greeting = Greeting::read(&mut &*greeting).expect("our own greeting");
        let channel = Exported::new(channel);
        Opening::read(&mut &*opening, &greeting, End::Dialler, &channel).expect("bytes enough")
    }

    fn received(hello: &Hello) -> Opening {
        let Words { greeting, opening, .. } = words(hello, End::Dialler);
        heard(&greeting, &opening, CHANNEL).expect("what was committed to")
    }

    #[test]
    fn equal_hellos_agree_and_others_say_what_differs() {
        let ours = Hello::new([7; 32], "rep3");
        assert_eq!(greeted(&ours).name(), Some("bob"));
        assert_eq!(ours.compare_version(&greeted(&ours), "bob"), Ok(()));
        assert_eq!(ours.compare(&received(&ours), "bob"), Ok(()));
        assert_eq!(received(&ours).part(), &PART);
        let plan = ours.compare(&received(&Hello::new([8; 32], "rep3")), "bob");
        assert!(matches!(plan, Err(NetError::DifferentPlan { .. })));
        let engine = ours.compare(&received(&Hello::new([7; 32], "clear")), "bob");
        assert!(matches!(engine, Err(NetError::DifferentPlan { detail, .. }) if detail.contains("clear")));
        let sessions = |session, of| received(&ours.clone().of_session(session, of));
        assert_eq!(ours.clone().of_session(0, 2).compare(&sessions(1, 2), "bob"), Ok(()));
        for (session, of) in [(0, 2), (1, 1)] {
            let different = ours.compare(&sessions(session, of), "bob");
            assert!(matches!(different, Err(NetError::DifferentPlan { .. })));
        }
        let stored = ours.clone().reading([1; 32], "t").compare(&received(&ours.clone().reading([2; 32], "t")), "bob");
        assert!(matches!(stored, Err(NetError::DifferentShares { what, .. }) if what == "t"));
        let approving = |digest| ours.clone().approving([digest; 32]);
        assert_eq!(approving(1).compare(&received(&approving(1)), "bob"), Ok(()));
        for other in [approving(2), ours.clone()] {
            let approved = approving(1).compare(&received(&other), "bob");
            assert!(matches!(approved, Err(NetError::DifferentApproval { .. })));
        }
        let newer = Hello { version: "9.0.0".to_owned(), ..ours.clone() };
        let version = ours.compare_version(&greeted(&newer), "bob");
        assert!(matches!(version, Err(NetError::DifferentVersion { theirs, .. }) if theirs == "9.0.0"));
    }

    #[test]
    fn a_commitment_holds_for_one_opening_one_end_and_one_connection() {
        let hello = Hello::new([7; 32], "rep3");
        let said = words(&hello, End::Dialler);
        assert!(heard(&said.greeting, &said.opening, CHANNEL).is_some());
        assert_eq!(heard(&said.greeting, &said.opening, [4; 32]), None, "another connection");
        let answered = words(&hello, End::Answerer);
        assert_eq!(heard(&answered.greeting, &answered.opening, CHANNEL), None, "an echo");
        assert_eq!(heard(&said.greeting, &words(&hello, End::Dialler).opening, CHANNEL), None, "another nonce");
        for place in 2..said.opening.len() {
            let mut changed = said.opening.clone();
            changed[place] ^= 1;
            assert_eq!(heard(&said.greeting, &changed, CHANNEL), None, "another byte {place}");
        }
    }

    #[test]
    fn nothing_is_shown_before_it_is_revealed() {
        let [one, other] = [[7; 32], [8; 32]].map(|plan| Hello::new(plan, "rep3"));
        let length = words(&one, End::Dialler).greeting.len();
        assert_eq!(words(&other, End::Dialler).greeting.len(), length);
        let heads = [&one, &one, &other].map(|hello| words(hello, End::Dialler).greeting);
        assert!(heads.iter().all(|greeting| greeting[..length - 32] == heads[0][..length - 32]));
        assert!(heads[0] != heads[1], "the nonce is fresh");
    }

    #[test]
    fn a_version_that_writes_more_is_told_by_its_version() {
        let newer = Hello { version: "9.0.0".to_owned(), ..Hello::new([0; 32], "x") };
        let mut bytes = words(&newer, End::Dialler).greeting;
        bytes.push(1);
        bytes[8] += 1;
        let theirs = Greeting::read(&mut &bytes[..]).expect("it names a version");
        let told = Hello::new([0; 32], "x").compare_version(&theirs, "bob");
        assert!(matches!(told, Err(NetError::DifferentVersion { .. })));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, after_magic: bool) {
            let bytes = if after_magic { [&MAGIC[..], &bytes].concat() } else { bytes };
            let _ = Greeting::read(&mut &bytes[..]);
            let _ = Opening::read(&mut &bytes[..], &greeted(&Hello::new([0; 32], "x")), End::Dialler, &Exported::default());
        }
    }
}
