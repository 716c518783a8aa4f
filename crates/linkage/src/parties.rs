//! The parties of a match, from connecting to the end. All of them take the same steps, in this order, and no others
//! than their plan says.
//!
//! | step | what happens |
//! |---|---|
//! | [`Parties::announce`] | all tell each other of themselves; from that all choose alike how the match runs |
//! | [`Parties::agree`] | they agree on a fresh key of tokens; then each puts its own input into bins |
//! | [`Parties::wait_at`] [`Point::Ready`] | they wait until all have |
//! | [`Parties::run`], [`Parties::intersect`], [`Parties::aggregate`], [`Parties::share`] | they match |
//! | [`Parties::wait_at`] [`Point::Done`] | they wait until all have their results |
//! | [`Parties::close`] | they end |
//!
//! A query about a prepared table has [`Parties::offer`] and [`Parties::question`] in place of announcements, and the
//! owner's key in place of an agreed one.

use std::sync::Arc;

use tacit_math::Seed;
use tacit_net::{PartyId, Session};
use tacit_psi::blind_join::Rule;
use tacit_psi::multi_party::Owners;
use tacit_psi::ps3i::SharedPairs;
use tacit_psi::relatives::PrivateId;
use tacit_psi::tokens::agree_key;
use tacit_psi::unbalanced::PreparedSet;
use tacit_psi::{PsiError, Role, Sizes};

use crate::aggregate::aggregate;
use crate::bins::Bins;
use crate::error::MatchError;
use crate::ids::{Ids, METHODS};
use crate::keyed::KeyedRows;
use crate::many;
use crate::messages::{
    Announcement, Asked, Misbehaviour, Numbers, Offered, Point, RunName, exchange, hear, swap, tell,
};
use crate::plan::{At, Chosen, MatchPlan};
use crate::prepared;
use crate::results::Results;
use crate::run::{Progress, Run};
use crate::shares::{self, Announced};

/// Bytes that a row of the output takes in memory besides its columns.
const BYTES_PER_JOINT_ROW: u64 = 16;

/// Connects the worker of a number with the other parties' workers of that number.
type Connect = Box<dyn Fn(usize) -> Result<Session, MatchError> + Send>;

/// This party's connection with the others, and what all have announced.
pub struct Parties {
    /// The approved plan.
    plan: MatchPlan,
    connect: Connect,
    /// One for each worker; none after the end.
    sessions: Vec<Session>,
    /// In the parties' order.
    announced: Vec<Announcement>,
}

impl Parties {
    /// Connects the first workers of parties that have compared the plan's digest.
    ///
    /// # Errors
    /// The connection's failure.
    pub fn connect(
        plan: MatchPlan,
        connect: impl Fn(usize) -> Result<Session, MatchError> + Send + 'static,
    ) -> Result<Self, MatchError> {
        Ok(Self { plan, sessions: vec![connect(0)?], connect: Box::new(connect), announced: Vec::new() })
    }

    /// The sessions of all workers.
    pub fn sessions(&mut self) -> &mut [Session] {
        &mut self.sessions
    }

    /// Whether the connection has ended.
    pub fn ended(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The first worker's session.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn first(&mut self) -> Result<&mut Session, MatchError> {
        self.sessions.first_mut().ok_or(MatchError::Ended)
    }

    /// Tells the others of this party. Everybody's announcement, in the parties' order.
    ///
    /// # Errors
    /// An own announcement, or a peer's, that cannot be; the connection's failure.
    pub fn announce(&mut self, mine: Announcement) -> Result<&[Announcement], MatchError> {
        mine.check().map_err(MatchError::Announced)?;
        let keys = mine.kinds.len();
        let session = self.first()?;
        let all = exchange(session, mine)?;
        check_kinds(session, all.iter().map(|told| told.kinds.len()), keys)?;
        self.announced = all;
        Ok(&self.announced)
    }

    /// Agrees with all others on the key of tokens, which names the run.
    ///
    /// # Errors
    /// The connection's failure; a peer that deviates.
    pub fn agree(&mut self) -> Result<(Seed, RunName), MatchError> {
        let key = agree_key(self.first()?)?;
        let name = RunName::of(&key);
        Ok((key, name))
    }

    /// Waits until all others have come to the same point.
    ///
    /// # Errors
    /// A peer that refuses to go on, or is at another point; the connection's failure.
    pub fn wait_at(&mut self, point: Point) -> Result<(), MatchError> {
        wait_at(self.first()?, point)
    }

    /// Waits until all others have had the time to find for themselves what this party is about to refuse.
    pub fn refuse(&mut self) {
        // It refuses, whatever becomes of the others.
        let _ = self.first().and_then(|session| exchange(session, Point::Refused));
    }

    /// Connects further workers, until there are `count`.
    ///
    /// # Errors
    /// The connection's failure.
    pub fn add_workers(&mut self, count: usize) -> Result<(), MatchError> {
        for worker in self.sessions.len()..count {
            self.sessions.push((self.connect)(worker)?);
            // The peer's door for this worker is shut before the next one knocks.
            wait_at(&mut self.sessions[worker], Point::Ready)?;
        }
        Ok(())
    }

