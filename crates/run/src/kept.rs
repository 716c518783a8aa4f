//! Kept tables: `keep`, in which the nodes agree on a table and each writes its own file, and files for `kept`.
//!
//! `keep`: every node draws 16 random bytes and sends them with the time to all others. The table's id is the hash of
//! all of them, of its name and of the plan; it is made at the latest of these times. Each node writes its file and
//! then sends the digest of what all files have in common to all others. So every node knows that every other one has
//! written, and the same. The caller gives the file its name only afterwards.
//!
//! Discloses the nodes' clocks. Rounds: 2. Each node sends 56 bytes to each other node.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tacit_math::Seed;
use tacit_mpc::backends::Components;
use tacit_net::{Cost, NetError, PartyId, Session};
use tacit_table::kept::{self, Header, KeptShares, SealingKey};
use tacit_table::operator::Keep;
use tacit_table::{Executor, Operator, Program, Table};

use crate::error::{Result, RunError};

/// Random bytes by which a node contributes to a table's id.
const DRAWN: usize = 16;
/// These, and the seconds since 1970 in UTC.
const CONTRIBUTION: usize = DRAWN + 8;
/// Seconds that a node's clock may be ahead of another one's: a day, in which people notice.
const MOST_AHEAD: u64 = 86_400;
const DIGEST: usize = 32;
const ID: usize = 16;

/// Where and how a node writes what it keeps.
pub struct Target {
    /// The file, which exists already.
    pub path: PathBuf,
    /// The party's key.
    pub key: SealingKey,
    /// What the planner has to know of the table, as JSON.
    pub about: String,
}

/// The ids of the operators that read kept tables, in order.
pub fn readers(program: &Program) -> impl Iterator<Item = usize> {
    let reads = |operator: &&Operator| matches!(operator, Operator::Kept(_));
    program.operators().iter().filter(reads).map(Operator::id)
}

/// What a `keep` costs each of `nodes` nodes.
pub fn declared(nodes: usize) -> Cost {
    Cost::alike(nodes, 2, ((nodes - 1) * (CONTRIBUTION + DIGEST)) as u64)
}

/// Keeps a table among nodes, in the step of this name. Returns the header of this node's file, as JSON.
pub fn keep<B: Components>(
    executor: &mut Executor<B>,
    step: &str,
    keep: &Keep,
    table: &Table<B>,
    target: &Target,
) -> Result<String> {
    let session = executor.backend_mut().session_mut();
    session.enter(step);
    let contributions = exchange(session, &contribution()?)?;
    let header = header(session, keep, table, &contributions, target)?;
    kept::write(table, &header, &target.path, &target.key)?;
    let digest = header.digest();
    let told = exchange(session, &digest)?;
    if let Some(place) = told.iter().position(|other| other[..] != digest) {
        let (peer, step) = (session.name(PartyId(place)).to_owned(), session.path().to_owned());
        let detail = "it describes the kept table in another way".to_owned();
        return Err(NetError::Desynchronised { peer, step, detail }.into());
    }
    session.leave();
    Ok(header.json())
}

fn header<B: Components>(
    session: &Session,
    keep: &Keep,
    table: &Table<B>,
    contributions: &[Vec<u8>],
    target: &Target,
) -> Result<Header> {
    let nodes: Vec<String> = (0..session.parties()).map(|party| session.name(PartyId(party)).to_owned()).collect();
    let id = id(&keep.table, &target.about, contributions);
    let mut header = Header::new(table, keep, &id, &nodes, session.me().0)?;
    header.made = Some(agreed_time(session, contributions)?);
    header.about = target.about.parse().map_err(|_| RunError::About)?;
    Ok(header)
}

/// What this node contributes: random bytes, and its time.
fn contribution() -> Result<[u8; CONTRIBUTION]> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut told = [0; CONTRIBUTION];
    let (drawn, time) = told.split_at_mut(DRAWN);
    drawn.copy_from_slice(Seed::random().map_err(|e| RunError::Randomness(e.to_string()))?.expose());
    time.copy_from_slice(&now.to_le_bytes());
    Ok(told)
}

/// The latest of the times that nodes told. None is far ahead of this node's own.
fn agreed_time(session: &Session, contributions: &[Vec<u8>]) -> Result<u64> {
    let told = |told: &[u8]| u64::from_le_bytes(told[DRAWN..].try_into().expect("a contribution"));
    let times: Vec<u64> = contributions.iter().map(|contribution| told(contribution)).collect();
    let most = times[session.me().0].saturating_add(MOST_AHEAD);
    if let Some(place) = times.iter().position(|&time| time > most) {
        let (peer, step) = (session.name(PartyId(place)).to_owned(), session.path().to_owned());
        let detail = "its clock is more than a day ahead".to_owned();
        return Err(NetError::Desynchronised { peer, step, detail }.into());
    }
    Ok(times.into_iter().max().unwrap_or_default())
}

/// The id of a table, from what every node contributed.
fn id(table: &str, about: &str, contributions: &[Vec<u8>]) -> [u8; ID] {
    let mut hash = blake3::Hasher::new_derive_key("tacit 2026-11-22 id of a kept table");
    for part in [table.as_bytes(), about.as_bytes()].into_iter().chain(contributions.iter().map(Vec::as_slice)) {
        hash.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hash.finalize().as_bytes()[..ID].try_into().expect("shorter than a hash")
}

/// One round in which every node tells all others as many bytes. Returns what each told, in engine order.
fn exchange(session: &mut Session, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
    session.next_round();
    let (me, nodes) = (session.me(), session.parties());
    for peer in (0..nodes).map(PartyId).filter(|&peer| peer != me) {
        session.send(peer, mine.to_vec())?;
    }
    let mut told = vec![mine.to_vec(); nodes];
    for peer in (0..nodes).map(PartyId).filter(|&peer| peer != me) {
        session.recv(peer, &mut told[peer.0])?;
    }
    Ok(told)
}

/// A party's key for its files.
///
/// # Errors
/// When it has not 32 bytes.
pub fn sealing_key(key: &[u8]) -> Result<SealingKey> {
    let bytes = key.try_into().map_err(|_| RunError::KeyLength(key.len()))?;
    Ok(SealingKey::new(bytes))
}

/// What the file of a kept table says of itself (JSON), unchecked.
///
/// # Errors
/// When it is no such file, or cannot be read.
pub fn header_of(path: &Path) -> Result<String> {
    Ok(Header::unchecked(path)?.json())
}

/// This node's shares of a kept table, for one session. Not printable.
pub struct KeptPart {
    /// Of which table they are.
    pub table: KeptTable,
    /// The shares.
    pub shares: KeptShares,
}

/// A kept table as nodes compare it.
#[derive(Clone)]
pub struct KeptTable {
    /// Of what the nodes' files have in common.
    pub digest: [u8; 32],
    /// Its name and id, as a person reads them.
    pub named: String,
}

impl KeptTable {
    /// The table that a header is of.
    pub fn of(header: &Header) -> Self {
        Self { digest: header.digest(), named: format!("{} ({:.8} here)", header.table, header.id) }
    }

    /// The table that a description (a header as JSON) is of, at a party without a part of it.
    ///
    /// # Errors
    /// [`RunError::Description`].
    pub fn described(description: &str) -> Result<Self> {
        serde_json::from_str(description).map(|header| Self::of(&header)).map_err(|_| RunError::Description)
    }

    /// The digest of several tables in their order.
    pub fn digest_of(tables: &[Self]) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("tacit 2026-11-22 kept tables that a plan reads");
        for table in tables {
            hash.update(&table.digest);
        }
        *hash.finalize().as_bytes()
    }

    /// Which tables they are, for a person whose peer has others.
    pub fn listed(tables: &[Self]) -> String {
        let mut names: Vec<&str> = tables.iter().map(|table| table.named.as_str()).collect();
        names.dedup();
        let advice = "compare with `tacit tables` at both; copy a node's description anew to who is none, or DROP TABLE \
                      what differs and make it again";
        format!("{}; {advice}", names.join(", "))
    }
}