    /// A match of two tables' bins by a protocol, by what both have announced. bins: how many there are.
    ///
    /// # Errors
    /// No such match is approved; nothing is announced.
    pub fn run(&self, role: Role, protocol: Chosen<'_>, bins: usize, todo: Vec<usize>) -> Result<Run, MatchError> {
        let learns = self.approved()?.rows(role, protocol, bins)?;
        Ok(Run { role, learns, rows: self.rows()?, todo, joint_rows: self.joint_rows()? })
    }

    /// How many keys match, and the sum over them; see [`aggregate`]. None at a party that learns nothing.
    ///
    /// # Errors
    /// No such match is approved; those of the protocol; numbers of a peer that cannot be.
    pub fn aggregate(&mut self, role: Role, bins: &Bins) -> Result<Option<Numbers>, MatchError> {
        let (least, both) = self.approved()?.numbers(role)?;
        let rows = self.rows()?;
        let session = self.first()?;
        let peer = peer(session);
        let found = aggregate(session, role, bins, rows, least)?;
        match role {
            Role::Receiver => {
                let sum = found.sums.and_then(|sums| sums.first().map(|&sum| sum as i64));
                let numbers = Numbers { keys: found.cardinality.unwrap_or(0) as u64, sum };
                if both {
                    tell(session, peer, &numbers)?;
                }
                Ok(Some(numbers))
            }
            Role::Sender if both => {
                let numbers: Numbers = hear(session, peer)?;
                let cannot_be = numbers.check(rows.map(|rows| rows as u64), least.map(|least| least as u64));
                cannot_be.map_err(|what| MatchError::misbehaved(session, peer, what))?;
                Ok(Some(numbers))
            }
            Role::Sender => Ok(None),
        }
    }

    /// The match of more than two tables; see [`many::intersect`].
    ///
    /// # Errors
    /// No such match is approved; those of the protocol; more rows than the declared memory allows, which all
    /// recipients find.
    pub fn intersect(
        &mut self,
        leader: usize,
        bins: &Bins,
        results: &Results,
        progress: &Progress,
    ) -> Result<(), MatchError> {
        let (most, sizes) = (self.joint_rows()?, self.announced.iter().map(|told| told.rows as usize).collect());
        let recipients = self.plan.recipients()?.into_iter().map(PartyId).collect();
        let owners = Owners { sizes, leader: PartyId(leader), recipients };
        let rows = many::intersect(self.first()?, &owners, bins, results, progress, most)?;
        if rows > most {
            self.refuse();
            return Err(MatchError::OutputRows { rows, most });
        }
        Ok(())
    }

    /// Shares of both payloads of the pairs of rows that match; see [`shares::share`].
    ///
    /// # Errors
    /// No such match is approved, or of other columns; those of the protocol; more pairs than the declared memory
    /// allows, which both find.
    pub fn share(&mut self, role: Role, table: &KeyedRows) -> Result<SharedPairs, MatchError> {
        let (schema, [_, theirs]) = (table.bins.schema(), self.columns()?);
        let names = schema.fields().iter().map(|field| field.name().as_str());
        let dropped = self.approved()?.shares(role, table.keys, names)?;
        if theirs != self.approved()?.shared_by_peer() {
            let session = self.first()?;
            return Err(MatchError::misbehaved(session, peer(session), Misbehaviour::OtherColumns));
        }
        let of_roles = |[mine, theirs]: [usize; 2]| match role {
            Role::Sender => Sizes { sender: mine, receiver: theirs },
            Role::Receiver => Sizes { sender: theirs, receiver: mine },
        };
        let (rows, columns) = (of_roles(self.rows()?), of_roles(self.columns()?));
        let most = self.joint_rows()? / (1 + columns.sender + columns.receiver) as u64;
        let rule = match dropped {
            None => Rule::Single,
            Some([drop_sender, drop_receiver]) => Rule::Collect { drop_sender, drop_receiver, most },
        };
        let announced = Announced { rows, columns, keys: table.keys };
        let shared = shares::share(self.first()?, role, table, announced, rule);
        if let Err(MatchError::Protocol(PsiError::Pairs { .. })) = &shared {
            self.refuse();
        }
        shared
    }

    /// A universal id for every row of both parties; see [`Ids::agree`].
    ///
    /// # Errors
    /// No such match is approved; those of the protocol.
    pub fn identify(&mut self, role: Role, method: PrivateId, bins: Arc<Bins>) -> Result<Ids, MatchError> {
        let name = METHODS.iter().find(|(_, known)| *known == method).map(|(name, _)| *name);
        self.approved()?.ids(name, 1)?;
        let rows = self.rows()?;
        Ids::agree(self.first()?, role, method, bins, rows)
    }

    /// The same by the first of several keys that two rows share; see [`Ids::agree_by_keys`].
    ///
    /// # Errors
    /// Those of [`Self::identify`].
    pub fn identify_by_keys(&mut self, role: Role, table: &KeyedRows) -> Result<Ids, MatchError> {
        self.approved()?.ids(None, table.keys)?;
        let [_, theirs] = self.rows()?;
        Ids::agree_by_keys(self.first()?, role, table, theirs)
    }

    /// Offers a prepared table to be asked about. What the peer asks.
    ///
    /// # Errors
    /// No such query is approved; a question that cannot be; the connection's failure.
    pub fn offer(&mut self, mine: &Offered) -> Result<Asked, MatchError> {
        self.approved()?.prepared(false)?;
        let session = self.first()?;
        let peer = peer(session);
        swap(session, peer, mine)
    }

    /// Asks about a prepared table by `keys` key columns. What the peer offers.
    ///
    /// # Errors
    /// No such query is approved; an offer that cannot be; the connection's failure.
    pub fn question(&mut self, mine: &Asked, keys: usize) -> Result<Offered, MatchError> {
        self.approved()?.prepared(true)?;
        let session = self.first()?;
        let peer = peer(session);
        let offered: Offered = swap(session, peer, mine)?;
        match offered.kinds.len() == keys {
            true => Ok(offered),
            false => Err(MatchError::misbehaved(session, peer, Misbehaviour::Kinds)),
        }
    }

    /// Answers a query about `asked` items; see [`prepared::answer`].
    ///
    /// # Errors
    /// Those of [`Self::offer`], and of the protocol.
    pub fn answer(&mut self, set: &mut PreparedSet, asked: usize, published: Option<&[u8]>) -> Result<(), MatchError> {
        self.approved()?.prepared(false)?;
        prepared::answer(self.first()?, set, asked, published)
    }

    /// Asks about an offer; see [`prepared::ask`].
    ///
    /// # Errors
    /// Those of [`Self::question`], and of the protocol.
    pub fn ask(
        &mut self,
        bins: &Bins,
        results: &Results,
        rows: usize,
        held: Option<&[u8]>,
        offer: &Offered,
    ) -> Result<Option<Vec<u8>>, MatchError> {
        self.approved()?.prepared(true)?;
        prepared::ask(self.first()?, bins, results, rows, held, offer)
    }

    /// The plan, as this party runs it.
    fn approved(&self) -> Result<At<'_>, MatchError> {
        let session = self.sessions.first().ok_or(MatchError::Ended)?;
        Ok(self.plan.at(session.me().0))
    }

    /// The announced rows of this party and of the only other one.
    ///
    /// # Errors
    /// Nothing is announced.
    pub fn rows(&self) -> Result<[usize; 2], MatchError> {
        Ok(self.of_two()?.map(|told| told.rows as usize))
    }

    /// How many columns this party shares, and the only other one.
    ///
    /// # Errors
    /// Nothing is announced.
    pub fn columns(&self) -> Result<[usize; 2], MatchError> {
        Ok(self.of_two()?.map(|told| told.columns.len()))
    }

    /// Ends in order, with an acknowledgement from every peer.
    ///
    /// # Errors
    /// The connection's failure.
    pub fn close(&mut self) -> Result<(), MatchError> {
        Ok(self.sessions.drain(..).try_for_each(Session::close)?)
    }

    /// Ends at once and tells the peers why.
    pub fn abort(self, reason: &str) {
        self.sessions.into_iter().for_each(|session| session.abort(reason));
    }

    fn of_two(&self) -> Result<[&Announcement; 2], MatchError> {
        match (&self.announced[..], self.sessions.first().map(Session::me)) {
            ([mine, theirs], Some(PartyId(0))) | ([theirs, mine], Some(_)) => Ok([mine, theirs]),
            _ => Err(MatchError::Unannounced),
        }
    }

    /// How many rows of the output fit into the memory that all declare.
    fn joint_rows(&self) -> Result<u64, MatchError> {
        let memory = self.announced.iter().map(|told| told.memory).min();
        memory.map(|memory| memory / BYTES_PER_JOINT_ROW).ok_or(MatchError::Unannounced)
    }
}

fn peer(session: &Session) -> PartyId {
    PartyId(1 - session.me().0)
}

fn check_kinds(session: &Session, told: impl Iterator<Item = usize>, keys: usize) -> Result<(), MatchError> {
    let other = told.enumerate().find(|&(_, count)| count != keys);
    other.map_or(Ok(()), |(party, _)| Err(MatchError::misbehaved(session, PartyId(party), Misbehaviour::Kinds)))
}

fn wait_at(session: &mut Session, point: Point) -> Result<(), MatchError> {
    let all = exchange(session, point)?;
    let other = all.into_iter().enumerate().find(|&(_, at)| at != point);
    other.map_or(Ok(()), |(party, at)| {
        Err(match at {
            Point::Refused => MatchError::Refused { peer: session.name(PartyId(party)).to_owned() },
            Point::Ready | Point::Done => MatchError::misbehaved(session, PartyId(party), Misbehaviour::Point),
        })
    })
}
